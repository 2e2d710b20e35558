//===- ProgramOrder.h - in what order one device does things ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be seen in the program of one device alone: executions of segments
// and their mirrors, gradient buffers and their reducers, and how many saved
// values are kept at a time.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_PROGRAMORDER_H
#define VERIFY_LIB_SCHEDULE_PROGRAMORDER_H

#include "Skeleton.h"

namespace verify::schedule {

/// Checks that every execution has a number of its own, that a backward runs
/// after the forward that it mirrors, once, and that what saves values for a
/// backward gets one. On failure `malformation` says what is wrong.
mlir::LogicalResult checkExecutions(const Program &program,
                                    llvm::StringRef &malformation);

/// Checks that nothing is added to a gradient after its reducer read it.
mlir::LogicalResult checkGradients(const Program &program,
                                   llvm::StringRef &malformation);

/// What is kept for a backward at a time, at most.
struct LiveActivations {
  int64_t executions = 0; ///< of forward segments
  int64_t values = 0;     ///< that they save
};
LiveActivations countLiveActivations(const Program &program);

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_PROGRAMORDER_H
