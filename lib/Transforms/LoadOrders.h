//===- LoadOrders.h - ranks that load in another order ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a group work on each micro-batch together where a collective in
// a segment takes what is made of it. Where some of them have loaded another
// one for that than most, what they work on is that of the group, with data of
// another one: then all do the same again and again, and no two micro-batches
// need ops of their own.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_LOADORDERS_H
#define VERIFY_LIB_TRANSFORMS_LOADORDERS_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include <optional>

namespace verify {

class LoadOrders {
public:
  using Segments = llvm::function_ref<tv::SegmentOp(tv::CallOp)>;

  /// What a device has loaded for it, by the micro-batch that most of its group
  /// have loaded for what they first do together. Empty for a device that has
  /// loaded the same, and for all of a group that does not use each micro-batch
  /// so.
  llvm::ArrayRef<int64_t> getLoaded(int64_t device) const {
    auto found = loaded.find(device);
    return found == loaded.end() ? llvm::ArrayRef<int64_t>()
                                 : llvm::ArrayRef<int64_t>(found->second);
  }
  /// Compares the ranks of a group, each with its program. Of several orders
  /// that as many have, that of the loader counts, or of the first rank.
  void compare(llvm::ArrayRef<tv::ProgramOp> programs, int64_t microBatches,
               Segments findSegment);
  bool empty() const { return loaded.empty(); }
  /// Each device as it is.
  void clear() { loaded.clear(); }

private:
  using Order = llvm::SmallVector<int64_t>;
  std::optional<Order> findOrder(tv::ProgramOp program, int64_t count,
                                 Segments findSegment);
  /// Bits of the arguments that collectives of a segment use.
  const llvm::SmallBitVector &findShared(tv::SegmentOp segment);

  llvm::DenseMap<int64_t, Order> loaded; ///< by device
  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> shared;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_LOADORDERS_H
