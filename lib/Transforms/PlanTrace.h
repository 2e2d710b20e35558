//===- PlanTrace.h - what an execution of a segment did ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANTRACE_H
#define VERIFY_LIB_TRANSFORMS_PLANTRACE_H

#include "PlanValues.h"
#include "Verify/IR/DenseValues.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"

#include <list>
#include <optional>
#include <unordered_map>

namespace verify {

/// The operands and results of an op that was differentiated, and what else it
/// was computed of.
struct SavedValues {
  llvm::SmallVector<Bound> inputs, outputs, others;
};

/// The micro-batches in which something was done again.
class Repetitions {
public:
  void add(int64_t microBatch) {
    microBatches.push_back(microBatch);
    if (intervals && !intervals->empty() && intervals->back() == microBatch)
      ++intervals->back();
    else
      intervals.reset();
  }
  llvm::ArrayRef<int64_t> getMicroBatches() const { return microBatches; }
  /// As intervals, of which two overlap if it was done twice in one.
  llvm::ArrayRef<int64_t> getIntervals() const;

private:
  llvm::SmallVector<int64_t> microBatches;
  /// Many ask for them before there is another one.
  mutable std::optional<llvm::SmallVector<int64_t>> intervals;
};

/// What an execution of a segment did. Another one with equal operands, of
/// another micro-batch, does the same but for communication and buffers.
struct Trace {
  struct Addition {
    tv::AddToOp op;
    tv::BufferOp buffer;
    Bound bound;
  };
  /// The micro-batch of all its values that are not the same in all; -1 if
  /// there are none.
  int64_t microBatch = -1;
  bool isReplayable = true;
  DenseValueMap<Bound> values; ///< of the frame that writes it
  /// The ops that every execution has to execute, in order.
  llvm::SmallVector<mlir::Operation *> effects;
  /// What is added to gradients, where no other op of the segment can see
  /// those: an execution that follows does it in the end.
  llvm::SmallVector<Addition, 0> additions;
  bool putsOffAdditions = false;
  /// The micro-batches of executions that made these additions again, those
  /// together between which no gradient was overwritten. Entries of buffers
  /// refer to them.
  std::list<Repetitions> additionsAgain;
  uint64_t overwrittenGradients = 0; ///< before the last of those
  /// What the others built or found, with the ops, in order.
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>> instances;
  /// By number of the forward op.
  llvm::SmallMapVector<int64_t, SavedValues, 4> saved;
  llvm::SmallVector<int64_t> replays;
};

/// What tells executions with the same trace: the segment, the values that it
/// takes, whether each is of a micro-batch, and the trace that it mirrors.
using TraceKey = llvm::SmallVector<uintptr_t, 16>;
struct TraceKeyHash {
  size_t operator()(llvm::ArrayRef<uintptr_t> key) const {
    return llvm::hash_combine_range(key);
  }
};
using TraceOfKey = std::unordered_map<TraceKey, Trace *, TraceKeyHash>;

/// Those of one segment.
struct SegmentTraces {
  bool saves = false;                     ///< values, for a backward
  TraceOfKey::value_type *last = nullptr; ///< that of its last execution
};

/// An execution, by what it wrote or followed once it is over.
struct TracedExecution {
  Trace *trace = nullptr;
  int64_t microBatch = -1;
  bool hasWritten = false;
  /// What op `forward` saved, if it did.
  std::optional<SavedValues> findSaved(int64_t forward) const;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANTRACE_H
