//===- verify-opt.cpp - runs Verify's passes on MLIR files ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"
#include "Verify/Interpreter/Passes.h"
#include "Verify/Report/Version.h"
#include "Verify/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<verify::tv::TVDialect>();
  verify::registerVerifyPasses();
  verify::registerVerifyPipeline();
  verify::registerVerifyInterpreterPasses();
  verify::setVersionPrinter();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Verify optimizer driver\n", registry));
}
