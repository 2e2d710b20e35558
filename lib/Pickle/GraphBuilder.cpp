//===- GraphBuilder.cpp - builds the graph of a pickle file -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs values into a Graph. A container first lies where its elements were
// appended; one that is appended to again moves to the end, into room for a
// power of two of words. A dictionary whose keys are strings holds its values
// only, and shares its keys with all others of the same shape.
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "Verify/Pickle/LargePages.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace verify::pickle;

/// Words are numbered with 32 bits; what is appended between two checks of
/// isNearlyFull must fit too.
static constexpr size_t maxTexts = size_t(1) << 31;
static constexpr size_t maxWords = (size_t(1) << 32) - (size_t(1) << 29);

/// No more than there are in plans: those with short names have a node for 13
/// bytes.
static constexpr size_t bytesPerNode = 10, bytesPerWord = 4;

GraphBuilder::GraphBuilder(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  graph.fileName = buffer->getBufferIdentifier().str();
  graph.buffer = std::move(buffer);
  // Room that is not used is never touched; growing would copy.
  graph.nodes.reserve(getInput().size() / bytesPerNode);
  graph.words.reserve(getInput().size() / bytesPerWord);
  preferLargePages(graph.nodes.data(), graph.nodes.capacity_in_bytes());
  preferLargePages(graph.words.data(), graph.words.capacity_in_bytes());
  makeNode(Graph::NoneTag, 0, 0);
  makeNode(Graph::BooleanTag, 0, 0);
  makeNode(Graph::BooleanTag, 0, 1);
  makeNode(Graph::TupleTag, 0, 0);
}

Value GraphBuilder::makeWide(Graph::Tag tag, uint64_t bits) {
  Value halves[] = {Value::fromRaw(static_cast<uint32_t>(bits)),
                    Value::fromRaw(static_cast<uint32_t>(bits >> 32))};
  return makeNode(tag, 0, appendWords(halves));
}

Value GraphBuilder::makeFloat(double value) {
  return makeWide(Graph::FloatTag, llvm::bit_cast<uint64_t>(value));
}

Graph::Tag GraphBuilder::getTextTag(Kind kind) {
  switch (kind) {
  case Kind::String:
    return Graph::StringTag;
  case Kind::Bytes:
    return Graph::BytesTag;
  case Kind::ByteArray:
    return Graph::ByteArrayTag;
  case Kind::BigInteger:
    return Graph::BigIntegerTag;
  default:
    llvm_unreachable("not a kind of text");
  }
}

Value GraphBuilder::makeText(Kind kind, llvm::StringRef text) {
  if (LLVM_LIKELY(text.size() <= Graph::maxCopiedText))
    return makeCopiedText(kind, text);
  auto offset = static_cast<uint32_t>(text.data() - getInput().data());
  if (LLVM_LIKELY(text.size() <= Graph::maxTextLength))
    return makeNode(getTextTag(kind), text.size() | Graph::inFile, offset);
  return makeLongText(kind, Graph::longInFile, offset, text.size());
}

Value GraphBuilder::makeCopiedText(Kind kind, llvm::StringRef text) {
  size_t offset = graph.texts.size();
  graph.texts.append(text.begin(), text.end());
  if (LLVM_LIKELY(text.size() <= Graph::maxTextLength))
    return makeNode(getTextTag(kind), text.size(),
                    static_cast<uint32_t>(offset));
  return makeLongText(kind, Graph::longCopied, offset, text.size());
}

Value GraphBuilder::makeLongText(Kind kind, uint32_t aux, size_t offset,
                                 size_t length) {
  Value place[] = {Value::fromRaw(static_cast<uint32_t>(offset)),
                   Value::fromRaw(static_cast<uint32_t>(length))};
  return makeNode(getTextTag(kind), aux, appendWords(place));
}

Value GraphBuilder::makeGlobal(Value module, Value name) {
  llvm::SmallString<128> key(graph.getText(module));
  key.push_back('\0');
  key += graph.getText(name);
  auto [entry, isNew] = globals.try_emplace(key);
  if (isNew) {
    Value parts[] = {module, name};
    entry->second =
        makeNode(Graph::GlobalTag, graph.globals.size(), appendWords(parts));
    graph.globals.push_back(entry->second);
  }
  return entry->second;
}

