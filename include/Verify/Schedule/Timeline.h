//===- Timeline.h - when each device does what ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data of a picture of a schedule, apart from the drawing. Time is logical:
// the computation of a call takes one step, a transfer or collective one step
// from when the last of its members is there. What was started is there as long
// as it is under way, and once more where it is waited for.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCHEDULE_TIMELINE_H
#define VERIFY_SCHEDULE_TIMELINE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace verify::schedule {

enum class EventKind {
  Forward,
  Backward,
  Send,
  Receive,
  Collective,
  Computation ///< that was started
};

/// What a device does from `start` to `end`, first waiting for others and then
/// doing it.
struct Event {
  EventKind kind;
  mlir::Operation *op;
  mlir::Operation *call; ///< that runs the op, or null
  int64_t device;
  int64_t microBatch; ///< -1 if it is not known
  int64_t start;
  int64_t ready; ///< when nobody has to be waited for any more
  int64_t end;
  bool isFinished; ///< false for what waits without end
  /// Whether the device does other things meanwhile.
  bool isUnderWay = false;
};

struct Timeline {
  llvm::SmallVector<int64_t> devices; ///< one row each
  llvm::SmallVector<Event> events;    ///< those of a device in its order
};

/// Writes a timeline in the JSON format of Chrome's and Perfetto's viewers.
void writeTraceEvents(const Timeline &timeline, llvm::raw_ostream &out);

/// Writes it to a file, which is there as a whole or not at all. On failure
/// `error` says why.
bool writeTimeline(const Timeline &timeline, llvm::StringRef path,
                   std::string &error);

} // namespace verify::schedule

#endif // VERIFY_SCHEDULE_TIMELINE_H
