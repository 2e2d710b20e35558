//===- GrowingGraph.h - a graph that ops are added to -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op of the graph is verified once, when it has been built, unless one
// with the same types and attributes was. That the ops fit together is verified
// when the graph is complete.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_GROWINGGRAPH_H
#define VERIFY_LIB_TRANSFORMS_GROWINGGRAPH_H

#include "Verify/IR/EqualOps.h"
#include "Verify/IR/TVOps.h"
#include "mlir/IR/Builders.h"

namespace verify {

class GrowingGraph : mlir::OpBuilder::Listener {
public:
  explicit GrowingGraph(tv::GraphOp graph);
  GrowingGraph(const GrowingGraph &) = delete;
  GrowingGraph &operator=(const GrowingGraph &) = delete;

  /// Adds ops at the end.
  mlir::OpBuilder &getBuilder() { return builder; }
  /// The ops that were added and are not verified yet, in order.
  llvm::iterator_range<mlir::Block::iterator> getNewOps();
  /// Verifies the new ops, each by itself.
  llvm::LogicalResult verifyNewOps();
  /// Verifies the new ops, and the graph as a whole.
  llvm::LogicalResult verify();
  /// Verifies the new ops, and that they fit to those that were verified as a
  /// whole.
  llvm::LogicalResult verifyAdded();

private:
  /// Verifies an op by itself, unless one that was verified is the same but for
  /// its operands and location.
  llvm::LogicalResult verify(mlir::Operation *op);
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;

  tv::GraphOp graph;
  mlir::Block &block;
  mlir::OpBuilder builder;
  mlir::Operation *lastVerified = nullptr;
  EqualOps verified;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_GROWINGGRAPH_H
