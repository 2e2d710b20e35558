//===- Statistics.h - counts and times for other programs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_REPORT_STATISTICS_H
#define VERIFY_REPORT_STATISTICS_H

#include "Verify/Report/Summary.h"

namespace verify {

/// Writes what a verification of `module` found and took to a JSON file: the
/// answer, the statistics of the passes, seconds of each phase, and the peak of
/// the memory of this process in bytes. `-` is the standard output.
llvm::Error writeStatistics(mlir::ModuleOp module, llvm::ArrayRef<Phase> phases,
                            llvm::StringRef path);

} // namespace verify

#endif // VERIFY_REPORT_STATISTICS_H
