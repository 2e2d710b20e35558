//===- PlanDecoder.h - from a pickle's graph to a plan ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the graph of a plan's pickle and fills the tables of a PlanFile. Every
// object is decoded once, however often the file refers to it, and is given its
// place in a table when it is first referred to, so that cycles need no
// recursion. Objects are decoded in batches: first all at once, by several
// threads, then what they refer to gets its places, in order, by one. So the
// tables do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_PLANDECODER_H
#define VERIFY_LIB_NNSCALER_PLANDECODER_H

#include "Decoder.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class ThreadPoolInterface;
} // namespace llvm

namespace verify::nnscaler {

/// Decodes one plan. Methods that return bool return false after an error.
class PlanDecoder {
public:
  PlanDecoder(const pickle::Graph &graph, PlanFile &plan, unsigned threads);
  ~PlanDecoder();

  /// Fills the plan from the root of the graph.
  llvm::Error run();

private:
  using Value = pickle::Value;

  // The places of objects in the tables; they are decoded later.
  Index getSubTensor(Value value) {
    return getIndex(value, plan.subTensors, subTensorObjects);
  }
  Index getFullTensor(Value value) {
    return getIndex(value, plan.fullTensors, fullTensorObjects);
  }
  Index getNode(Value value) {
    return getIndex(value, plan.nodes, nodeObjects);
  }
  /// The objects of the entries of a table.
  struct Objects {
    std::vector<Value> values;
    /// The numbers in the graph of those that are not decoded.
    llvm::BitVector pending;
  };
  template <typename Entry>
  Index getIndex(Value value, std::vector<Entry> &table, Objects &objects) {
    Index &index = indices[value.getNode()];
    if (index == none) {
      index = static_cast<Index>(table.size());
      table.emplace_back();
      objects.values.push_back(value);
      objects.pending.set(value.getNode());
    }
    return index;
  }
  /// `none` for a cell that no device executes.
  Index getCellNumber(Value value) const {
    auto found = numberOfCell.find(value.getRaw());
    return found == numberOfCell.end() ? none : found->second;
  }
  /// Gives places to what an array refers to.
  void resolve(const References &array);
  void resolveArgument(Argument &argument) {
    if (argument.isTensor)
      argument.tensor = getSubTensor(Value::fromRaw(argument.tensor));
  }
  /// The place of what a field refers to, if it does.
  template <typename Get> void resolveField(Index &field, Get get) {
    if (field != none)
      field = get(Value::fromRaw(field));
  }

  // DecodePlan.cpp
  bool decodeRoot();
  bool decodePrograms(const ObjectFields &executionPlan);
  bool decodeOutputs(const ObjectFields &executionPlan);
  /// A list of cells; they are decoded later.
  bool placeCells(const ObjectFields &executionPlan, Value sequence,
                  llvm::ArrayRef<Cell> &cells);
  void reserveTables();
  /// Decodes the objects of one batch, `decode(decoder, number)` for each, in
  /// the order of `numbers`, and gives places to what their arrays refer to.
  bool decodeAll(llvm::ArrayRef<Index> numbers,
                 llvm::function_ref<bool(Decoder &, Index)> decode);
  /// Decodes the entries of a table that are not decoded, and gives places to
  /// what their fields refer to.
  template <typename Entry, typename Decode, typename Resolve>
  bool decodeTable(std::vector<Entry> &table, Objects &objects, Decode decode,
                   Resolve resolve);
  bool decodeCells();
  bool decodePending();

  // CheckPlan.cpp
  bool completeCells();
  bool checkTensors();
  bool checkSubTensor(Value value, const SubTensor &tensor);
  bool checkNodes();

  const pickle::Graph &graph;
  PlanFile &plan;
  llvm::DenseSet<int64_t> knownDevices;
  /// One for each thread; the first is that of the thread that runs.
  std::vector<std::unique_ptr<Decoder>> decoders;
  std::unique_ptr<llvm::ThreadPoolInterface> helpers;
  Decoder &decoder;

  /// The execution plan, and the cells that are in it.
  Value executionPlan;
  std::vector<Cell> cells;
  /// The arrays of cells in the plan. Until all is decoded `node` of each is
  /// its number in `cells`, where it is once.
  std::vector<llvm::MutableArrayRef<Cell>> cellArrays;
  llvm::DenseMap<uint32_t, llvm::ArrayRef<Cell>> cellsByValue;
  /// The place of each object of the graph in its table, by its number in the
  /// graph.
  std::vector<Index> indices;
  Objects subTensorObjects, fullTensorObjects, nodeObjects;
  std::vector<Value> cellValues;
  llvm::DenseMap<uint32_t, Index> numberOfCell;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_PLANDECODER_H
