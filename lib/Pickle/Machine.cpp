//===- Machine.cpp - dispatches the opcodes of a pickle ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides, opcode by opcode, what is read and where it goes. Memory is bounded
// by a constant number of bytes per byte of input, so the limit is checked once
// per slice of the file and not at every allocation.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ConvertUTF.h"

using namespace verify::pickle;

Machine::Machine(GraphBuilder &builder, uint64_t memoryLimit)
    : builder(builder), begin(builder.getInput().bytes_begin()),
      position(begin), end(builder.getInput().bytes_end()), opcodeStart(begin),
      pages(builder.getBuffer()), memoryLimit(memoryLimit) {
  // As GraphBuilder does; nearly every node is memoized, and the fast path
  // wants room for a slice.
  memo.reserve((getRemaining() / 10) + sliceSize);
}

bool Machine::failAt(const Byte *place, const llvm::Twine &text) {
  if (message.empty())
    message = (builder.getGraph().getFileName() + ": byte " +
               llvm::Twine(place - begin) + ": " + text)
                  .str();
  return false;
}

bool Machine::fail(const llvm::Twine &text) {
  llvm::StringRef name = getOpcodeName(static_cast<Opcode>(*opcodeStart));
  return failAt(opcodeStart, name + ": " + text);
}

bool Machine::failUnderflow() {
  if (marks.empty())
    return fail("the stack is empty");
  return fail("nothing on the stack above the last mark");
}

bool Machine::failElements() {
  return fail("more than " + llvm::Twine(GraphBuilder::maxElements) +
              " values in one container");
}

bool Machine::failOperand(uint64_t size) {
  return fail("operand of " + llvm::Twine(size) + " bytes, but " +
              llvm::Twine(getRemaining()) + " remain");
}

bool Machine::readBytes(uint64_t size, llvm::StringRef &bytes) {
  if (LLVM_UNLIKELY(size > getRemaining()))
    return failOperand(size);
  bytes = llvm::StringRef(reinterpret_cast<const char *>(position), size);
  position += size;
  return true;
}

template <typename Length> bool Machine::pushCounted(Kind kind) {
  llvm::StringRef bytes;
  return readCounted<Length>(bytes) && push(builder.makeText(kind, bytes));
}

/// Whether Python decodes it: UTF-8 in which halves of surrogate pairs may
/// stand alone.
static bool isUnicode(llvm::StringRef text) {
  unsigned char allBits = 0;
  for (char character : text)
    allBits |= static_cast<unsigned char>(character);
  if (LLVM_LIKELY(allBits < 0x80))
    return true;
  const auto *next = text.bytes_begin(), *end = text.bytes_end();
  while (next != end) {
    auto remaining = static_cast<size_t>(end - next);
    size_t size = llvm::getNumBytesForUTF8(*next);
    bool isSurrogate = remaining >= 3 && next[0] == 0xed && next[1] >= 0xa0 &&
                       next[1] <= 0xbf && next[2] >= 0x80 && next[2] <= 0xbf;
    if (!isSurrogate &&
        (size > remaining || !llvm::isLegalUTF8Sequence(next, next + size)))
      return false;
    next += size;
  }
  return true;
}

bool Machine::checkBuffer() {
  switch (builder.getGraph().getKind(stack.back())) {
  case Kind::OutOfBand:
  case Kind::Bytes:
  case Kind::ByteArray:
    return true;
  default:
    return fail("expected a buffer, found " +
                builder.getGraph().describe(stack.back()));
  }
}

template <typename Length> bool Machine::pushUnicode() {
  llvm::StringRef text;
  if (!readCounted<Length>(text))
    return false;
  if (LLVM_UNLIKELY(!isUnicode(text)))
    return fail("the string is not UTF-8");
  return push(builder.makeText(Kind::String, text));
}

