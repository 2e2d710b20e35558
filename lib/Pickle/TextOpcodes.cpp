//===- TextOpcodes.cpp - the line-based opcodes of protocol 0 ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how operands that are lines of text are read. They occur in files of
// protocols 0 and 1, and GLOBAL in those of 2 and 3, so none of this is fast.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cstring>

using namespace verify::pickle;

/// Python refuses longer numbers too: reading them takes quadratic time.
static constexpr size_t maxDigits = 4300;

bool Machine::stepText(Opcode opcode) {
  llvm::StringRef line;
  uint64_t slot;
  Value global;
  switch (opcode) {
  case Opcode::Int:
    return readTextInteger();
  case Opcode::Long:
    return readTextLong();
  case Opcode::Float:
    return readTextFloat();
  case Opcode::String:
    return readTextString();
  case Opcode::Unicode:
    return readTextUnicode();
  case Opcode::Get:
    return readTextSlot(slot) && getMemo(slot);
  case Opcode::Put:
    return readTextSlot(slot) && putMemo(slot);
  case Opcode::Global:
    return readTextGlobal(global) && push(global);
  case Opcode::Inst: {
    size_t first;
    if (!readTextGlobal(global) || !takeMark(first))
      return false;
    Value arguments = builder.makeTuple(stack.from(first));
    builder.useArguments(arguments);
    stack.truncate(first);
    return push(builder.makeObject(Construction::Call, global, arguments));
  }
  case Opcode::Persid:
    return readLine(line) &&
           push(builder.makePersistent(builder.makeText(Kind::String, line)));
  default:
    return failAt(opcodeStart,
                  "unknown opcode 0x" +
                      llvm::utohexstr(static_cast<uint8_t>(opcode),
                                      /*LowerCase=*/true, /*Width=*/2));
  }
}

bool Machine::readLine(llvm::StringRef &line) {
  const void *newline = std::memchr(position, '\n', getRemaining());
  if (!newline)
    return fail("no end of line before the end of the file");
  const auto *lineEnd = static_cast<const Byte *>(newline);
  line = llvm::StringRef(reinterpret_cast<const char *>(position),
                         static_cast<size_t>(lineEnd - position));
  position = lineEnd + 1;
  return true;
}

bool Machine::pushDecimal(llvm::StringRef digits) {
  // An octal number for one unpickler of Python, none for the other.
  llvm::StringRef unsignedDigits = digits.ltrim('-');
  if (unsignedDigits.size() > 1 && unsignedDigits.front() == '0')
    return fail("an integer with leading zeros: '" + getPrintable(digits) +
                "'");
  int64_t integer;
  if (!digits.getAsInteger(10, integer))
    return push(builder.makeInteger(integer));
  llvm::StringRef magnitude = digits;
  bool isNegative = magnitude.consume_front("-");
  if (magnitude.empty() || !llvm::all_of(magnitude, llvm::isDigit))
    return fail("not an integer: '" + getPrintable(digits) + "'");
  if (magnitude.size() > maxDigits)
    return fail("integer of " + llvm::Twine(magnitude.size()) +
                " digits, more than " + llvm::Twine(maxDigits));
  auto numBits = static_cast<unsigned>(magnitude.size() * 4 + 8);
  llvm::APInt big(numBits, magnitude, 10);
  if (isNegative)
    big.negate();
  std::string bytes;
  for (unsigned bit = 0, used = big.getSignificantBits(); bit < used; bit += 8)
    bytes.push_back(static_cast<char>(
        big.ashr(bit).extractBitsAsZExtValue(std::min(8u, numBits), 0)));
  return push(builder.makeCopiedText(Kind::BigInteger, bytes));
}

bool Machine::readTextInteger() {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  // How protocol 1 writes booleans.
  if (line == "00" || line == "01")
    return push(builder.getBoolean(line == "01"));
  return pushDecimal(line);
}

bool Machine::readTextLong() {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  line.consume_back("L");
  return pushDecimal(line);
}

