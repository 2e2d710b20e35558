//===- CheckSchedule.cpp - who waits for whom -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass around lib/Schedule: options, the report on the module, and the file
// with the timeline.
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/ScheduleCheck.h"

#include "Verify/Transforms/Report.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_CHECKSCHEDULEPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

llvm::cl::ValuesClass verify::getScheduleChecks() {
  return llvm::cl::values(
      clEnumValN(ScheduleChecks::All, "all",
                 "progress, and the order of calls and gradients (default)"),
      clEnumValN(ScheduleChecks::Progress, "progress",
                 "what keeps a plan from running to its end"));
}

llvm::cl::ValuesClass verify::getStartedCommunications() {
  return llvm::cl::values(
      clEnumValN(StartedCommunication::Independent, "independent",
                 "as soon as all who take part have started theirs (default)"),
      clEnumValN(StartedCommunication::InOrder, "in-order",
                 "on each device one after the other, as through one queue"));
}

ScheduleCheck::ScheduleCheck(const CheckSchedulePassOptions &options)
    : options(options) {}

LogicalResult ScheduleCheck::run(tv::PlanOp plan,
                                 const schedule::RankGroups &ranks) {
  place = plan.getLoc();
  schedule::Options wanted;
  wanted.bufferedSends = options.bufferedSends;
  wanted.runsInOrder =
      options.startedCommunication == StartedCommunication::InOrder;
  wanted.checksOrder = options.checks == ScheduleChecks::All;
  wanted.recordsTimeline = !options.timeline.empty();
  ScopedDiagnosticHandler listener(
      plan.getContext(),
      [this, own = llvm::get_threadid()](Diagnostic &diagnostic) {
        if (llvm::get_threadid() != own)
          return failure();
        said.push_back(std::move(diagnostic));
        return success();
      });
  // Where the first ranks do not show it, the error is one of all.
  std::optional<schedule::Outcome> ofFirst =
      schedule::checkSchedule(plan, wanted, ranks);
  outcome =
      ofFirst ? std::move(*ofFirst) : schedule::checkSchedule(plan, wanted);
  // Its events are ops of the plan, which may be gone when this is reported.
  isWritten = options.timeline.empty() ||
              schedule::writeTimeline(std::exchange(outcome.timeline, {}),
                                      options.timeline, timelineError);
  return success(outcome.isProved);
}

LogicalResult ScheduleCheck::report(ModuleOp module) {
  if (!place)
    return module.emitError("has a schedule that was not checked");
  for (Diagnostic &diagnostic : said)
    module.getContext()->getDiagEngine().emit(std::move(diagnostic));
  said.clear();
  if (!outcome.isProved && !outcome.malformation.empty())
    setMalformation(module, outcome.malformation);
  if (!isWritten)
    return emitError(*place) << "timeline " << timelineError;
  if (!outcome.isProved)
    return failure();
  reportCounts(module);
  return success();
}

void ScheduleCheck::reportCounts(ModuleOp module) {
  addStatistic(module, "messages", outcome.messages);
  addStatistic(module, "collectives", outcome.collectives);
  auto add = [&](StringRef name, ArrayRef<int64_t> counts) {
    int64_t most = 0;
    for (int64_t count : counts)
      most = std::max(most, count);
    addStatistic(module, name, most);
  };
  add("peak_live_activations", outcome.liveActivations);
  add("peak_live_values", outcome.liveValues);
  module->setAttr(
      liveActivationsName,
      DenseI64ArrayAttr::get(module.getContext(), outcome.liveActivations));
  if (outcome.startsComputation)
    addAssumption(
        module, std::string("computations that were started run on "
                            "streams of their own") +
                    (outcome.ordersStreams ? " or those that they name" : "") +
                    ", whatever else the device does");
  if (outcome.ordersStreams)
    addAssumption(module, "what is started on a stream, or after a handle, "
                          "begins when that before it is over");
  if (outcome.startsCommunication)
    addAssumption(
        module,
        options.startedCommunication == StartedCommunication::InOrder
            ? "communication that was started goes on without being waited "
              "for, at least one at a time on each device, in order"
            : "communication that was started goes on without being waited "
              "for, also while what was started before waits");
  if (options.bufferedSends)
    addAssumption(
        module, "the runtime buffers " + std::to_string(options.bufferedSends) +
                    (options.bufferedSends == 1 ? " send of each channel"
                                                : " sends of each channel"));
}

namespace {
struct CheckSchedulePass
    : verify::impl::CheckSchedulePassBase<CheckSchedulePass> {
  using CheckSchedulePassBase::CheckSchedulePassBase;

protected:
  void runOnOperation() override {
    CheckSchedulePassOptions options{checks, bufferedSends,
                                     startedCommunication, timeline};
    bool isChecked = false;
    for (auto plan : getOperation().getOps<tv::PlanOp>()) {
      // One device waits for nobody; that it is one is checked where it is
      // read.
      if (plan.getSymName() == "reference")
        continue;
      isChecked = true;
      ScheduleCheck check(options);
      (void)check.run(plan);
      if (failed(check.report(getOperation())))
        return signalPassFailure();
    }
    // As a part of a verification it may have none: that starts at a graph too.
    if (!isChecked && checks == ScheduleChecks::All) {
      getOperation().emitError("has no schedule to check: no tv.plan but the "
                               "reference");
      return signalPassFailure();
    }
    // The ops stay as they are. A frontend's plan that is not well-formed is
    // refuted by the passes that execute it, not by the verifier.
    markAllAnalysesPreserved();
  }
};
} // namespace