bool Machine::pushLong(llvm::StringRef bytes) {
  auto isExtension = [](char top, char below) {
    return (top == 0 && below >= 0) || (top == -1 && below < 0);
  };
  while (bytes.size() > 8 && isExtension(bytes.back(), bytes[bytes.size() - 2]))
    bytes = bytes.drop_back();
  if (bytes.size() > 8)
    return push(builder.makeText(Kind::BigInteger, bytes));
  uint64_t bits = 0;
  for (size_t i = 0; i != bytes.size(); ++i)
    bits |= uint64_t(static_cast<Byte>(bytes[i])) << (8 * i);
  if (!bytes.empty() && bytes.size() < 8 && bytes.back() < 0)
    bits |= ~uint64_t(0) << (8 * bytes.size());
  return push(builder.makeInteger(static_cast<int64_t>(bits)));
}

bool Machine::readProtocol() {
  uint8_t protocol;
  if (!readNumber(protocol))
    return false;
  if (protocol > 5)
    return fail("unsupported protocol " + llvm::Twine(unsigned(protocol)));
  return true;
}

bool Machine::readFrame() {
  uint64_t size;
  if (!readNumber(size))
    return false;
  if (size > getRemaining())
    return fail("frame of " + llvm::Twine(size) + " bytes, but " +
                llvm::Twine(getRemaining()) + " remain");
  return true;
}

bool Machine::checkMemory() {
  uint64_t use = builder.getMemoryUse() + stack.getMemoryUse() +
                 marks.capacity_in_bytes() + memo.getMemoryUse() +
                 sparseMemo.getMemorySize();
  if (builder.isNearlyFull(sliceSize))
    return failAt(position, "more values than can be numbered");
  if (use <= memoryLimit)
    return true;
  return failAt(position, "reading needs " + llvm::Twine(use) +
                              " bytes of memory, more than the limit of " +
                              llvm::Twine(memoryLimit));
}

bool Machine::stop() {
  if (!need(1))
    return false;
  if (stack.size() != 1)
    return fail(llvm::Twine(stack.size() - 1) +
                " values besides the root are left on the stack");
  if (position != end)
    return fail(llvm::Twine(getRemaining()) + " bytes follow");
  hasStopped = true;
  return true;
}

llvm::Expected<Value> Machine::run() {
  while (!hasStopped && message.empty()) {
    if (position == end) {
      failAt(position, "end of file: no STOP");
      break;
    }
    const Byte *sliceEnd =
        getRemaining() > sliceSize ? position + sliceSize : end;
    if (!runSlice(sliceEnd) || !checkMemory())
      break;
    pages.release(reinterpret_cast<const char *>(position));
  }
  if (!message.empty())
    return llvm::createStringError(message);
  return stack[0];
}

