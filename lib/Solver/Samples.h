//===- Samples.h - evaluation at fixed points -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates both sides of obligations at points that are the same in every run.
// Finds most false obligations before a proof is tried, and no obligation is
// proved whose sides disagree at a sample.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_SAMPLES_H
#define VERIFY_LIB_SOLVER_SAMPLES_H

#include "Verify/Scalar/Evaluation.h"
#include "Verify/Scalar/NumericAlgebras.h"
#include "Verify/Solver/Solver.h"

#include <array>
#include <deque>

namespace verify {

/// A few points and the values of terms there.
class Samples {
public:
  Samples(const TermAlgebra &terms, unsigned count);

  /// Values of atoms at a point where all hypotheses hold and the sides differ.
  std::optional<llvm::SmallVector<AtomValue>>
  findDifference(Scalar left, Scalar right,
                 llvm::ArrayRef<Condition> hypotheses);
  /// Whether what was looked at last was defined and held at some point.
  bool haveAgreed() const { return agreed; }
  /// The same for a condition that does not hold.
  std::optional<llvm::SmallVector<AtomValue>>
  findViolation(const Condition &condition,
                llvm::ArrayRef<Condition> hypotheses);
  /// What terms of one value have in common, but for bad luck with rounding,
  /// and others rarely share.
  using Signature = std::array<std::pair<int, int64_t>, 4>;
  /// None for a term that is no number, or 0 or without a value where it is
  /// looked at.
  std::optional<Signature> getSignature(Scalar term);
  /// Whether no point tells the terms apart, as far as rounding lets it.
  bool mayBeEqual(Scalar left, Scalar right);
  void clear();

private:
  struct Point {
    Point(const TermAlgebra &terms, unsigned number);
    /// Whether the condition holds; nothing where it is not defined.
    bool holds(const Condition &condition);
    std::optional<double> evaluate(Scalar term);

    unsigned number;
    DoubleAlgebra algebra;
    TermEvaluator evaluator;
    /// Whether all of `hypotheses` hold here, once that was asked.
    llvm::SmallVector<Condition> hypotheses;
    std::optional<bool> isAllowed;
  };
  bool isAllowed(Point &point, llvm::ArrayRef<Condition> hypotheses);
  bool isConfirmed(const Point &point, Scalar left, Scalar right,
                   bool isClose) const;
  llvm::SmallVector<AtomValue> describe(unsigned number,
                                        llvm::ArrayRef<Scalar> roots) const;

  const TermAlgebra &terms;
  std::deque<Point> points;
  bool agreed = false;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_SAMPLES_H
