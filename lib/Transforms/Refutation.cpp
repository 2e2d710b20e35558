//===- Refutation.cpp - makes a failed proof concrete ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refutation.h"

#include "InferredLineage.h"
#include "WitnessInputs.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace verify;

/// Inputs that are tried before giving up.
static constexpr unsigned drawLimit = 3;
/// What inputs are multiplied with then, in powers of 2: bounds and thresholds
/// are mostly beyond what is computed of the numbers drawn, or far below.
static constexpr int exponents[] = {2,  3,  4,  5,  6,   7,  8,
                                    10, 12, 16, 20, -12, -24};
/// How often all of them are tried.
static constexpr unsigned farRounds = 2;

Refutation::Refutation(tv::GraphOp graph, unsigned seed, bool confirmsEarly)
    : graph(graph), firstNumber(seed), confirmsEarly(confirmsEarly) {
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (expect.getContract())
      results.push_back(expect);
}

bool Refutation::areFaint() const {
  return llvm::all_of(
      wrong, [&](tv::ExpectOp result) { return diagnosis->isFaint(result); });
}

/// Confirms the result that is likely to be wrong while all are compared; once
/// it turns out to be right, the first one that is wrong.
class Refutation::EarlyStart : public Diagnosis::Observer {
public:
  EarlyStart(Refutation &refutation, const FactorAnalysis &analysis,
             ArrayRef<tv::ExpectOp> among)
      : refutation(refutation), analysis(analysis), among(among) {}

  void begin(std::shared_ptr<const ValueNumbering> equalValues) override {
    // That of groups says nothing of single positions.
    if (refutation.early)
      return;
    Confirmation confirmation = refutation.makeConfirmation(analysis);
    confirmation.setEqualValues(std::move(equalValues));
    refutation.early =
        std::make_unique<EarlyConfirmation>(std::move(confirmation));
    // This may be gone before it is called.
    refutation.early->begin([&refutation = refutation, among = among] {
      return refutation.chooseLikely(among);
    });
  }

  void compared(tv::ExpectOp result, bool differs) override {
    if (differs && !firstWrong)
      firstWrong = result;
    tv::ExpectOp likely = refutation.early->getFirst();
    isLikelyRight |= !likely || (!differs && likely == result);
    if (isLikelyRight && firstWrong)
      refutation.early->changeTo(firstWrong);
  }

private:
  Refutation &refutation;
  const FactorAnalysis &analysis;
  ArrayRef<tv::ExpectOp> among;
  tv::ExpectOp firstWrong;
  bool isLikelyRight = false;
};

bool Refutation::findWrongResults(const FactorAnalysis &analysis) {
  isPartial = false;
  if (first.empty())
    return findWrongResults(analysis, results, compared);
  isPartial = findWrongResults(analysis, first, compared) && !areFaint();
  return isPartial || findWrongResults(analysis, results, getAllCompared());
}

ArrayRef<tv::ExpectOp> Refutation::getAllCompared() {
  if (allCompared.empty())
    allCompared = listCompared(graph, results);
  return allCompared;
}

bool Refutation::findWrongResults(const FactorAnalysis &analysis,
                                  ArrayRef<tv::ExpectOp> among,
                                  ArrayRef<tv::ExpectOp> candidates) {
  early.reset();
  diagnosis.emplace(graph, getLooked(analysis), seed);
  if (mostSteps)
    diagnosis->limitSteps(*mostSteps);
  EarlyStart start(*this, analysis, among);
  bool isEarly = confirmsEarly && isCoarse && canUseOtherThread() && !isSmall();
  if (isEarly && usesGroups())
    start.begin(nullptr);
  if (failed(
          diagnosis->compare(among, candidates, isEarly ? &start : nullptr))) {
    failureReason = diagnosis->getFailure();
    isTooCostly = diagnosis->wasTooCostly();
    return false;
  }
  wrong.clear();
  for (tv::ExpectOp result : among)
    if (diagnosis->isDifferent(result))
      wrong.push_back(result);
  if (wrong.empty())
    failureReason = "reference and plan agree on the inputs that were tried";
  return !wrong.empty();
}

