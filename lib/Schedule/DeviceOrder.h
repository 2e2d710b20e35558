//===- DeviceOrder.h - what of a device is over when ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device has started runs beside its program. That one thing is over
// when another one begins is known where the program waited for it, or for
// something that came after it, and where both are on one stream or one comes
// after the handle of the other. Each of these leads from what is earlier in
// the program to what is later, so the order cannot contradict itself.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_DEVICEORDER_H
#define VERIFY_LIB_SCHEDULE_DEVICEORDER_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <vector>

namespace verify::schedule {

/// Follows the program of one device.
class DeviceOrder {
public:
  /// The program comes to a start, as it may more than once; gives this one a
  /// number.
  unsigned start(tv::StartOp op);
  /// The program has waited for what was started last by `op`.
  void wait(tv::StartOp op);
  /// Whether something is over at this point of the program, in every run.
  bool isOver(unsigned number) const;
  /// Whether `first` is over when `second` begins, in every run.
  bool isBefore(unsigned first, unsigned second) const;
  tv::StartOp getStart(unsigned number) const { return items[number].op; }

private:
  /// How many of each stream are over, by number of the stream. What names none
  /// is alone on one.
  using Clock = std::map<unsigned, unsigned>;
  struct Item {
    tv::StartOp op;
    unsigned stream, place; ///< the first one of a stream has place 1
    Clock before;           ///< and itself
  };
  /// Adds what comes before `item`, and itself, as far as the program does not
  /// know that it is over.
  void join(Clock &clock, const Item &item) const;
  bool isOver(unsigned stream, unsigned place) const {
    return place <= over[stream];
  }

  std::vector<Item> items;
  std::vector<unsigned> over;      ///< by stream
  std::vector<unsigned> lastItems; ///< by stream, the number of the last one
  llvm::StringMap<unsigned> streamOf;
  llvm::DenseMap<mlir::Operation *, unsigned> itemOf;
};

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_DEVICEORDER_H
