//===- Opcodes.cpp - names of the pickle opcodes ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps opcodes to the names of the pickle specification, for messages.
//
//===----------------------------------------------------------------------===//

#include "Opcodes.h"

using namespace verify::pickle;

// A table: a line for each opcode.
// NOLINTNEXTLINE(readability-function-size)
llvm::StringRef verify::pickle::getOpcodeName(Opcode opcode) {
  switch (opcode) {
  case Opcode::Mark:
    return "MARK";
  case Opcode::EmptyTuple:
    return "EMPTY_TUPLE";
  case Opcode::Stop:
    return "STOP";
  case Opcode::Pop:
    return "POP";
  case Opcode::PopMark:
    return "POP_MARK";
  case Opcode::Dup:
    return "DUP";
  case Opcode::Binbytes:
    return "BINBYTES";
  case Opcode::ShortBinbytes:
    return "SHORT_BINBYTES";
  case Opcode::Float:
    return "FLOAT";
  case Opcode::Binfloat:
    return "BINFLOAT";
  case Opcode::Int:
    return "INT";
  case Opcode::Binint:
    return "BININT";
  case Opcode::Binint1:
    return "BININT1";
  case Opcode::Long:
    return "LONG";
  case Opcode::Binint2:
    return "BININT2";
  case Opcode::None:
    return "NONE";
  case Opcode::Persid:
    return "PERSID";
  case Opcode::Binpersid:
    return "BINPERSID";
  case Opcode::Reduce:
    return "REDUCE";
  case Opcode::String:
    return "STRING";
  case Opcode::Binstring:
    return "BINSTRING";
  case Opcode::ShortBinstring:
    return "SHORT_BINSTRING";
  case Opcode::Unicode:
    return "UNICODE";
  case Opcode::Binunicode:
    return "BINUNICODE";
  case Opcode::EmptyList:
    return "EMPTY_LIST";
  case Opcode::Append:
    return "APPEND";
  case Opcode::Build:
    return "BUILD";
  case Opcode::Global:
    return "GLOBAL";
  case Opcode::Dict:
    return "DICT";
  case Opcode::Appends:
    return "APPENDS";
  case Opcode::Get:
    return "GET";
  case Opcode::Binget:
    return "BINGET";
  case Opcode::Inst:
    return "INST";
  case Opcode::LongBinget:
    return "LONG_BINGET";
  case Opcode::List:
    return "LIST";
  case Opcode::Obj:
    return "OBJ";
  case Opcode::Put:
    return "PUT";
  case Opcode::Binput:
    return "BINPUT";
  case Opcode::LongBinput:
    return "LONG_BINPUT";
  case Opcode::Setitem:
    return "SETITEM";
  case Opcode::Tuple:
    return "TUPLE";
  case Opcode::Setitems:
    return "SETITEMS";
  case Opcode::EmptyDict:
    return "EMPTY_DICT";
  case Opcode::Proto:
    return "PROTO";
  case Opcode::Newobj:
    return "NEWOBJ";
  case Opcode::Ext1:
    return "EXT1";
  case Opcode::Ext2:
    return "EXT2";
  case Opcode::Ext4:
    return "EXT4";
  case Opcode::Tuple1:
    return "TUPLE1";
  case Opcode::Tuple2:
    return "TUPLE2";
  case Opcode::Tuple3:
    return "TUPLE3";
  case Opcode::Newtrue:
    return "NEWTRUE";
  case Opcode::Newfalse:
    return "NEWFALSE";
  case Opcode::Long1:
    return "LONG1";
  case Opcode::Long4:
    return "LONG4";
  case Opcode::ShortBinunicode:
    return "SHORT_BINUNICODE";
  case Opcode::Binunicode8:
    return "BINUNICODE8";
  case Opcode::Binbytes8:
    return "BINBYTES8";
  case Opcode::EmptySet:
    return "EMPTY_SET";
  case Opcode::Additems:
    return "ADDITEMS";
  case Opcode::Frozenset:
    return "FROZENSET";
  case Opcode::NewobjEx:
    return "NEWOBJ_EX";
  case Opcode::StackGlobal:
    return "STACK_GLOBAL";
  case Opcode::Memoize:
    return "MEMOIZE";
  case Opcode::Frame:
    return "FRAME";
  case Opcode::Bytearray8:
    return "BYTEARRAY8";
  case Opcode::NextBuffer:
    return "NEXT_BUFFER";
  case Opcode::ReadonlyBuffer:
    return "READONLY_BUFFER";
  }
  return "";
}
