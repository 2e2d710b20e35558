//===- OpExecutor.cpp - executes ops one by one ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/OpExecutor.h"

using namespace mlir;
using namespace verify;

LoopNest *OpExecutor::getNest(Operation *op) {
  std::unique_ptr<LoopNest> &nest = nests[op];
  if (nest)
    return nest.get();
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  if (!semantics) {
    op->emitOpError("cannot be executed");
    return nullptr;
  }
  FailureOr<LoopNest> built = LoopNest::build(semantics);
  if (failed(built))
    return nullptr;
  nest = std::make_unique<LoopNest>(std::move(*built));
  return nest.get();
}

const IndexRelation *OpExecutor::getRelation(Operation *op) {
  LoopNest *nest = getNest(op);
  return nest ? &nest->getRelation() : nullptr;
}

FailureOr<int64_t> OpExecutor::countSteps(Operation *op) {
  if (!isa<tv::SemanticsOpInterface>(op))
    return 0;
  LoopNest *nest = getNest(op);
  if (!nest)
    return failure();
  return nest->countSteps();
}

TensorRef OpExecutor::execute(Operation *op, ArrayRef<TensorRef> operands) {
  LoopNest *nest = getNest(op);
  if (!nest)
    return nullptr;
  TensorRef result = nest->run(operands, workspace);
  if (workspace.algebra.status().isUndefined && !undefined)
    undefined = op;
  if (workspace.isExact && workspace.algebra.status().isInexact) {
    op->emitOpError("has a value that is not rational");
    return nullptr;
  }
  if (workspace.isExact && workspace.algebra.status().isUndecided) {
    op->emitOpError("compares numbers that intervals do not tell apart");
    return nullptr;
  }
  return result;
}
