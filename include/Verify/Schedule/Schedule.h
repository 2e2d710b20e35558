//===- Schedule.h - who waits for whom --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether all device programs of a plan run to their ends, whatever the
// interleaving, whether each calls its segments in an order that a schedule may
// have, and whether it leaves alone what communication under way uses. Values
// are not looked at: only what is waited for, and the order of calls and of
// gradient buffers. docs/Schedules.md has the argument.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCHEDULE_SCHEDULE_H
#define VERIFY_SCHEDULE_SCHEDULE_H

#include "Verify/IR/TVOps.h"
#include "Verify/Schedule/Timeline.h"

#include <functional>
#include <optional>

namespace verify::schedule {

struct Options {
  /// How many sends of a channel may be under way before the next one waits for
  /// a receive. With 0 each waits for its own: rendezvous.
  unsigned bufferedSends = 0;
  /// What a device communicates goes through one queue, in the order in which
  /// it starts: each takes part only when all before it are over. Otherwise
  /// each takes part from its start on.
  bool runsInOrder = false;
  /// Also checks what makes a value wrong and holds nobody up: executions that
  /// are missing, repeated or too early, gradients that are added to after
  /// their reducer read them, and transfers between micro-batches.
  bool checksOrder = true;
  bool recordsTimeline = false;
};

/// Devices of which the first can stand for the others: each has the program of
/// the first one of its group, op by op, but for numbers of executions and
/// names of what it has itself, and where that communicates, it does so with
/// its whole group, or with the devices of its own place in other groups.
struct RankGroups {
  /// The devices of each, all of one size.
  llvm::SmallVector<llvm::ArrayRef<int64_t>> groups;
  /// Whether an op of the plan was found to be a program or segment of another
  /// device than the first that is so.
  std::function<bool(mlir::Operation *op)> isCovered;
};

/// What there is to say about a plan whose schedule was checked.
struct Outcome {
  /// Every check that was asked for holds. Otherwise an error was reported.
  bool isProved = false;
  /// In what way the plan cannot be executed. Empty if it can, or if it is not
  /// understood.
  llvm::StringRef malformation;
  /// Whether communication is started and waited for apart, and computations.
  bool startsCommunication = false, startsComputation = false;
  /// Whether one thing that is started waits for another.
  bool ordersStreams = false;
  /// Whether members of a collective work on different micro-batches.
  bool mixesMicroBatches = false;
  int64_t messages = 0;    ///< sends that met their receive
  int64_t collectives = 0; ///< collectives that all members entered
  /// For each program, in order of the plan, the greatest number of forward
  /// executions at a time whose saved values a backward has still to read.
  llvm::SmallVector<int64_t> liveActivations;
  /// The same with each execution counted by the values it saves.
  llvm::SmallVector<int64_t> liveValues;
  Timeline timeline;
};

/// Checks the programs of `plan`, which need not be verified IR. What is wrong
/// is one error, with notes at the other ops involved.
Outcome checkSchedule(tv::PlanOp plan, const Options &options);
/// The same where the first device of each group stands for the others. None
/// where that shows nothing: something is wrong, or not of that kind. Says
/// nothing. Without timelines.
std::optional<Outcome> checkSchedule(tv::PlanOp plan, const Options &options,
                                     const RankGroups &ranks);

/// Checks what the values of a plan rest on where communication is started and
/// waited for apart: each handle is waited for once, and no device uses memory
/// against what is under way. What is wrong is an error, and `malformation`
/// says in what way, if it is understood.
llvm::LogicalResult checkMemory(tv::PlanOp plan, llvm::StringRef &malformation);

} // namespace verify::schedule

#endif // VERIFY_SCHEDULE_SCHEDULE_H
