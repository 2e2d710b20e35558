//===- Refutation.cpp - makes a failed proof concrete ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refutation.h"

#include "Verify/Analysis/DenseEvaluator.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace verify;

/// Inputs that are tried before giving up.
static constexpr unsigned drawLimit = 3;
/// Precisions of the intervals, in bits.
static constexpr unsigned precisions[] = {64, 128, 256};
/// Results that are named in full.
static constexpr size_t namedResults = 4;

namespace {
/// Elements of inputs and parameters as small rationals, a function of the
/// tensor, the position and the seed alone, so that runs in different algebras
/// see the same numbers.
class InputSource : public ElementSource {
public:
  InputSource(NumericAlgebra &algebra, unsigned seed, ArrayRef<int64_t> data)
      : algebra(algebra), seed(seed), data(data) {}

  Scalar input(Value value, ArrayRef<int64_t> index) override {
    auto op = value.getDefiningOp<tv::InputOp>();
    uint64_t name = op ? hash(op.getContract().getName().getValue()) : 0;
    // Weights are divided by what they are summed over, so that nothing grows
    // beyond what exponentials bear.
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(value.getType()).getShape();
    int64_t scale = shape.size() < 2 ? 1 : llvm::PowerOf2Ceil(shape.back());
    Scalar drawn = draw(name, getSort(value.getType()), index, scale);
    if (!op || op.getContract().getRole() != tv::ContractRole::Random)
      return drawn;
    // Draws of random ops are 0 or 1.
    bool isKept = algebra.toDouble(drawn) > 0;
    return algebra.rational(isKept);
  }
  Scalar opaque(unsigned number, Type type, ArrayRef<int64_t> index) override {
    return draw(number, getSort(type), index);
  }
  Scalar undefined(Operation *op, ArrayRef<int64_t> place) override {
    return draw(hash(cast<tv::UndefinedOp>(op).getName()),
                getSort(op->getResult(0).getType()), place);
  }

private:
  /// FNV-1a: the same on every machine, as the seed is printed.
  static uint64_t hash(StringRef text) {
    uint64_t value = 1469598103934665603u;
    for (char letter : text)
      value = (value ^ static_cast<unsigned char>(letter)) * 1099511628211u;
    return value;
  }
  Scalar draw(uint64_t name, ScalarSort sort, ArrayRef<int64_t> index,
              int64_t scale = 1) {
    uint64_t state = name + seed * 0x9e3779b97f4a7c15u;
    for (int64_t position : index)
      state =
          (state ^ static_cast<uint64_t>(position + 1)) * 0xbf58476d1ce4e5b9u;
    state ^= state >> 31;
    state *= 0x94d049bb133111ebu;
    state ^= state >> 29;
    if (sort == ScalarSort::Integer)
      return algebra.integer(data[state % data.size()]);
    if (sort == ScalarSort::Boolean)
      return algebra.boolean(state % 2);
    // Odd eighths between -1 and 1, none of them 0.
    return algebra.rational(2 * static_cast<int64_t>(state % 8) - 7, 8 * scale);
  }

  NumericAlgebra &algebra;
  unsigned seed;
  SmallVector<int64_t> data;
};
} // namespace

Refutation::Refutation(tv::GraphOp graph, unsigned seed)
    : graph(graph), seed(seed),
      factors(graph.getBody().front(), graph.getMesh(),
              {FactorAnalysis::Positions::Exact, /*fixedWidth=*/1}) {
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (expect.getContract())
      results.push_back(expect);
}

SmallVector<int64_t> Refutation::getDataValues() const {
  // Integer data take values that are kept wherever they select a position.
  SmallVector<int64_t> values;
  for (auto oneHot : tv::GraphOp(graph).getBody().getOps<tv::OneHotOp>()) {
    if (oneHot->hasAttr("domain"))
      continue;
    for (Representative entry : factors.getRepresentatives(
             factors.getDimensions(oneHot.getResult()).back()))
      if (entry.weight == 1 && !llvm::is_contained(values, entry.position))
        values.push_back(entry.position);
  }
  if (values.empty())
    values.push_back(0);
  return values;
}

