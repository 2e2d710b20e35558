//===- RefutationResults.cpp - which results are looked at ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refutation.h"

#include "Verify/IR/DenseValues.h"

using namespace mlir;
using namespace verify;

/// Ops of a graph that is executed in no time, whatever the inputs.
static constexpr size_t smallGraph = 4096;

bool Refutation::isSmall() {
  // Counting all takes milliseconds.
  Block &body = graph.getBody().front();
  return !llvm::hasNItemsOrMore(body.begin(), body.end(), smallGraph + 1);
}

/// The last op that computes something that is compared.
static Operation *getLastOp(tv::ExpectOp expect) {
  Operation *last = nullptr;
  for (Value operand : expect->getOperands())
    if (Operation *op = operand.getDefiningOp();
        !last || (op && last->isBeforeInBlock(op)))
      last = op;
  return last;
}

/// The earliest, because most of what comes before it has to be executed.
static tv::ExpectOp findCheapest(ArrayRef<tv::ExpectOp> expects) {
  return *llvm::min_element(expects, [](tv::ExpectOp left, tv::ExpectOp right) {
    return getLastOp(left)->isBeforeInBlock(getLastOp(right));
  });
}

SmallVector<tv::ExpectOp>
Refutation::findDependent(ArrayRef<tv::ExpectOp> expects) {
  DenseValueSet dependent;
  for (tv::ExpectOp expect : SmallVector<tv::ExpectOp>(expects))
    dependent.insert(expect.getValues().begin(), expect.getValues().end());
  auto depends = [&](ValueRange values) {
    return llvm::any_of(values,
                        [&](Value value) { return dependent.contains(value); });
  };
  for (Operation &op : graph.getBody().front())
    if (op.getNumResults() == 1 && depends(op.getOperands()))
      dependent.insert(op.getResult(0));
  SmallVector<tv::ExpectOp> found;
  for (tv::ExpectOp result : results)
    if (depends(result.getValues()))
      found.push_back(result);
  return found;
}

SmallVector<tv::ExpectOp> Refutation::chooseFirst(tv::ExpectOp place) {
  if (isSmall())
    return {};
  SmallVector<tv::ExpectOp> dependent = findDependent(place);
  if (dependent.empty())
    return {};
  tv::ExpectOp cheapest = findCheapest(dependent);
  llvm::erase_if(dependent, [&](tv::ExpectOp result) {
    return !areAlike(result, cheapest);
  });
  // Otherwise there is less to gain than to lose.
  bool isCheap = 2 * getCone(dependent).size() < getCone(results).size();
  return isCheap ? dependent : SmallVector<tv::ExpectOp>();
}

tv::ExpectOp Refutation::chooseLikely(ArrayRef<tv::ExpectOp> among) {
  // How many ops lead there. What goes wrong may be equal to what is right
  // elsewhere: only what rests on the place itself counts.
  constexpr unsigned none = ~0u;
  std::vector<unsigned> distances(coarse->getValueCount(), none);
  auto find = [&](ArrayRef<unsigned> values) {
    unsigned least = none;
    for (unsigned value : values)
      least = std::min(least, distances[value]);
    return least;
  };
  auto number = [&](Value value) { return coarse->getNumber(value); };
  for (Value value : place.getValues())
    distances[number(value)] = 0;
  for (unsigned value = 0; value < distances.size(); ++value)
    if (unsigned least = find(coarse->getOperands(value));
        least != none && distances[value] == none)
      distances[value] = least + 1;
  SmallVector<tv::ExpectOp> dependent;
  tv::ExpectOp nearest;
  unsigned shortest = none;
  for (tv::ExpectOp result : among) {
    unsigned distance = find(llvm::map_to_vector(result.getValues(), number));
    if (distance == none)
      continue;
    dependent.push_back(result);
    if (distance >= shortest)
      continue;
    shortest = distance;
    nearest = result;
  }
  // Where any may be wrong, it mostly shows nearby.
  return first.empty() || dependent.empty() ? nearest : findCheapest(dependent);
}

tv::ExpectOp Refutation::chooseConfirmed() {
  tv::ExpectOp likely;
  if (early)
    likely = early->getFirst();
  else if (isCoarse && !isSmall())
    likely = chooseLikely(isPartial ? first : results);
  return llvm::is_contained(wrong, likely) ? likely
                                           : diagnosis->findFirst(wrong);
}

bool Refutation::confirm(const FactorAnalysis &analysis) {
  tv::ExpectOp chosen = chooseConfirmed();
  return accept(analysis, chosen, confirm(analysis, chosen));
}

Confirmation
Refutation::makeConfirmation(const FactorAnalysis &analysis) const {
  Confirmation confirmation(analysis, seed);
  // What only groups show, or more precision, is looked for without groups.
  if (usesGroups())
    confirmation.useDoublesAlone();
  return confirmation;
}

Confirmation::Outcome Refutation::confirm(const FactorAnalysis &analysis,
                                          tv::ExpectOp result) {
  Confirmation confirmation = makeConfirmation(analysis);
  if (!acceptsFaint && diagnosis->isDifferent(result) &&
      diagnosis->getDistance(result) <= roundingLevel)
    confirmation.useDoublesAlone();
  // What is known of groups says nothing of single positions.
  if (!usesGroups())
    confirmation.setEqualValues(diagnosis->getEqualValues());
  return confirmation.run(result, /*stopped=*/false);
}

