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
#include "llvm/Support/Allocator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

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

private:
  friend class Graph;
  friend class GraphBuilder;
  static constexpr int64_t maxSmall = (int64_t(1) << 30) - 1;
  static constexpr Value fromNode(uint32_t node) { return fromRaw(node << 1); }
  static constexpr Value fromSmall(int64_t integer) {
    return fromRaw((static_cast<uint32_t>(integer) << 1) | 1);
  }
  static constexpr bool fitsSmall(int64_t integer) {
    return integer >= -maxSmall - 1 && integer <= maxSmall;
  }
  constexpr bool isSmall() const { return bits & 1; }
  constexpr int64_t getSmall() const { return static_cast<int32_t>(bits) >> 1; }
  constexpr uint32_t getNode() const { return bits >> 1; }

  uint32_t bits = 0;
};

/// The graph of one file. Accessors that need a kind require that the value
/// has it; getKind never fails.
class Graph {
public:
  /// The object the file describes.
  Value getRoot() const { return root; }
  /// The file's name, for messages.
  llvm::StringRef getFileName() const { return fileName; }

  Kind getKind(Value value) const;
  bool isNone(Value value) const { return value.bits == 0; }
  bool getBoolean(Value value) const { return nodes[value.getNode()].data; }
  int64_t getInteger(Value value) const;
  double getFloat(Value value) const;
  /// The bytes of a String, Bytes, ByteArray or BigInteger.
  llvm::StringRef getText(Value value) const;
  /// The elements of a Tuple, List, Set or FrozenSet, in file order.
  llvm::ArrayRef<Value> getElements(Value value) const;
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
  uint32_t getShape(Value dictionary) const;
  size_t getNumShapes() const { return shapes.size(); }
  llvm::ArrayRef<Value> getShapeKeys(uint32_t shape) const;
  /// The values of a dictionary that has a shape, in the order of its keys.
  llvm::ArrayRef<Value> getShapedValues(Value dictionary) const;

  /// Module and name of a Global; `number` counts distinct globals from zero.
  llvm::StringRef getModule(Value global) const;
  llvm::StringRef getName(Value global) const;
  uint32_t getGlobalNumber(Value global) const {
    return nodes[global.getNode()].aux;
  }
  uint32_t getNumGlobals() const { return numGlobals; }

  /// The parts of an Object. Absent keywords, state, items and entries are
  /// None; `hasState` tells an absent state from the state None.
  Construction getConstruction(Value object) const;
  Value getCallable(Value object) const;
  Value getArguments(Value object) const;
  Value getKeywords(Value object) const;
  bool hasState(Value object) const;
  /// What the first BUILD was given.
  Value getState(Value object) const;
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
  size_t getNumNodes() const { return nodes.size(); }

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
  /// Text: data is the offset in the file and aux the length; or aux is
  /// longText and data two words (offset, length); or aux is decodedText and
  /// data an index into decodedTexts.
  struct Node {
    uint32_t tag : 5;
    uint32_t aux : 27;
    uint32_t data;
  };
  static constexpr uint32_t maxAux = (1u << 27) - 1;
  static constexpr uint32_t longText = maxAux;
  static constexpr uint32_t decodedText = maxAux - 1;
  /// Not the raw value of any reference.
  static constexpr uint32_t noState = 0xfffffffeu;
  /// First nodes of every graph.
  enum { noneNode, falseNode, trueNode, emptyTupleNode };

  struct Constructor {
    Value callable, arguments, keywords;
    Construction construction;
  };
  struct Shape {
    uint32_t firstKey; // in words
    uint32_t numKeys;
  };

  const Node &getObjectNode(Value object) const {
    return nodes[object.getNode()];
  }
  Value getExtension(Value object, unsigned index) const;

  std::string fileName;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  Value root;
  llvm::SmallVector<Node, 0> nodes;
  llvm::SmallVector<Value, 0> words;
  llvm::SmallVector<Constructor, 0> constructors;
  llvm::SmallVector<Shape, 0> shapes;
  llvm::SmallVector<llvm::StringRef, 0> decodedTexts;
  llvm::BumpPtrAllocator decodedStorage;
  uint32_t numGlobals = 0;
};

} // namespace verify::pickle

#endif // VERIFY_PICKLE_GRAPH_H
