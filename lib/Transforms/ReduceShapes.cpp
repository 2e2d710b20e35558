//===- ReduceShapes.cpp - the small case that decides each stage ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "Verify/Analysis/FactorAnalysis.h"
#include "Verify/Transforms/Report.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_REDUCESHAPESPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

namespace {
struct ReduceShapesPass : verify::impl::ReduceShapesPassBase<ReduceShapesPass> {
protected:
  void runOnOperation() override {
    sorts = rigid = 0;
    for (auto stage : getOperation().getOps<tv::StageOp>())
      reduce(stage);
    addStatistic(getOperation(), "sorts", sorts);
    addStatistic(getOperation(), "rigid_sorts", rigid);
  }

  int64_t sorts = 0, rigid = 0;

  void reduce(tv::StageOp stage) {
    FactorAnalysis factors(stage.getBody().front(), stage.getMesh(), {});
    // A stage without a small case stays as it is; checking it says why.
    if (factors.getFailure())
      return;
    Builder builder(&getContext());
    SmallVector<Attribute> list;
    for (const SortInfo &sort : factors.getSorts()) {
      NamedAttrList entry;
      entry.set("size", builder.getI64IntegerAttr(sort.size));
      entry.set("width", builder.getI64IntegerAttr(sort.width));
      entry.set("kept", builder.getI64IntegerAttr(sort.kept));
      entry.set("bulk", builder.getI64IntegerAttr(sort.bulk));
      if (sort.isRigid)
        entry.set("rigid", builder.getUnitAttr());
      if (sort.countsSteps)
        entry.set("counts_steps", builder.getUnitAttr());
      list.push_back(entry.getDictionary(&getContext()));
      ++sorts;
      rigid += sort.isRigid;
    }
    stage.setFactorsAttr(builder.getArrayAttr(list));
  }
};
} // namespace