bool Refutation::isAccepted(const Confirmation::Outcome &outcome) const {
  return outcome.witness && (acceptsUndefined || !outcome.witness->undefinedOp);
}

bool Refutation::take(const FactorAnalysis &analysis,
                      Confirmation::Outcome outcome) {
  if (isAccepted(outcome)) {
    confirmed = std::move(*outcome.witness);
    confirmedAt = &analysis;
    return true;
  }
  if (outcome.witness)
    undefinedAt.push_back({&analysis, seed});
  return false;
}

bool Refutation::accept(const FactorAnalysis &analysis, tv::ExpectOp result,
                        Confirmation::Outcome outcome) {
  // Another one that is wrong too may be shown to be.
  if (tv::ExpectOp soonest = diagnosis->findFirst(wrong);
      !isAccepted(outcome) && result != soonest) {
    Confirmation::Outcome other = confirm(analysis, soonest);
    if (other.witness || !outcome.witness) {
      outcome = std::move(other);
      result = soonest;
    }
  }
  undecided = nullptr;
  if (!outcome.witness) {
    if (outcome.failureReason == roundingReason)
      undecided = result;
    failureReason = std::move(outcome.failureReason);
    isTooCostly = outcome.isTooCostly;
    return false;
  }
  if (take(analysis, std::move(outcome)))
    return true;
  failureReason = "the plan is undefined on the inputs that were tried";
  return false;
}

/// Remainders of numbers that cancel may be so many times as large as another
/// one, and differences that are none are larger by far more.
static constexpr double remainderSpread = 0x1p10, farLarger = 0x1p20;
/// How many results of small differences are evaluated beside another one.
static constexpr size_t fewSmall = 8;

bool Refutation::confirmAnother(const FactorAnalysis &analysis) {
  if (!undecided)
    return false;
  early.reset();
  double distance = diagnosis->getDistance(undecided);
  tv::ExpectOp farthest;
  double largest = farLarger * distance;
  for (tv::ExpectOp result : wrong)
    if (double other = diagnosis->getDistance(result); other > largest) {
      largest = other;
      farthest = result;
    }
  if (!farthest || !takeOther(analysis, confirm(analysis, farthest)))
    return false;
  remainder = remainderSpread * distance;
  diagnosis->setAside(remainder);
  // Others may be remainders, too, of larger numbers.
  dropFromWrong([&](tv::ExpectOp result) { return result != farthest; });
  return true;
}

bool Refutation::confirmUnordered(const FactorAnalysis &analysis) {
  if (!undecided)
    return false;
  tv::ExpectOp result = diagnosis->findUnordered();
  if (!result || !takeOther(analysis, confirm(analysis, result)))
    return false;
  diagnosis->lookAtUnordered();
  wrong = {result};
  return true;
}

bool Refutation::confirmSmall(const FactorAnalysis &analysis) {
  if (!undecided || usesGroups())
    return false;
  double distance = diagnosis->getDistance(undecided);
  if (distance > Diagnosis::mostOfRemainders)
    return false;
  SmallVector<tv::ExpectOp> small;
  double most = remainderSpread * distance;
  llvm::copy_if(wrong, std::back_inserter(small), [&](tv::ExpectOp result) {
    return diagnosis->getDistance(result) <= most;
  });
  if (small.size() > fewSmall)
    return false;
  for (tv::ExpectOp result : small) {
    double &known = roundingOf[result];
    if (result != undecided && known == 0) {
      Confirmation confirmation(analysis, seed);
      confirmation.useDoublesAlone();
      confirmation.setEqualValues(diagnosis->getEqualValues());
      if (takeOther(analysis, confirmation.run(result, /*stopped=*/false))) {
        // Others may be remainders, too.
        dropFromWrong([&](tv::ExpectOp other) { return other != result; });
        return true;
      }
    }
    known = std::max(known, most);
  }
  // Only what all precisions were tried for.
  if (distance > roundingLevel)
    roundingLevel = most;
  return false;
}

void Refutation::dropFromWrong(
    llvm::function_ref<bool(tv::ExpectOp)> isDropped) {
  llvm::erase_if(wrong, [&](tv::ExpectOp result) {
    if (!isDropped(result))
      return false;
    diagnosis->setAside(result);
    return true;
  });
}

void Refutation::dropFarSmaller() {
  constexpr double part = 0x1p-50;
  double distance = diagnosis->getDistance(confirmed.expect);
  if (std::isinf(distance))
    return;
  double least = std::min(part * distance, Diagnosis::mostOfRemainders);
  auto isResult = [](Operation *user) { return isa<tv::ExpectOp>(user); };
  size_t before = wrong.size();
  dropFromWrong([&](tv::ExpectOp result) {
    return diagnosis->getDistance(result) <= least &&
           llvm::all_of(result.getValues(), [&](Value value) {
             return llvm::all_of(value.getUsers(), isResult);
           });
  });
  if (wrong.size() < before)
    diagnosed.reset();
}

bool Refutation::takeOther(const FactorAnalysis &analysis,
                           Confirmation::Outcome outcome) {
  bool isTaken = take(analysis, std::move(outcome));
  // What was found is of the one that was chosen.
  if (isTaken)
    diagnosed.reset();
  return isTaken;
}

bool Refutation::isKnownRounding() {
  if (!acceptsFaint)
    dropFromWrong([&](tv::ExpectOp result) {
      return diagnosis->getDistance(result) <= roundingOf.lookup(result);
    });
  return wrong.empty();
}
