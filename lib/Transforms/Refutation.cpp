//===- Refutation.cpp - makes a failed proof concrete ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refutation.h"

#include "WitnessInputs.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace verify;

/// Inputs that are tried before giving up.
static constexpr unsigned drawLimit = 3;
/// Ops of a graph that is executed in no time, whatever the inputs.
static constexpr size_t smallGraph = 4096;
/// Scalar operations that take about a second, on values in runs.
static constexpr int64_t quickSteps = int64_t(1) << 24;
/// Precisions of the intervals, in bits; the first are intervals of doubles.
static constexpr unsigned precisions[] = {53, 128, 256};

static constexpr StringLiteral roundingReason =
    "the difference could not be told from rounding";

static std::unique_ptr<EnclosingAlgebra> makeIntervals(unsigned precision) {
  if (precision == precisions[0])
    return std::make_unique<DoubleIntervalAlgebra>();
  return std::make_unique<IntervalAlgebra>(precision);
}

Refutation::Refutation(tv::GraphOp graph, unsigned seed)
    : graph(graph), firstNumber(seed),
      coarse(graph.getBody().front(), graph.getMesh(),
             {FactorAnalysis::Positions::Exact, /*fixedWidth=*/0}) {
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (expect.getContract())
      results.push_back(expect);
}

