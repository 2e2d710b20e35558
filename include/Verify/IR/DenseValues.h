//===- DenseValues.h - maps and sets of values ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that are made one after the other mostly lie next to each other, and
// are asked for so. MLIR's own hash scatters them: in a graph of tens of
// thousands of ops nearly every look-up would miss the caches.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_DENSEVALUES_H
#define VERIFY_IR_DENSEVALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace verify {

/// Hashes a value by its address, of which neighbours stay neighbours.
struct DenseValueInfo : llvm::DenseMapInfo<mlir::Value> {
  static unsigned getHashValue(mlir::Value value) {
    return llvm::DenseMapInfo<void *>::getHashValue(value.getAsOpaquePointer());
  }
};

template <typename T>
using DenseValueMap = llvm::DenseMap<mlir::Value, T, DenseValueInfo>;
using DenseValueSet = llvm::DenseSet<mlir::Value, DenseValueInfo>;

} // namespace verify

#endif // VERIFY_IR_DENSEVALUES_H
