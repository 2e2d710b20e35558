//===- Run.cpp - runs programs and compares their results -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/Run.h"

#include "GraphInterpreter.h"
#include "PlanComparison.h"
#include "Verify/IR/Compositions.h"
#include "Verify/Transforms/BatchSize.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace verify;

/// Largest difference of two doubles that rounding may make, relative to the
/// largest element of the tensor ...
static constexpr double tolerance = 1e-9;
/// ... or to this part of the largest element of all results: a sum that is 0
/// comes out as a rounding error of its terms.
static constexpr double scaleFloor = 1e-4;
/// Most operations of an exact run that nobody asked for.
static constexpr int64_t exactStepLimit = int64_t(1) << 24;

bool ResultRow::isEqual() const {
  return llvm::all_of(places,
                      [](const ResultPlace &place) { return place.isEqual; });
}

/// Bits of the ends of intervals.
static constexpr unsigned intervalPrecision = 128;

static std::unique_ptr<NumericAlgebra> makeAlgebra(Arithmetic arithmetic) {
  switch (arithmetic) {
  case Arithmetic::Exact:
    return std::make_unique<RationalAlgebra>();
  case Arithmetic::Interval:
    return std::make_unique<IntervalAlgebra>(intervalPrecision);
  case Arithmetic::Automatic:
  case Arithmetic::Double:
    break;
  }
  return std::make_unique<DoubleAlgebra>();
}

Run::Run(const RunOptions &options, GivenTensors &given, Arithmetic arithmetic)
    : options(options), algebra(makeAlgebra(arithmetic)),
      exact(arithmetic == Arithmetic::Exact
                ? static_cast<RationalAlgebra *>(algebra.get())
                : nullptr),
      intervals(arithmetic == Arithmetic::Interval
                    ? static_cast<IntervalAlgebra *>(algebra.get())
                    : nullptr),
      workspace(*algebra, options.limits),
      inputs(workspace, options.seed, given, options.drawsPositive) {
  workspace.isExact = exact || intervals;
  if (options.drawsPositive)
    addRemark("real numbers are drawn positive, since the reference is not "
              "defined on others");
}

Run::~Run() = default;

StringRef Run::getArithmetic() const {
  return exact ? "exact" : intervals ? "interval" : "double";
}

StringRef Run::describeArithmetic() const {
  return exact       ? "exact rationals"
         : intervals ? "intervals of 128 bits"
                     : "doubles";
}

LogicalResult Run::failOutsideDomain(Operation *op) {
  isPositiveNeeded = !options.drawsPositive;
  // A sum of exponentials that are all too small for a double is 0.
  wasOutOfRange = true;
  if (options.drawsPositive && !defersRange)
    op->emitOpError("is evaluated outside of its domain; try another seed or "
                    "other inputs");
  return failure();
}

bool Run::areEqual() const {
  return llvm::all_of(rows, [](const ResultRow &row) { return row.isEqual(); });
}

bool Run::mayDiffer() const {
  return areEqual() && llvm::any_of(rows, [](const ResultRow &row) {
           return llvm::any_of(row.places, [](const ResultPlace &place) {
             return place.largestDifference != 0;
           });
         });
}

double Run::findLargest(const Tensor &tensor) const {
  double largest = 0;
  for (Scalar element : tensor.elements) {
    double value = std::abs(algebra->toDouble(element));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  }
  return largest;
}

LogicalResult Run::compare(Operation *program) {
  double whole = 0;
  for (const ResultRow &row : rows)
    if (row.reference)
      whole = std::max(whole, findLargest(*row.reference));
  for (const ResultRow &row : rows)
    for (const ResultPlace &place : row.places)
      if (!exact && place.plan && place.reference &&
          (isTooLarge(place) || isTooWide(place, scaleFloor * whole))) {
        wasOutOfRange = true;
        if (!defersRange)
          program->emitOpError("has ")
              << row.role << " '" << row.name << "' "
              << (intervals ? "in an interval that is too wide"
                            : "too large for doubles")
              << "; try another seed, other inputs or exact arithmetic";
        return failure();
      }
  for (ResultRow &row : rows) {
    double scale = row.reference ? findLargest(*row.reference) : 0;
    for (ResultPlace &place : row.places)
      if (place.plan && place.reference)
        compare(place, std::max(scale, scaleFloor * whole));
      else
        place.isEqual = place.problem.empty();
  }
  return success();
}

