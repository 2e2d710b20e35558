//===- Compositions.cpp - ops that stand for others -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Compositions.h"

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;

LogicalResult verify::expandCompositions(Operation *root) {
  while (true) {
    SmallVector<tv::CompositionOpInterface> found;
    root->walk([&](tv::CompositionOpInterface op) { found.push_back(op); });
    if (found.empty())
      return success();
    for (tv::CompositionOpInterface op : found) {
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> parts = op.decompose(builder);
      if (failed(parts) || parts->size() != op->getNumResults())
        return op->emitOpError("does not decompose");
      op->replaceAllUsesWith(*parts);
      op->erase();
    }
  }
}
