//===- LoadOrders.h - ranks that load in another order ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a group do each micro-batch together. Where some of them load
// the micro-batches in another order than most, what those work on is that of
// the group, with data of another one: then all do the same again and again,
// and no two micro-batches need ops of their own.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_LOADORDERS_H
#define VERIFY_LIB_TRANSFORMS_LOADORDERS_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace verify {

class LoadOrders {
public:
  /// What a device has loaded, by the micro-batch that its group works on when
  /// it first takes that. Empty for a device that loads as its group does.
  llvm::ArrayRef<int64_t> getLoaded(int64_t device) const {
    auto found = loaded.find(device);
    return found == loaded.end() ? llvm::ArrayRef<int64_t>()
                                 : llvm::ArrayRef<int64_t>(found->second);
  }
  /// Compares the ranks of a group, each with its program.
  void compare(llvm::ArrayRef<tv::ProgramOp> programs, int64_t microBatches);
  bool empty() const { return loaded.empty(); }
  /// Each device as it is.
  void clear() { loaded.clear(); }

private:
  llvm::DenseMap<int64_t, llvm::SmallVector<int64_t>> loaded;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_LOADORDERS_H