const FactorAnalysis &Refutation::getFine(const FactorAnalysis &from) {
  if (!fine) {
    fine.emplace(from);
    fine->setFixedWidth(1);
  }
  return *fine;
}

const FactorAnalysis &
Refutation::getLooked(const FactorAnalysis &analysis) const {
  return usesGroups() && &analysis == &*coarse ? *grouped : analysis;
}

bool Refutation::simplify(tv::ExpectOp place, QuadraticBranches quadratic,
                          bool onlyIfShown) {
  if (!branches)
    branches.emplace(results, *coarse);
  ZeroParameters zeros = branches->chooseZeros(place, quadratic);
  if (zeros.names.empty() || (onlyIfShown && !zeros.mayShowPlace))
    return false;
  seed.zeros =
      std::make_shared<const llvm::StringSet<>>(std::move(zeros.names));
  seed.apart = mistaken;
  return true;
}

bool Refutation::find(tv::ExpectOp place, Search search) {
  setUp(place);
  if (coarse->getFailure()) {
    failureReason = *coarse->getFailure();
    return false;
  }
  // Fewer positions show less, but sooner.
  bool isLong = isSlow();
  bool isQuick =
      search == Search::Quick || (search == Search::QuickIfSlow && isLong);
  if (!isLong) {
    restart(LongPositions::All);
    if (findAmong(place, isQuick))
      return true;
    if (!isTooCostly)
      return false;
  }
  if (findInGroups(place) || findWithLastPosition(place, isQuick))
    return true;
  restart(LongPositions::Blocks);
  if (isQuick)
    mostSteps = someSteps;
  if (findAmong(place, isQuick))
    return true;
  if (!isLong || isQuick)
    return false;
  std::string reason = failureReason;
  restart(LongPositions::All);
  if (findAmong(place, isQuick))
    return true;
  if (isTooCostly)
    failureReason = reason;
  return false;
}

void Refutation::setUp(tv::ExpectOp wanted) {
  place = wanted;
  // Asking which op comes first would number them, which the other thread must
  // not see.
  Block &body = graph.getBody().front();
  if (!body.isOpOrderValid())
    body.recomputeOpOrder();
  auto choose = [&] {
    first = chooseFirst(place);
    // They may show nothing, and there is time.
    if (first.empty() || (confirmsEarly && canUseOtherThread()))
      (void)getAllCompared();
    compared = first.empty() ? allCompared : listCompared(graph, first);
  };
  if (std::optional<OtherParameter> other = findOtherParameter(place))
    mistaken = std::make_shared<const llvm::StringSet<>>(
        llvm::StringSet<>({other->read, other->expected}));
  std::optional<llvm::DefaultThreadPool> other;
  if (canUseOtherThread())
    other.emplace(llvm::hardware_concurrency(1)).async(choose);
  coarse.emplace(body, graph.getMesh(),
                 FactorAnalysis::Options{FactorAnalysis::Positions::Exact,
                                         /*fixedWidth=*/0});
  if (other)
    other->wait();
  else
    choose();
}

bool Refutation::canUseOtherThread() const {
  MLIRContext &context = *graph->getContext();
  return context.isMultithreadingEnabled() && context.getNumThreads() >= 2;
}

bool Refutation::isSlow() {
  int64_t total = 0;
  return llvm::any_of(graph.getBody().front(), [&](Operation &op) {
    if (!isa<tv::SemanticsOpInterface>(op) || coarse->isOpaque(&op))
      return false;
    int64_t steps = 1;
    for (FactorAnalysis::Node node : coarse->getFactors(&op)) {
      auto count =
          static_cast<int64_t>(coarse->getRepresentatives(node).size());
      if (llvm::MulOverflow(steps, count, steps))
        return true;
    }
    return llvm::AddOverflow(total, steps, total) ||
           total > mostForAllPositions;
  });
}

