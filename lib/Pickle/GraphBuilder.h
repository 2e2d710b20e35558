//===- GraphBuilder.h - builds the graph of a pickle file -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how values are packed into a Graph: which are held in place, how a
// container grows, when two dictionaries share a shape. Separate from the
// machine, which decides what the file asks for.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_PICKLE_GRAPHBUILDER_H
#define VERIFY_LIB_PICKLE_GRAPHBUILDER_H

#include "Verify/Pickle/Graph.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Compiler.h"

#include <array>

namespace verify::pickle {

/// Appends to a Graph. Methods that change a container return false if it
/// would hold more than `maxElements` values.
class GraphBuilder {
public:
  static constexpr size_t maxElements = Graph::maxAux;

  explicit GraphBuilder(std::unique_ptr<llvm::MemoryBuffer> buffer);

  static constexpr Value getNone() { return Value::fromNode(Graph::noneNode); }
  static constexpr Value getBoolean(bool value) {
    return Value::fromNode(value ? Graph::trueNode : Graph::falseNode);
  }
  static constexpr Value getEmptyTuple() {
    return Value::fromNode(Graph::emptyTupleNode);
  }
  /// An integer of at most 16 bits.
  static constexpr Value makeSmallInteger(uint16_t integer) {
    return Value::fromSmall(integer);
  }
  Value makeInteger(int64_t integer) {
    if (LLVM_LIKELY(Value::fitsSmall(integer)))
      return Value::fromSmall(integer);
    return makeWide(Graph::IntegerTag, static_cast<uint64_t>(integer));
  }
  Value makeFloat(double value);
  /// A String, Bytes, ByteArray or BigInteger whose bytes lie in the file.
  Value makeText(Kind kind, llvm::StringRef text);
  /// The same for text that lies elsewhere.
  Value makeCopiedText(Kind kind, llvm::StringRef text);
  Value makeTuple(llvm::ArrayRef<Value> elements) {
    return makeNode(Graph::TupleTag, elements.size(), appendWords(elements));
  }
  Value makeFrozenSet(llvm::ArrayRef<Value> elements) {
    return makeNode(Graph::FrozenSetTag, elements.size(),
                    appendWords(elements));
  }
  Value makeList() { return makeNode(Graph::ListTag, 0, 0); }
  Value makeSet() { return makeNode(Graph::SetTag, 0, 0); }
  Value makeDictionary() { return makeNode(Graph::DictionaryTag, 0, 0); }
  Value makeGlobal(Value module, Value name);
  Value makeExtension(uint32_t code) {
    return makeNode(Graph::ExtensionTag, 0, code);
  }
  Value makePersistent(Value id) {
    return makeNode(Graph::PersistentTag, 0, id.getRaw());
  }
  Value makeOutOfBand() { return makeNode(Graph::OutOfBandTag, 0, 0); }
  Value makeObject(Construction construction, Value callable, Value arguments,
                   Value keywords = getNone());

  /// Appends to a List, adds to a Set.
  [[nodiscard]] bool append(Value container, llvm::ArrayRef<Value> elements);
  /// Appends or adds to an Object.
  [[nodiscard]] bool appendToObject(Value object,
                                    llvm::ArrayRef<Value> elements);
  /// Stores keys and values, alternating, in a Dictionary.
  [[nodiscard]] bool store(Value dictionary, llvm::ArrayRef<Value> entries);
  /// The same in an empty one, with the keys of the last dictionary like it.
  /// False, and nothing is done, for anything else.
  [[nodiscard]] bool storeFields(Value value, llvm::ArrayRef<Value> entries) {
    if (LLVM_UNLIKELY(!value.isNode()))
      return false;
    Graph::Node &node = graph.nodes[value.getNode()];
    return node.tag == Graph::DictionaryTag && node.aux == 0 &&
           !isUsed(value) && !entries.empty() && entries.size() % 2 == 0 &&
           makePredictedRecord(node, entries, predictShape(entries));
  }
  /// Stores keys and values in an Object.
  [[nodiscard]] bool storeInObject(Value object, llvm::ArrayRef<Value> entries);
  /// Gives an Object its state, or a further one.
  [[nodiscard]] bool build(Value object, Value state);
  /// The same for an Object without a state. False, and nothing is done, for
  /// anything else.
  [[nodiscard]] bool buildFirst(Value value, Value state) {
    if (LLVM_UNLIKELY(!value.isNode()))
      return false;
    Graph::Node &node = graph.nodes[value.getNode()];
    if (node.tag != Graph::ObjectTag || node.data != Graph::noState ||
        isUsed(value))
      return false;
    node.data = state.getRaw();
    useState(state);
    return true;
  }
  /// Notes that what is called may take what its arguments hold.
  void useArguments(Value arguments);
  /// Whether something took what a container or an object held: the entries of
  /// a state become those of an object in Python, and arguments may be copied.
  /// What is changed afterwards is not what was taken.
  bool isUsed(Value value) const {
    return value.isNode() && value.getNode() < used.size() &&
           used.test(value.getNode());
  }

