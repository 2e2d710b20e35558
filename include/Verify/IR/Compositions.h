//===- Compositions.h - ops that stand for others ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_COMPOSITIONS_H
#define VERIFY_IR_COMPOSITIONS_H

#include "mlir/IR/Operation.h"

namespace verify {

/// Replaces all compositions in `root`, and those they stand for, by their
/// parts. Fails after an error at one that does not decompose.
llvm::LogicalResult expandCompositions(mlir::Operation *root);

} // namespace verify

#endif // VERIFY_IR_COMPOSITIONS_H
