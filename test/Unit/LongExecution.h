//===- LongExecution.h - long values against single elements ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values whose long dimensions are kept in runs: every element has to lie in
// the interval of its run.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_LONGEXECUTION_H
#define VERIFY_TEST_UNIT_LONGEXECUTION_H

#include "DenseExecution.h"

#include <set>

namespace verify {

/// The same numbers wherever whole values are executed run by run and wherever
/// single elements are asked for.
class LongSource : public PlaceSource {
public:
  LongSource(NumericAlgebra &algebra, const FactorAnalysis &factors,
             LongPositions positions)
      : PlaceSource(algebra), factors(factors), positions(positions) {}

  Scalar input(Value value, ArrayRef<int64_t> index) override {
    return PlaceSource::input(value, getPositions(value, index));
  }
  Scalar undefined(Operation *op, ArrayRef<int64_t> place) override {
    size_t axes = factors.getAxisCount();
    SmallVector<int64_t> index(place.take_front(axes).size(), -1);
    index.append(getPositions(op->getResult(0), place.drop_front(axes)));
    return PlaceSource::undefined(op, index);
  }
  LongPositions getLongPositions() const override { return positions; }

private:
  SmallVector<int64_t> getPositions(Value value, ArrayRef<int64_t> index) {
    SmallVector<int64_t> result(index);
    for (auto [position, node] :
         llvm::zip(result, factors.getDimensions(value))) {
      bool tellsLast = positions == LongPositions::Last;
      if (factors.getRepresentatives(node).size() <= 32 ||
          factors.isSelected(node))
        continue;
      auto [start, end] = factors.getBlock(node, position, tellsLast);
      if (tellsLast)
        position = position == end - 1 ? position : start;
      else
        position = position == start ? start : start + 1;
    }
    return result;
  }

  const FactorAnalysis &factors;
  LongPositions positions;
};

/// A graph that is executed in one algebra, of long positions the last apart.
template <typename Algebra> struct LongRun {
  explicit LongRun(tv::GraphOp graph, int64_t width = 1)
      : factors(graph.getBody().front(), graph.getMesh(),
                {FactorAnalysis::Positions::Exact, width, 8192}),
        source(algebra, factors, LongPositions::Last),
        dense(factors, algebra, source) {}

  FactorAnalysis factors;
  Algebra algebra;
  LongSource source;
  DenseEvaluator dense;
};

/// Compares values that are kept in runs with single elements.
class DenseRunsTest : public DenseEvaluatorTest {
protected:
  void checkRuns(StringRef text, bool hasDoubles = true) {
    tv::GraphOp graph = parse(text);
    ASSERT_TRUE(graph);
    for (LongPositions positions : {LongPositions::Blocks, LongPositions::Last})
      for (int64_t width : {1, 2}) {
        FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                               {FactorAnalysis::Positions::Exact, width, 8192});
        ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
        DoubleAlgebra doubles;
        if (hasDoubles)
          checkAgainstElements(
              graph, factors, positions, doubles, [](Scalar value) {
                double number = DoubleAlgebra::getDouble(value);
                double near =
                    std::isinf(number) ? 0 : 1e-9 * (1 + std::fabs(number));
                return std::pair(number - near, number + near);
              });
        DoubleIntervalAlgebra fast(FunctionSource::Rounded);
        checkAgainstElements(
            graph, factors, positions, fast, [&](Scalar value) {
              return std::pair(fast.getLower(value), fast.getUpper(value));
            });
        IntervalAlgebra precise(128);
        checkAgainstElements(graph, factors, positions, precise,
                             [&](Scalar value) {
                               return std::pair(precise.getLower(value),
                                                precise.getUpper(value));
                             });
      }
  }

  using Bounds = llvm::function_ref<std::pair<double, double>(Scalar)>;

  static void checkAgainstElements(tv::GraphOp graph,
                                   const FactorAnalysis &factors,
                                   LongPositions positions,
                                   NumericAlgebra &algebra, Bounds getBounds) {
    Block &body = graph.getBody().front();
    SmallVector<Value> values = listResults(body);
    SmallVector<tv::ExpectOp> expects(body.getOps<tv::ExpectOp>());
    LongSource source(algebra, factors, positions);
    DenseEvaluator dense(factors, algebra, source);
    ASSERT_TRUE(succeeded(dense.run(expects, values))) << dense.getFailure();
    IntervalAlgebra exact(300);
    LongSource exactSource(exact, factors, positions);
    // The numbers of values follow their first use.
    for (Value value : values) {
      SmallVector<int64_t> first(
          cast<RankedTensorType>(value.getType()).getRank(), 0);
      if (isa<tv::InputOp>(value.getDefiningOp()))
        (void)exactSource.input(value, first);
    }
    ElementEvaluator single(factors, exact, exactSource);
    for (Value value : values)
      forEachPlace(
          factors,
          value.getDefiningOp()->getAttrOfType<tv::DomainAttr>("domain"),
          factors.getDimensions(value),
          [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
            std::optional<Scalar> found =
                dense.getElement(value, coordinates, index);
            FailureOr<Scalar> wanted =
                single.evaluate(value, coordinates, index);
            ASSERT_TRUE(found.has_value());
            ASSERT_TRUE(succeeded(wanted)) << single.getFailure();
            auto [lower, upper] = getBounds(*found);
            EXPECT_LE(lower, exact.getUpper(*wanted)) << describe(value, index);
            EXPECT_GE(upper, exact.getLower(*wanted)) << describe(value, index);
          });
    for (tv::ExpectOp expect : expects)
      checkExpect(expect, factors, dense, algebra, single, exact);
    for (Value left : values)
      for (Value right : values)
        if (left != right && left.getType() == right.getType())
          checkPairs(left, right, factors, dense, getBounds);
  }

