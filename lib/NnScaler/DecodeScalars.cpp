//===- DecodeScalars.cpp - numbers, texts and element types -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how Python's and numpy's scalars become numbers. numpy pickles a
// scalar as its bytes and a type such as 'i8', which may be big-endian.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace verify;
using namespace verify::nnscaler;

/// Reads UTF-8 text as the Latin-1 bytes it stands for; false if it is not.
static bool encodeLatin1(llvm::StringRef text, std::string &bytes) {
  while (!text.empty()) {
    auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80) {
      bytes.push_back(text.front());
      text = text.drop_front();
    } else if ((first == 0xc2 || first == 0xc3) && text.size() > 1 &&
               (text[1] & 0xc0) == 0x80) {
      bytes.push_back(static_cast<char>((first & 3) << 6 | (text[1] & 0x3f)));
      text = text.drop_front(2);
    } else {
      return false;
    }
  }
  return true;
}

std::optional<llvm::StringRef> Decoder::toBytes(Value value,
                                                std::string &storage) {
  Kind kind = graph.getKind(value);
  // Python 2 wrote bytes as strings.
  if (kind == Kind::Bytes || kind == Kind::ByteArray || kind == Kind::String)
    return graph.getText(value);
  // Protocol 2 has no bytes: Python 3 writes _codecs.encode(text, 'latin1').
  if (classes.get(value) != PlanClass::CodecsEncode ||
      !isMadeOfArguments(value) || graph.hasState(value))
    return std::nullopt;
  llvm::ArrayRef<Value> arguments =
      graph.getElements(graph.getArguments(value));
  if (arguments.size() != 2 || graph.getKind(arguments[0]) != Kind::String ||
      graph.getKind(arguments[1]) != Kind::String ||
      graph.getText(arguments[1]) != "latin1" ||
      !encodeLatin1(graph.getText(arguments[0]), storage))
    return std::nullopt;
  return llvm::StringRef(storage);
}

/// A number of `size` bytes of the kind that NumPy calls `kind`; none if it has
/// no such kind or the number does not fit.
static std::optional<Argument> makeNumber(char kind, unsigned size,
                                          uint64_t bits) {
  Argument number;
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return std::nullopt;
  switch (kind) {
  case 'b':
    if (size != 1)
      return std::nullopt;
    number.setBoolean(bits != 0);
    return number;
  case 'u':
    if (bits >> 63)
      return std::nullopt;
    number.setInteger(static_cast<int64_t>(bits));
    return number;
  case 'i': {
    unsigned unused = 64 - 8 * size;
    number.setInteger(static_cast<int64_t>(bits << unused) >> unused);
    return number;
  }
  case 'f': {
    const llvm::fltSemantics *semantics =
        size == 8   ? &llvm::APFloat::IEEEdouble()
        : size == 4 ? &llvm::APFloat::IEEEsingle()
        : size == 2 ? &llvm::APFloat::IEEEhalf()
                    : nullptr;
    if (!semantics)
      return std::nullopt;
    number.setReal(llvm::APFloat(*semantics, llvm::APInt(8 * size, bits))
                       .convertToDouble());
    return number;
  }
  default:
    return std::nullopt;
  }
}

std::optional<Argument> Decoder::toNumber(Value scalar) {
  llvm::ArrayRef<Value> arguments =
      graph.getElements(graph.getArguments(scalar));
  if (arguments.size() != 2 ||
      classes.get(arguments[0]) != PlanClass::NumpyType ||
      !isMadeOfArguments(scalar) || graph.hasState(scalar) ||
      !isMadeOfArguments(arguments[0]))
    return std::nullopt;
  Value type = arguments[0];
  llvm::ArrayRef<Value> typeArguments =
      graph.getElements(graph.getArguments(type));
  std::string storage;
  std::optional<llvm::StringRef> data = toBytes(arguments[1], storage);
  if (!data || typeArguments.empty() ||
      graph.getKind(typeArguments[0]) != Kind::String)
    return std::nullopt;

  llvm::StringRef name = graph.getText(typeArguments[0]);
  // The state is (version, byte order, ...); without one the order is native.
  bool isBigEndian = name.consume_front(">");
  name = name.ltrim("<|=");
  Value state = graph.getState(type);
  if (graph.getKind(state) == Kind::Tuple &&
      graph.getElements(state).size() > 1 &&
      graph.getKind(graph.getElements(state)[1]) == Kind::String)
    isBigEndian = graph.getText(graph.getElements(state)[1]) == ">";

  unsigned size;
  if (name.size() != 2 || name.drop_front().getAsInteger(10, size) ||
      size != data->size() || size > 8)
    return std::nullopt;
  uint64_t bits = 0;
  for (unsigned i = 0; i != size; ++i)
    bits |= uint64_t(static_cast<unsigned char>(
                (*data)[isBigEndian ? size - 1 - i : i]))
            << (8 * i);

  return makeNumber(name.front(), size, bits);
}

