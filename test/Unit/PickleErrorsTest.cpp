//===- PickleErrorsTest.cpp - how bad pickles are refused -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every way in which a file can be malformed, with the message it gives: the
// file, the byte offset, the opcode and what is wrong.
//
//===----------------------------------------------------------------------===//

#include "PickleBytes.h"

#include "gtest/gtest.h"

using namespace verify::pickle;

namespace {

struct ErrorCase {
  std::string file;
  std::string message; // after "test.pkl: "
};
} // namespace

static void expectErrors(llvm::ArrayRef<ErrorCase> cases) {
  for (const ErrorCase &errorCase : cases)
    EXPECT_EQ(readError(errorCase.file), "test.pkl: " + errorCase.message);
}

/// The last bytes of a file are read one opcode at a time, and what is far from
/// there by the fast path: neither may accept what the other one does not.
static void expectErrorsAnywhere(llvm::ArrayRef<ErrorCase> cases) {
  expectErrors(cases);
  for (ErrorCase errorCase : cases) {
    errorCase.file += repeat("N", 8);
    expectErrors(errorCase);
  }
}

namespace {
TEST(PickleErrorsTest, EndOfFile) {
  expectErrors({
      {"", "byte 0: end of file: no STOP"},
      {"N", "byte 1: end of file: no STOP"},
      {"NK", "byte 1: BININT1: operand of 1 bytes, but 0 remain"},
      {bytes("NM\1"), "byte 1: BININT2: operand of 2 bytes, but 1 remain"},
      {bytes("J\1\2\3"), "byte 0: BININT: operand of 4 bytes, but 3 remain"},
      {bytes("G\1"), "byte 0: BINFLOAT: operand of 8 bytes, but 1 remain"},
      {bytes("j\1"), "byte 0: LONG_BINGET: operand of 4 bytes, but 1 remain"},
      {"I12", "byte 0: INT: no end of line before the end of the file"},
      {"cos\nsys", "byte 0: GLOBAL: no end of line before the end of the file"},
      {"\x80", "byte 0: PROTO: operand of 1 bytes, but 0 remain"},
  });
}

TEST(PickleErrorsTest, HostileLengths) {
  expectErrors({
      {bytes("NX\xff\xff\xff\xff."),
       "byte 1: BINUNICODE: operand of 4294967295 bytes, but 1 remain"},
      {"\x8c\x05"
       "ab.",
       "byte 0: SHORT_BINUNICODE: operand of 5 bytes, but 3 remain"},
      {bytes("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
       "byte 0: BINUNICODE8: operand of 18446744073709551615 bytes, but 1 "
       "remain"},
      {bytes("\x8e\0\0\0\0\0\0\0\x80."),
       "byte 0: BINBYTES8: operand of 9223372036854775808 bytes, but 1 remain"},
      {bytes("\x96\0\0\0\0\0\1\0\0."),
       "byte 0: BYTEARRAY8: operand of 1099511627776 bytes, but 1 remain"},
      {bytes("T\xff\xff\xff\x7f."),
       "byte 0: BINSTRING: operand of 2147483647 bytes, but 1 remain"},
      {bytes("\x8b\xff\xff\xff\xff."),
       "byte 0: LONG4: operand of 4294967295 bytes, but 1 remain"},
      {bytes("\x95\3\0\0\0\0\0\0\0N."),
       "byte 0: FRAME: frame of 3 bytes, but 2 remain"},
  });
}

TEST(PickleErrorsTest, Stack) {
  expectErrorsAnywhere({
      {".", "byte 0: STOP: the stack is empty"},
      {"0", "byte 0: POP: the stack is empty"},
      {"2.", "byte 0: DUP: the stack is empty"},
      {"(2.", "byte 1: DUP: nothing on the stack above the last mark"},
      {"N(\x85.", "byte 2: TUPLE1: nothing on the stack above the last mark"},
      {"N\x86.", "byte 1: TUPLE2: the stack is empty"},
      {"NN\x87.", "byte 2: TUPLE3: the stack is empty"},
      {"Nt.", "byte 1: TUPLE: no mark on the stack"},
      {"N1", "byte 1: POP_MARK: no mark on the stack"},
      {"]Ne.", "byte 2: APPENDS: no mark on the stack"},
      {"(Ne.", "byte 2: APPENDS: nothing on the stack below the mark"},
      {"](((e.", "byte 4: APPENDS: nothing on the stack below the mark"},
      {"}((NNu.", "byte 5: SETITEMS: nothing on the stack below the mark"},
      {"\x8f((\x90.", "byte 3: ADDITEMS: nothing on the stack below the mark"},
      {"]a.", "byte 1: APPEND: the stack is empty"},
      {"}Ns.", "byte 2: SETITEM: the stack is empty"},
      {"(o.", "byte 1: OBJ: nothing to call above the mark"},
      {"Nim\nC\n.", "byte 1: INST: no mark on the stack"},
      {"NN.", "byte 2: STOP: 1 values besides the root are left on the stack"},
      {"N(.", "byte 2: STOP: nothing on the stack above the last mark"},
      {"\x98.", "byte 0: READONLY_BUFFER: the stack is empty"},
      {"]\x98.", "byte 1: READONLY_BUFFER: expected a buffer, found list"},
      {"\x8c\x02\xc3(.", "byte 0: SHORT_BINUNICODE: the string is not UTF-8"},
      {"\x8c\x01\xc3.", "byte 0: SHORT_BINUNICODE: the string is not UTF-8"},
      {"Q.", "byte 0: BINPERSID: the stack is empty"},
      {"\x85.", "byte 0: TUPLE1: the stack is empty"},
      {")\x81.", "byte 1: NEWOBJ: the stack is empty"},
      {"cm\nC\n()\x81.",
       "byte 7: NEWOBJ: nothing on the stack above the last mark"},
      {"Nu.", "byte 1: SETITEMS: no mark on the stack"},
      {"(K\1K\2u.", "byte 5: SETITEMS: nothing on the stack below the mark"},
      {"Nb.", "byte 1: BUILD: the stack is empty"},
      {"cm\nC\n)\x81(b.",
       "byte 8: BUILD: nothing on the stack above the last mark"},
      {"cm\nC\n)\x81N(b.",
       "byte 9: BUILD: nothing on the stack above the last mark"},
      {"](a.", "byte 2: APPEND: nothing on the stack above the last mark"},
      // The keys of a dictionary that was there before.
      {bytes("}(\x8c\1a\x94K\1u0}((h\0K\2u."),
       "byte 17: SETITEMS: nothing on the stack below the mark"},
      {bytes("}(\x8c\1a\x94K\1u0}(h\0K\2Nu."),
       "byte 17: SETITEMS: odd number of keys and values"},
  });
  expectErrors({{"N.N.", "byte 1: STOP: 2 bytes follow"}});
}

TEST(PickleErrorsTest, Hashes) {
  expectErrorsAnywhere({
      {"}]Ns.", "byte 3: SETITEM: expected what has a hash, found list"},
      {"}(}Nu.", "byte 4: SETITEMS: expected what has a hash, found dict"},
      {"}(K\1N\x8fNu.",
       "byte 7: SETITEMS: expected what has a hash, found set"},
      {"(]Nd.", "byte 3: DICT: expected what has a hash, found list"},
      {"\x8f(]\x90.", "byte 3: ADDITEMS: expected what has a hash, found list"},
      {"(K\1}\x91.", "byte 4: FROZENSET: expected what has a hash, found dict"},
  });
}

TEST(PickleErrorsTest, ChangesOfWhatWasUsed) {
  // Python copies the entries of a state into the object, and what is called
  // may copy its arguments.
  expectErrorsAnywhere({
      {bytes("cm\nC\n)\x81}q\1bh\1(U\1aK\1u."),
       "byte 19: SETITEMS: expected what nothing was made of yet, found dict"},
      {bytes("cm\nC\n)\x81}q\1(U\1aK\1ubh\1U\1aK\2s."),
       "byte 25: SETITEM: expected what nothing was made of yet, found dict"},
      {bytes("cm\nC\n)\x81N}q\1\x86"
             "bh\1U\1aK\2s."),
       "byte 20: SETITEM: expected what nothing was made of yet, found dict"},
      {bytes("cm\nf\n]q\1\x85Rh\1Na."),
       "byte 13: APPEND: expected what nothing was made of yet, found list"},
      {bytes("cm\nf\n]q\1\x85Rh\1(Ne."),
       "byte 14: APPENDS: expected what nothing was made of yet, found list"},
      {bytes("cm\nf\n\x8fq\1\x85Rh\1(N\x90."),
       "byte 14: ADDITEMS: expected what nothing was made of yet, found set"},
      {bytes("(cm\nf\n]q\1oh\1Na."),
       "byte 13: APPEND: expected what nothing was made of yet, found list"},
      {bytes("(]q\1im\nf\nh\1Na."),
       "byte 12: APPEND: expected what nothing was made of yet, found list"},
      {bytes("cm\nf\n)Rq\1cm\ng\nh\1\x85R0h\1}b."),
       "byte 22: BUILD: expected what nothing was made of yet, found f"},
  });
  // An object may be an argument before it has its state: a cycle.
  llvm::Expected<Graph> cycle =
      readBytes(bytes("cm\nC\n)\x81q\1}(U\1acm\nf\nh\1\x85Rub."));
  EXPECT_TRUE(!!cycle) << llvm::toString(cycle.takeError());
}

TEST(PickleErrorsTest, Memo) {
  expectErrorsAnywhere({
      {bytes("h\x11."), "byte 0: BINGET: memo slot 17 was never written"},
      {bytes("N\x94h\1."), "byte 2: BINGET: memo slot 1 was never written"},
      {bytes("Nr\x10\0\0\0"
             "0h\3."),
       "byte 7: BINGET: memo slot 3 was never written"},
      {bytes("j\xff\xff\xff\xff."),
       "byte 0: LONG_BINGET: memo slot 4294967295 was never written"},
      {"g5\n.", "byte 0: GET: memo slot 5 was never written"},
      {"Np-1\n.", "byte 1: PUT: not a memo slot: '-1'"},
      {"Npx\n.", "byte 1: PUT: not a memo slot: 'x'"},
      {"\x94.", "byte 0: MEMOIZE: the stack is empty"},
      {"N(\x94.", "byte 2: MEMOIZE: nothing on the stack above the last mark"},
      {bytes("q\0."), "byte 0: BINPUT: the stack is empty"},
  });
}

TEST(PickleErrorsTest, Types) {
  expectErrorsAnywhere({
      {"NNa.",
       "byte 2: APPEND: expected a list or an object to append to, found None"},
      {"}(Ne.",
       "byte 3: APPENDS: expected a list or an object to append to, found "
       "dict"},
      {")(N\x90.",
       "byte 3: ADDITEMS: expected a set or an object to add to, found tuple"},
      {"]NNs.",
       "byte 3: SETITEM: expected a dict or an object to store in, found list"},
      {"}(Nu.", "byte 3: SETITEMS: odd number of keys and values"},
      {"(Nd.", "byte 2: DICT: odd number of keys and values"},
      {"NN\x93.",
       "byte 2: STACK_GLOBAL: expected names of a module and of a global, "
       "found None"},
      {"K\1)R.", "byte 3: REDUCE: expected something to call, found int"},
      {"cm\nf\n]R.",
       "byte 6: REDUCE: expected a tuple of arguments, found list"},
      {"])\x81.", "byte 2: NEWOBJ: expected something to call, found list"},
      {"cm\nC\n))\x92.",
       "byte 7: NEWOBJ_EX: expected a dict of keywords, found tuple"},
      {"(K\1o.", "byte 3: OBJ: expected something to call, found int"},
      {"]}b.", "byte 2: BUILD: expected an object to give a state to, found "
               "list"},
      {"cm\nC\n}b.", "byte 6: BUILD: expected an object to give a state to, "
                     "found m.C"},
      {bytes("\x82\0."), "byte 0: EXT1: extension code 0 is not positive"},
      {bytes("\x84\0\0\0\x80."),
       "byte 0: EXT4: extension code -2147483648 is not positive"},
  });
}

TEST(PickleErrorsTest, Operands) {
  expectErrors({
      {"\x80\6N.", "byte 0: PROTO: unsupported protocol 6"},
      {"\xff.", "byte 0: unknown opcode 0xff"},
      {bytes("N\0."), "byte 1: unknown opcode 0x00"},
      {"I12x\n.", "byte 0: INT: not an integer: '12x'"},
      {"L\n.", "byte 0: LONG: not an integer: ''"},
      {"I010\n.", "byte 0: INT: an integer with leading zeros: '010'"},
      {"L-010L\n.", "byte 0: LONG: an integer with leading zeros: '-010'"},
      {"Fabc\n.", "byte 0: FLOAT: not a float: 'abc'"},
      {"Sabc\n.", "byte 0: STRING: the string is not in quotes"},
      {"S'\n.", "byte 0: STRING: the string is not in quotes"},
      {"S'\\x4'\n.", "byte 0: STRING: malformed escape in the string"},
      {"S'a\\'\n.", "byte 0: STRING: malformed escape in the string"},
      {"V\\u12\n.", "byte 0: UNICODE: malformed escape in the string"},
      {"V\\U00110000\n.", "byte 0: UNICODE: malformed escape in the string"},
      {"L" + repeat("9", 4301) + "\n.",
       "byte 0: LONG: integer of 4301 digits, more than 4300"},
      {"I\x1b[31m\n.", "byte 0: INT: not an integer: '\\1B[31m'"},
  });
}

TEST(PickleErrorsTest, NamesInMessagesArePrintable) {
  EXPECT_EQ(readError("cm\x1b\n\x07" + repeat("x", 200) + "\n}b."),
            "test.pkl: byte 207: BUILD: expected an object to give a state to, "
            "found m\\1B.\\07" +
                repeat("x", 79) + "...");
}

} // namespace