/// Whether doubles differ by more than rounding explains. Only intervals
/// decide; this chooses what they look at.
static bool differ(double left, double right) {
  double difference = std::abs(left - right);
  return difference > 1e-7 * std::max(std::abs(left), std::abs(right)) &&
         difference > 1e-13;
}

bool Refutation::findWrongResults() {
  DoubleAlgebra algebra;
  InputSource source(algebra, seed, getDataValues());
  DenseEvaluator evaluator(graph.getBody().front(), factors, algebra, source);
  if (failed(evaluator.run(results))) {
    failureReason = evaluator.getFailure();
    return false;
  }
  wrong.clear();
  for (tv::ExpectOp result : results)
    if (evaluator.compare(result, [&](Scalar reference, Scalar plan) {
          return differ(algebra.toDouble(reference), algebra.toDouble(plan));
        }))
      wrong.push_back(result);
  if (wrong.empty())
    failureReason = "reference and plan agree on the inputs that were tried";
  return !wrong.empty();
}

bool Refutation::find() {
  if (factors.getFailure()) {
    failureReason = *factors.getFailure();
    return false;
  }
  for (unsigned draw = 0; draw < drawLimit; ++draw, ++seed)
    if (findWrongResults() && confirm())
      return true;
  return false;
}

/// Number of ops a result depends on.
static size_t countCone(tv::ExpectOp expect) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> worklist(expect->getOperands());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && seen.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return seen.size();
}

static std::string printNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

bool Refutation::confirm() {
  tv::ExpectOp cheapest = *std::min_element(
      wrong.begin(), wrong.end(), [](tv::ExpectOp left, tv::ExpectOp right) {
        return countCone(left) < countCone(right);
      });
  for (unsigned precision : precisions) {
    IntervalAlgebra algebra(precision);
    InputSource source(algebra, seed, getDataValues());
    DenseEvaluator evaluator(graph.getBody().front(), factors, algebra, source);
    if (failed(evaluator.run(cheapest))) {
      failureReason = evaluator.getFailure();
      return false;
    }
    if (algebra.status().isUndefined) {
      failureReason = "the inputs that were tried lie outside the domain";
      return false;
    }
    if (algebra.status().isUndecided)
      continue;
    auto difference =
        evaluator.compare(cheapest, [&](Scalar reference, Scalar plan) {
          return algebra.areDisjoint(reference, plan);
        });
    if (!difference)
      continue;
    confirmed.expect = cheapest;
    confirmed.index = difference->index;
    confirmed.referenceIndex = difference->referenceIndex;
    confirmed.planValue = printNumber(algebra.toDouble(difference->plan));
    confirmed.referenceValue =
        printNumber(algebra.toDouble(difference->reference));
    confirmed.precision = precision;
    return true;
  }
  failureReason = "the difference could not be told from rounding";
  return false;
}

