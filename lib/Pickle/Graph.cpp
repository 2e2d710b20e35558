//===- Graph.cpp - access to the graph of a pickle file ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how the packed nodes of a graph are read. It is separate from
// GraphBuilder because users of a graph must not be able to change it.
//
//===----------------------------------------------------------------------===//

#include "Verify/Pickle/Graph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace verify::pickle;

std::string verify::pickle::getPrintable(llvm::StringRef text) {
  constexpr size_t maxLength = 80;
  std::string printable;
  llvm::raw_string_ostream stream(printable);
  llvm::printEscapedString(text.take_front(maxLength), stream);
  if (text.size() > maxLength)
    stream << "...";
  return printable;
}

int64_t Graph::getInteger(Value value) const {
  if (value.isSmall())
    return value.getSmall();
  uint32_t first = nodes[value.getNode()].data;
  return static_cast<int64_t>(uint64_t(words[first + 1].bits) << 32 |
                              words[first].bits);
}

double Graph::getFloat(Value value) const {
  uint32_t first = nodes[value.getNode()].data;
  return llvm::bit_cast<double>(uint64_t(words[first + 1].bits) << 32 |
                                words[first].bits);
}

llvm::StringRef Graph::getText(Value value) const {
  const Node &node = nodes[value.getNode()];
  llvm::StringRef copied(texts.data(), texts.size());
  if (LLVM_LIKELY(node.aux < inFile))
    return copied.substr(node.data, node.aux);
  if (node.aux < longCopied)
    return buffer->getBuffer().substr(node.data, node.aux & ~inFile);
  uint32_t offset = words[node.data].bits, length = words[node.data + 1].bits;
  return (node.aux == longInFile ? buffer->getBuffer() : copied)
      .substr(offset, length);
}

size_t Graph::getNumEntries(Value dictionary) const {
  const Node &node = nodes[dictionary.getNode()];
  return node.tag == RecordTag ? shapes[node.aux].numKeys : node.aux / 2;
}

std::pair<Value, Value> Graph::getEntry(Value dictionary, size_t index) const {
  const Node &node = nodes[dictionary.getNode()];
  if (node.tag == RecordTag)
    return {words[shapes[node.aux].firstKey + index], words[node.data + index]};
  return {words[node.data + 2 * index], words[node.data + 2 * index + 1]};
}

llvm::ArrayRef<Value> Graph::getShapeKeys(uint32_t shape) const {
  return llvm::ArrayRef(words).slice(shapes[shape].firstKey,
                                     shapes[shape].numKeys);
}

llvm::StringRef Graph::getModule(Value global) const {
  return getText(words[nodes[global.getNode()].data]);
}

llvm::StringRef Graph::getName(Value global) const {
  return getText(words[nodes[global.getNode()].data + 1]);
}

Construction Graph::getConstruction(Value object) const {
  return constructors[getObjectNode(object).aux].construction;
}

Value Graph::getArguments(Value object) const {
  return constructors[getObjectNode(object).aux].arguments;
}

Value Graph::getKeywords(Value object) const {
  return constructors[getObjectNode(object).aux].keywords;
}

Value Graph::getExtension(Value object, unsigned index) const {
  const Node &node = getObjectNode(object);
  return node.tag == ExtendedObjectTag ? words[node.data + index] : Value();
}

Value Graph::getLaterStates(Value object) const {
  return getExtension(object, 1);
}

Value Graph::getItems(Value object) const { return getExtension(object, 2); }

Value Graph::getEntries(Value object) const { return getExtension(object, 3); }

std::string Graph::describe(Value value) const {
  switch (getKind(value)) {
  case Kind::None:
    return "None";
  case Kind::Boolean:
    return "bool";
  case Kind::Integer:
  case Kind::BigInteger:
    return "int";
  case Kind::Float:
    return "float";
  case Kind::String:
    return "str";
  case Kind::Bytes:
    return "bytes";
  case Kind::ByteArray:
    return "bytearray";
  case Kind::Tuple:
    return "tuple";
  case Kind::List:
    return "list";
  case Kind::Dictionary:
    return "dict";
  case Kind::Set:
    return "set";
  case Kind::FrozenSet:
    return "frozenset";
  case Kind::Global:
    return getPrintable(getModule(value)) + "." + getPrintable(getName(value));
  case Kind::Extension:
    return "extension";
  case Kind::Persistent:
    return "persistent id";
  case Kind::OutOfBand:
    return "out-of-band buffer";
  case Kind::Object:
    Value callable = getCallable(value);
    if (getKind(callable) == Kind::Global)
      return getPrintable(getName(callable));
    return "object";
  }
  llvm_unreachable("all kinds handled");
}

std::vector<uint32_t> Graph::countObjects() const {
  std::vector<uint32_t> counts(globals.size());
  for (const Constructor &constructor : constructors)
    if (getKind(constructor.callable) == Kind::Global)
      counts[getGlobalNumber(constructor.callable)] += constructor.numObjects;
  return counts;
}

size_t Graph::getMemoryUse() const {
  // Of the first two there is room that was never touched.
  return nodes.size_in_bytes() + words.size_in_bytes() +
         constructors.capacity_in_bytes() + shapes.capacity_in_bytes() +
         texts.capacity();
}
