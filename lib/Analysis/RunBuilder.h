//===- RunBuilder.h - long values, run by run -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_RUNBUILDER_H
#define VERIFY_LIB_ANALYSIS_RUNBUILDER_H

#include "Verify/Analysis/DenseEvaluator.h"

namespace verify {

/// Puts a tensor together from runs of elements, which come in any order.
class RunBuilder {
public:
  /// Only with `joins` there are runs of more than one element.
  RunBuilder(NumericAlgebra &algebra, size_t limit, bool joins)
      : algebra(algebra), limit(limit), joins(joins) {}
  ~RunBuilder();

  /// `count` elements from `start` on that `value` encloses; it is taken over.
  void add(int64_t start, int64_t count, Scalar value) {
    append(own, start, start + count, value);
  }
  /// The same of one element after the other from `start` on.
  void addRow(int64_t start, llvm::ArrayRef<Scalar> row);
  /// The same of runs that follow each other from `start` on.
  void addRuns(int64_t start, llvm::ArrayRef<int64_t> ends,
               llvm::ArrayRef<Scalar> values);
  /// Adds the elements from `start` on, which were added last, as often again,
  /// each time `distance` further on. Returns how many runs that takes.
  int64_t repeat(int64_t start, int64_t count, int64_t distance, int64_t times);
  bool isFull() const { return takenCount + own.values.size() > limit; }
  /// Takes over the runs of another one, which come after those so far.
  void take(RunBuilder &later);
  /// Gives the runs to `tensor`. Elements that no run has are 0; failure if
  /// there are some and `allowsGaps` is not set, or if runs overlap or end
  /// before they begin.
  llvm::LogicalResult finish(DenseTensor &tensor, bool allowsGaps);

private:
  /// Runs that follow each other without gaps.
  struct Stretch {
    int64_t start, end;
    size_t first, last; ///< the runs, without `last`
  };
  struct Runs {
    std::vector<Stretch> stretches;
    std::vector<int64_t> starts; ///< of the runs
    std::vector<Scalar> values;

    /// Whether each run begins after the one before it.
    bool isInOrder() const;
    /// Adds to the last stretch, or begins one.
    void push(int64_t start, int64_t end, Scalar value);
    /// The same of runs that follow each other.
    template <typename GetEnd>
    void push(int64_t start, GetEnd getEnd, llvm::ArrayRef<Scalar> row);
    /// Adds runs of one other list that follow each other.
    void push(const Runs &from, Stretch stretch);
  };
  /// Adds a run, as part of the last one if that is close; returns whether it
  /// is.
  bool append(Runs &runs, int64_t start, int64_t end, Scalar value);
  /// Adds runs that follow each other from `start` on; run `i` ends at
  /// `getEnd(i)`.
  template <typename GetEnd>
  void addAll(int64_t start, GetEnd getEnd, llvm::ArrayRef<Scalar> row);
  /// Gives all runs to `tensor` if they are in order and have no gaps.
  bool finishInOrder(DenseTensor &tensor);
  static void give(Runs &runs, DenseTensor &tensor);

  NumericAlgebra &algebra;
  size_t limit;
  bool joins;
  Runs own;
  /// Those that were taken over, and how many they are.
  std::vector<Runs> taken;
  size_t takenCount = 0;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_RUNBUILDER_H
