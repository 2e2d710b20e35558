//===- Graph.h - what a pickle file describes, as data ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object graph of a pickle file as inert data: constructors, arguments and
// states, never the objects themselves. References are 32 bits, a node is eight
// bytes, and text points into the mapped file, so that a graph of millions of
// objects stays about as large as the file it was read from. Graphs may be
// cyclic and arbitrarily deep: nothing here recurses, and users must not.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_PICKLE_GRAPH_H
#define VERIFY_PICKLE_GRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace verify::pickle {

/// What a value is.
enum class Kind : uint8_t {
  None,
  Boolean,
  Integer,    ///< fits 64 bits
  BigInteger, ///< does not; its little-endian bytes are its text
  Float,
  String,
  Bytes,
  ByteArray,
  Tuple,
  List,
  Dictionary,
  Set,
  FrozenSet,
  Global,     ///< a module and a name; never looked up
  Extension,  ///< a code of the extension registry; never looked up
  Persistent, ///< a persistent id, in its first element
  OutOfBand,  ///< a buffer that travelled beside the file
  Object      ///< a call that would make an object; never made
};

/// How an Object would have been made.
enum class Construction : uint8_t {
  Call,     ///< REDUCE, INST, OBJ: `callable(*arguments)`
  NewObject ///< NEWOBJ: `callable.__new__(callable, *arguments, **keywords)`
};

/// A reference to a node of a Graph, or a small integer held in place. Equal
/// values are the same Python object, except for integers, which compare by
/// value. Meaningful together with the graph it came from only.
class Value {
public:
  constexpr Value() = default;
  /// The 32 bits as they are: a key for tables.
  constexpr uint32_t getRaw() const { return bits; }
  static constexpr Value fromRaw(uint32_t bits) {
    Value value;
    value.bits = bits;
    return value;
  }
  friend constexpr bool operator==(Value a, Value b) = default;
  /// Values that are not held in place are numbered in the order in which the
  /// file first mentions them.
  static constexpr Value fromNode(uint32_t node) { return fromRaw(node << 1); }
  constexpr bool isNode() const { return !isSmall(); }
  constexpr uint32_t getNode() const { return bits >> 1; }

private:
  friend class Graph;
  friend class GraphBuilder;
  static constexpr int64_t maxSmall = (int64_t(1) << 30) - 1;
  static constexpr Value fromSmall(int64_t integer) {
    return fromRaw((static_cast<uint32_t>(integer) << 1) | 1);
  }
  static constexpr bool fitsSmall(int64_t integer) {
    return integer >= -maxSmall - 1 && integer <= maxSmall;
  }
  constexpr bool isSmall() const { return bits & 1; }
  constexpr int64_t getSmall() const { return static_cast<int32_t>(bits) >> 1; }

  uint32_t bits = 0;
};

/// Text from a file as a message may show it: printable, and cut if it is long.
std::string getPrintable(llvm::StringRef text);

/// The graph of one file. Accessors that need a kind require that the value
/// has it; getKind never fails.
class Graph {
public:
  /// The object the file describes.
  Value getRoot() const { return root; }
  /// The file's name, for messages.
  llvm::StringRef getFileName() const { return fileName; }
  size_t getFileSize() const { return buffer->getBufferSize(); }

  Kind getKind(Value value) const {
    return value.isSmall() ? Kind::Integer
                           : kindsByTag[nodes[value.getNode()].tag];
  }
  bool isNone(Value value) const { return value.bits == 0; }
  bool getBoolean(Value value) const { return nodes[value.getNode()].data; }
  int64_t getInteger(Value value) const;
  double getFloat(Value value) const;
  /// The bytes of a String, Bytes, ByteArray or BigInteger.
  llvm::StringRef getText(Value value) const;
  /// The elements of a Tuple, List, Set or FrozenSet, in file order.
  llvm::ArrayRef<Value> getElements(Value value) const {
    const Node &node = nodes[value.getNode()];
    return llvm::ArrayRef(words).slice(node.data, node.aux);
  }
  /// The code of an Extension.
  uint32_t getExtensionCode(Value value) const {
    return nodes[value.getNode()].data;
  }
  /// The id of a Persistent value.
  Value getPersistentId(Value value) const {
    return Value::fromRaw(nodes[value.getNode()].data);
  }

  /// The entries of a Dictionary, in file order; a key may occur twice, and
  /// then the last one counts.
  size_t getNumEntries(Value dictionary) const;
  std::pair<Value, Value> getEntry(Value dictionary, size_t index) const;
  /// Dictionaries with the same string keys in the same order share a shape.
  /// The number of the shape, or noShape for any other dictionary.
  static constexpr uint32_t noShape = ~0u;
  uint32_t getShape(Value dictionary) const {
    const Node &node = nodes[dictionary.getNode()];
    return node.tag == RecordTag ? node.aux : noShape;
  }
  size_t getNumShapes() const { return shapes.size(); }
  llvm::ArrayRef<Value> getShapeKeys(uint32_t shape) const;
  /// The values of a dictionary that has a shape, in the order of its keys.
  llvm::ArrayRef<Value> getShapedValues(Value dictionary) const {
    const Node &node = nodes[dictionary.getNode()];
    return llvm::ArrayRef(words).slice(node.data, shapes[node.aux].numKeys);
  }