bool Refutation::findWrongResults(const FactorAnalysis &analysis) {
  diagnosis.emplace(graph, analysis, seed);
  if (failed(diagnosis->compare(results))) {
    failureReason = diagnosis->getFailure();
    isTooCostly = diagnosis->wasTooCostly();
    return false;
  }
  wrong.clear();
  for (tv::ExpectOp result : results)
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

bool Refutation::simplify(tv::ExpectOp place, QuadraticBranches quadratic,
                          bool onlyIfShown) {
  ZeroParameters zeros = chooseZeroParameters(graph, coarse, place, quadratic);
  if (zeros.names.empty() || (onlyIfShown && !zeros.mayShowPlace))
    return false;
  seed.zeros =
      std::make_shared<const llvm::StringSet<>>(std::move(zeros.names));
  return true;
}

bool Refutation::find(tv::ExpectOp place, bool isQuick) {
  if (coarse.getFailure()) {
    failureReason = *coarse.getFailure();
    return false;
  }
  // Fewer positions show less, but sooner.
  bool isSlow = hasSlowOp();
  if (!isSlow) {
    restart(LongPositions::All);
    if (findAmong(place, isQuick))
      return true;
    if (!isTooCostly)
      return false;
  }
  if (findWithLastPosition(place, isQuick))
    return true;
  restart(LongPositions::Blocks);
  if (findAmong(place, isQuick))
    return true;
  if (!isSlow || isQuick)
    return false;
  std::string reason = failureReason;
  restart(LongPositions::All);
  if (findAmong(place, isQuick))
    return true;
  if (isTooCostly)
    failureReason = reason;
  return false;
}

bool Refutation::hasSlowOp() {
  return llvm::any_of(graph.getBody().front(), [&](Operation &op) {
    if (!isa<tv::SemanticsOpInterface>(op) || coarse.isOpaque(&op))
      return false;
    int64_t steps = 1;
    for (FactorAnalysis::Node node : coarse.getFactors(&op)) {
      auto count = static_cast<int64_t>(coarse.getRepresentatives(node).size());
      if (llvm::MulOverflow(steps, count, steps))
        return true;
    }
    return steps > quickSteps;
  });
}

void Refutation::restart(LongPositions positions) {
  seed = {firstNumber};
  seed.positions = positions;
  isTooCostly = false;
  undefinedAt.clear();
  faintAt.clear();
}

bool Refutation::findWithLastPosition(tv::ExpectOp place, bool isQuick) {
  // Attention takes most of the time, and the difference may show without it.
  restart(LongPositions::Last);
  if (simplify(place, QuadraticBranches::None, /*onlyIfShown=*/true) &&
      attempt(coarse))
    return true;
  restart(LongPositions::Last);
  if (simplify(place, QuadraticBranches::Nearest) && attempt(coarse))
    return true;
  restart(LongPositions::Last);
  if (findAmong(place, isQuick))
    return true;
  if (isQuick)
    return false;
  restart(LongPositions::Last);
  ++seed.number;
  return simplify(place, QuadraticBranches::None) && attemptSome(2 * drawLimit);
}

bool Refutation::attempt(const FactorAnalysis &analysis) {
  isCoarse = &analysis == &coarse;
  if (!findWrongResults(analysis))
    return false;
  // Mostly what is left of numbers that cancel: intervals of high precision
  // would be needed to tell, and other inputs may show a difference sooner.
  if (!acceptsFaint && llvm::all_of(wrong, [&](tv::ExpectOp result) {
        return diagnosis->isFaint(result);
      })) {
    // Of long sequences the last ones, as each may take a minute.
    if (seed.positions != LongPositions::All)
      faintAt.clear();
    faintAt.push_back({&analysis, seed});
    failureReason = roundingReason;
    return false;
  }
  return confirmAndLook(analysis);
}

bool Refutation::confirmAndLook(const FactorAnalysis &analysis) {
  diagnosed.reset();
  MLIRContext &context = *graph.getContext();
  if (!isCoarse || !context.isMultithreadingEnabled() ||
      context.getNumThreads() < 2)
    return confirm(analysis);
  // Of an analysis only one thread may ask at a time.
  FactorAnalysis copy = coarse;
  diagnosis->setAnalysis(copy);
  llvm::DefaultThreadPool other(llvm::hardware_concurrency(1));
  other.async([&] { diagnosed = diagnose(copy); });
  bool isConfirmed = confirm(analysis);
  other.wait();
  diagnosis->setAnalysis(coarse);
  return isConfirmed;
}

bool Refutation::attemptAgain(const Attempt &earlier) {
  seed = earlier.seed;
  return attempt(*earlier.analysis);
}

bool Refutation::attemptSome(unsigned draws) {
  for (unsigned draw = 0; draw < draws; ++draw, ++seed.number) {
    if (attempt(coarse))
      return true;
    if (isTooCostly)
      return false;
  }
  return false;
}

bool Refutation::findAmong(tv::ExpectOp place, bool isQuick) {
  const WitnessSeed first = seed;
  if (simplify(place, QuadraticBranches::LikeOthers)) {
    if (attempt(coarse))
      return true;
    if (isTooCostly || isQuick)
      return false;
    undefinedAt.clear();
  }
  for (bool isPositive : {false, true}) {
    seed = first;
    seed.isPositive = isPositive;
    if (attempt(coarse))
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
  if (isQuick && graph.getBody().front().getOperations().size() > smallGraph)
    return false;
  seed = first;
  for (bool isPositive : {false, true}) {
    seed.isPositive = isPositive;
    for (unsigned draw = 0; draw < drawLimit && !isTooCostly;
         ++draw, ++seed.number)
      if (attempt(getFine(coarse)))
        return true;
  }
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

/// The ops a result depends on.
static llvm::SetVector<Operation *> getCone(tv::ExpectOp expect) {
  llvm::SetVector<Operation *> seen;
  SmallVector<Value> worklist(expect->getOperands());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && seen.insert(op))
      llvm::append_range(worklist, op->getOperands());
  }
  return seen;
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

bool Refutation::confirm(const FactorAnalysis &analysis) {
  // The earliest, because most of what comes before it has to be executed.
  tv::ExpectOp cheapest =
      *llvm::min_element(wrong, [](tv::ExpectOp left, tv::ExpectOp right) {
        return getLastOp(left)->isBeforeInBlock(getLastOp(right));
      });
  // Selections are meant where nothing ties (docs/Soundness.md, A23).
  SmallVector<Value> ranked;
  for (Operation *op : getCone(cheapest))
    if (op->hasTrait<tv::AssumesNoTies>())
      ranked.push_back(op->getOperand(0));
  FailureOr<WitnessRange> range = getWitnessRange(graph, analysis);
  if (failed(range)) {
    failureReason = noDataReason;
    return false;
  }
  for (unsigned precision : precisions) {
    std::unique_ptr<EnclosingAlgebra> intervals = makeIntervals(precision);
    EnclosingAlgebra &algebra = *intervals;
    WitnessInputs source(algebra, seed, *range);
    DenseEvaluator evaluator(graph.getBody().front(), analysis, algebra,
                             source);
    if (failed(evaluator.run(cheapest, ranked))) {
      failureReason = evaluator.getFailure();
      isTooCostly = evaluator.wasTooCostly();
      return false;
    }
    // A plan may be undefined where the reference is not.
    Operation *undefined = evaluator.getUndefinedOp();
    bool isOutside = undefined ? !undefined->hasAttr("domain")
                               : algebra.status().isUndefined;
    if (isOutside) {
      failureReason = "the inputs that were tried lie outside the domain";
      return false;
    }
    if (algebra.status().isUndecided)
      continue;
    if (!llvm::all_of(ranked, [&](Value value) {
          return evaluator.haveDistinctElements(
              value, [&](Scalar left, Scalar right) {
                return algebra.areDisjoint(left, right);
              });
        })) {
      failureReason =
          "what is selected from ties on the inputs that were tried";
      return false;
    }
    auto difference =
        evaluator.compare(cheapest, [&](Scalar reference, Scalar plan) {
          return undefined ? algebra.isUndefined(plan) &&
                                 !algebra.isUndefined(reference)
                           : algebra.areDisjoint(reference, plan);
        });
    if (!difference)
      continue;
    if (undefined && !acceptsUndefined) {
      undefinedAt.push_back({&analysis, seed});
      failureReason = "the plan is undefined on the inputs that were tried";
      return false;
    }
    confirmed.undefinedOp = undefined;
    confirmed.expect = cheapest;
    confirmed.index = difference->index;
    confirmed.referenceIndex = difference->referenceIndex;
    confirmed.planValue = undefined
                              ? "undefined"
                              : printNumber(algebra.toDouble(difference->plan));
    confirmed.referenceValue =
        printNumber(algebra.toDouble(difference->reference));
    confirmed.precision = precision;
    return true;
  }
  failureReason = roundingReason;
  return false;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string describeElement(ArrayRef<int64_t> index) {
  std::string text = "element [";
  for (auto [i, position] : llvm::enumerate(index))
    text += (i ? ", " : "") + std::to_string(position);
  return text + "]";
}

/// `1 output and the gradients of 10 parameters`.
static std::string summarize(ArrayRef<tv::ExpectOp> results) {
  llvm::StringSet<> outputs, gradients;
  for (tv::ExpectOp result : SmallVector<tv::ExpectOp>(results)) {
    tv::ContractAttr contract = *result.getContract();
    bool isOutput = contract.getRole() == tv::ContractRole::Output;
    (isOutput ? outputs : gradients).insert(contract.getName().getValue());
  }
  auto count = [](size_t number, StringRef noun) {
    return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
  };
  std::string text;
  if (!outputs.empty())
    text = count(outputs.size(), "output");
  if (gradients.size() == 1)
    text += std::string(text.empty() ? "" : " and ") +
            "the gradient of 1 parameter";
  else if (!gradients.empty())
    text += std::string(text.empty() ? "" : " and ") + "the gradients of " +
            count(gradients.size(), "parameter");
  return text;
}

/// `parameters 'a', 'b' and 10 more being 0, `.
static std::string describeZeros(const llvm::StringSet<> &zeros) {
  SmallVector<StringRef> names;
  for (const auto &entry : zeros)
    names.push_back(entry.getKey());
  llvm::sort(names);
  constexpr size_t shown = 2;
  std::string text = names.size() == 1 ? "parameter " : "parameters ";
  for (auto [number, name] : llvm::enumerate(ArrayRef(names).take_front(shown)))
    text += (number == 0         ? "'"
             : names.size() == 2 ? " and '"
                                 : ", '") +
            name.str() + "'";
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text + " being 0, ";
}

static StringRef describePositions(LongPositions positions) {
  switch (positions) {
  case LongPositions::All:
    return "";
  case LongPositions::Blocks:
    return ", few of them different along long dimensions";
  case LongPositions::Last:
    return ", equal along long dimensions but for the last position";
  }
  return "";
}

static void printElement(Diagnostic &note, tv::ExpectOp expect,
                         const DifferentElement &element) {
  note << describeElement(element.index) << " of " << describe(expect) << " is "
       << element.planValue << " in the plan and " << element.referenceValue
       << " in the reference";
  StringRef separator = ", at ";
  for (auto &[axis, coordinate] : element.coordinates) {
    note << separator
         << (axis == "dp"   ? "replica"
             : axis == "mb" ? "micro-batch"
                            : axis)
         << " " << coordinate;
    separator = ", ";
  }
}

std::optional<Finding> Refutation::lookCloser(const FactorAnalysis &analysis) {
  // Where it shows is known; what leads there is looked at more closely.
  SmallVector<tv::ExpectOp> roots = diagnosis->findRoots(wrong);
  if (roots.empty())
    return std::nullopt;
  SmallVector<tv::ExpectOp> close, different;
  for (tv::ExpectOp root : roots)
    if (areAlike(root, roots.front()))
      close.push_back(root);
  // Of long sequences as much again would be seconds for a few more words.
  bool isLong = seed.positions != LongPositions::All;
  if (isLong && diagnosis->getSteps(roots.front()) > quickSteps)
    return std::nullopt;
  Diagnosis closer(graph, getFine(analysis), seed);
  if (isLong)
    closer.limitSteps(quickSteps);
  if (succeeded(closer.compare(close)))
    for (tv::ExpectOp root : close)
      if (closer.isDifferent(root))
        different.push_back(root);
  std::optional<Finding> finding = closer.find(different);
  if (!finding)
    return std::nullopt;
  for (tv::ExpectOp root : roots)
    if (!llvm::is_contained(close, root) && ++finding->otherValues == 1)
      finding->other = root;
  return finding;
}

std::optional<Finding> Refutation::diagnose(const FactorAnalysis &analysis) {
  if (isCoarse)
    if (std::optional<Finding> finding = lookCloser(analysis))
      return finding;
  return diagnosis->find(wrong);
}

void Refutation::report() {
  tv::MeshAttr mesh = graph.getMesh();
  if (!diagnosed)
    diagnosed = diagnose(coarse);
  std::optional<Finding> finding = std::move(*diagnosed);
  if (!finding) {
    finding.emplace();
    finding->expect = confirmed.expect;
    finding->alike = {confirmed.expect};
    finding->element = {
        confirmed.index, confirmed.planValue, confirmed.referenceValue, {}};
  }
  tv::ExpectOp expect = finding->expect;
  if (Operation *undefined = confirmed.undefinedOp) {
    finding->kind = DifferenceKind::OutsideDomain;
    finding->op = undefined;
    finding->element.planValue = confirmed.planValue;
    finding->explanation = describe(undefined) +
                           " is undefined on these inputs: it divides by 0, "
                           "or takes a root or logarithm that does not exist";
  }
  Operation *op = finding->op;
  bool isUndefined = finding->kind == DifferenceKind::Undefined;
  Location place = op && (isUndefined || !expect.getContract())
                       ? op->getLoc()
                       : expect.getLoc();
  InFlightDiagnostic error = emitError(place);
  if (isUndefined) {
    error << "undefined value: " << finding->explanation;
  } else {
    error << describe(expect) << " differs from the reference on "
          << describePlace(finding->alike, finding->microBatches, mesh);
    if (!finding->explanation.empty())
      error.attachNote(op ? op->getLoc() : place)
          << getName(finding->kind) << ": " << finding->explanation;
  }
  for (auto &[where, text] : finding->related)
    error.attachNote(where) << text;
  error.attachNote(expect.getReference().getLoc())
      << "single-device model: "
      << (isUndefined ? "the value that depends on it" : "the reference value")
      << " is computed here";
  if (!isUndefined)
    printElement(error.attachNote(expect.getLoc()), expect, finding->element);
  if (finding->otherValues)
    error.attachNote(finding->other.getLoc())
        << finding->otherValues << " more "
        << (finding->otherValues == 1 ? "value differs" : "values differ")
        << " although what goes into "
        << (finding->otherValues == 1 ? "it" : "them") << " does not"
        << (finding->otherValues == 1 ? ": " : ", the first is ")
        << describe(finding->other) << " on "
        << describePlace(finding->other, {}, mesh);
  error.attachNote(place) << "as a consequence " << wrong.size() << " of "
                          << results.size()
                          << " results come out wrong: " << summarize(wrong)
                          << ", on " << describePlace(wrong, {}, mesh);
  if (isUndefined)
    return;
  error.attachNote(confirmed.expect.getLoc())
      << "counterexample: with the " << (seed.isPositive ? "positive " : "")
      << "inputs of seed " << seed.number << describePositions(seed.positions)
      << ", " << (seed.zeros ? describeZeros(*seed.zeros) : "")
      << describeElement(confirmed.index) << " of "
      << describe(confirmed.expect) << " is " << confirmed.planValue
      << " in the plan and " << confirmed.referenceValue
      << " in the reference; confirmed at full size in " << confirmed.precision
      << "-bit interval arithmetic";
}
