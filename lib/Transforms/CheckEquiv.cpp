//===- CheckEquiv.cpp - one verdict for each result -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "EquivalenceChecker.h"
#include "Refutation.h"
#include "Verify/Transforms/Report.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_CHECKEQUIVPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

namespace {
struct CheckEquivPass : verify::impl::CheckEquivPassBase<CheckEquivPass> {
  using Base::Base;
  std::function<void(unsigned, unsigned)> progress;

  void runOnOperation() override {
    // Stages on their own, without the graph they were cut from.
    auto graphs = getOperation().getOps<tv::GraphOp>();
    if (graphs.empty())
      return checkStages();
    for (tv::GraphOp graph : graphs)
      check(graph);
    if (getAnswer(getOperation()) != Answer::Proved)
      signalPassFailure();
  }

  ProverOptions getProverOptions() {
    ProverOptions options;
    options.randomSeed = seed;
    options.resourceLimit = resourceLimit;
    return options;
  }

  void checkStages() {
    bool isProved = true;
    for (auto stage : getOperation().getOps<tv::StageOp>()) {
      StageVerdict verdict = proveStage(stage, getProverOptions());
      if (verdict.isProved())
        continue;
      isProved = false;
      auto expects = stage.getBody().getOps<tv::ExpectOp>();
      emitError(expects.empty() ? stage.getLoc() : (*expects.begin()).getLoc())
          << "stage '" << stage.getSymName() << "' is "
          << verify::getName(verdict.verdict) << ": " << verdict.reason;
    }
    if (!isProved)
      signalPassFailure();
  }

  void check(tv::GraphOp graph) {
    auto report = [&](unsigned done, unsigned total) {
      if (progress)
        progress(done, total);
    };
    EquivalenceChecker checker(graph, getProverOptions(), emitSmtLib, report);
    checker.run();
    const CheckCounts &counts = checker.getCounts();
    ModuleOp module = getOperation();
    addStatistic(module, "stages", counts.stages);
    addStatistic(module, "distinct_stages", counts.distinctStages);
    addStatistic(module, "obligations_by_z3", counts.byZ3);
    addStatistic(module, "obligations_by_normalization",
                 counts.byNormalization);
    addStatistic(module, "lemmas_not_used", counts.brokenLemmas);
    addStatistic(module, "opaque_tensors", counts.opaqueTensors);
    byZ3 += counts.byZ3;
    byNormalization += counts.byNormalization;

    SmallVector<tv::ExpectOp> failed;
    for (tv::ExpectOp result : checker.getResults())
      if (!checker.getStatuses().find(result)->second.verdict.isProved())
        failed.push_back(result);
    if (failed.empty()) {
      bool isSound = succeeded(checkLedger(checker, graph));
      return setAnswer(module, isSound ? Answer::Proved : Answer::Unknown);
    }
    setAnswer(module, refute(checker, graph, failed, seed));
  }
};
} // namespace

std::unique_ptr<Pass>
verify::createCheckEquivPass(const CheckEquivPassOptions &options,
                             std::function<void(unsigned, unsigned)> progress) {
  auto pass = std::make_unique<CheckEquivPass>(options);
  pass->progress = std::move(progress);
  return pass;
}