void Refutation::restart(LongPositions positions) {
  seed = {firstNumber};
  seed.positions = positions;
  isTooCostly = false;
  undefinedAt.clear();
  faintAt.clear();
}

bool Refutation::findInGroups(tv::ExpectOp place) {
  if (!coarse->canGroup())
    return false;
  grouped.emplace(*coarse);
  grouped->group();
  SmallVector<tv::ExpectOp> before[] = {first, compared};
  // Others have to be looked at without, if it does not show.
  if (findWithLastPosition(place, /*isQuick=*/true))
    return true;
  diagnosis.reset();
  fine.reset();
  grouped.reset();
  first = std::move(before[0]);
  compared = std::move(before[1]);
  return false;
}

bool Refutation::findWithLastPosition(tv::ExpectOp place, bool isQuick) {
  // Attention takes most of the time, and the difference may show without it.
  for (auto quadratic :
       {QuadraticBranches::None, QuadraticBranches::NearestAverage}) {
    restart(LongPositions::Last);
    if (simplify(place, quadratic, /*onlyIfShown=*/true) &&
        attemptWithEqualParts(place))
      return true;
  }
  // What shows in scores alone hardly changes what is executed soonest.
  if (!first.empty())
    compared = SmallVector<tv::ExpectOp>(getAllCompared());
  first.clear();
  restart(LongPositions::Last);
  if (simplify(place, QuadraticBranches::Nearest) &&
      attemptWithEqualParts(place))
    return true;
  if (!usesGroups()) {
    restart(LongPositions::Last);
    ++seed.number;
    if (simplify(place, QuadraticBranches::None) &&
        attemptSome(isQuick ? drawLimit : 2 * drawLimit))
      return true;
    if (undefinedAt.size() >= 2)
      return acceptUndefined();
  }
  // What is equal along every dimension has norms whose derivatives are 0.
  restart(LongPositions::Last);
  if (!usesGroups() && simplify(place, QuadraticBranches::None) &&
      attempt(getFine(*coarse)))
    return true;
  restart(LongPositions::Last);
  return findAmong(place, isQuick);
}

/// Whether what an expect speaks of is computed on each device for itself. Else
/// equal parts may hide in what way it is wrong.
static bool isComputed(tv::ExpectOp place) {
  return !place.getContract() &&
         llvm::all_of(place.getValues(), [](Value value) {
           Operation *op = value.getDefiningOp();
           return isa_and_present<tv::SemanticsOpInterface>(op) &&
                  !tv::communicates(op) && !isa<tv::SliceOp>(op);
         });
}

bool Refutation::attemptWithEqualParts(tv::ExpectOp place) {
  if (!isComputed(place) || takesOtherParts(place, graph.getMesh()))
    return attempt(*coarse);
  if (!divided)
    divided = std::make_shared<const ConstantDimensions>(
        findDividedDimensions(graph, *coarse));
  if (!divided->empty()) {
    seed.constant = divided;
    if (attempt(*coarse))
      return true;
    // Other inputs cost more.
    if (isTooCostly)
      return false;
    seed.constant = nullptr;
  }
  return attempt(*coarse);
}

bool Refutation::attempt(const FactorAnalysis &analysis) {
  isCoarse = &analysis == &*coarse;
  llvm::scope_exit stopEarly([&] { early.reset(); });
  if (!findWrongResults(analysis))
    return false;
  // Mostly what is left of numbers that cancel: intervals of high precision
  // would be needed to tell, and other inputs may show a difference sooner.
  if (!acceptsFaint && areFaint()) {
    // Of long sequences the last ones, as each may take a minute.
    if (seed.positions != LongPositions::All)
      faintAt.clear();
    faintAt.push_back({&analysis, seed});
    failureReason = roundingReason;
    return false;
  }
  remainder = 0;
  if (isKnownRounding()) {
    failureReason = roundingReason;
    return false;
  }
  bool isConfirmed = confirmAndLook(analysis) || confirmAnother(analysis) ||
                     confirmSmall(analysis) || confirmUnordered(analysis);
  if (isConfirmed)
    dropFarSmaller();
  return isConfirmed;
}

