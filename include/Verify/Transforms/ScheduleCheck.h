//===- ScheduleCheck.h - a check of a schedule, and its report --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_SCHEDULECHECK_H
#define VERIFY_TRANSFORMS_SCHEDULECHECK_H

#include "Verify/Schedule/Schedule.h"
#include "Verify/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace verify {

/// What `tv-check-schedule` does with one plan, in two parts: the check, which
/// only reads the plan and may take place on another thread, beside what only
/// reads it too, and the report, which changes the module.
class ScheduleCheck {
public:
  explicit ScheduleCheck(const CheckSchedulePassOptions &options);

  /// Checks `plan`, and writes the file with the timeline. Says nothing yet.
  /// Where there are groups of ranks, the first ones may be enough.
  llvm::LogicalResult run(tv::PlanOp plan,
                          const schedule::RankGroups &ranks = {});
  bool wasRun() const { return place.has_value(); }
  /// Says what `run` found, and writes it to the attributes of `module`. Fails
  /// where that failed, where it was not called, and where the file could not
  /// be written. The plan need not be there any more.
  llvm::LogicalResult report(mlir::ModuleOp module);

private:
  void reportCounts(mlir::ModuleOp module);

  CheckSchedulePassOptions options;
  schedule::Outcome outcome;
  std::vector<mlir::Diagnostic> said;
  bool isWritten = false; ///< or no timeline is wanted
  std::string timelineError;
  std::optional<mlir::Location> place; ///< of the plan; none before `run`
};

} // namespace verify

#endif // VERIFY_TRANSFORMS_SCHEDULECHECK_H
