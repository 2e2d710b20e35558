//===- Decoder.h - from objects of a pickle to those of a plan --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes single objects of a plan's pickle, for the tables of a PlanFile. What
// they refer to is noted as the object that it is in the graph: PlanDecoder,
// which decides which objects are decoded, gives each a place in its table. So
// several threads can decode, each with a Decoder of its own. By subject:
// DecodeNodes.cpp has cells and ops, DecodeTensors.cpp tensors,
// DecodeArguments.cpp Python constants, DecodeScalars.cpp numbers and texts,
// Decoder.cpp typed access to fields and its errors.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_DECODER_H
#define VERIFY_LIB_NNSCALER_DECODER_H

#include "ObjectFields.h"
#include "PlanArena.h"
#include "PlanClasses.h"

#include "Verify/NnScaler/PlanFile.h"
#include "Verify/Pickle/Graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/StringSaver.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace verify::nnscaler {

/// The kind of node that objects of a class are, if they are nodes.
std::optional<NodeKind> getNodeKind(PlanClass planClass);

/// What an array of a plan refers to, until it has places in tables: the raw
/// value of an object in the graph stands in its place.
struct References {
  enum ArrayKind : uint32_t { Arguments, Keywords, Nodes };
  References(ArrayKind kind, void *first, size_t size)
      : kind(kind), size(static_cast<uint32_t>(size)), first(first) {}
  ArrayKind kind;
  uint32_t size; ///< at most that of a container of a pickle, 2^27
  void *first;
};

/// Decodes objects of one plan. Methods that return bool return false after
/// `fail`.
class Decoder {
public:
  using Value = pickle::Value;
  using Kind = pickle::Kind;

  /// Allocates in `arena`, `memoryLimit` bytes at most.
  Decoder(const pickle::Graph &graph, llvm::BumpPtrAllocator &arena,
          size_t memoryLimit, const llvm::DenseSet<int64_t> &knownDevices);

  /// The first error.
  llvm::StringRef getMessage() const { return message; }
  PlanClass getClass(Value value) { return classes.get(value); }
  PlanClass getClassByGlobal(Value value) { return classes.getByGlobal(value); }

  // Whole objects. What their own fields refer to stands there as raw values.
  bool decodeSubTensor(Value value, SubTensor &tensor);
  bool decodeFullTensor(Value value, FullTensor &tensor);
  bool decodeNode(Value value, Node &node);
  /// The sizes of a tensor.
  bool decodeShape(const ObjectFields &object,
                   llvm::SmallVectorImpl<int64_t> &sizes);
  /// A cell in the sequence of a device.
  bool decodeCell(const ObjectFields &executionPlan, Value value, Cell &cell);
  /// The arguments in a list or tuple.
  bool decodeArguments(const ObjectFields &object, Field field,
                       llvm::ArrayRef<Argument> &arguments);
  /// The arrays that were decoded and refer to something, in order.
  llvm::ArrayRef<References> getReferences() const { return references; }
  void forgetReferences() { references.clear(); }

  /// Whether a number can be that of a device, and a key of known devices.
  static bool isDevice(int64_t number) {
    return number >= 0 && number < INT32_MAX;
  }

  // Errors. The first one is kept.
  bool fail(const llvm::Twine &text);
  /// Names the object as a message should: class and id.
  std::string describe(const ObjectFields &object);
  bool fail(const ObjectFields &object, const llvm::Twine &text);
  bool failField(const ObjectFields &object, Field field,
                 const llvm::Twine &text);
  /// The field does not hold what it must.
  bool failType(const ObjectFields &object, Field field,
                const llvm::Twine &expected, Value found);

  /// Makes an array in the plan, unless the plan would then take more memory
  /// than a plan in a file of this size can need.
  template <typename T> bool allocate(size_t count, T *&first) {
    if (count > (memoryLimit - getMemoryUse()) / sizeof(T))
      return failMemory();
    first = arena.Allocate<T>(count);
    std::uninitialized_default_construct_n(first, count);
    return true;
  }
  size_t getMemoryUse() const {
    return std::min<size_t>(arena.getBytesAllocated(), memoryLimit);
  }
  bool failMemory();

  // Typed access to fields that must be there.
  ObjectFields open(Value object) { return {graph, layouts, object}; }
  bool checkState(const ObjectFields &object);
  bool get(const ObjectFields &object, Field field, Value &value) {
    if (std::optional<Value> found = object.find(field)) {
      value = *found;
      return true;
    }
    return failMissing(object, field);
  }
  bool failMissing(const ObjectFields &object, Field field);
  bool getInteger(const ObjectFields &object, Field field, int64_t &integer);
  /// The number of a cell or tensor.
  bool getId(const ObjectFields &object, int64_t &id);
  bool getBoolean(const ObjectFields &object, Field field, bool &boolean);
  bool getString(const ObjectFields &object, Field field,
                 llvm::StringRef &text);
  /// The same for a field that may be None or missing: then `text` is empty.
  bool getOptionalString(const ObjectFields &object, Field field,
                         llvm::StringRef &text);
  /// An object of one class.
  bool getObject(const ObjectFields &object, Field field, PlanClass expected,
                 Value &value);
  /// A list or tuple.
  bool getElements(const ObjectFields &object, Field field, Value &sequence,
                   llvm::ArrayRef<Value> &elements);
  /// A list or tuple of integers; at most `maxRank` of them.
  bool getSizes(const ObjectFields &object, Field field,
                llvm::SmallVectorImpl<int64_t> &integers);
  /// A list or tuple of any number of integers.
  bool getIntegers(const ObjectFields &object, Field field,
                   llvm::ArrayRef<int64_t> &integers);

