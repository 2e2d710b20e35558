//===- Opcodes.h - the opcodes of the pickle machine ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The opcodes of protocols 0 to 5, by the names of the pickle specification.
// Separate from the machine because messages need the names too.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_PICKLE_OPCODES_H
#define VERIFY_LIB_PICKLE_OPCODES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace verify::pickle {

/// One byte that tells the machine what to do.
enum class Opcode : uint8_t {
  Mark = '(',
  EmptyTuple = ')',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  Binbytes = 'B',
  ShortBinbytes = 'C',
  Float = 'F',
  Binfloat = 'G',
  Int = 'I',
  Binint = 'J',
  Binint1 = 'K',
  Long = 'L',
  Binint2 = 'M',
  None = 'N',
  Persid = 'P',
  Binpersid = 'Q',
  Reduce = 'R',
  String = 'S',
  Binstring = 'T',
  ShortBinstring = 'U',
  Unicode = 'V',
  Binunicode = 'X',
  EmptyList = ']',
  Append = 'a',
  Build = 'b',
  Global = 'c',
  Dict = 'd',
  Appends = 'e',
  Get = 'g',
  Binget = 'h',
  Inst = 'i',
  LongBinget = 'j',
  List = 'l',
  Obj = 'o',
  Put = 'p',
  Binput = 'q',
  LongBinput = 'r',
  Setitem = 's',
  Tuple = 't',
  Setitems = 'u',
  EmptyDict = '}',
  Proto = 0x80,
  Newobj = 0x81,
  Ext1 = 0x82,
  Ext2 = 0x83,
  Ext4 = 0x84,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  Newtrue = 0x88,
  Newfalse = 0x89,
  Long1 = 0x8a,
  Long4 = 0x8b,
  ShortBinunicode = 0x8c,
  Binunicode8 = 0x8d,
  Binbytes8 = 0x8e,
  EmptySet = 0x8f,
  Additems = 0x90,
  Frozenset = 0x91,
  NewobjEx = 0x92,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95,
  Bytearray8 = 0x96,
  NextBuffer = 0x97,
  ReadonlyBuffer = 0x98,
};

/// The name of an opcode in the specification; empty if there is no such one.
llvm::StringRef getOpcodeName(Opcode opcode);

} // namespace verify::pickle

#endif // VERIFY_LIB_PICKLE_OPCODES_H