Value GraphBuilder::makeObject(Construction construction, Value callable,
                               Value arguments, Value keywords) {
  // Nearly all objects are made by `cls.__new__(cls)`: they share one entry.
  bool isPlain = construction == Construction::NewObject &&
                 arguments == getEmptyTuple() && keywords == getNone();
  auto next = static_cast<uint32_t>(graph.constructors.size());
  if (isPlain) {
    if (lastPlainCallable != callable.getRaw()) {
      auto [entry, isNew] =
          plainConstructors.try_emplace(callable.getRaw(), next);
      lastPlainCallable = callable.getRaw();
      lastPlainConstructor = entry->second;
      if (isNew)
        graph.constructors.push_back(
            {callable, arguments, keywords, construction, 0});
    }
    next = lastPlainConstructor;
  } else {
    graph.constructors.push_back(
        {callable, arguments, keywords, construction, 0});
  }
  ++graph.constructors[next].numObjects;
  return makeNode(Graph::ObjectTag, next, Graph::noState);
}

bool GraphBuilder::appendTo(uint32_t index, Graph::Tag grown,
                            llvm::ArrayRef<Value> values) {
  Graph::Node &node = graph.nodes[index];
  size_t size = node.aux, newSize = size + values.size();
  if (newSize > maxElements)
    return false;
  auto &words = graph.words;
  bool isGrown = node.tag == grown;
  if (!isGrown && size == 0) {
    node.data = appendWords(values);
  } else if (!isGrown && node.data + size == words.size()) {
    appendWords(values);
  } else if (isGrown && newSize <= llvm::PowerOf2Ceil(size)) {
    llvm::copy(values, words.begin() + node.data + size);
  } else {
    size_t first = words.size();
    if (first + llvm::PowerOf2Ceil(newSize) > maxWords)
      return false;
    words.resize(first + llvm::PowerOf2Ceil(newSize));
    std::copy_n(words.begin() + node.data, size, words.begin() + first);
    llvm::copy(values, words.begin() + first + size);
    node.data = static_cast<uint32_t>(first);
    node.tag = grown;
  }
  node.aux = static_cast<uint32_t>(newSize);
  return true;
}

bool GraphBuilder::append(Value container, llvm::ArrayRef<Value> elements) {
  uint32_t index = container.getNode();
  Graph::Tag grown = getKind(container) == Kind::List ? Graph::GrownListTag
                                                      : Graph::GrownSetTag;
  return appendTo(index, grown, elements);
}

uint32_t GraphBuilder::findShape(llvm::ArrayRef<Value> keys) {
  uint64_t hash = llvm::xxh3_64bits(
      {reinterpret_cast<const uint8_t *>(keys.data()), keys.size() * 4});
  // DenseMap reserves two keys; any other hash does for them.
  if (hash >= ~1ull)
    hash = 0;
  llvm::SmallVector<uint32_t, 1> &candidates = shapesByHash[hash];
  for (uint32_t shape : candidates)
    if (graph.getShapeKeys(shape) == keys)
      return shape;
  if (graph.shapes.size() == maxShapes)
    return Graph::noShape;
  auto shape = static_cast<uint32_t>(graph.shapes.size());
  graph.shapes.push_back(
      {appendWords(keys), static_cast<uint32_t>(keys.size())});
  candidates.push_back(shape);
  return shape;
}

bool GraphBuilder::makePredictedRecord(Graph::Node &node,
                                       llvm::ArrayRef<Value> entries,
                                       uint32_t shape) {
  size_t numKeys = entries.size() / 2;
  if (shape >= graph.shapes.size() || graph.shapes[shape].numKeys != numKeys)
    return false;
  const Value *keys = graph.words.data() + graph.shapes[shape].firstKey;
  Value values[maxShapeKeys];
  for (size_t i = 0; i != numKeys; ++i) {
    if (entries[2 * i] != keys[i])
      return false;
    values[i] = entries[2 * i + 1];
  }
  node = {Graph::RecordTag, shape,
          appendWords(llvm::ArrayRef(values, numKeys))};
  return true;
}

