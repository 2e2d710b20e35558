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

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

using namespace verify::pickle;

Kind Graph::getKind(Value value) const {
  if (value.isSmall())
    return Kind::Integer;
  switch (static_cast<Tag>(nodes[value.getNode()].tag)) {
  case NoneTag:
    return Kind::None;
  case BooleanTag:
    return Kind::Boolean;
  case IntegerTag:
    return Kind::Integer;
  case BigIntegerTag:
    return Kind::BigInteger;
  case FloatTag:
    return Kind::Float;
  case StringTag:
    return Kind::String;
  case BytesTag:
    return Kind::Bytes;
  case ByteArrayTag:
    return Kind::ByteArray;
  case TupleTag:
    return Kind::Tuple;
  case ListTag:
  case GrownListTag:
    return Kind::List;
  case SetTag:
  case GrownSetTag:
    return Kind::Set;
  case FrozenSetTag:
    return Kind::FrozenSet;
  case DictionaryTag:
  case GrownDictionaryTag:
  case RecordTag:
    return Kind::Dictionary;
  case GlobalTag:
    return Kind::Global;
  case ExtensionTag:
    return Kind::Extension;
  case PersistentTag:
    return Kind::Persistent;
  case OutOfBandTag:
    return Kind::OutOfBand;
  case ObjectTag:
  case ExtendedObjectTag:
    return Kind::Object;
  }
  llvm_unreachable("all tags handled");
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
  if (node.aux == decodedText)
    return decodedTexts[node.data];
  if (node.aux == longText)
    return buffer->getBuffer().substr(words[node.data].bits,
                                      words[node.data + 1].bits);
  return buffer->getBuffer().substr(node.data, node.aux);
}

llvm::ArrayRef<Value> Graph::getElements(Value value) const {
  const Node &node = nodes[value.getNode()];
  return llvm::ArrayRef(words).slice(node.data, node.aux);
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

uint32_t Graph::getShape(Value dictionary) const {
  const Node &node = nodes[dictionary.getNode()];
  return node.tag == RecordTag ? node.aux : noShape;
}

llvm::ArrayRef<Value> Graph::getShapeKeys(uint32_t shape) const {
  return llvm::ArrayRef(words).slice(shapes[shape].firstKey,
                                     shapes[shape].numKeys);
}

llvm::ArrayRef<Value> Graph::getShapedValues(Value dictionary) const {
  const Node &node = nodes[dictionary.getNode()];
  return llvm::ArrayRef(words).slice(node.data, shapes[node.aux].numKeys);
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

Value Graph::getCallable(Value object) const {
  return constructors[getObjectNode(object).aux].callable;
}

Value Graph::getArguments(Value object) const {
  return constructors[getObjectNode(object).aux].arguments;
}

Value Graph::getKeywords(Value object) const {
  return constructors[getObjectNode(object).aux].keywords;
}

bool Graph::hasState(Value object) const {
  const Node &node = getObjectNode(object);
  if (node.tag == ExtendedObjectTag)
    return words[node.data].bits != noState;
  return node.data != noState;
}

Value Graph::getState(Value object) const {
  if (!hasState(object))
    return Value();
  const Node &node = getObjectNode(object);
  return node.tag == ExtendedObjectTag ? words[node.data]
                                       : Value::fromRaw(node.data);
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
    return (getModule(value) + "." + getName(value)).str();
  case Kind::Extension:
    return "extension";
  case Kind::Persistent:
    return "persistent id";
  case Kind::OutOfBand:
    return "out-of-band buffer";
  case Kind::Object:
    Value callable = getCallable(value);
    if (getKind(callable) == Kind::Global)
      return getName(callable).str();
    return "object";
  }
  llvm_unreachable("all kinds handled");
}

size_t Graph::getMemoryUse() const {
  return nodes.capacity_in_bytes() + words.capacity_in_bytes() +
         constructors.capacity_in_bytes() + shapes.capacity_in_bytes() +
         decodedTexts.capacity_in_bytes() + decodedStorage.getTotalMemory();
}