  /// No tensor has more dimensions; torch allows 64 too.
  static constexpr size_t maxRank = 64;
  /// Python's numbers have no end; those of a plan count its objects.
  static constexpr int64_t maxId = int64_t(1) << 62;

  // Numbers and texts.
  std::optional<int64_t> toInteger(Value value) {
    if (graph.getKind(value) == Kind::Integer)
      return graph.getInteger(value);
    return toScalarInteger(value);
  }
  std::optional<int64_t> toScalarInteger(Value value);
  std::optional<bool> toBoolean(Value value) {
    if (graph.getKind(value) == Kind::Boolean)
      return graph.getBoolean(value);
    return toScalarBoolean(value);
  }
  std::optional<bool> toScalarBoolean(Value value);
  /// The elements of a list, a tuple or a torch.Size.
  std::optional<llvm::ArrayRef<Value>> toSequence(Value value) {
    Kind kind = graph.getKind(value);
    if (kind == Kind::List || kind == Kind::Tuple)
      return graph.getElements(value);
    return toTorchSize(value);
  }
  std::optional<llvm::ArrayRef<Value>> toTorchSize(Value value);
  /// "float32" for `torch.float32`.
  std::optional<llvm::StringRef> toElementType(Value value);
  llvm::StringRef intern(Value string);
  llvm::StringRef intern(llvm::StringRef text);
  llvm::StringRef getClassNameOf(Value object);
  /// Decodes a numpy scalar into a Boolean, Integer or Float.
  std::optional<Argument> toNumber(Value scalar);
  std::optional<llvm::StringRef> toBytes(Value value, std::string &storage);

private:
  // Tensors.
  bool decodeElementType(const ObjectFields &object, llvm::StringRef &type);
  bool decodeIndexMap(const ObjectFields &tensor, Value indexMap,
                      llvm::ArrayRef<Range> &slice);
  bool decodeRange(const ObjectFields &tensor, Value value, Range &range);
  bool decodeValueMap(const ObjectFields &tensor, Value valueMap,
                      SubTensor &result);
  bool decodeGradient(const ObjectFields &tensor, PlanClass expected,
                      Value &gradient);

  // Arguments and constants.
  bool decodeKeywords(const ObjectFields &object, Field field,
                      llvm::ArrayRef<KeywordArgument> &keywords);
  bool decodeArgument(const ObjectFields &user, Field field, Value value,
                      Argument &argument);
  /// Decodes all but what contains other values; `isContainer` tells which.
  bool decodeLeaf(const ObjectFields &user, Field field, Value value,
                  Argument &argument, bool &isContainer);
  bool decodeLeafObject(const ObjectFields &user, Field field, Value value,
                        Argument &argument, bool &isContainer);
  /// Makes a constant of a kind that has parts.
  bool setParts(Argument &argument, ConstantKind kind, llvm::StringRef text,
                llvm::ArrayRef<Argument> elements = {});
  /// A constant that contains others.
  struct Container {
    ConstantKind kind = ConstantKind::Opaque;
    llvm::StringRef text;
    /// In the order of ConstantParts::elements.
    llvm::SmallVector<Value> contents;
    Value dictionary; ///< that they are the entries of, if they are
  };
  Container getContainer(Value value);
  /// Fails where a dictionary has a key twice: Python has the last entry.
  bool checkKeys(const ObjectFields &object, Field field, Value dictionary);
  /// Whether an object is made from positional arguments alone, and nothing
  /// was done to it afterwards but one BUILD, if that.
  bool isMadeOfArguments(Value object) const {
    return graph.isPlain(object) && graph.isNone(graph.getKeywords(object));
  }

  // Cells and ops.
  bool decodeSegment(const ObjectFields &segment, Node &node);
  bool decodeRecompute(const ObjectFields &op, Node &node);
  bool decodeForward(const ObjectFields &op, Node &node);
  bool decodeAdapter(const ObjectFields &adapter, Node &node);
  bool decodePrimitive(const ObjectFields &adapter, Value value,
                       Primitive &primitive);
  bool decodeDevices(const ObjectFields &object,
                     llvm::ArrayRef<int64_t> &devices);
  bool decodeMirror(const ObjectFields &object, Index &mirror);

  const pickle::Graph &graph;
  llvm::BumpPtrAllocator &arena;
  std::string message;
  size_t memoryLimit;
  FieldLayouts layouts;
  PlanClasses classes;

  llvm::UniqueStringSaver strings;
  ArrayInterner<int64_t> integerArrays;
  ArrayInterner<Range> rangeArrays;

  /// What has been decoded, by the raw value in the graph.
  llvm::DenseMap<uint32_t, llvm::StringRef> stringsByValue, classNamesByValue;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<int64_t>> integersByValue;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<Argument>> argumentsByValue;
  llvm::DenseMap<uint32_t, Argument> constantsByValue;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<KeywordArgument>> keywordsByValue;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<Index>> nodeListsByValue;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<Primitive>> primitivesByValue;
  std::vector<References> references;
  const llvm::DenseSet<int64_t> &knownDevices;
  llvm::DenseSet<const int64_t *> checkedDevices;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_DECODER_H
