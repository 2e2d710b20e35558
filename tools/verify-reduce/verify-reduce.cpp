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
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace verify;

namespace {
/// Replaces a result by the first operand of its type with which the module
/// still shows the fault. MLIR's reducer takes what patterns leave for granted,
/// and does not survive a module that shows nothing.
struct SkipOp : RewritePattern {
  SkipOp(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !isa_and_nonnull<tv::TVDialect>(op->getDialect()))
      return failure();
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType() == op->getResult(0).getType() &&
          canSkip(operand)) {
        rewriter.replaceOp(op, operand.get());
        return success();
      }
    return failure();
  }

private:
  /// Whether the module shows the fault without the owner of `operand`. The
  /// reducer asks again in each copy of the module; the answer is that of the
  /// first.
  bool canSkip(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    std::tuple<const void *, const void *, unsigned> place(
        op->getLoc().getAsOpaquePointer(), op->getName().getAsOpaquePointer(),
        operand.getOperandNumber());
    if (needed.contains(place))
      return false;
    Operation *module = op;
    while (Operation *parent = module->getParentOp())
      module = parent;
    IRMapping copies;
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone(copies)));
    Operation *skipped = copies.lookup(op);
    skipped->replaceAllUsesWith(
        ValueRange(skipped->getOperand(operand.getOperandNumber())));
    skipped->erase();
    ScopedDiagnosticHandler silence(op->getContext(),
                                    [](Diagnostic &) { return success(); });
    bool isShown =
        succeeded(mlir::verify(*copy)) &&
        tester.isInteresting(*copy).first == Tester::Interestingness::True;
    if (!isShown)
      needed.insert(place);
    return isShown;
  }

  const Tester &tester;
  mutable llvm::DenseSet<std::tuple<const void *, const void *, unsigned>>
      needed;
};

struct Reductions : DialectReductionPatternInterface {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Reductions)

  explicit Reductions(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<SkipOp>(patterns.getContext(), tester);
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
  // That a module shows nothing is a warning, which nobody would print.
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return failure();
    llvm::errs() << diagnostic.getLocation() << ": warning: " << diagnostic
                 << '\n';
    return success();
  });
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}
