//===- OutlineStages.cpp - one isolated stage for each expect -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "Verify/Analysis/StageBuilder.h"
#include "Verify/IR/Compositions.h"

#include <set>

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_OUTLINESTAGESPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

namespace {
struct OutlineStagesPass
    : verify::impl::OutlineStagesPassBase<OutlineStagesPass> {
protected:
  void runOnOperation() override {
    for (auto graph :
         llvm::make_early_inc_range(getOperation().getOps<tv::GraphOp>()))
      if (failed(outline(graph)))
        return signalPassFailure();
  }

  /// Stages name what they prove and assume by number: each expect gets one.
  static LogicalResult number(tv::GraphOp graph) {
    std::set<int64_t> numbers;
    for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
      if (expect.getNumber() && !numbers.insert(*expect.getNumber()).second)
        return expect.emitOpError("has the number of another one: ")
               << *expect.getNumber();
    int64_t next = 0;
    for (auto expect : graph.getBody().getOps<tv::ExpectOp>()) {
      if (expect.getNumber())
        continue;
      while (!numbers.insert(next).second)
        ++next;
      expect.setNumber(next);
    }
    return success();
  }

  static LogicalResult outline(tv::GraphOp graph) {
    if (failed(expandCompositions(graph)) || failed(number(graph)))
      return failure();
    StageBuilder stageBuilder(graph);
    OpBuilder builder(graph);
    builder.setInsertionPointAfter(graph);
    llvm::DenseSet<Operation *> needed;
    for (tv::ExpectOp expect : stageBuilder.getExpects())
      if (expect.getContract())
        needed.insert(expect);
    // An expect is assumed only by values that depend on its own, so from the
    // last to the first each is known to be needed before it is reached; the
    // values decide the order, not the numbers.
    SmallVector<tv::ExpectOp> order(stageBuilder.getExpects());
    llvm::stable_sort(order, [](tv::ExpectOp left, tv::ExpectOp right) {
      Operation *first = left.getValues().back().getDefiningOp();
      Operation *second = right.getValues().back().getDefiningOp();
      return first != second && first->isBeforeInBlock(second);
    });
    for (tv::ExpectOp expect : llvm::reverse(order)) {
      if (!needed.contains(expect))
        continue;
      std::optional<StageOutline> outline = stageBuilder.outline(expect);
      if (!outline)
        return expect.emitOpError("depends on too many ops since the last "
                                  "tensor of known lineage");
      builder.setInsertionPointAfter(graph);
      stageBuilder.build(*outline, builder);
      for (auto [begin, lemma] : outline->begins)
        if (lemma)
          needed.insert(lemma);
    }
    return success();
  }
};
} // namespace
