//===- PlanFuzzer.cpp - any bytes as a plan -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the bytes as an nnScaler plan, imports what can be read and verifies
// what can be imported, as the tools do. Plans that contradict themselves may
// be imported; the verifier says so, and nothing goes on.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"
#include "Verify/NnScaler/Import.h"
#include "Verify/NnScaler/PlanFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "input");
  auto plan = verify::nnscaler::readPlan(std::move(buffer));
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return 0;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<verify::tv::TVDialect>();
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  if (failed(verify::nnscaler::importPlan(*plan, "input", "plan", {}, *module)))
    return 0;
  (void)mlir::verify(*module);
  return 0;
}
