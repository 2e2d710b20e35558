//===- StageBuilder.h - cuts a graph into units of proof --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the stage of one expect: the plan back to values of known lineage, the
// reference back to the tensors of those lineages. Separate from the pass that
// outlines all stages because a stage that fails is built again, wider.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_STAGEBUILDER_H
#define VERIFY_ANALYSIS_STAGEBUILDER_H

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/TVOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace verify {

/// What a stage is made of, in the graph. Each op stands after what it takes,
/// in an order that does not depend on that of the graph.
struct StageOutline {
  tv::ExpectOp expect;
  /// Tensors of the reference where both sides begin.
  llvm::SmallSetVector<mlir::Value, 8> tensors;
  llvm::SmallVector<mlir::Operation *> reference;
  /// Values of the plan at which its side begins. Those without a lemma are
  /// the boundary's.
  llvm::SmallVector<std::pair<mlir::Value, tv::ExpectOp>> begins;
  llvm::SmallVector<mlir::Operation *> plan;

  size_t size() const {
    return reference.size() + begins.size() + plan.size() + 1;
  }
  /// Whether it rests on a value that nothing produces.
  bool hasUndefined() const;
};

/// The expects of a graph, and which of them may be assumed about a value.
class StageBuilder {
public:
  explicit StageBuilder(tv::GraphOp graph);

  /// All expects, by number.
  llvm::ArrayRef<tv::ExpectOp> getExpects() const { return expects; }
  /// An expect that must not be assumed any more.
  void setBroken(tv::ExpectOp expect) { broken.insert(expect); }
  bool isBroken(tv::ExpectOp expect) const { return broken.contains(expect); }

  using Expects = llvm::DenseSet<mlir::Operation *>;

  /// The stage of `expect`, which assumes none of `excluded`. None if either
  /// side has more than `limit` ops.
  std::optional<StageOutline> outline(tv::ExpectOp expect, size_t limit = 4000,
                                      const Expects &excluded = {}) const;
  /// Builds it at `builder`.
  tv::StageOp build(const StageOutline &outline, mlir::OpBuilder &builder);

  /// A stage that says of a tensor of the reference that it is itself, computed
  /// of tensors at which `isEnd` holds and of inputs; null if that takes more
  /// than `limit` ops.
  tv::StageOp buildDefinition(mlir::Value tensor,
                              llvm::function_ref<bool(mlir::Value)> isEnd,
                              size_t limit, mlir::OpBuilder &builder);

  /// What decides a stage, as bytes: equal for stages that differ in names,
  /// locations, and which devices they run on.
  std::string getKey(const StageOutline &outline);
  /// The same for every run of a program. None if some content has no such
  /// text.
  static std::optional<std::string> getText(tv::StageOp stage);

private:
  tv::ExpectOp findLemma(mlir::Value value, const Expects &excluded) const;

  tv::GraphOp graph;
  llvm::SmallVector<tv::ExpectOp> expects;
  DenseValueMap<llvm::SmallVector<tv::ExpectOp, 1>> lemmas;
  Expects broken;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_STAGEBUILDER_H