  Kind getKind(Value value) const { return graph.getKind(value); }
  const Graph &getGraph() const { return graph; }
  llvm::StringRef getInput() const { return graph.buffer->getBuffer(); }
  const llvm::MemoryBuffer &getBuffer() const { return *graph.buffer; }
  size_t getMemoryUse() const;
  /// Whether the packed form has little room left: as much as `margin` more
  /// values, however they are made, still fit if it has.
  bool isNearlyFull(size_t margin) const;
  /// Hands the graph over; the builder is of no use afterwards.
  Graph take(Value root);

private:
  /// Dictionaries with more keys than this, or beyond this number of shapes,
  /// have none.
  static constexpr size_t maxShapeKeys = 64;
  static constexpr size_t maxShapes = 1 << 16;

  Value makeNode(Graph::Tag tag, size_t aux, uint32_t data) {
    graph.nodes.push_back({tag, static_cast<uint32_t>(aux), data});
    return Value::fromNode(static_cast<uint32_t>(graph.nodes.size() - 1));
  }
  static Graph::Tag getTextTag(Kind kind);
  Value makeLongText(Kind kind, uint32_t aux, size_t offset, size_t length);
  Value makeWide(Graph::Tag tag, uint64_t bits);
  uint32_t appendWords(llvm::ArrayRef<Value> values) {
    auto first = static_cast<uint32_t>(graph.words.size());
    graph.words.append(values.begin(), values.end());
    return first;
  }
  bool appendTo(uint32_t index, Graph::Tag grown, llvm::ArrayRef<Value> values);
  bool makeRecord(Graph::Node &node, llvm::ArrayRef<Value> entries);
  /// The shape of the last dictionary with this number of entries and this
  /// first key: they nearly always tell the shape.
  uint32_t &predictShape(llvm::ArrayRef<Value> entries) {
    return predictedShapes[(entries[0].getRaw() * 31 + entries.size() / 2) %
                           numPredicted];
  }
  /// Makes a dictionary of `shape` if the entries have its keys.
  bool makePredictedRecord(Graph::Node &node, llvm::ArrayRef<Value> entries,
                           uint32_t shape);
  void forgetShape(uint32_t index);
  uint32_t findShape(llvm::ArrayRef<Value> keys);
  void use(Value value) {
    if (value.getNode() >= used.size())
      used.resize(graph.nodes.size() + graph.nodes.size() / 2);
    used.set(value.getNode());
  }
  void useState(Value state) {
    if (!state.isNode())
      return;
    use(state);
    if (LLVM_UNLIKELY(graph.nodes[state.getNode()].tag == Graph::TupleTag))
      useArguments(state);
  }
  /// Words of an object's extension, made if it has none.
  uint32_t extend(Value object);

  Graph graph;
  llvm::DenseMap<uint64_t, llvm::SmallVector<uint32_t, 1>> shapesByHash;
  static constexpr size_t numPredicted = 256;
  std::array<uint32_t, numPredicted> predictedShapes = {};
  llvm::DenseMap<uint32_t, uint32_t> plainConstructors;
  uint32_t lastPlainCallable = ~0u, lastPlainConstructor = 0;
  llvm::StringMap<Value> globals;
  llvm::BitVector used; ///< nodes that may not change any more
};

} // namespace verify::pickle

#endif // VERIFY_LIB_PICKLE_GRAPHBUILDER_H
