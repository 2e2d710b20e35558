//===- Report.h - what a verification found ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of `tv-check-equiv` as an attribute of the module, so that it is
// printed with the IR and read by tools without another interface.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_REPORT_H
#define VERIFY_TRANSFORMS_REPORT_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace verify {

/// The answer for a whole plan.
enum class Answer { Proved, Refuted, Unknown };
/// `proved`, `refuted` or `unknown`.
llvm::StringRef getName(Answer answer);

/// Makes `count` entry `name` of the module's `tv.statistics`.
void setStatistic(mlir::ModuleOp module, llvm::StringRef name, int64_t count);
/// Adds `count` to that entry.
void addStatistic(mlir::ModuleOp module, llvm::StringRef name, int64_t count);
/// Entry `name` of the module's `tv.statistics`, or 0.
int64_t getStatistic(mlir::ModuleOp module, llvm::StringRef name);
/// All of them, by name.
llvm::SmallVector<std::pair<llvm::StringRef, int64_t>>
getStatistics(mlir::ModuleOp module);

/// The attribute of the module that holds, for each device of the plan, the
/// peak of its live activations.
inline constexpr llvm::StringLiteral liveActivationsName =
    "tv.live_activations";

/// Adds a sentence to the module's `tv.assumptions`: something the verdict
/// rests on and the contract does not show.
void addAssumption(mlir::ModuleOp module, llvm::StringRef text);
llvm::SmallVector<llvm::StringRef> getAssumptions(mlir::ModuleOp module);

/// Notes on the module, and asks for it, that a file which was asked for could
/// not be written.
void setOutputFailed(mlir::ModuleOp module);
bool hasOutputFailed(mlir::ModuleOp module);

/// Writes and reads the module's `tv.answer`.
void setAnswer(mlir::ModuleOp module, Answer answer);
std::optional<Answer> getAnswer(mlir::ModuleOp module);

/// Writes and reads the module's `tv.malformed`: why the plan cannot be
/// executed, if it cannot.
void setMalformation(mlir::ModuleOp module, llvm::StringRef reason);
std::optional<llvm::StringRef> getMalformation(mlir::ModuleOp module);

} // namespace verify

#endif // VERIFY_TRANSFORMS_REPORT_H