bool GraphBuilder::makeRecord(Graph::Node &node,
                              llvm::ArrayRef<Value> entries) {
  size_t numKeys = entries.size() / 2;
  if (numKeys > maxShapeKeys)
    return false;
  uint32_t &predicted = predictShape(entries);
  if (LLVM_LIKELY(makePredictedRecord(node, entries, predicted)))
    return true;
  Value keys[maxShapeKeys];
  for (size_t i = 0; i != numKeys; ++i) {
    keys[i] = entries[2 * i];
    if (keys[i].isSmall() ||
        graph.nodes[keys[i].getNode()].tag != Graph::StringTag)
      return false;
  }
  predicted = findShape(llvm::ArrayRef(keys, numKeys));
  return makePredictedRecord(node, entries, predicted);
}

void GraphBuilder::forgetShape(uint32_t index) {
  Graph::Node &node = graph.nodes[index];
  uint32_t numKeys = graph.shapes[node.aux].numKeys;
  llvm::SmallVector<Value, 2 * maxShapeKeys> entries;
  for (uint32_t i = 0; i != numKeys; ++i) {
    entries.push_back(graph.words[graph.shapes[node.aux].firstKey + i]);
    entries.push_back(graph.words[node.data + i]);
  }
  node = {Graph::DictionaryTag, 2 * numKeys, appendWords(entries)};
}

bool GraphBuilder::store(Value dictionary, llvm::ArrayRef<Value> entries) {
  if (entries.empty())
    return true;
  Graph::Node &node = graph.nodes[dictionary.getNode()];
  if (node.tag == Graph::DictionaryTag && node.aux == 0 &&
      makeRecord(node, entries))
    return true;
  if (node.tag == Graph::RecordTag)
    forgetShape(dictionary.getNode());
  return appendTo(dictionary.getNode(), Graph::GrownDictionaryTag, entries);
}

uint32_t GraphBuilder::extend(Value object) {
  Graph::Node &node = graph.nodes[object.getNode()];
  if (node.tag == Graph::ObjectTag) {
    Value parts[] = {Value::fromRaw(node.data), getNone(), getNone(),
                     getNone()};
    node.data = appendWords(parts);
    node.tag = Graph::ExtendedObjectTag;
  }
  return node.data;
}

bool GraphBuilder::build(Value object, Value state) {
  if (buildFirst(object, state))
    return true;
  useState(state);
  uint32_t parts = extend(object);
  if (graph.words[parts].getRaw() == Graph::noState) {
    graph.words[parts] = state;
    return true;
  }
  if (graph.words[parts + 1] == getNone())
    graph.words[parts + 1] = makeList();
  return append(graph.words[parts + 1], state);
}

bool GraphBuilder::appendToObject(Value object,
                                  llvm::ArrayRef<Value> elements) {
  uint32_t parts = extend(object);
  if (graph.words[parts + 2] == getNone())
    graph.words[parts + 2] = makeList();
  return append(graph.words[parts + 2], elements);
}

bool GraphBuilder::storeInObject(Value object, llvm::ArrayRef<Value> entries) {
  uint32_t parts = extend(object);
  if (graph.words[parts + 3] == getNone())
    graph.words[parts + 3] = makeDictionary();
  return store(graph.words[parts + 3], entries);
}

void GraphBuilder::useArguments(Value arguments) {
  for (Value value : graph.getElements(arguments))
    switch (graph.getKind(value)) {
    case Kind::List:
    case Kind::Dictionary:
    case Kind::Set:
      use(value);
      break;
    case Kind::Object:
      // An object without arguments may be one of a cycle, which has its state
      // only at the end.
      if (graph.getConstruction(value) == Construction::Call)
        use(value);
      break;
    default:
      break;
    }
}

size_t GraphBuilder::getMemoryUse() const {
  return graph.getMemoryUse() + globals.size() * 64 + used.getMemorySize() +
         shapesByHash.getMemorySize() + plainConstructors.getMemorySize();
}

bool GraphBuilder::isNearlyFull(size_t margin) const {
  size_t maxNodes = (size_t(1) << 31) - 2;
  return graph.nodes.size() + 2 * margin > maxNodes ||
         graph.constructors.size() + margin > Graph::maxAux ||
         graph.globals.size() + margin > Graph::maxAux ||
         graph.texts.size() > maxTexts ||
         graph.words.size() + 8 * margin > maxWords;
}

Graph GraphBuilder::take(Value root) {
  graph.root = root;
  return std::move(graph);
}
