//===- CanonicalizeSSA.cpp - plans of devices to one SSA graph ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "PlanLinking.h"
#include "Verify/Transforms/BatchSize.h"
#include "Verify/Transforms/Report.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_CANONICALIZESSAPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

namespace {
struct CanonicalizeSSAPass
    : verify::impl::CanonicalizeSSAPassBase<CanonicalizeSSAPass> {
  using CanonicalizeSSAPassBase::CanonicalizeSSAPassBase;
  BesideLinking beside;
  bool areVerified = false;

protected:
  void runOnOperation() override {
    auto reference = getOperation().lookupSymbol<tv::PlanOp>("reference");
    auto plan = getOperation().lookupSymbol<tv::PlanOp>("plan");
    if (!reference && !plan)
      return;
    if (!reference || !plan) {
      getOperation().emitError("needs both plans, @reference and @plan");
      return signalPassFailure();
    }
    auto adapted = adaptBatchSize(reference, plan);
    if (failed(adapted))
      return signalPassFailure();
    if (*adapted)
      addAssumption(getOperation(), **adapted);
    RankFolding folding = RankFolding::None;
    if (foldRanks)
      folding = foldExceptions ? RankFolding::All : RankFolding::ButExceptions;
    if (failed(linkPlans(getOperation(), random, folding, beside, areVerified)))
      return signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass>
verify::createCanonicalizeSSAPass(const CanonicalizeSSAPassOptions &options,
                                  BesideLinking beside, bool areVerified) {
  auto pass = std::make_unique<CanonicalizeSSAPass>(options);
  pass->areVerified = areVerified;
  pass->beside = std::move(beside);
  return pass;
}
