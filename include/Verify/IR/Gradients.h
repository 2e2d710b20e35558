//===- Gradients.h - building vector-Jacobian products ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse-mode differentiation over a list of ops, and the pieces that
// derivatives of several families share.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_GRADIENTS_H
#define VERIFY_IR_GRADIENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace verify {

/// A rank-0 tensor that holds `value` exactly.
mlir::Value buildScalar(mlir::OpBuilder &builder, mlir::Location location,
                        double value);

/// Sums `gradient` over the dimensions along which a tensor of `type` was
/// repeated to get the gradient's shape, so that the result has `type`.
mlir::Value sumToShape(mlir::OpBuilder &builder, mlir::Location location,
                       mlir::Value gradient, mlir::RankedTensorType type);

/// Builds the gradients of `inputs` through `ops`, which are in order and
/// compute `outputs` from `inputs`. `outputGradients[i]` may be null where
/// nothing flows back. An input that no output depends on gets a null value.
/// Fails, after an error, at an op on the way that has no derivative.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildReverse(mlir::OpBuilder &builder, mlir::Location location,
             llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange inputs,
             mlir::ValueRange outputs,
             llvm::ArrayRef<mlir::Value> outputGradients);

} // namespace verify

#endif // VERIFY_IR_GRADIENTS_H
