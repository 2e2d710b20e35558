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
  bool isFull() const { return takenCount + own.values.size() > limit; }
  /// Takes over the runs of another one, which come after those so far.
  void take(RunBuilder &later);
  /// Gives the runs to `tensor`. Elements that no run has are 0; failure if
  /// there are some and `allowsGaps` is not set, or if runs overlap.
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

    /// Adds to the last stretch, or begins one.
    void push(int64_t start, int64_t end, Scalar value);
    /// Adds runs of one other list that follow each other.
    void push(const Runs &from, Stretch stretch);
  };
  /// Adds a run, as part of the last one if that is close; returns whether it
  /// is.
  bool append(Runs &runs, int64_t start, int64_t end, Scalar value);
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
