//===- DenseExecution.h - inputs and fixture of DenseEvaluator --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both evaluators run on the same input; every element has to agree.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_DENSEEXECUTION_H
#define VERIFY_TEST_UNIT_DENSEEXECUTION_H

#include "Verify/Analysis/DenseEvaluator.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace verify {

using namespace mlir;

/// Numbers that depend on the place alone; all inputs named `same...` of a type
/// are equal, those named `zero...` are 0, and those named `...rows` have equal
/// rows.
class PlaceSource : public ElementSource {
public:
  explicit PlaceSource(NumericAlgebra &algebra) : algebra(algebra) {}

  Scalar input(Value value, ArrayRef<int64_t> index) override {
    if (isZero(value))
      return algebra.rational(0);
    SmallVector<int64_t> place(index);
    if (isConstantAlong(value, 0) && !place.empty())
      place.front() = 0;
    return draw(value, place);
  }
  bool isConstantAlong(Value value, unsigned dimension) const override {
    auto input = value.getDefiningOp<tv::InputOp>();
    return dimension == 0 && input &&
           input.getContract().getName().getValue().ends_with("rows");
  }
  std::optional<uint64_t> getInputNumber(Value value) const override {
    if (isZero(value))
      return 0;
    return hasPrefix(value, "same") ? std::optional<uint64_t>(1) : std::nullopt;
  }
  bool isZero(Value value) const override { return hasPrefix(value, "zero"); }
  Scalar opaque(unsigned, Type, ArrayRef<int64_t>) override {
    ADD_FAILURE() << "nothing is opaque";
    return algebra.integer(0);
  }
  Scalar undefined(Operation *op, ArrayRef<int64_t> place) override {
    return draw(op->getResult(0), place);
  }

private:
  static bool hasPrefix(Value value, StringRef prefix) {
    auto input = value.getDefiningOp<tv::InputOp>();
    return input &&
           input.getContract().getName().getValue().starts_with(prefix);
  }
  Scalar draw(Value value, ArrayRef<int64_t> place) {
    auto number =
        hasPrefix(value, "same")
            ? int64_t(1000)
            : static_cast<int64_t>(
                  numbers.try_emplace(value, numbers.size()).first->second);
    uint64_t hash = 1469598103934665603ULL + static_cast<uint64_t>(number);
    for (int64_t at : place)
      hash = (hash ^ static_cast<uint64_t>(at + 1)) * 1099511628211ULL;
    hash ^= hash >> 29;
    ScalarSort sort = getSort(value.getType());
    if (sort == ScalarSort::Integer)
      return algebra.integer(static_cast<int64_t>(hash % 5));
    if (sort == ScalarSort::Extended && hash % 3 == 0)
      return algebra.minusInfinity();
    return algebra.rational(1 + static_cast<int64_t>(hash % 13), 8);
  }

  NumericAlgebra &algebra;
  llvm::DenseMap<Value, size_t> numbers;
};

/// The results of all ops, in order.
inline SmallVector<Value> listResults(Block &body) {
  SmallVector<Value> values;
  for (Operation &op : body)
    llvm::append_range(values, op.getResults());
  return values;
}

/// Compares both evaluators of a graph.
class DenseEvaluatorTest : public ::testing::Test {
protected:
  DenseEvaluatorTest() { context.loadDialect<tv::TVDialect>(); }