bool Run::isTooLarge(const ResultPlace &place) const {
  if (place.plan->shape != place.reference->shape)
    return false;
  return llvm::any_of(
      llvm::zip(place.plan->elements, place.reference->elements),
      [&](auto elements) {
        auto [plan, reference] = elements;
        double value = algebra->toDouble(reference);
        return std::isnan(value) ||
               (value == INFINITY && algebra->toDouble(plan) != value);
      });
}

bool Run::isTooWide(const ResultPlace &place, double leastScale) const {
  if (!intervals)
    return false;
  double scale = std::max(findLargest(*place.reference), leastScale);
  auto isWide = [&](Scalar element) {
    return intervals->getUpper(element) - intervals->getLower(element) >
           tolerance * scale;
  };
  return llvm::any_of(place.plan->elements, isWide) ||
         llvm::any_of(place.reference->elements, isWide);
}

void Run::compare(ResultPlace &place, double wholeScale) {
  if (place.plan->shape != place.reference->shape) {
    place.isEqual = false;
    place.problem = "has shape " + printIndex(place.plan->shape) + ", not " +
                    printIndex(place.reference->shape);
    return;
  }
  size_t next = 0;
  forEachIndex(place.plan->shape, [&](ArrayRef<int64_t> index) {
    Scalar plan = place.plan->elements[next];
    Scalar reference = place.reference->elements[next++];
    double left = algebra->toDouble(plan), right = algebra->toDouble(reference);
    double difference = left == right ? 0 : std::abs(left - right);
    bool isSame;
    if (exact)
      isSame = algebra->toDouble(
                   algebra->compare(Comparison::Equal, plan, reference)) != 0;
    else if (intervals)
      isSame = !intervals->areDisjoint(plan, reference);
    else
      isSame = difference <= tolerance * wholeScale;
    if (workspace.isExact && !isSame) // The difference of two close numbers.
      difference = std::max(difference, std::numeric_limits<double>::min());
    // NaN is larger than everything.
    if (!(difference <= place.largestDifference) ||
        (!isSame && place.isEqual)) {
      place.largestDifference = difference;
      place.index.assign(index.begin(), index.end());
    }
    place.isEqual &= isSame;
  });
  double scale = findLargest(*place.reference);
  place.relativeDifference = place.largestDifference == 0 ? 0
                             : scale == 0 ? INFINITY
                                          : place.largestDifference / scale;
}

LogicalResult Run::runPlans(tv::PlanOp reference, tv::PlanOp plan) {
  if (failed(PlanComparison(*this, reference, plan).run()))
    return failure();
  return compare(reference);
}

