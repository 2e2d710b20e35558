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

/// Adds a graph in which the ranks of each group are one axis. The plans stay,
/// for `unfoldRanks`. False, without a word and with the module as before,
/// where ranks are no axis or the plan is not well-formed.
bool linkFoldedPlans(mlir::ModuleOp module, RandomMode random);

/// The graph of `linkFoldedPlans`, or null.
tv::GraphOp getFoldedGraph(mlir::ModuleOp module);

/// Replaces that graph, its stages and the plans by what `linkPlans` gives.
llvm::LogicalResult unfoldRanks(mlir::ModuleOp module);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANLINKING_H
