//===- DialectFuzzer.cpp - any text as a module ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses and verifies. What is valid has to print as text that parses again.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<verify::tv::TVDialect>();
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  std::string source(reinterpret_cast<const char *>(data), size);
  ParserConfig config(&context);
  auto module = parseSourceString<ModuleOp>(source, config);
  if (!module)
    return 0;
  // Every relation and body, whatever the shapes.
  module->walk(
      [](verify::tv::SemanticsOpInterface op) { (void)op.getIndexRelation(); });
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  if (!parseSourceString<ModuleOp>(text, config))
    llvm::report_fatal_error("a valid module prints as text that is not");
  return 0;
}
