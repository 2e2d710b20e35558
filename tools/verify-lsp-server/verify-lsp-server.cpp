//===- verify-lsp-server.cpp - the tv dialect in text editors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server shows what is said while a file is parsed and has no
// place for passes. The symbols of a module are the last thing that is verified
// there, when everything else is known to be valid; a plan takes part as a user
// of the symbol `@reference`.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"
#include "Verify/Report/DiagnosticPrinter.h"
#include "Verify/Transforms/Passes.h"
#include "Verify/Transforms/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LSP/Protocol.h"

using namespace mlir;
using namespace verify;

namespace {
/// The file that a context parses.
struct ParsedFile : DialectInterface::Base<ParsedFile> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ParsedFile)

  ParsedFile(Dialect *dialect, StringRef path) : Base(dialect), path(path) {}

  std::string path;
  /// Passes verify the module that they work on.
  mutable bool isRunning = false;
};

/// Passes diagnostics on, after adding places that an editor does not show:
/// those in other files.
class PlaceNames : public ScopedDiagnosticHandler {
public:
  PlaceNames(MLIRContext *context, StringRef path)
      : ScopedDiagnosticHandler(context), path(path) {
    setHandler([this](Diagnostic &diagnostic) {
      hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      addPlace(diagnostic);
      for (Diagnostic &note : diagnostic.getNotes())
        addPlace(note);
      return failure();
    });
  }
  bool hasError = false;

private:
  void addPlace(Diagnostic &diagnostic) {
    std::string place = describeLocation(diagnostic.getLocation());
    if (!place.empty() && !StringRef(place).starts_with(path + ":"))
      diagnostic << " (" << place << ")";
  }
  std::string path;
};

struct VerifiedPlan
    : SymbolUserOpInterface::ExternalModel<VerifiedPlan, tv::PlanOp> {
  LogicalResult verifySymbolUses(Operation *op, SymbolTableCollection &) const {
    auto plan = cast<tv::PlanOp>(op);
    auto module = dyn_cast<ModuleOp>(op->getParentOp());
    auto *file = op->getDialect()->getRegisteredInterface<ParsedFile>();
    if (file && !file->isRunning && module && plan.getSymName() == "plan" &&
        module.lookupSymbol<tv::PlanOp>("reference"))
      verifyPlan(plan, module, *file);
    return success();
  }

  static void verifyPlan(tv::PlanOp plan, ModuleOp module,
                         const ParsedFile &file) {
    MLIRContext *context = module.getContext();
    file.isRunning = true;
    bool printsOps = context->shouldPrintOpOnDiagnostic();
    context->printOpOnDiagnostic(false);
    auto restore = llvm::make_scope_exit([&] {
      file.isRunning = false;
      context->printOpOnDiagnostic(printsOps);
    });

    PlaceNames handler(context, file.path);
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager manager(context);
    buildVerifyPipeline(manager, CheckSchedulePassOptions(),
                        CanonicalizeSSAPassOptions(), CheckEquivPassOptions());
    bool isDone = succeeded(manager.run(*copy));
    if (isDone && getAnswer(*copy) == Answer::Proved)
      plan->emitRemark("proved: the plan computes what the reference computes");
    else if (!handler.hasError)
      plan->emitError("unknown: the verification ended without an answer");
  }
};

struct PlanDiagnostics : DialectExtension<PlanDiagnostics, tv::TVDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanDiagnostics)

  explicit PlanDiagnostics(StringRef path) : path(path) {}

  void apply(MLIRContext *context, tv::TVDialect *dialect) const override {
    dialect->addInterface<ParsedFile>(path);
    tv::PlanOp::attachInterface<VerifiedPlan>(*context);
  }
  std::string path;
};
} // namespace

int main(int argc, char **argv) {
  llvm::cl::opt<bool> verifiesPlans(
      "tv-verify-equiv", llvm::cl::init(true),
      llvm::cl::desc(
          "Verify a plan against its reference whenever the file that "
          "holds both changes (default: true)"));
  DialectRegistry registry;
  auto getRegistry =
      [&](const llvm::lsp::URIForFile &uri) -> DialectRegistry & {
    registry = DialectRegistry();
    registry.insert<tv::TVDialect>();
    if (verifiesPlans)
      registry.addExtension(TypeID::get<PlanDiagnostics>(),
                            std::make_unique<PlanDiagnostics>(uri.file()));
    return registry;
  };
  return failed(MlirLspServerMain(argc, argv, getRegistry));
}