LogicalResult Run::runGraph(Block &body, tv::MeshAttr mesh) {
  GraphInterpreter interpreter(body, mesh, workspace, inputs);
  inputs.setIndexLimits(findIndexLimits(body));
  if (failed(interpreter.run(rows)))
    return failure();
  if (Operation *op = interpreter.getUndefined()) {
    if (!op->hasAttr("domain"))
      return failOutsideDomain(op);
    remarks.push_back(("'" + op->getName().getStringRef() +
                       "' of the plan is evaluated outside of its domain")
                          .str());
  }
  return compare(body.getParentOp());
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Runs once, and again with positive numbers where the reference is not
/// defined on others. Null on failure.
static std::unique_ptr<Run>
attempt(const RunOptions &options, GivenTensors &given, Arithmetic arithmetic,
        llvm::function_ref<LogicalResult(Run &)> run,
        bool *isOutOfRange = nullptr) {
  auto runWith = [&](const RunOptions &chosen) {
    auto result = std::make_unique<Run>(chosen, given, arithmetic);
    if (isOutOfRange)
      result->deferRange();
    bool isDone = succeeded(run(*result));
    if (isOutOfRange)
      *isOutOfRange = !isDone && result->isOutOfRange();
    return std::pair(std::move(result), isDone);
  };
  auto [result, isDone] = runWith(options);
  if (!isDone && result->needsPositive()) {
    RunOptions positive = options;
    positive.drawsPositive = true;
    auto again = runWith(positive);
    result = std::move(again.first);
    isDone = again.second;
  }
  return isDone ? std::move(result) : nullptr;
}

/// Runs in exact arithmetic if asked to, or if that is possible, else in
/// doubles, and in intervals where these have no room for a number, or are not
/// sure of what is given. Null after an error.
static std::unique_ptr<Run>
runOnce(MLIRContext *context, const RunOptions &options, GivenTensors &given,
        llvm::function_ref<LogicalResult(Run &)> run) {
  if (options.arithmetic != Arithmetic::Automatic)
    return attempt(options, given, options.arithmetic, run);
  RunOptions bounded = options;
  bounded.limits.steps = std::min(options.limits.steps, exactStepLimit);
  // What is wrong apart from the arithmetic is said by the run in doubles.
  auto attemptSilently = [&](Arithmetic arithmetic) {
    ScopedDiagnosticHandler silence(context,
                                    [](Diagnostic &) { return success(); });
    return attempt(bounded, given, arithmetic, run);
  };
  if (auto result = attemptSilently(Arithmetic::Exact))
    return result;
  bool isOutOfRange = false;
  auto result = attempt(options, given, Arithmetic::Double, run, &isOutOfRange);
  // A counterexample may differ by less than doubles are sure of.
  bool isReplayed = result && !result->hasDrawn() && result->mayDiffer();
  if ((result && !isReplayed) || (!result && !isOutOfRange))
    return result;
  if (auto decided = attemptSilently(Arithmetic::Interval))
    return decided;
  return result ? std::move(result)
                : attempt(options, given, Arithmetic::Double, run);
}

/// Subtracts the greatest element of each row before its softmax, which stays
/// the same, as does the derivative: doubles have no room for exponentials of
/// large numbers, as masks add to scores.
static void centerRows(ModuleOp module) {
  module.walk([](tv::SoftmaxOp op) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    if (!isReal(type))
      return;
    OpBuilder builder(op);
    SmallVector<int64_t> shape(type.getShape());
    shape[op.getDimension()] = 1;
    auto rows = RankedTensorType::get(shape, type.getElementType());
    Value greatest = tv::ReduceOp::create(
        builder, op.getLoc(), rows, tv::ReductionKind::Maximum, op.getOperand(),
        ArrayRef<int64_t>(op.getDimension()), /*keep_dimensions=*/true,
        op.getDomainAttr());
    greatest = tv::DetachOp::create(builder, op.getLoc(), rows, greatest,
                                    op.getDomainAttr());
    op.getOperandMutable().assign(
        tv::SubtractOp::create(builder, op.getLoc(), type, op.getOperand(),
                               greatest, op.getDomainAttr()));
  });
}

LogicalResult verify::runModule(
    ModuleOp module, const RunOptions &options, GivenTensors &given,
    StringRef symbol,
    llvm::function_ref<void(StringRef symbol, const Run &run)> visit) {
  auto plan = module.lookupSymbol<tv::PlanOp>("plan");
  auto reference = module.lookupSymbol<tv::PlanOp>("reference");
  std::optional<std::string> adapted;
  if (reference && plan) {
    auto found = adaptBatchSize(reference, plan);
    if (failed(found))
      return failure();
    adapted = *found;
  }
  centerRows(module);
  if (failed(expandCompositions(module)))
    return failure();
  MLIRContext *context = module.getContext();
  auto isAsked = [&](StringRef name) {
    return symbol.empty() || symbol == name;
  };
  bool isFound = false;
  for (auto op : module.getOps<tv::PlanOp>()) {
    bool isPair = reference && plan;
    if (isPair ? op != plan || !isAsked("plan") : !isAsked(op.getSymName()))
      continue;
    isFound = true;
    std::unique_ptr<Run> run = runOnce(context, options, given, [&](Run &next) {
      return isPair ? next.runPlans(reference, plan)
                    : next.runPlans(op, tv::PlanOp());
    });
    if (!run)
      return failure();
    if (adapted)
      run->addRemark(*adapted);
    visit(op.getSymName(), *run);
  }
  for (Operation &op : *module.getBody()) {
    auto graph = dyn_cast<tv::GraphOp>(op);
    auto stage = dyn_cast<tv::StageOp>(op);
    if (!graph && !stage)
      continue;
    StringRef name = graph ? graph.getSymName() : stage.getSymName();
    if (!isAsked(name))
      continue;
    isFound = true;
    std::unique_ptr<Run> run = runOnce(context, options, given, [&](Run &next) {
      return next.runGraph(op.getRegion(0).front(),
                           graph ? graph.getMesh() : stage.getMesh());
    });
    if (!run)
      return failure();
    visit(name, *run);
  }
  if (!isFound)
    return module.emitError()
           << "has no program to run"
           << (symbol.empty() ? "" : (" of name '" + symbol + "'").str());
  return success();
}
