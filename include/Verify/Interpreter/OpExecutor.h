//===- OpExecutor.h - executes ops one by one -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the interpreters of the plan level and of the graph level share: running
// an op on tensors, and when values are no longer needed.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_OPEXECUTOR_H
#define VERIFY_INTERPRETER_OPEXECUTOR_H

#include "Verify/IR/TVOps.h"
#include "Verify/Interpreter/LoopNest.h"

namespace verify {

class OpExecutor {
public:
  explicit OpExecutor(Workspace &workspace) : workspace(workspace) {}

  /// The result of an op with an index relation; null after an error at the op.
  TensorRef execute(mlir::Operation *op, llvm::ArrayRef<TensorRef> operands);
  /// The relation of an op that was executed or is about to be; null after an
  /// error at the op.
  const IndexRelation *getRelation(mlir::Operation *op);
  /// What executing an op takes; 0 for what is no computation.
  mlir::FailureOr<int64_t> countSteps(mlir::Operation *op);
  /// The first op that was evaluated outside of its domain, or null.
  mlir::Operation *getUndefined() const { return undefined; }

private:
  LoopNest *getNest(mlir::Operation *op);

  Workspace &workspace;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<LoopNest>> nests;
  mlir::Operation *undefined = nullptr;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_OPEXECUTOR_H
