//===- Confirmation.cpp - a difference shown in intervals -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Confirmation.h"

#include "Diagnosis.h"
#include "Verify/Scalar/SignAlgebra.h"

using namespace mlir;
using namespace verify;

static constexpr llvm::StringLiteral stoppedReason = "it was stopped";
/// Precisions of the intervals, in bits; the first are intervals of doubles.
static constexpr unsigned precisions[] = {53, 128, 256};

static std::unique_ptr<EnclosingAlgebra> makeIntervals(unsigned precision) {
  if (precision == precisions[0])
    return std::make_unique<DoubleIntervalAlgebra>();
  return std::make_unique<IntervalAlgebra>(precision);
}

/// Whether the elements along the last dimension of each value all differ.
static bool
areDistinct(DenseEvaluator &evaluator, ArrayRef<Value> values,
            llvm::function_ref<bool(Scalar left, Scalar right)> areDisjoint) {
  // Of values that are known to be equal one is looked at.
  llvm::DenseSet<std::tuple<Value, Attribute, uint64_t>> known;
  return llvm::all_of(values, [&](Value value) {
    Operation *op = value.getDefiningOp();
    std::tuple key(evaluator.getLeader(value),
                   op ? op->getAttr("domain") : Attribute(),
                   evaluator.getVaryingAxes(value));
    return !known.insert(key).second ||
           evaluator.haveDistinctElements(value, areDisjoint);
  });
}

namespace {
/// An execution of the same inputs in signs.
struct Signs {
  Signs(const FactorAnalysis &analysis, const WitnessSeed &seed,
        const WitnessRange &range)
      : source(algebra, seed, range), evaluator(analysis, algebra, source) {}

  SignAlgebra algebra;
  WitnessInputs source;
  DenseEvaluator evaluator;
};
} // namespace

static Confirmation::Outcome reject(std::string reason,
                                    bool isTooCostly = false) {
  return {std::nullopt, std::move(reason), isTooCostly};
}

static Witness makeWitness(tv::ExpectOp result,
                           const DenseEvaluator::Difference &difference,
                           Operation *undefined, EnclosingAlgebra &algebra) {
  Witness witness;
  witness.undefinedOp = undefined;
  witness.expect = result;
  witness.index = difference.index;
  witness.referenceIndex = difference.referenceIndex;
  witness.planValue =
      undefined ? "undefined" : printNumber(algebra.toDouble(difference.plan));
  witness.referenceValue = printNumber(algebra.toDouble(difference.reference));
  return witness;
}

std::optional<Confirmation::Outcome>
Confirmation::runWith(EnclosingAlgebra &algebra, tv::ExpectOp result,
                      ArrayRef<Value> ranked, const WitnessRange &range,
                      const std::atomic<bool> &stopped) const {
  WitnessInputs source(algebra, seed, range);
  DenseEvaluator evaluator(analysis, algebra, source);
  evaluator.setEqualValues(equalValues);
  evaluator.stopWhen(stopped);
  // Of short sequences ops are executed sooner than their signs.
  Signs signs(analysis, seed, range);
  signs.evaluator.setEqualValues(equalValues);
  signs.evaluator.stopWhen(stopped);
  if (seed.positions != LongPositions::All)
    evaluator.showDomainsWith(signs.evaluator);
  if (failed(evaluator.run(result, ranked)))
    return reject(evaluator.getFailure(), evaluator.wasTooCostly());
  // A plan may be undefined where the reference is not.
  Operation *undefined = evaluator.getUndefinedOp();
  bool isOutside =
      undefined ? !undefined->hasAttr("domain") : algebra.status().isUndefined;
  if (isOutside)
    return reject("the inputs that were tried lie outside the domain");
  if (algebra.status().isUndecided)
    return std::nullopt;
  auto areDisjoint = [&](Scalar left, Scalar right) {
    return algebra.areDisjoint(left, right);
  };
  if (!areDistinct(evaluator, ranked, areDisjoint))
    return reject("what is selected from ties on the inputs that were tried");
  auto difference =
      evaluator.compare(result, [&](Scalar reference, Scalar plan) {
        return undefined ? algebra.isUndefined(plan) &&
                               !algebra.isUndefined(reference)
                         : areDisjoint(reference, plan);
      });
  if (!difference)
    return std::nullopt;
  return Outcome{makeWitness(result, *difference, undefined, algebra), "",
                 false};
}

Confirmation::Outcome
Confirmation::run(tv::ExpectOp result, const std::atomic<bool> &stopped) const {
  if (stopped)
    return reject(stoppedReason.str());
  SmallVector<Value> ranked;
  for (Operation *op : getCone(result))
    if (op->hasTrait<tv::AssumesNoTies>())
      ranked.push_back(op->getOperand(0));
  FailureOr<WitnessRange> range = getWitnessRange(analysis);
  if (failed(range))
    return reject(noDataReason.str());
  for (unsigned precision : precisions) {
    if (stopped)
      return reject(stoppedReason.str());
    std::unique_ptr<EnclosingAlgebra> intervals = makeIntervals(precision);
    std::optional<Outcome> outcome =
        runWith(*intervals, result, ranked, *range, stopped);
    if (!outcome)
      continue;
    if (outcome->witness)
      outcome->witness->precision = precision;
    return std::move(*outcome);
  }
  return reject(roundingReason.str());
}

EarlyConfirmation::~EarlyConfirmation() {
  for (auto &task : tasks)
    task->isStopped = true;
  thread.wait();
}

void EarlyConfirmation::begin(std::function<tv::ExpectOp()> choose) {
  Task &task = *tasks.emplace_back(std::make_unique<Task>());
  thread.async([this, &task, choose = std::move(choose)] {
    task.result.set_value(choose());
    run(task);
  });
}

void EarlyConfirmation::changeTo(tv::ExpectOp result) {
  if (getResult() == result)
    return;
  if (!tasks.empty())
    tasks.back()->isStopped = true;
  Task &task = *tasks.emplace_back(std::make_unique<Task>());
  task.result.set_value(result);
  thread.async([this, &task] { run(task); });
}

void EarlyConfirmation::run(Task &task) {
  if (tv::ExpectOp result = task.chosen.get())
    task.outcome = confirmation.run(result, task.isStopped);
  task.isOver = true;
}

tv::ExpectOp EarlyConfirmation::getResult() const {
  return tasks.empty() ? tv::ExpectOp() : tasks.back()->chosen.get();
}

tv::ExpectOp EarlyConfirmation::getFirst() const {
  return tasks.empty() ? tv::ExpectOp() : tasks.front()->chosen.get();
}

bool EarlyConfirmation::hasFailed() const {
  return tasks.back()->isOver && !tasks.back()->outcome.witness;
}

Confirmation::Outcome EarlyConfirmation::take() {
  thread.wait();
  return std::move(tasks.back()->outcome);
}
