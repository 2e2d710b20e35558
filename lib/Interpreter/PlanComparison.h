//===- PlanComparison.h - results of a reference and a plan -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs two plans and sets each result beside the part of the reference's result
// that it should be. The contract is stated here once more, apart from
// lib/Transforms, from the slices of loaders and parameter buffers.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_INTERPRETER_PLANCOMPARISON_H
#define VERIFY_LIB_INTERPRETER_PLANCOMPARISON_H

#include "PlanSlices.h"
#include "Verify/Interpreter/Run.h"

namespace verify {

class PlanComparison {
public:
  /// `plan` may be null. Adds the results to `target`.
  PlanComparison(Run &target, tv::PlanOp reference, tv::PlanOp plan)
      : target(target), reference(reference), plan(plan) {}

  llvm::LogicalResult run();

private:
  llvm::LogicalResult addReferenceResults(const PlanInterpreter &interpreter);
  llvm::LogicalResult addOutputs(const PlanInterpreter &interpreter);
  llvm::LogicalResult addGradients(const PlanInterpreter &interpreter,
                                   PlanSlices &slices);
  /// Notes the parts of `row` that no place holds.
  void checkCoverage(ResultRow &row, llvm::ArrayRef<tv::PieceAttr> pieces);

  Run &target;
  tv::PlanOp reference, plan;
  size_t outputCount = 0; ///< of the reference; its rows come first
};

} // namespace verify

#endif // VERIFY_LIB_INTERPRETER_PLANCOMPARISON_H
