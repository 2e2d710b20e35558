//===- Confirmation.h - a difference shown in intervals ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a result of the contract, and what it depends on, in intervals that
// hold the exact reals. What doubles alone say is never reported.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_CONFIRMATION_H
#define VERIFY_LIB_TRANSFORMS_CONFIRMATION_H

#include "WitnessInputs.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <functional>
#include <future>

namespace verify {

/// Why a difference is not reported that what is selected may explain.
inline constexpr llvm::StringLiteral tiesReason =
    "what is selected from ties on the inputs that were tried";
/// Why no difference is reported between numbers that agree in most digits.
inline constexpr llvm::StringLiteral roundingReason =
    "the difference could not be told from rounding";

/// An element of a result that certainly differs on some inputs.
struct Witness {
  tv::ExpectOp expect;
  llvm::SmallVector<int64_t> index, referenceIndex;
  std::string planValue, referenceValue;
  /// Of the mesh axes, where they matter.
  llvm::SmallVector<std::pair<std::string, int64_t>> coordinates;
  /// Of the intervals, in bits.
  unsigned precision = 0;
  /// The op of the plan that is undefined on the inputs, if that is the
  /// difference.
  mlir::Operation *undefinedOp = nullptr;
};

/// Inputs on which results may be shown to differ, at full size.
class Confirmation {
public:
  /// Either a witness or why there is none.
  struct Outcome {
    std::optional<Witness> witness;
    std::string failureReason;
    /// Whether the evaluation would take too long.
    bool isTooCostly = false;
  };

  Confirmation(const FactorAnalysis &analysis, WitnessSeed seed)
      : analysis(analysis), seed(std::move(seed)) {}

  /// Takes over what an evaluation of the same inputs and analysis knows to be
  /// equal; null if it knows nothing.
  void setEqualValues(std::shared_ptr<const ValueNumbering> known) {
    equalValues = std::move(known);
  }
  /// Leaves out all but intervals between doubles.
  void useDoublesAlone() { usesDoublesAlone = true; }
  /// Looks for an element of `result` at which plan and reference differ, in
  /// intervals of rising precision. Gives up soon after `stopped` is set.
  Outcome run(tv::ExpectOp result, const std::atomic<bool> &stopped) const;

private:
  class Execution;
  /// The same with intervals of one algebra; none if they are too wide to tell.
  std::optional<Outcome> runWith(EnclosingAlgebra &algebra, tv::ExpectOp result,
                                 const WitnessRange &range,
                                 std::shared_ptr<const ValueNumbering> known,
                                 const std::atomic<bool> &stopped) const;
  /// The same with intervals between doubles. Where plan and reference have
  /// little in common each is executed for itself, on two threads if there are
  /// two. Sets `known` to the values that are known to be equal, if it is null.
  std::optional<Outcome>
  runWithDoubles(tv::ExpectOp result, const WitnessRange &range,
                 std::shared_ptr<const ValueNumbering> &known,
                 const std::atomic<bool> &stopped) const;
  /// Whether both sides differ in `plan`, which has what the plan's side is;
  /// none if intervals are too wide to tell. `other` executed the reference, or
  /// is null if `plan` did.
  std::optional<Outcome> judge(Execution &plan, Execution *other,
                               tv::ExpectOp result) const;

  const FactorAnalysis &analysis;
  WitnessSeed seed;
  std::shared_ptr<const ValueNumbering> equalValues;
  bool usesDoublesAlone = false;
};

/// Confirms a result on another thread, of which it is not known yet whether it
/// is wrong.
class EarlyConfirmation {
public:
  explicit EarlyConfirmation(Confirmation confirmation)
      : confirmation(std::move(confirmation)),
        thread(llvm::hardware_concurrency(1)) {}
  /// Stops what was begun.
  ~EarlyConfirmation();

  /// Confirms what `choose` gives, which is called on the other thread; nothing
  /// if that is null.
  void begin(std::function<tv::ExpectOp()> choose);
  /// Confirms `result` in place of what was begun, unless that is the same.
  void changeTo(tv::ExpectOp result);
  /// What is being confirmed; null if nothing is.
  tv::ExpectOp getResult() const;
  /// The same at the beginning.
  tv::ExpectOp getFirst() const;
  /// Whether it is known already that there is no witness.
  bool hasFailed() const;
  /// What came out of what was begun last; waits for it; only once.
  Confirmation::Outcome take();

private:
  struct Task {
    std::promise<tv::ExpectOp> result;
    std::shared_future<tv::ExpectOp> chosen = result.get_future().share();
    Confirmation::Outcome outcome; ///< once `isOver`
    std::atomic<bool> isStopped = false, isOver = false;
  };
  void run(Task &task);

  Confirmation confirmation;
  std::vector<std::unique_ptr<Task>> tasks; ///< all but the last are stopped
  llvm::DefaultThreadPool thread;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_CONFIRMATION_H