  /// Two values that are compared run by run are compared at each place.
  static void checkPairs(Value left, Value right, const FactorAnalysis &factors,
                         DenseEvaluator &dense, Bounds getBounds) {
    using Pair =
        std::pair<std::pair<double, double>, std::pair<double, double>>;
    std::set<Pair> compared, wanted;
    if (!dense.haveEqualElements(left, right, [&](Scalar one, Scalar other) {
          compared.emplace(getBounds(one), getBounds(other));
          return true;
        }))
      return;
    forEachPlace(factors, {}, factors.getDimensions(left),
                 [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
                   std::optional<Scalar> one =
                       dense.getElement(left, coordinates, index);
                   std::optional<Scalar> other =
                       dense.getElement(right, coordinates, index);
                   ASSERT_TRUE(one && other);
                   wanted.emplace(getBounds(*one), getBounds(*other));
                 });
    EXPECT_EQ(compared, wanted) << describe(left, {}) << describe(right, {});
  }

  static std::string describe(Value value, ArrayRef<int64_t> index) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << value << " at";
    for (int64_t position : index)
      stream << ' ' << position;
    return text;
  }

  /// Pairs that are visited many at a time are those of their elements, and all
  /// that `visit` finds are among them.
  static void checkRows(tv::ExpectOp expect, DenseEvaluator &dense,
                        NumericAlgebra &algebra, ElementEvaluator &single,
                        IntervalAlgebra &exact) {
    SmallVector<Value> values(expect.getValues());
    DenseEvaluator::Claim claim{values, expect.getReference(),
                                expect.getLineage(), expect.getDomain()};
    std::set<std::pair<double, double>> inRows, wanted;
    auto expectNear = [&](Scalar found, Scalar wanted) {
      double number = exact.toDouble(wanted);
      EXPECT_NEAR(algebra.toDouble(found), number,
                  1e-6 * (1 + std::fabs(number)));
    };
    ASSERT_TRUE(succeeded(dense.visitRows(
        claim, [&](const Coordinates &coordinates, ArrayRef<Scalar> references,
                   ArrayRef<Scalar> plans, auto getIndex) {
          for (size_t number = 0; number < plans.size(); ++number) {
            auto sides = single.evaluate(expect, coordinates, getIndex(number));
            ASSERT_TRUE(succeeded(sides)) << single.getFailure();
            expectNear(references[number], sides->first);
            expectNear(plans[number], sides->second);
            inRows.emplace(algebra.toDouble(references[number]),
                           algebra.toDouble(plans[number]));
          }
        })));
    ASSERT_TRUE(succeeded(dense.visit(
        claim, /*skipsUnknown=*/false,
        [&](const Coordinates &, ArrayRef<int64_t>, Scalar reference,
            Scalar plan, int64_t) {
          wanted.emplace(algebra.toDouble(reference), algebra.toDouble(plan));
          return DenseEvaluator::Visit::Continue;
        })));
    EXPECT_EQ(inRows, wanted);
  }

  /// No pair of elements differs more than the one that is found, which has the
  /// values that it is said to have.
  static void checkExpect(tv::ExpectOp expect, const FactorAnalysis &factors,
                          DenseEvaluator &dense, NumericAlgebra &algebra,
                          ElementEvaluator &single, IntervalAlgebra &exact) {
    auto largest = dense.compare(expect, [](Scalar, Scalar) { return true; });
    ASSERT_EQ(dense.getFailure(), "");
    ASSERT_TRUE(largest.has_value());
    // Each pair is counted once at each place of the mesh.
    SmallVector<Value> values(expect.getValues());
    int64_t visited = 0, count = 1;
    for (FactorAnalysis::Node node : factors.getDimensions(values.front()))
      count *= static_cast<int64_t>(factors.getRepresentatives(node).size());
    ASSERT_TRUE(
        succeeded(dense.visit({values, expect.getReference(),
                               expect.getLineage(), expect.getDomain()},
                              /*skipsUnknown=*/false,
                              [&](const Coordinates &, ArrayRef<int64_t>,
                                  Scalar, Scalar, int64_t pairs) {
                                visited += pairs;
                                return DenseEvaluator::Visit::Continue;
                              })));
    EXPECT_EQ(visited % count, 0);
    checkRows(expect, dense, algebra, single, exact);
    auto getDifference = [&](std::pair<Scalar, Scalar> sides) {
      double left = exact.toDouble(sides.first);
      double right = exact.toDouble(sides.second);
      double larger = std::max(std::fabs(left), std::fabs(right));
      return larger == 0 ? 0 : std::fabs(left - right) / larger;
    };
    auto sides = single.evaluate(expect, largest->coordinates, largest->index);
    ASSERT_TRUE(succeeded(sides)) << single.getFailure();
    for (auto [found, wanted] : {std::pair(largest->reference, sides->first),
                                 std::pair(largest->plan, sides->second)}) {
      double number = exact.toDouble(wanted);
      EXPECT_NEAR(algebra.toDouble(found), number,
                  1e-6 * (1 + std::fabs(number)))
          << describe(expect.getReference(), largest->index);
    }
    forEachPlace(factors, expect.getDomain(),
                 factors.getDimensions(expect.getValues().front()),
                 [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
                   auto other = single.evaluate(expect, coordinates, index);
                   ASSERT_TRUE(succeeded(other));
                   EXPECT_LE(getDifference(*other),
                             getDifference(*sides) + 1e-9);
                 });
  }
};

} // namespace verify

#endif // VERIFY_TEST_UNIT_LONGEXECUTION_H
