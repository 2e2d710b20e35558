//===- ReferenceCheck.h - whether both plans are of one model ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_REFERENCECHECK_H
#define VERIFY_LIB_TRANSFORMS_REFERENCECHECK_H

#include "Verify/IR/TVOps.h"

namespace verify {

/// Compares names and sizes of all parameters. Fails, after one error, if the
/// reference is that of another model, of other sizes, or of another number of
/// layers. A parameter that the plan merely lacks is not its concern.
llvm::LogicalResult checkReference(tv::PlanOp reference, tv::PlanOp plan);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_REFERENCECHECK_H
