#include "Verify/Transforms/Passes.h"
#include "Verify/Analysis/StageProver.h"
#include "Verify/Analysis/StageBuilder.h"
using namespace mlir;
using namespace verify;
namespace verify {
#define GEN_PASS_DEF_CHECKEQUIVPASS
#include "Verify/Transforms/Passes.h.inc"
}
namespace { struct CheckEquivPass : verify::impl::CheckEquivPassBase<CheckEquivPass> { using Base::Base; void runOnOperation() override { 
 llvm::StringMap<StageVerdict> known; unsigned z=0,n=0,stages=0,bad=0;
 for (auto stage : getOperation().getOps<tv::StageOp>()) {
   ++stages;
   auto [it,isNew]=known.try_emplace(StageBuilder::getKey(stage));
   if (isNew) { it->second=proveStage(stage, ProverOptions());  z+=it->second.byZ3; n+=it->second.byNormalization; }
   if (!it->second.isProved()) { ++bad; if(bad<15) stage.emitError()<<stage.getSymName()<<" "<<verify::getName(it->second.verdict)<<": "<<it->second.reason; }
 }
 llvm::errs()<<"stages "<<stages<<" distinct "<<known.size()<<" z3 "<<z<<" norm "<<n<<" bad "<<bad<<"\n";
} }; }
