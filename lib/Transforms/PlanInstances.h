//===- PlanInstances.h - graph ops for ops of a plan ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANINSTANCES_H
#define VERIFY_LIB_TRANSFORMS_PLANINSTANCES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace verify {

/// The devices of an instance, ascending, with the op that each executes;
/// null where it is none of its own.
class InstanceSources {
public:
  llvm::ArrayRef<int64_t> getDevices() const { return devices; }
  /// Null for other devices.
  mlir::Operation *lookup(int64_t device) const;
  /// Does nothing for a device that is there.
  void insert(int64_t device, mlir::Operation *op);

private:
  llvm::SmallVector<int64_t, 1> devices;
  llvm::SmallVector<mlir::Operation *, 1> ops;
};

/// Ops built for a function on one tuple of operands. There are as many as
/// ops in the graph, and most are of one device and micro-batch.
struct Instance {
  static constexpr unsigned none = ~0U;
  llvm::ArrayRef<uintptr_t> key;
  llvm::SmallVector<mlir::Operation *, 1> ops;
  llvm::SmallVector<mlir::Value, 1> results;
  InstanceSources sources;
  llvm::SmallVector<int64_t, 1> microBatches; ///< maybe more than once
  bool allMicroBatches = false;
  bool isApart = false; ///< of devices that are not folded beside others
  unsigned next = none; ///< another one of the same hash
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANINSTANCES_H
