//===- Summary.h - what was proved, and on what assumptions -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_REPORT_SUMMARY_H
#define VERIFY_REPORT_SUMMARY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace verify {

/// One step of a verification and how long it took.
struct Phase {
  std::string name;
  double seconds = 0;
};

/// Prints the summary of a finished verification of `module`: the answer, what
/// it covers, what was assumed, and the time of each phase.
void printSummary(mlir::ModuleOp module, llvm::ArrayRef<Phase> phases,
                  llvm::raw_ostream &out);

} // namespace verify

#endif // VERIFY_REPORT_SUMMARY_H
