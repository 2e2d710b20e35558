//===- verify-translate.cpp - shows what a frontend imports ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/NnScaler/CommandLine.h"
#include "Verify/Output/OutputFile.h"
#include "Verify/Report/Version.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  verify::setVersionPrinter();
  cl::OptionCategory category("verify-translate options");
  cl::opt<std::string> planPath(cl::Positional, cl::Required,
                                cl::desc("<parallel plan>"), cl::cat(category));
  cl::opt<bool> importNnScaler("import-nnscaler",
                               cl::desc("Read nnScaler execution plans"),
                               cl::init(true), cl::cat(category));
  cl::opt<std::string> referencePath(
      "reference", cl::Required, cl::value_desc("file"),
      cl::desc("Plan of the same model for one device"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::value_desc("file"),
                              cl::desc("Where to write the module"),
                              cl::cat(category));
  cl::opt<bool> debugInfo("mlir-print-debuginfo",
                          cl::desc("Print source locations"),
                          cl::cat(category));
  verify::nnscaler::PartOrderOption partOrder(category);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Verify translation driver\n\nexit codes: 0 written, 3 bad input or "
          "usage, or output that cannot be written\n",
          &errs()))
    return 3;

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  verify::nnscaler::ImportOptions options;
  options.partOrder = partOrder;
  mlir::TimingScope timing;
  mlir::OwningOpRef<mlir::ModuleOp> module = verify::nnscaler::importPair(
      &context, referencePath, planPath, options, timing);
  // What the frontend builds is not verified before a pass needs it.
  if (!module || failed(mlir::verify(*module)))
    return 3;
  mlir::OpPrintingFlags flags;
  if (debugInfo)
    flags.enableDebugInfo();
  if (Error error = verify::writeFile(
          output, [&](raw_ostream &out) { module->print(out, flags); })) {
    errs() << "verify-translate: " << toString(std::move(error)) << "\n";
    return 3;
  }
  return 0;
}
