//===- Schedule.cpp - who waits for whom ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Schedule/Schedule.h"

#include "InFlight.h"
#include "ProgramOrder.h"
#include "Simulation.h"
#include "Verify/IR/SilencedThread.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

/// Checks what shows in the program of one device. It goes first: what is
/// missing or too early there mostly holds others up as well.
static LogicalResult checkPrograms(const Skeleton &skeleton, Outcome &outcome) {
  for (const Program &program : skeleton.programs)
    if (failed(checkExecutions(program, outcome.malformation)) ||
        failed(checkGradients(program, outcome.malformation)))
      return failure();
  return success();
}

/// With `ranks`, which may be null, for their first devices.
static Outcome check(tv::PlanOp plan, const Options &options,
                     const RankGroups *ranks) {
  Outcome outcome;
  SkeletonBuilder builder(plan, ranks);
  FailureOr<Skeleton> skeleton = builder.build();
  if (failed(skeleton)) {
    outcome.malformation = builder.getMalformation();
    return outcome;
  }
  std::map<int64_t, LiveActivations> liveOf;
  for (const Program &program : skeleton->programs)
    liveOf[program.device] = countLiveActivations(program);
  for (auto program : plan.getBody().getOps<tv::ProgramOp>()) {
    const LiveActivations &live =
        liveOf[builder.getStandIn(program.getDevice())];
    outcome.liveActivations.push_back(live.executions);
    outcome.liveValues.push_back(live.values);
  }
  // What a race gives, no value can tell.
  if (failed(checkInFlight(*skeleton, outcome.malformation)))
    return outcome;
  if (options.checksOrder && failed(checkPrograms(*skeleton, outcome)))
    return outcome;
  outcome.startsCommunication = skeleton->startsCommunication;
  outcome.startsComputation = skeleton->startsComputation;
  outcome.ordersStreams = skeleton->ordersStreams;
  // Where first ranks do not get to their ends, all are looked at for what is
  // said about it.
  bool followsMicroBatches = !ranks || options.checksOrder;
  outcome.isProved = succeeded(
      Simulation(*skeleton, options, outcome, followsMicroBatches).run());
  return outcome;
}

Outcome verify::schedule::checkSchedule(tv::PlanOp plan,
                                        const Options &options) {
  return check(plan, options, nullptr);
}

std::optional<Outcome>
verify::schedule::checkSchedule(tv::PlanOp plan, const Options &options,
                                const RankGroups &ranks) {
  if (ranks.groups.empty() || options.recordsTimeline)
    return std::nullopt;
  SilencedThread silence(plan.getContext());
  Outcome outcome = check(plan, options, &ranks);
  // What is started goes on beside the rest of a device, and is none of a rank.
  // Whose micro-batch members of several have depends on who comes first.
  if (!outcome.isProved || outcome.startsCommunication ||
      outcome.startsComputation || outcome.mixesMicroBatches)
    return std::nullopt;
  return outcome;
}

LogicalResult verify::schedule::checkMemory(tv::PlanOp plan,
                                            StringRef &malformation) {
  SkeletonBuilder builder(plan, nullptr);
  FailureOr<Skeleton> skeleton = builder.build();
  if (failed(skeleton)) {
    malformation = builder.getMalformation();
    return failure();
  }
  return checkInFlight(*skeleton, malformation);
}