bool Machine::readTextFloat() {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  double value;
  if (line.getAsDouble(value, /*AllowInexact=*/true))
    return fail("not a float: '" + getPrintable(line) + "'");
  return push(builder.makeFloat(value));
}

/// Decodes the escape at the front of `text` into `out`; false if it is none.
static bool decodeEscape(llvm::StringRef &text, std::string &out) {
  static constexpr llvm::StringLiteral plain =
      "\\\\''\"\"b\bf\ft\tn\nr\ra\av\v";
  char letter = text.front();
  for (size_t i = 0; i != plain.size(); i += 2)
    if (plain[i] == letter) {
      out.push_back(plain[i + 1]);
      text = text.drop_front();
      return true;
    }
  unsigned code;
  if (letter == 'x') {
    if (text.size() < 3 || text.substr(1, 2).getAsInteger(16, code))
      return false;
    text = text.drop_front(3);
    out.push_back(static_cast<char>(code));
    return true;
  }
  llvm::StringRef octal = text.take_front(3).take_while(
      [](char c) { return c >= '0' && c <= '7'; });
  if (!octal.empty()) {
    (void)octal.getAsInteger(8, code);
    text = text.drop_front(octal.size());
    out.push_back(static_cast<char>(code));
    return true;
  }
  // Python keeps the backslash of an escape it does not know.
  out.push_back('\\');
  return true;
}

bool Machine::readTextString() {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  line = line.rtrim("\r ");
  if (line.size() < 2 || line.front() != line.back() ||
      (line.front() != '\'' && line.front() != '"'))
    return fail("the string is not in quotes");
  std::string decoded;
  for (llvm::StringRef rest = line.drop_front().drop_back(); !rest.empty();) {
    size_t plain = std::min(rest.find('\\'), rest.size());
    decoded += rest.take_front(plain);
    rest = rest.drop_front(plain);
    if (rest.consume_front("\\") &&
        (rest.empty() || !decodeEscape(rest, decoded)))
      return fail("malformed escape in the string");
  }
  return push(builder.makeCopiedText(Kind::String, decoded));
}

bool Machine::readTextUnicode() {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  // Outside escapes the line is Latin-1.
  std::string decoded;
  while (!line.empty()) {
    unsigned code = static_cast<Byte>(line.front());
    size_t digits = line.starts_with("\\u")   ? 4
                    : line.starts_with("\\U") ? 8
                                              : 0;
    if (digits) {
      if (line.size() < 2 + digits ||
          line.substr(2, digits).getAsInteger(16, code) || code > 0x10ffff)
        return fail("malformed escape in the string");
      line = line.drop_front(2 + digits);
    } else {
      line = line.drop_front();
      // A backslash that begins no such escape takes the next character along,
      // which may be another one.
      if (code == '\\' && !line.empty()) {
        decoded.push_back('\\');
        code = static_cast<Byte>(line.front());
        line = line.drop_front();
      }
    }
    char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *next = bytes;
    if (llvm::ConvertCodePointToUTF8(code, next))
      decoded.append(bytes, next);
    else // half of a surrogate pair, which Python lets pass
      decoded += {static_cast<char>(0xe0 | code >> 12),
                  static_cast<char>(0x80 | (code >> 6 & 0x3f)),
                  static_cast<char>(0x80 | (code & 0x3f))};
  }
  return push(builder.makeCopiedText(Kind::String, decoded));
}

bool Machine::readTextSlot(uint64_t &slot) {
  llvm::StringRef line;
  if (!readLine(line))
    return false;
  if (line.getAsInteger(10, slot) || slot >= uint64_t(1) << 63)
    return fail("not a memo slot: '" + getPrintable(line) + "'");
  return true;
}

bool Machine::readTextGlobal(Value &global) {
  llvm::StringRef module, name;
  if (!readLine(module) || !readLine(name))
    return false;
  global = builder.makeGlobal(builder.makeText(Kind::String, module),
                              builder.makeText(Kind::String, name));
  return true;
}