  /// Module and name of a Global; `number` counts distinct globals from zero.
  llvm::StringRef getModule(Value global) const;
  llvm::StringRef getName(Value global) const;
  uint32_t getGlobalNumber(Value global) const {
    return nodes[global.getNode()].aux;
  }
  /// All globals, in the order of their numbers.
  llvm::ArrayRef<Value> getGlobals() const { return globals; }

  /// The parts of an Object. Absent keywords, state, items and entries are
  /// None; `hasState` tells an absent state from the state None.
  Construction getConstruction(Value object) const;
  Value getCallable(Value object) const {
    return constructors[getObjectNode(object).aux].callable;
  }
  Value getArguments(Value object) const;
  Value getKeywords(Value object) const;
  bool hasState(Value object) const { return getRawState(object) != noState; }
  /// What the first BUILD was given.
  Value getState(Value object) const {
    uint32_t state = getRawState(object);
    return state == noState ? Value() : Value::fromRaw(state);
  }
  /// Whether nothing but one state, if any, was given to the object.
  bool isPlain(Value object) const {
    return getObjectNode(object).tag == ObjectTag;
  }
  /// A List of what further BUILDs were given.
  Value getLaterStates(Value object) const;
  /// A List of what was appended or added to the object.
  Value getItems(Value object) const;
  /// A Dictionary of what was stored in the object by key.
  Value getEntries(Value object) const;

  /// The Python type of a value, as a message should call it: `int`, `str`,
  /// or the name of the class of an object.
  std::string describe(Value value) const;

  /// Bytes held, apart from the mapped file.
  size_t getMemoryUse() const;
  /// All values that are not held in place have smaller node numbers.
  size_t getNumNodes() const { return nodes.size(); }
  /// How many Objects are made by calling each global, by its number.
  std::vector<uint32_t> countObjects() const;

private:
  friend class GraphBuilder;

  /// What a node is; several tags may stand for one Kind.
  enum Tag : uint32_t {
    NoneTag,
    BooleanTag,
    IntegerTag,    // data: two words
    BigIntegerTag, // text
    FloatTag,      // data: two words
    StringTag,     // text
    BytesTag,      // text
    ByteArrayTag,  // text
    TupleTag,      // aux: words, data: first word; so for all containers
    ListTag,
    GrownListTag, // room for the next power of two of words
    SetTag,
    GrownSetTag,
    FrozenSetTag,
    DictionaryTag, // key, value, key, value, ...
    GrownDictionaryTag,
    RecordTag, // dictionary; aux: shape, data: first value
    GlobalTag, // aux: number, data: module and name
    ExtensionTag,
    PersistentTag,
    OutOfBandTag,
    ObjectTag,        // aux: constructor, data: state or noState
    ExtendedObjectTag // data: state, later states, items, entries
  };
  static constexpr Kind kindsByTag[] = {
      Kind::None,       Kind::Boolean,   Kind::Integer,    Kind::BigInteger,
      Kind::Float,      Kind::String,    Kind::Bytes,      Kind::ByteArray,
      Kind::Tuple,      Kind::List,      Kind::List,       Kind::Set,
      Kind::Set,        Kind::FrozenSet, Kind::Dictionary, Kind::Dictionary,
      Kind::Dictionary, Kind::Global,    Kind::Extension,  Kind::Persistent,
      Kind::OutOfBand,  Kind::Object,    Kind::Object};
  static_assert(std::size(kindsByTag) == ExtendedObjectTag + 1);

  /// Text up to maxCopiedText bytes is copied, so that the pages of the file
  /// are not needed again: data is the offset in `texts` and aux the length.
  /// Longer text stays in the file: data is the offset there, and aux the
  /// length with the bit inFile. Text of 64 MiB and more has a special aux, and
  /// data is the first of two words, offset and length.
  struct Node {
    uint32_t tag : 5;
    uint32_t aux : 27;
    uint32_t data;
  };
  static constexpr uint32_t maxAux = (1u << 27) - 1;
  static constexpr uint32_t inFile = 1u << 26;
  static constexpr uint32_t longInFile = maxAux;
  static constexpr uint32_t longCopied = maxAux - 1;
  static constexpr uint32_t maxTextLength = inFile - 3;
  static constexpr uint32_t maxCopiedText = 255;
  /// Not the raw value of any reference.
  static constexpr uint32_t noState = 0xfffffffeu;
  /// First nodes of every graph.
  enum { noneNode, falseNode, trueNode, emptyTupleNode };

  struct Constructor {
    Value callable, arguments, keywords;
    Construction construction;
    uint32_t numObjects;
  };
  struct Shape {
    uint32_t firstKey; // in words
    uint32_t numKeys;
  };

  const Node &getObjectNode(Value object) const {
    return nodes[object.getNode()];
  }
  Value getExtension(Value object, unsigned index) const;
  uint32_t getRawState(Value object) const {
    const Node &node = getObjectNode(object);
    return node.tag == ExtendedObjectTag ? words[node.data].bits : node.data;
  }

  std::string fileName;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  Value root;
  llvm::SmallVector<Node, 0> nodes;
  llvm::SmallVector<Value, 0> words;
  llvm::SmallVector<Constructor, 0> constructors;
  llvm::SmallVector<Shape, 0> shapes;
  llvm::SmallVector<char, 0> texts;
  llvm::SmallVector<Value, 0> globals;
};

} // namespace verify::pickle

#endif // VERIFY_PICKLE_GRAPH_H
