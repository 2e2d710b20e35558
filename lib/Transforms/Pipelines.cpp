//===- Pipelines.cpp - the verification pipeline --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace verify;

llvm::cl::ValuesClass verify::getRandomModes() {
  return llvm::cl::values(
      clEnumValN(RandomMode::ByElement, "by-element",
                 "a function of op and element, the same wherever it is drawn "
                 "(default)"),
      clEnumValN(RandomMode::PerDevice, "per-device",
                 "each device and execution its own, if there are several"));
}

void verify::buildVerifyPipeline(OpPassManager &manager,
                                 const CheckSchedulePassOptions &schedule,
                                 const CanonicalizeSSAPassOptions &link,
                                 const CheckEquivPassOptions &check) {
  // Order and waiting are there in the programs of devices only.
  // What shows in values is told by values, at the end.
  CheckSchedulePassOptions progress = schedule;
  progress.checks = ScheduleChecks::Progress;
  manager.addPass(createCheckSchedulePass(progress));
  // Lineage relates values, so buffers and communication go first.
  manager.addPass(createCanonicalizeSSAPass(link));
  // Stages are cut where lineage is known.
  manager.addPass(createOutlineStagesPass());
  // The small case is that of a stage, not of the whole program.
  manager.addPass(createReduceShapesPass());
  // Needs the graph beside the stages: for the ledger, and to execute it.
  manager.addPass(createCheckEquivPass(check));
}

namespace {
struct VerifyPipelineOptions : PassPipelineOptions<VerifyPipelineOptions> {
  Option<unsigned> resourceLimit{
      *this, "resource-limit",
      llvm::cl::desc("Z3 resource units for one query"),
      llvm::cl::init(5000000)};
  Option<unsigned> seed{*this, "seed",
                        llvm::cl::desc("Seed of Z3 and of witnesses"),
                        llvm::cl::init(0)};
  Option<RandomMode> random{
      *this, "random", llvm::cl::desc("What random ops draw"),
      llvm::cl::init(RandomMode::ByElement), getRandomModes()};
  Option<bool> foldRanks{
      *this, "fold-ranks",
      llvm::cl::desc("Make ranks whose programs agree one axis, and look at "
                     "each only where that does not prove the plan; not with "
                     "emit-smtlib"),
      llvm::cl::init(true)};
  Option<std::string> emitSmtLib{
      *this, "emit-smtlib",
      llvm::cl::desc("Directory to write each obligation to as SMT-LIB 2")};
  Option<std::string> cache{
      *this, "cache",
      llvm::cl::desc("Directory of proofs, shared between runs")};
  Option<std::string> counterexample{
      *this, "counterexample",
      llvm::cl::desc("File to write the inputs to on which a plan is refuted, "
                     ".json or .npz")};
  Option<unsigned> bufferedSends{
      *this, "buffered-sends",
      llvm::cl::desc("Sends of a channel that may be under way before the next "
                     "one waits; 0 is rendezvous"),
      llvm::cl::init(0)};
  Option<StartedCommunication> startedCommunication{
      *this, "started-communication",
      llvm::cl::desc("When communication that was started takes place"),
      llvm::cl::init(StartedCommunication::Independent),
      getStartedCommunications()};
  Option<std::string> timeline{
      *this, "timeline",
      llvm::cl::desc("File to write when each device does what, as a trace for "
                     "Chrome or Perfetto")};
  Option<bool> fullSize{
      *this, "full-size",
      llvm::cl::desc("Look at all positions instead of the small case"),
      llvm::cl::init(false)};
};
} // namespace

void verify::registerVerifyPipeline() {
  PassPipelineRegistration<VerifyPipelineOptions>(
      "tv-verify-equiv",
      "Prove that the plan of a module computes what its reference computes",
      [](OpPassManager &manager, const VerifyPipelineOptions &options) {
        CheckEquivPassOptions check;
        check.resourceLimit = options.resourceLimit;
        check.seed = options.seed;
        check.emitSmtLib = options.emitSmtLib;
        check.cache = options.cache;
        check.counterexample = options.counterexample;
        check.fullSize = options.fullSize;
        CanonicalizeSSAPassOptions link;
        link.random = options.random;
        // Obligations are written of what each device does.
        link.foldRanks = options.foldRanks && options.emitSmtLib.empty();
        CheckSchedulePassOptions schedule;
        schedule.bufferedSends = options.bufferedSends;
        schedule.startedCommunication = options.startedCommunication;
        schedule.timeline = options.timeline;
        buildVerifyPipeline(manager, schedule, link, check);
      });
}
