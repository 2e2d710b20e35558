//===- Confirmation.h - a difference shown in intervals ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a result of the contract, and what it depends on, in intervals that
// hold the exact reals. What doubles alone say is never reported.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_CONFIRMATION_H
#define VERIFY_LIB_TRANSFORMS_CONFIRMATION_H

#include "WitnessInputs.h"

namespace verify {

/// Why no difference is reported between numbers that agree in most digits.
inline constexpr llvm::StringLiteral roundingReason =
    "the difference could not be told from rounding";

/// An element of a result that certainly differs on some inputs.
struct Witness {
  tv::ExpectOp expect;
  llvm::SmallVector<int64_t> index, referenceIndex;
  std::string planValue, referenceValue;
  /// Of the intervals, in bits.
  unsigned precision = 0;
  /// The op of the plan that is undefined on the inputs, if that is the
  /// difference.
  mlir::Operation *undefinedOp = nullptr;
};

/// Inputs on which results may be shown to differ, at full size.
class Confirmation {
public:
  /// Either a witness or why there is none.
  struct Outcome {
    std::optional<Witness> witness;
    std::string failureReason;
    /// Whether the evaluation would take too long.
    bool isTooCostly = false;
  };

  /// `equalValues` is what an evaluation of the same inputs knows to be equal;
  /// null if it knows nothing.
  Confirmation(tv::GraphOp graph, const FactorAnalysis &analysis,
               WitnessSeed seed,
               std::shared_ptr<const ValueNumbering> equalValues)
      : graph(graph), analysis(analysis), seed(std::move(seed)),
        equalValues(std::move(equalValues)) {}

  /// Looks for an element of `result` at which plan and reference differ, in
  /// intervals of rising precision.
  Outcome run(tv::ExpectOp result) const;

private:
  /// The same with intervals of one algebra; none if they are too wide to tell.
  /// Selections are meant where no elements of `ranked` tie
  /// (docs/Soundness.md, A23).
  std::optional<Outcome> runWith(EnclosingAlgebra &algebra, tv::ExpectOp result,
                                 llvm::ArrayRef<mlir::Value> ranked,
                                 const WitnessRange &range) const;

  tv::GraphOp graph;
  const FactorAnalysis &analysis;
  WitnessSeed seed;
  std::shared_ptr<const ValueNumbering> equalValues;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_CONFIRMATION_H
