//===- Passes.h - the verification pipeline ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_PASSES_H
#define VERIFY_TRANSFORMS_PASSES_H

#include "Verify/IR/TVOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace verify {

class SolverContext;
namespace schedule {
struct RankGroups;
} // namespace schedule

/// What the draws of a random op depend on.
enum class RandomMode {
  ByElement, ///< on the op and the element of the whole tensor
  PerDevice  ///< also on the device and the execution, if there are several
};

/// The values of an option of this type.
llvm::cl::ValuesClass getRandomModes();

/// What `tv-check-schedule` looks at.
enum class ScheduleChecks {
  All,     ///< also what shows in values only
  Progress ///< what keeps a plan from running to its end
};

/// The values of an option of this type.
llvm::cl::ValuesClass getScheduleChecks();

/// When communication that was started takes place.
enum class StartedCommunication {
  Independent, ///< as soon as all who take part have started theirs
  InOrder      ///< on each device only after what it started before
};

/// The values of an option of this type.
llvm::cl::ValuesClass getStartedCommunications();

#define GEN_PASS_DECL
#include "Verify/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Verify/Transforms/Passes.h.inc"

/// On `@reference` and `@plan`: they stay in the module when they are linked.
constexpr llvm::StringLiteral keptPlanName = "tv.kept";

/// Something that is done with `@plan` while that is linked, perhaps on another
/// thread: it may only read it, and says nothing. Where ranks are linked as
/// one, it is told which; if that comes to nothing, it may be done again, for
/// fewer of them or for each device.
using BesideLinking = std::function<llvm::LogicalResult(
    tv::PlanOp plan, const schedule::RankGroups &ranks)>;

/// `tv-canonicalize-ssa` that does something beside. Where that fails the pass
/// does so too, and says nothing. The plans may have been linked before, and
/// what was changed since verified: they are not verified again then.
std::unique_ptr<mlir::Pass>
createCanonicalizeSSAPass(const CanonicalizeSSAPassOptions &options,
                          BesideLinking beside, bool areVerified = false);

/// Whoever uses plans that stay in the module while inputs are looked for that
/// show what is wrong, which leaves most of a second thread's time.
struct KeptPlansUser {
  /// Something does not hold. The check does not need the plans from now on.
  /// Returns whether a thread is busy with them then.
  std::function<bool()> take;
  /// They are to be in the module, as they were.
  std::function<void()> giveBack;
};

/// `tv-check-equiv` that reports how many stages it has decided, of how many at
/// most. The first module is checked in the solver's context that is given,
/// which others may use; others, and where none is given, in new ones.
std::unique_ptr<mlir::Pass>
createCheckEquivPass(const CheckEquivPassOptions &options,
                     std::function<void(unsigned, unsigned)> progress,
                     std::shared_ptr<SolverContext> solver = nullptr,
                     KeptPlansUser plans = {});

/// Adds all passes of `tv-verify-equiv`, in order. Of the schedule, progress is
/// checked.
void buildVerifyPipeline(mlir::OpPassManager &manager,
                         const CheckSchedulePassOptions &schedule,
                         const CanonicalizeSSAPassOptions &link,
                         const CheckEquivPassOptions &check);

/// Registers the pipeline `tv-verify-equiv`.
void registerVerifyPipeline();

} // namespace verify

#endif // VERIFY_TRANSFORMS_PASSES_H