  tv::GraphOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<tv::GraphOp>().begin() : tv::GraphOp();
  }

  void checkAll(StringRef text) {
    tv::GraphOp graph = parse(text);
    ASSERT_TRUE(graph);
    checkGraph(graph);
  }

  /// Compares all elements of all values, for several widths.
  void checkGraph(tv::GraphOp graph) {
    for (int64_t width : {1, 2, 64}) {
      FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                             {FactorAnalysis::Positions::Exact, width, 8192});
      ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
      DoubleAlgebra doubles;
      checkValues(graph.getBody().front(), factors, doubles);
      IntervalAlgebra intervals(64);
      checkValues(graph.getBody().front(), factors, intervals);
    }
  }

  void checkValues(Block &body, const FactorAnalysis &factors,
                   NumericAlgebra &algebra) {
    SmallVector<Value> values = listResults(body);
    SmallVector<tv::ExpectOp> expects(body.getOps<tv::ExpectOp>());
    PlaceSource source(algebra);
    DenseEvaluator dense(factors, algebra, source);
    ASSERT_TRUE(succeeded(dense.run(expects, values))) << dense.getFailure();
    DoubleAlgebra doubles;
    PlaceSource doubleSource(doubles);
    // The numbers of values follow their first use.
    for (Value value : values)
      if (isa<tv::InputOp, tv::UndefinedOp>(value.getDefiningOp()))
        (void)(isa<tv::InputOp>(value.getDefiningOp())
                   ? doubleSource.input(value, {})
                   : doubleSource.undefined(value.getDefiningOp(), {}));
    ElementEvaluator single(factors, doubles, doubleSource);
    for (Value value : values)
      checkValue(value, factors, dense, single, algebra);
    for (tv::ExpectOp expect : expects)
      checkExpect(expect, factors, dense, single, algebra);
  }

  static void checkValue(Value value, const FactorAnalysis &factors,
                         const DenseEvaluator &dense, ElementEvaluator &single,
                         NumericAlgebra &algebra) {
    auto domain =
        value.getDefiningOp()->getAttrOfType<tv::DomainAttr>("domain");
    forEachPlace(
        factors, domain, factors.getDimensions(value),
        [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
          std::optional<Scalar> left =
              dense.getElement(value, coordinates, index);
          FailureOr<Scalar> right = single.evaluate(value, coordinates, index);
          ASSERT_TRUE(left.has_value());
          ASSERT_TRUE(succeeded(right)) << single.getFailure();
          expectNear(algebra.toDouble(*left), DoubleAlgebra::getDouble(*right),
                     value.getDefiningOp());
        });
  }

  static void checkExpect(tv::ExpectOp expect, const FactorAnalysis &factors,
                          DenseEvaluator &dense, ElementEvaluator &single,
                          NumericAlgebra &algebra) {
    size_t compared = 0;
    std::optional<DenseEvaluator::Difference> largest =
        dense.compare(expect, [&](Scalar, Scalar) {
          ++compared;
          return true;
        });
    ASSERT_EQ(dense.getFailure(), "");
    ASSERT_TRUE(largest.has_value());
    EXPECT_GT(compared, 0u);
    auto sides = single.evaluate(expect, largest->coordinates, largest->index);
    ASSERT_TRUE(succeeded(sides)) << single.getFailure();
    expectNear(algebra.toDouble(largest->reference),
               DoubleAlgebra::getDouble(sides->first), expect);
    expectNear(algebra.toDouble(largest->plan),
               DoubleAlgebra::getDouble(sides->second), expect);
    // No other place differs more.
    forEachPlace(factors, expect.getDomain(),
                 factors.getDimensions(expect.getValues().front()),
                 [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
                   auto other = single.evaluate(expect, coordinates, index);
                   ASSERT_TRUE(succeeded(other));
                   EXPECT_LE(relative(other->first, other->second),
                             relative(sides->first, sides->second) + 1e-9);
                 });
  }

  static double relative(Scalar left, Scalar right) {
    double first = DoubleAlgebra::getDouble(left);
    double second = DoubleAlgebra::getDouble(right);
    double larger = std::max(std::fabs(first), std::fabs(second));
    return larger == 0 ? 0 : std::fabs(first - second) / larger;
  }

  static void expectNear(double left, double right, Operation *op) {
    if (std::isinf(left) || std::isinf(right))
      EXPECT_EQ(left, right) << op->getName().getStringRef().str();
    else
      EXPECT_NEAR(left, right, 1e-9 * (1 + std::fabs(right)))
          << op->getName().getStringRef().str();
  }

  /// Every coordinate in `domain` and every index, as representatives.
  static void forEachPlace(
      const FactorAnalysis &factors, tv::DomainAttr domain,
      ArrayRef<FactorAnalysis::Node> dimensions,
      llvm::function_ref<void(const Coordinates &, ArrayRef<int64_t>)> visit) {
    SmallVector<FactorAnalysis::Node> nodes;
    for (unsigned axis = 0; axis < factors.getAxisCount(); ++axis)
      nodes.push_back(factors.getAxis(axis));
    llvm::append_range(nodes, dimensions);
    SmallVector<size_t> ordinals(nodes.size(), 0);
    while (true) {
      SmallVector<int64_t> place;
      bool isInside = true;
      for (auto [i, node] : llvm::enumerate(nodes)) {
        place.push_back(factors.getRepresentatives(node)[ordinals[i]].position);
        tv::AxisSetAttr set = domain && i < factors.getAxisCount()
                                  ? domain.getSet(factors.getAxisName(i))
                                  : tv::AxisSetAttr();
        isInside &= !set || set.contains(place.back());
      }
      if (isInside)
        visit(Coordinates(ArrayRef(place).take_front(factors.getAxisCount())),
              ArrayRef(place).drop_front(factors.getAxisCount()));
      size_t i = nodes.size();
      while (i > 0 && ++ordinals[i - 1] ==
                          factors.getRepresentatives(nodes[i - 1]).size())
        ordinals[--i] = 0;
      if (i == 0)
        return;
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace verify

#endif // VERIFY_TEST_UNIT_DENSEEXECUTION_H
