//===- Version.cpp - which program this is --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Report/Version.h"

#include "Verify/Solver/Solver.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void verify::setVersionPrinter() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "Verify " VERIFY_VERSION "\n"
        << "  LLVM and MLIR " LLVM_VERSION_STRING "\n"
        << "  Z3 " << getSolverVersion() << "\n";
  });
}
