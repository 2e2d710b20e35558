//===- verify-reduce.cpp - makes a module small that shows a fault --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's reducer: `verify-reduce FILE -reduction-tree='test=SCRIPT'` removes
// what the script can do without, and ops of the dialect that can be left out
// of the way of a value. `python3 -m hunt.finding` is a script for verdicts.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"
#include "Verify/Interpreter/Passes.h"
#include "Verify/Report/Version.h"
#include "Verify/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;
using namespace verify;

namespace {
/// Replaces a result by the first operand of its type.
struct SkipOp : RewritePattern {
  explicit SkipOp(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !isa_and_nonnull<tv::TVDialect>(op->getDialect()))
      return failure();
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType()) {
        rewriter.replaceOp(op, operand);
        return success();
      }
    return failure();
  }
};

struct Reductions : DialectReductionPatternInterface {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Reductions)

  explicit Reductions(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &patterns) const override {
    patterns.add<SkipOp>(patterns.getContext());
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<tv::TVDialect>();
  registry.addExtension(+[](MLIRContext *, tv::TVDialect *dialect) {
    dialect->addInterface<Reductions>();
  });
  registerVerifyPasses();
  registerVerifyPipeline();
  registerVerifyInterpreterPasses();
  setVersionPrinter();
  MLIRContext context(registry);
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}
