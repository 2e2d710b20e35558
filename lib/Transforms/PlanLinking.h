//===- PlanLinking.h - plans of devices to one SSA graph --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANLINKING_H
#define VERIFY_LIB_TRANSFORMS_PLANLINKING_H

#include "Verify/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace verify {

/// Which groups of ranks become an axis, if their programs agree.
enum class RankFolding {
  None,
  ButExceptions, ///< but for those that are likely wrong
  All
};

/// Replaces the plans `@reference` and `@plan` of a module by one graph, or
/// adds it to those that are kept (`keptPlanName`). Fails after an error at the
/// op that cannot be executed, and then the module has the attribute
/// `tv.malformed`, or that is not understood. Where ranks are to be an axis,
/// and can be, the graph has it, and the plans stay for `unfoldRanks`. `beside`
/// may be null. `areVerified`: no op of the plans is invalid.
llvm::LogicalResult linkPlans(mlir::ModuleOp module, RandomMode random,
                              RankFolding folding, const BesideLinking &beside,
                              bool areVerified);

/// The graph in which ranks are an axis, or null.
tv::GraphOp getFoldedGraph(mlir::ModuleOp module);

/// Replaces that graph, its stages and the plans by a graph without the axis.
llvm::LogicalResult unfoldRanks(mlir::ModuleOp module);

/// Replaces that graph and its stages by one in which groups with a device of
/// `apart` are not folded; the same as the other where none is left. Devices of
/// groups that cannot be folded are added.
llvm::LogicalResult unfoldRanks(mlir::ModuleOp module,
                                llvm::DenseSet<int64_t> &apart);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANLINKING_H
