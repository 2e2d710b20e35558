//===- Schedule.cpp - who waits for whom ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Schedule/Schedule.h"

#include "InFlight.h"
#include "ProgramOrder.h"
#include "Simulation.h"

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

Outcome verify::schedule::checkSchedule(tv::PlanOp plan,
                                        const Options &options) {
  Outcome outcome;
  SkeletonBuilder builder(plan);
  FailureOr<Skeleton> skeleton = builder.build();
  if (failed(skeleton)) {
    outcome.malformation = builder.getMalformation();
    return outcome;
  }
  for (const Program &program : skeleton->programs) {
    LiveActivations live = countLiveActivations(program);
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
  outcome.isProved = succeeded(Simulation(*skeleton, options, outcome).run());
  return outcome;
}

LogicalResult verify::schedule::checkMemory(tv::PlanOp plan,
                                            StringRef &malformation) {
  SkeletonBuilder builder(plan);
  FailureOr<Skeleton> skeleton = builder.build();
  if (failed(skeleton)) {
    malformation = builder.getMalformation();
    return failure();
  }
  return checkInFlight(*skeleton, malformation);
}