std::optional<Refutation::Witness> Refutation::findRootCause() {
  DoubleAlgebra algebra;
  InputSource source(algebra, seed, getDataValues());
  DenseEvaluator evaluator(graph.getBody().front(), factors, algebra, source);
  // Only what a wrong result depends on, in program order.
  llvm::DenseSet<Operation *> cone;
  SmallVector<Value> worklist;
  for (tv::ExpectOp result : wrong)
    llvm::append_range(worklist, result.getValues());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && cone.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  SmallVector<tv::ExpectOp> candidates;
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (cone.contains(expect.getValues().front().getDefiningOp()))
      candidates.push_back(expect);
  llvm::stable_sort(candidates, [](tv::ExpectOp left, tv::ExpectOp right) {
    Operation *first = left.getValues().back().getDefiningOp();
    Operation *second = right.getValues().back().getDefiningOp();
    return first != second && first->isBeforeInBlock(second);
  });
  if (failed(evaluator.run(candidates)))
    return std::nullopt;
  for (tv::ExpectOp expect : candidates) {
    auto difference =
        evaluator.compare(expect, [&](Scalar reference, Scalar plan) {
          return differ(algebra.toDouble(reference), algebra.toDouble(plan));
        });
    if (!difference)
      continue;
    Witness witness;
    witness.expect = expect;
    witness.index = difference->index;
    witness.referenceIndex = difference->referenceIndex;
    for (auto [axis, coordinate] : llvm::enumerate(difference->coordinates))
      if (coordinate >= 0)
        witness.coordinates.push_back(
            {factors.getAxisName(axis).str(), coordinate});
    witness.planValue = printNumber(algebra.toDouble(difference->plan));
    witness.referenceValue =
        printNumber(algebra.toDouble(difference->reference));
    return witness;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `gradient of 'w'`, or what op a lemma speaks of.
static std::string describe(tv::ExpectOp expect) {
  if (std::optional<tv::ContractAttr> contract = expect.getContract()) {
    bool isGradient = contract->getRole() == tv::ContractRole::Gradient;
    return ((isGradient ? "gradient of '" : "output '") +
            contract->getName().getValue() + "'")
        .str();
  }
  if (auto name = dyn_cast<NameLoc>(expect.getLoc()))
    return "result of '" + name.getName().str() + "'";
  return "result of this op";
}

/// `device 1 of 2 replicas, all micro-batches`.
static std::string describePlace(tv::ExpectOp expect, tv::MeshAttr mesh) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (tv::AxisSetAttr devices = expect.getDomain().getSet("device")) {
    out << (devices.size() == 1 ? "device " : "devices ");
    ArrayRef<int64_t> bounds = devices.getBounds();
    for (size_t i = 0; i < bounds.size(); i += 2) {
      out << (i ? ", " : "") << bounds[i];
      if (bounds[i + 1] > bounds[i] + 1)
        out << "-" << bounds[i + 1] - 1;
    }
  }
  int64_t replicas = mesh.getAxisSize("dp").value_or(1);
  if (replicas > 1)
    out << " of all " << replicas << " replicas";
  if (tv::AxisSetAttr set = expect.getDomain().getSet("mb")) {
    ArrayRef<int64_t> bounds = set.getBounds();
    out << ", micro-batch";
    for (size_t i = 0; i < bounds.size(); i += 2) {
      out << (i ? ", " : " ") << bounds[i];
      if (bounds[i + 1] > bounds[i] + 1)
        out << "-" << bounds[i + 1] - 1;
    }
  } else if (mesh.getAxisSize("mb").value_or(1) > 1) {
    out << ", all micro-batches";
  }
  return text;
}

static std::string describeElement(ArrayRef<int64_t> index) {
  std::string text = "element [";
  for (auto [i, position] : llvm::enumerate(index))
    text += (i ? ", " : "") + std::to_string(position);
  return text + "]";
}

void Refutation::report() {
  tv::MeshAttr mesh = graph.getMesh();
  std::optional<Witness> cause = findRootCause();
  const Witness &first = cause ? *cause : confirmed;
  tv::ExpectOp expect = first.expect;
  InFlightDiagnostic error = emitError(expect.getLoc())
                             << describe(expect)
                             << " differs from the reference on "
                             << describePlace(expect, mesh);
  Diagnostic &values = error.attachNote(expect.getLoc());
  values << describeElement(first.index) << " is " << first.planValue
         << " in the plan and " << first.referenceValue << " in the reference";
  for (auto &[axis, coordinate] : first.coordinates)
    values << (axis == first.coordinates.front().first ? ", at " : ", ") << axis
           << " " << coordinate;
  Location source = expect.getReference().getLoc();
  error.attachNote(source) << "single-device model: the reference value is "
                              "computed here";
  std::string list;
  for (tv::ExpectOp result : ArrayRef(wrong).take_front(namedResults))
    list += (list.empty() ? "" : ", ") + describe(result) + " on " +
            describePlace(result, mesh);
  if (wrong.size() > namedResults)
    list += " and " + std::to_string(wrong.size() - namedResults) + " more";
  error.attachNote(expect.getLoc())
      << wrong.size() << " of " << results.size()
      << " results of the run come out wrong: " << list;
  error.attachNote(confirmed.expect.getLoc())
      << "counterexample: with the inputs of seed " << seed << ", "
      << describeElement(confirmed.index) << " of "
      << describe(confirmed.expect) << " is " << confirmed.planValue
      << " in the plan and " << confirmed.referenceValue
      << " in the reference, replayed at full size in intervals of "
      << confirmed.precision << " bits";
}
