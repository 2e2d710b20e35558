//===- consumer.cpp - a program that uses the installed package -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  llvm::outs()
      << context.getOrLoadDialect<verify::tv::TVDialect>()->getNamespace()
      << '\n';
}
