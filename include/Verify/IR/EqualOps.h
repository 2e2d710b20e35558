//===- EqualOps.h - ops that are equal but for values -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan has the same op for each layer and device. What holds of an op because
// of its attributes and types holds of all that are equal.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_EQUALOPS_H
#define VERIFY_IR_EQUALOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace verify {

/// Ops without regions, one of those that have the same name, attributes,
/// properties, and types of operands and results.
class EqualOps {
public:
  /// One that is equal to `op`; null if none is known.
  mlir::Operation *find(mlir::Operation *op) const;
  /// Adds an op that has to stay as it is.
  void insert(mlir::Operation *op);

private:
  llvm::DenseMap<llvm::hash_code, mlir::Operation *> known;
};

} // namespace verify

#endif // VERIFY_IR_EQUALOPS_H
