//===- Pipelines.cpp - the verification pipeline --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void verify::buildVerifyPipeline(OpPassManager &manager,
                                 const CheckEquivPassOptions &options) {
  // Lineage relates values, so buffers and communication go first.
  manager.addPass(createCanonicalizeSSAPass());
  // Stages are cut where lineage is known.
  manager.addPass(createOutlineStagesPass());
  // The small case is that of a stage, not of the whole program.
  manager.addPass(createReduceShapesPass());
  // Needs the graph beside the stages: for the ledger, and to execute it.
  manager.addPass(createCheckEquivPass(options));
}

namespace {
struct VerifyPipelineOptions : PassPipelineOptions<VerifyPipelineOptions> {
  Option<unsigned> resourceLimit{
      *this, "resource-limit",
      llvm::cl::desc("Z3 resource units for one obligation"),
      llvm::cl::init(20000000)};
  Option<unsigned> seed{*this, "seed",
                        llvm::cl::desc("Seed of Z3 and of witnesses"),
                        llvm::cl::init(0)};
  Option<std::string> emitSmtLib{
      *this, "emit-smtlib",
      llvm::cl::desc("Directory to write each obligation to as SMT-LIB 2")};
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
        buildVerifyPipeline(manager, check);
      });
}
