//===- GrowingGraph.cpp - a graph that ops are added to -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrowingGraph.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace verify;

GrowingGraph::GrowingGraph(tv::GraphOp graph)
    : graph(graph), block(graph.getBody().emplaceBlock()),
      builder(graph.getContext(), this) {
  builder.setInsertionPointToEnd(&block);
}

void GrowingGraph::notifyOperationInserted(Operation *op,
                                           OpBuilder::InsertPoint) {
  // Gives the op its number in the order of the block. While it is the last
  // one, that leaves the numbers of the others alone.
  if (Operation *before = op->getPrevNode())
    (void)before->isBeforeInBlock(op);
}

llvm::iterator_range<Block::iterator> GrowingGraph::getNewOps() {
  return {lastVerified ? std::next(lastVerified->getIterator()) : block.begin(),
          block.end()};
}

LogicalResult GrowingGraph::verify(Operation *op) {
  // What is verified of such an op are its types and attributes.
  if (!isa<tv::SemanticsOpInterface>(op))
    return mlir::verify(op, /*verifyRecursively=*/false);
  if (verified.find(op))
    return success();
  if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
    return failure();
  verified.insert(op);
  return success();
}

LogicalResult GrowingGraph::verifyNewOps() {
  for (Operation &op : getNewOps()) {
    if (failed(verify(&op)))
      return failure();
    lastVerified = &op;
  }
  return success();
}

LogicalResult GrowingGraph::verify() {
  if (failed(verifyNewOps()))
    return failure();
  return mlir::verify(graph, /*verifyRecursively=*/false);
}

LogicalResult GrowingGraph::verifyAdded() {
  auto added = getNewOps();
  for (Operation &op : added)
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || producer->getBlock() != &block ||
          !producer->isBeforeInBlock(&op))
        return op.emitOpError("takes what is not computed before it");
    }
  if (failed(verifyNewOps()))
    return failure();
  return graph.verifyOps(added);
}
