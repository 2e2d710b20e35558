//===- InFlight.h - memory that is used meanwhile ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between its start and its wait, communication or a computation on another
// stream may read its operands and write its result at any time. Whatever else
// the device does to the same memory meanwhile is a race, whatever the timing
// of a run (docs/Schedules.md). This is seen in the program of one device
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_INFLIGHT_H
#define VERIFY_LIB_SCHEDULE_INFLIGHT_H

#include "Skeleton.h"

namespace verify::schedule {

/// Checks that no device uses a buffer against what is under way on it. Reports
/// the first two accesses that nothing orders, and says so in `malformation`.
mlir::LogicalResult checkInFlight(const Skeleton &skeleton,
                                  llvm::StringRef &malformation);

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_INFLIGHT_H
