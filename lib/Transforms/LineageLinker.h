//===- LineageLinker.h - states what relates plan and reference -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract, and the lemmas. The contract comes from the reference and from
// the slices of inputs and parameters; nothing the plan says about its other
// tensors enters it. What the plan does say becomes obligations.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H
#define VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H

#include "PlanExecution.h"

namespace verify {

/// How many expects were written.
struct LinkCounts {
  unsigned lemmas = 0, results = 0;
};

/// Writes an expect for each piece the plan states and the reference has, and
/// for each result of the contract. Fails, after an error, if a result of the
/// reference is missing from the plan.
llvm::FailureOr<LinkCounts> linkLineage(const PlanExecution &reference,
                                        const PlanExecution &plan,
                                        tv::PlanOp planOp,
                                        mlir::OpBuilder &builder);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H
