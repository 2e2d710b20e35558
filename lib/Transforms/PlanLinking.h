//===- PlanLinking.h - plans of devices to one SSA graph --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANLINKING_H
#define VERIFY_LIB_TRANSFORMS_PLANLINKING_H

#include "Verify/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace verify {

/// Replaces the plans `@reference` and `@plan` of a module by one graph. Fails
/// after an error at the op that cannot be executed, and then the module has
/// the attribute `tv.malformed`, or that is not understood.
llvm::LogicalResult linkPlans(mlir::ModuleOp module, RandomMode random);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANLINKING_H
