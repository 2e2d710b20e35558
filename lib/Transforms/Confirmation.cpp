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

/// Whether the elements along the last dimension of each value all differ.
/// Where the plan is undefined, that counts and not what it selects from what
/// is undefined.
static bool areDistinct(DenseEvaluator &evaluator, ArrayRef<Value> values,
                        const EnclosingAlgebra &algebra) {
  bool isUndefined = evaluator.getUndefinedOp() != nullptr;
  // Of values that are known to be equal one is looked at.
  llvm::DenseSet<std::tuple<Value, Attribute, uint64_t>> known;
  return llvm::all_of(values, [&](Value value) {
    Operation *op = value.getDefiningOp();
    Attribute domain = op ? op->getAttr("domain") : Attribute();
    std::tuple key(evaluator.getLeader(value), domain,
                   evaluator.getVaryingAxes(value));
    bool mayBeUndefined = isUndefined && domain;
    return !known.insert(key).second ||
           evaluator.haveDistinctElements(value, [&](Scalar left,
                                                     Scalar right) {
             return algebra.areDisjoint(left, right) ||
                    (mayBeUndefined &&
                     (algebra.isUndefined(left) || algebra.isUndefined(right)));
           });
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

static Witness makeWitness(const FactorAnalysis &analysis, tv::ExpectOp result,
                           const DenseEvaluator::Difference &difference,
                           Operation *undefined, EnclosingAlgebra &algebra) {
  Witness witness;
  witness.undefinedOp = undefined;
  witness.expect = result;
  witness.index = difference.index;
  witness.referenceIndex = difference.referenceIndex;
  witness.coordinates = nameCoordinates(analysis, difference.coordinates);
  double reference = algebra.toDouble(difference.reference);
  if (undefined) {
    witness.planValue = "undefined";
    witness.referenceValue = printNumber(reference);
  } else {
    std::tie(witness.planValue, witness.referenceValue) =
        printDifferent(algebra.toDouble(difference.plan), reference);
  }
  return witness;
}

/// Selections are meant where no elements tie (docs/Soundness.md, A23). These
/// are the operands of those that lead to `values`.
static SmallVector<Value> listRanked(const FactorAnalysis &analysis,
                                     ArrayRef<Value> values) {
  SmallVector<Value> ranked;
  if (analysis.hasSelections())
    for (Operation *op : collectCone(llvm::to_vector(values)))
      if (op->hasTrait<tv::AssumesNoTies>())
        ranked.push_back(op->getOperand(0));
  return ranked;
}

/// Values that are executed in one algebra.
class Confirmation::Execution {
public:
  Execution(const Confirmation &confirmation, EnclosingAlgebra &algebra,
            const WitnessRange &range, const std::atomic<bool> &stopped)
      : algebra(algebra), source(algebra, confirmation.seed, range),
        evaluator(confirmation.analysis, algebra, source),
        signs(confirmation.analysis, confirmation.seed, range),
        analysis(confirmation.analysis) {
    evaluator.stopWhen(stopped);
    signs.evaluator.stopWhen(stopped);
    // Of short sequences ops are executed sooner than their signs.
    if (confirmation.seed.positions != LongPositions::All)
      evaluator.showDomainsWith(signs.evaluator);
  }

  void setEqualValues(std::shared_ptr<const ValueNumbering> known) {
    evaluator.setEqualValues(known);
    signs.evaluator.setEqualValues(std::move(known));
  }
  /// Executes `values` and all they depend on.
  void run(ArrayRef<Value> values) {
    ranked = listRanked(analysis, values);
    SmallVector<Value> kept(values);
    llvm::append_range(kept, ranked);
    isDone = succeeded(evaluator.run({}, kept));
  }
  /// Why it shows nothing, if it does not; an op of the plan may be undefined
  /// where the reference is not.
  std::optional<Outcome> findFailure() const {
    if (!isDone)
      return reject(evaluator.getFailure(), evaluator.wasTooCostly());
    Operation *undefined = evaluator.getUndefinedOp();
    bool isOutside = undefined ? !undefined->hasAttr("domain")
                               : algebra.status().isUndefined;
    if (isOutside)
      return reject("the inputs that were tried lie outside the domain");
    return std::nullopt;
  }
  bool areDistinct() { return ::areDistinct(evaluator, ranked, algebra); }

  EnclosingAlgebra &algebra;
  WitnessInputs source;
  DenseEvaluator evaluator;

private:
  Signs signs;
  const FactorAnalysis &analysis;
  SmallVector<Value> ranked;
  bool isDone = false;
};

std::optional<Confirmation::Outcome>
Confirmation::judge(Execution &plan, Execution *other,
                    tv::ExpectOp result) const {
  bool isUndecided = false;
  for (Execution *execution : {&plan, other})
    if (execution) {
      if (std::optional<Outcome> failure = execution->findFailure())
        return failure;
      isUndecided |= execution->algebra.status().isUndecided;
    }
  if (isUndecided)
    return std::nullopt;
  if (!plan.areDistinct() || (other && !other->areDistinct()))
    return reject(tiesReason.str());
  EnclosingAlgebra &algebra = plan.algebra;
  Operation *undefined = plan.evaluator.getUndefinedOp();
  auto difference =
      plan.evaluator.compare(result, [&](Scalar reference, Scalar plan) {
        return undefined ? algebra.isUndefined(plan) &&
                               !algebra.isUndefined(reference)
                         : algebra.areDisjoint(reference, plan);
      });
  if (!difference)
    return std::nullopt;
  return Outcome{makeWitness(analysis, result, *difference, undefined, algebra),
                 "", false};
}

std::optional<Confirmation::Outcome>
Confirmation::runWith(EnclosingAlgebra &algebra, tv::ExpectOp result,
                      const WitnessRange &range,
                      std::shared_ptr<const ValueNumbering> known,
                      const std::atomic<bool> &stopped) const {
  Execution execution(*this, algebra, range, stopped);
  execution.setEqualValues(std::move(known));
  execution.run(llvm::to_vector(result->getOperands()));
  return judge(execution, nullptr, result);
}

std::optional<Confirmation::Outcome>
Confirmation::runWithDoubles(tv::ExpectOp result, const WitnessRange &range,
                             std::shared_ptr<const ValueNumbering> &known,
                             const std::atomic<bool> &stopped) const {
  DoubleIntervalAlgebra algebra, otherAlgebra;
  Execution execution(*this, algebra, range, stopped);
  if (!known && !analysis.getFailure())
    known = execution.evaluator.findEqualValues(result);
  execution.setEqualValues(known);
  SmallVector<Value> reference = {result.getReference()};
  if (seed.positions == LongPositions::All ||
      !execution.evaluator.areApart(result.getValues(), reference)) {
    execution.run(llvm::to_vector(result->getOperands()));
    return judge(execution, nullptr, result);
  }
  Execution other(*this, otherAlgebra, range, stopped);
  other.setEqualValues(known);
  MLIRContext &context = *result->getContext();
  std::optional<llvm::DefaultThreadPool> thread;
  if (context.isMultithreadingEnabled() && context.getNumThreads() >= 2)
    thread.emplace(llvm::hardware_concurrency(1)).async([&] {
      other.run(reference);
    });
  execution.run(llvm::to_vector(result.getValues()));
  if (thread)
    thread->wait();
  else if (!execution.findFailure())
    other.run(reference);
  if (!execution.findFailure() && !other.findFailure())
    execution.evaluator.adopt(
        result.getReference(), other.evaluator,
        [&](Scalar value) { return algebra.copy(otherAlgebra, value); });
  return judge(execution, &other, result);
}

Confirmation::Outcome
Confirmation::run(tv::ExpectOp result, const std::atomic<bool> &stopped) const {
  FailureOr<WitnessRange> range = getWitnessRange(analysis);
  if (failed(range))
    return reject(noDataReason.str());
  std::shared_ptr<const ValueNumbering> known = equalValues;
  for (unsigned precision : precisions) {
    if (stopped)
      return reject(stoppedReason.str());
    std::optional<Outcome> outcome;
    if (precision == precisions[0]) {
      outcome = runWithDoubles(result, *range, known, stopped);
    } else {
      IntervalAlgebra intervals(precision);
      outcome = runWith(intervals, result, *range, known, stopped);
    }
    if (!outcome && usesDoublesAlone)
      break;
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