std::optional<int64_t> Decoder::toScalarInteger(Value value) {
  if (classes.get(value) != PlanClass::NumpyScalar)
    return std::nullopt;
  std::optional<Argument> number = toNumber(value);
  if (!number || number->kind != ConstantKind::Integer)
    return std::nullopt;
  return number->getInteger();
}

std::optional<bool> Decoder::toScalarBoolean(Value value) {
  if (classes.get(value) != PlanClass::NumpyScalar)
    return std::nullopt;
  std::optional<Argument> number = toNumber(value);
  if (!number || number->kind != ConstantKind::Boolean)
    return std::nullopt;
  return number->getInteger() != 0;
}

std::optional<llvm::ArrayRef<pickle::Value>> Decoder::toTorchSize(Value value) {
  if (classes.get(value) != PlanClass::TorchSize)
    return std::nullopt;
  llvm::ArrayRef<Value> arguments =
      graph.getElements(graph.getArguments(value));
  if (arguments.size() != 1 || !isMadeOfArguments(value) ||
      graph.hasState(value))
    return std::nullopt;
  Kind kind = graph.getKind(arguments[0]);
  if (kind == Kind::List || kind == Kind::Tuple)
    return graph.getElements(arguments[0]);
  return std::nullopt;
}

std::optional<llvm::StringRef> Decoder::toElementType(Value value) {
  if (graph.getKind(value) != Kind::Global || graph.getModule(value) != "torch")
    return std::nullopt;
  // Nearly all tensors of a plan have one of a few types.
  auto known = stringsByValue.find(value.getRaw());
  if (known != stringsByValue.end())
    return known->second;
  llvm::StringRef name = graph.getName(value);
  bool isType =
      llvm::StringSwitch<bool>(name)
          .Cases({"bool", "uint8", "uint16", "uint32", "uint64"}, true)
          .Cases({"int8", "int16", "int32", "int64"}, true)
          .Cases({"short", "int", "long", "half", "float", "double"}, true)
          .Cases({"float16", "float32", "float64", "bfloat16"}, true)
          .Cases({"complex32", "complex64", "complex128"}, true)
          .Default(name.starts_with("float8_") || name.starts_with("float4_") ||
                   name.starts_with("q"));
  if (!isType)
    return std::nullopt;
  // Older names of the same types.
  llvm::StringRef canonical = llvm::StringSwitch<llvm::StringRef>(name)
                                  .Case("short", "int16")
                                  .Case("int", "int32")
                                  .Case("long", "int64")
                                  .Case("half", "float16")
                                  .Case("float", "float32")
                                  .Case("double", "float64")
                                  .Default(name);
  return stringsByValue[value.getRaw()] = intern(canonical);
}

llvm::StringRef Decoder::intern(llvm::StringRef text) {
  return strings.save(text);
}

llvm::StringRef Decoder::intern(Value string) {
  auto [entry, isNew] = stringsByValue.try_emplace(string.getRaw());
  if (isNew)
    entry->second = strings.save(graph.getText(string));
  return entry->second;
}

llvm::StringRef Decoder::getClassNameOf(Value object) {
  auto [entry, isNew] =
      classNamesByValue.try_emplace(graph.getCallable(object).getRaw());
  if (isNew)
    entry->second = strings.save(graph.describe(object));
  return entry->second;
}