// A table: a case for each opcode.
// NOLINTNEXTLINE(readability-function-size)
bool Machine::step(Opcode opcode) {
  uint8_t byte;
  uint16_t half;
  uint32_t word;
  uint64_t wide;
  llvm::StringRef bytes;
  switch (opcode) {
  // The memo: two thirds of a plan's bytes.
  case Opcode::Binget:
    return readNumber(byte) && getMemo(byte);
  case Opcode::LongBinget:
    return readNumber(word) && getMemo(word);
  case Opcode::Memoize:
    return memoize();
  case Opcode::Binput:
    return readNumber(byte) && putMemo(byte);
  case Opcode::LongBinput:
    return readNumber(word) && putMemo(word);

  // Constants.
  case Opcode::None:
    return push(builder.getNone());
  case Opcode::Newtrue:
    return push(builder.getBoolean(true));
  case Opcode::Newfalse:
    return push(builder.getBoolean(false));
  case Opcode::Binint1:
    return readNumber(byte) && push(builder.makeInteger(byte));
  case Opcode::Binint2:
    return readNumber(half) && push(builder.makeInteger(half));
  case Opcode::Binint:
    return readNumber(word) &&
           push(builder.makeInteger(static_cast<int32_t>(word)));
  case Opcode::Long1:
    return readCounted<uint8_t>(bytes) && pushLong(bytes);
  case Opcode::Long4:
    return readCounted<uint32_t>(bytes) && pushLong(bytes);
  case Opcode::Binfloat:
    if (!readNumber(wide))
      return false;
    return push(builder.makeFloat(
        llvm::bit_cast<double>(llvm::byteswap<uint64_t>(wide))));
  case Opcode::ShortBinunicode:
    return pushUnicode<uint8_t>();
  case Opcode::Binunicode:
    return pushUnicode<uint32_t>();
  case Opcode::Binunicode8:
    return pushUnicode<uint64_t>();
  case Opcode::ShortBinstring:
    return pushCounted<uint8_t>(Kind::String);
  case Opcode::Binstring:
    return pushCounted<uint32_t>(Kind::String);
  case Opcode::ShortBinbytes:
    return pushCounted<uint8_t>(Kind::Bytes);
  case Opcode::Binbytes:
    return pushCounted<uint32_t>(Kind::Bytes);
  case Opcode::Binbytes8:
    return pushCounted<uint64_t>(Kind::Bytes);
  case Opcode::Bytearray8:
    return pushCounted<uint64_t>(Kind::ByteArray);
  case Opcode::NextBuffer:
    return push(builder.makeOutOfBand());
  case Opcode::ReadonlyBuffer:
    return need(1) && checkBuffer();

  // Containers.
  case Opcode::EmptyTuple:
    return push(builder.getEmptyTuple());
  case Opcode::EmptyList:
    return push(builder.makeList());
  case Opcode::EmptyDict:
    return push(builder.makeDictionary());
  case Opcode::EmptySet:
    return push(builder.makeSet());
  case Opcode::Tuple1:
    return makeTuple(1);
  case Opcode::Tuple2:
    return makeTuple(2);
  case Opcode::Tuple3:
    return makeTuple(3);
  case Opcode::Tuple:
    return makeMarkedTuple();
  case Opcode::List:
    return makeMarkedList();
  case Opcode::Dict:
    return makeMarkedDictionary();
  case Opcode::Frozenset:
    return makeFrozenSet();
  case Opcode::Append:
    return need(2) && append(stack.size() - 1);
  case Opcode::Appends:
    return takeTarget(wide) && append(wide);
  case Opcode::Additems:
    return addItems();
  case Opcode::Setitem:
    return storeOne();
  case Opcode::Setitems:
    return storeMarked();

  // Names and objects.
  case Opcode::StackGlobal:
    return makeGlobal();
  case Opcode::Reduce:
    return makeObject(Construction::Call, /*hasKeywords=*/false);
  case Opcode::Newobj:
    return makeObject(Construction::NewObject, /*hasKeywords=*/false);
  case Opcode::NewobjEx:
    return makeObject(Construction::NewObject, /*hasKeywords=*/true);
  case Opcode::Obj:
    return makeMarkedObject();
  case Opcode::Build:
    return build();
  case Opcode::Ext1:
    return readNumber(byte) && makeExtension(byte);
  case Opcode::Ext2:
    return readNumber(half) && makeExtension(half);
  case Opcode::Ext4:
    return readNumber(word) && makeExtension(word);
  case Opcode::Binpersid:
    if (!need(1))
      return false;
    stack.back() = builder.makePersistent(stack.back());
    return true;

  // The stack and the file.
  case Opcode::Mark:
    return pushMark();
  case Opcode::Pop:
    return pop();
  case Opcode::PopMark:
    if (!takeMark(wide))
      return false;
    stack.truncate(wide);
    return true;
  case Opcode::Dup:
    return need(1) && push(stack.back());
  case Opcode::Proto:
    return readProtocol();
  case Opcode::Frame:
    return readFrame();
  case Opcode::Stop:
    return stop();
  default:
    return stepText(opcode);
  }
}
