//===- EqualOps.cpp - ops that are equal but for values -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/EqualOps.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace verify;

/// Operands count by their types.
static llvm::hash_code hashType(Value value) {
  return llvm::hash_value(value.getType().getAsOpaquePointer());
}

static llvm::hash_code getHash(Operation *op) {
  return OperationEquivalence::computeHash(
      op, hashType, OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations);
}

Operation *EqualOps::find(Operation *op) const {
  auto found = known.find(getHash(op));
  // Types are compared here, too.
  bool isEqual =
      found != known.end() &&
      OperationEquivalence::isEquivalentTo(
          op, found->second, OperationEquivalence::ignoreValueEquivalence,
          nullptr, OperationEquivalence::IgnoreLocations);
  return isEqual ? found->second : nullptr;
}

void EqualOps::insert(Operation *op) { known[getHash(op)] = op; }