bool Refutation::confirmAndLook(const FactorAnalysis &analysis) {
  diagnosed.reset();
  if (early && early->getResult() == chooseConfirmed()) {
    if (!early->hasFailed())
      diagnosed = diagnose(getLooked(analysis));
    return accept(analysis, early->getResult(), early->take());
  }
  early.reset();
  if (!isCoarse || !canUseOtherThread())
    return confirm(analysis);
  llvm::DefaultThreadPool other(llvm::hardware_concurrency(1));
  other.async([&] { diagnosed = diagnose(getLooked(analysis)); });
  bool isConfirmed = confirm(analysis);
  other.wait();
  return isConfirmed;
}

bool Refutation::attemptAgain(const Attempt &earlier) {
  seed = earlier.seed;
  return attempt(*earlier.analysis);
}

bool Refutation::attemptSome(unsigned draws) {
  for (unsigned draw = 0; draw < draws; ++draw, ++seed.number) {
    if (attempt(*coarse))
      return true;
    if (isTooCostly)
      return false;
  }
  return false;
}

bool Refutation::attemptFarther() {
  const WitnessSeed first = seed;
  struct Kind {
    bool isPositive, scalesParameters;
  };
  auto attemptNext = [&](int exponent, Kind kind) {
    // With other signs each time.
    unsigned number = seed.number + 1;
    seed = first;
    seed.number = number;
    seed.exponent = exponent;
    seed.isPositive = kind.isPositive;
    seed.scalesParameters = kind.scalesParameters;
    return !isTooCostly && attempt(getFine(*coarse));
  };
  for (unsigned round = 0; round < farRounds; ++round)
    for (int exponent : exponents)
      for (Kind kind :
           {Kind{false, true}, Kind{true, true}, Kind{false, false}})
        if (attemptNext(exponent, kind))
          return true;
  return false;
}

bool Refutation::findAmong(tv::ExpectOp place, bool isQuick) {
  const WitnessSeed first = seed;
  if (simplify(place, QuadraticBranches::LikeOthers)) {
    if (attempt(*coarse))
      return true;
    // Larger differences are told from rounding; a small graph goes on to them.
    bool goesOn = !faintAt.empty() && isSmall() && !usesGroups();
    if (isTooCostly || (isQuick && !goesOn))
      return false;
    undefinedAt.clear();
  }
  for (bool isPositive : {false, true}) {
    seed = first;
    seed.isPositive = isPositive;
    if (attempt(*coarse))
      return true;
    // Other inputs cost the same or more.
    if (isTooCostly)
      return false;
  }
  if (acceptFaint())
    return true;
  // Numbers that differ tell more than a number that is missing, unless it
  // always is.
  if (undefinedAt.size() >= 2)
    return acceptUndefined();
  if (isQuick && (!isSmall() || usesGroups()))
    return false;
  seed = first;
  for (bool isPositive : {false, true}) {
    seed.isPositive = isPositive;
    for (unsigned draw = 0; draw < drawLimit && !isTooCostly;
         ++draw, ++seed.number) {
      // A token that no device finds in its part of a vocabulary is 0, and the
      // scores of all experts are one number.
      seed.hasNeighbours = failureReason == tiesReason;
      if (attempt(getFine(*coarse)))
        return true;
    }
  }
  seed = first;
  if (isSmall() && !usesGroups() && attemptFarther())
    return true;
  return acceptFaint() || acceptUndefined();
}

bool Refutation::acceptFaint() {
  acceptsFaint = true;
  bool isFound =
      llvm::any_of(std::exchange(faintAt, {}), [&](const Attempt &earlier) {
        return attemptAgain(earlier);
      });
  acceptsFaint = false;
  return isFound;
}

bool Refutation::acceptUndefined() {
  if (undefinedAt.empty())
    return false;
  acceptsUndefined = acceptsFaint = true;
  return attemptAgain(undefinedAt.front());
}
