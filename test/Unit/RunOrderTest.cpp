//===- RunOrderTest.cpp - sums that depend on the order of a row ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"
#include "LongExecution.h"
#include "Verify/Scalar/SignAlgebra.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace verify;

namespace {
class RunOrderTest : public DenseRunsTest {};

/// Numbers that differ for each last position, but for two of one row.
class TiedSource : public LongSource {
public:
  TiedSource(NumericAlgebra &algebra, const FactorAnalysis &factors,
             std::optional<std::pair<int64_t, int64_t>> tied)
      : LongSource(algebra, factors, LongPositions::Blocks), algebra(algebra),
        tied(tied) {}
  Scalar input(Value, ArrayRef<int64_t> index) override {
    bool isTied = tied && *tied == std::pair(index[0], index[1]);
    return algebra.rational(isTied && index[2] == 20 ? 7 : index[2]);
  }

private:
  NumericAlgebra &algebra;
  std::optional<std::pair<int64_t, int64_t>> tied;
};
} // namespace

static Scalar operator""_d(long double value) {
  return DoubleAlgebra::fromDouble(static_cast<double>(value));
}

TEST_F(RunOrderTest, Ranks) {
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %s = tv.input <input "s"> : tensor<34x18xf64>
    %triangle = tv.lower_triangle : () -> tensor<34x34xf64>
    %eligible = tv.slice %triangle {dimension = 1 : i64, start = 8 : i64, end = 26 : i64} : (tensor<34x34xf64>) -> tensor<34x18xf64>
    %all = tv.descending_rank %s : (tensor<34x18xf64>) -> tensor<34x18xi64>
    %some = tv.descending_rank %s, %eligible : (tensor<34x18xf64>, tensor<34x18xf64>) -> tensor<34x18xi64>
    %t = tv.input <input "t"> : tensor<3x34x2x18xf64>
    %inner = tv.descending_rank %t : (tensor<3x34x2x18xf64>) -> tensor<3x34x2x18xi64>
    %one = tv.input <input "one"> : tensor<18xf64>
    %only = tv.descending_rank %one : (tensor<18xf64>) -> tensor<18xi64>
    %turned = tv.transpose %s {permutation = array<i64: 1, 0>} : (tensor<34x18xf64>) -> tensor<18x34xf64>
    %along = tv.descending_rank %turned : (tensor<18x34xf64>) -> tensor<18x34xi64>
  })");
}

TEST_F(RunOrderTest, TiesAndWhatOverlaps) {
  // All elements of a row of `counts` are equal, and most of `steps`; of those
  // that are a third of something, doubles do not tell which are equal.
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %triangle = tv.lower_triangle : () -> tensor<34x34xf64>
    %steps = tv.slice %triangle {dimension = 1 : i64, start = 0 : i64, end = 18 : i64} : (tensor<34x34xf64>) -> tensor<34x18xf64>
    %counts = tv.constant dense<3.0> : tensor<f64> : () -> tensor<34x18xf64>
    %third = tv.divide %steps, %counts : (tensor<34x18xf64>, tensor<34x18xf64>) -> tensor<34x18xf64>
    %exp = tv.exp %third : (tensor<34x18xf64>) -> tensor<34x18xf64>
    %row = tv.constant dense<[1.0, 5.0, 2.0, 7.0, 3.0, 9.0, 6.0, 4.0, 8.0, 16.0, 11.0, 10.0, 12.0, 20.0, 13.0, 20.0, 17.0, 18.0]> : tensor<18xf64> : () -> tensor<18xf64>
    %rows = tv.einsum %steps, %row {equation = "ij,k->ik"} : (tensor<34x18xf64>, tensor<18xf64>) -> tensor<34x18xf64>
    %thirds = tv.divide %rows, %counts : (tensor<34x18xf64>, tensor<34x18xf64>) -> tensor<34x18xf64>
    %e = tv.descending_rank %thirds : (tensor<34x18xf64>) -> tensor<34x18xi64>
    %a = tv.descending_rank %steps : (tensor<34x18xf64>) -> tensor<34x18xi64>
    %b = tv.descending_rank %counts : (tensor<34x18xf64>) -> tensor<34x18xi64>
    %c = tv.descending_rank %exp : (tensor<34x18xf64>) -> tensor<34x18xi64>
    %d = tv.descending_rank %exp, %steps : (tensor<34x18xf64>, tensor<34x18xf64>) -> tensor<34x18xi64>
  })");
}

TEST_F(RunOrderTest, ManyRuns) {
  // No two rows are equal, and the order of the last ones is another one.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %x = tv.constant dense<[1.0, 5.0, 2.0, 7.0, 3.0, 9.0, 6.0, 4.0, 8.0, 16.0, 11.0, 10.0, 12.0, 15.0, 13.0, 14.0]> : tensor<16xf64> : () -> tensor<16xf64>
    %triangle = tv.lower_triangle : () -> tensor<600x600xf64>
    %count = tv.einsum %triangle {equation = "ij->i"} : (tensor<600x600xf64>) -> tensor<600xf64>
    %middle = tv.constant dense<300.5> : tensor<f64> : () -> tensor<600xf64>
    %rest = tv.subtract %middle, %count : (tensor<600xf64>, tensor<600xf64>) -> tensor<600xf64>
    %scores = tv.einsum %rest, %x {equation = "i,e->ie"} : (tensor<600xf64>, tensor<16xf64>) -> tensor<600x16xf64>
    %rank = tv.descending_rank %scores : (tensor<600x16xf64>) -> tensor<600x16xi64>
  })");
  ASSERT_TRUE(graph);
  LongRun<DoubleAlgebra> run(graph, 16);
  Value rank = graph.getBody().front().back().getResult(0);
  ASSERT_TRUE(succeeded(run.dense.run({}, {rank}))) << run.dense.getFailure();
  // Pairs alone would be as many.
  EXPECT_LT(run.dense.getSteps(), 600 * 16 * 16);
  std::vector<int> numbers = {1, 5,  2,  7,  3,  9,  6,  4,
                              8, 16, 11, 10, 12, 15, 13, 14};
  for (int64_t row = 0; row < 600; ++row)
    for (int64_t i = 0; i < 16; ++i) {
      double wanted = row < 300 ? 16 - numbers[i] : numbers[i] - 1;
      Scalar found = *run.dense.getElement(rank, {-1}, {row, i});
      EXPECT_EQ(DoubleAlgebra::getDouble(found), wanted) << row << ' ' << i;
    }
}

TEST_F(RunOrderTest, SumsAreThoseOfPairs) {
  std::mt19937 random(1);
  DoubleAlgebra algebra;
  for (int round = 0; round < 50; ++round) {
    size_t count = 1 + random() % 20;
    std::vector<Scalar> elements, results(count);
    std::vector<int64_t> weights;
    for (size_t i = 0; i < count; ++i) {
      elements.push_back(algebra.integer(static_cast<int64_t>(random() % 9)));
      weights.push_back(1 + static_cast<int64_t>(random() % 3));
    }
    auto body = [&](size_t element, Scalar own) {
      bool isLess = DoubleAlgebra::getDouble(own) <
                    DoubleAlgebra::getDouble(elements[element]);
      auto number = static_cast<int64_t>(element);
      return algebra.integer(isLess ? 100 + number : number);
    };
    OrderedTerms terms(algebra);
    ASSERT_TRUE(terms.order(elements));
    terms.sum(elements, weights, body, results);
    for (size_t own = 0; own < count; ++own) {
      double wanted = 0;
      for (size_t i = 0; i < count; ++i)
        wanted += static_cast<double>(weights[i]) *
                  DoubleAlgebra::getDouble(body(i, elements[own]));
      EXPECT_EQ(DoubleAlgebra::getDouble(results[own]), wanted);
    }
  }
}

TEST_F(RunOrderTest, OrdersThatAreNotKnown) {
  DoubleAlgebra doubles;
  EXPECT_TRUE(OrderedTerms(doubles).order({2.0_d, 1.0_d, 2.0_d}));
  EXPECT_FALSE(OrderedTerms(doubles).order(
      {1.0_d, DoubleAlgebra::fromDouble(std::nan("")), 2.0_d}));
  DoubleIntervalAlgebra intervals(FunctionSource::Rounded);
  Scalar one = intervals.rational(1), third = intervals.rational(1, 3);
  Scalar other = intervals.rational(1, 3), two = intervals.rational(2);
  Scalar again = intervals.rational(1);
  EXPECT_TRUE(OrderedTerms(intervals).order({two, third, one, again}));
  EXPECT_FALSE(OrderedTerms(intervals).order({third, one, other}));
  // One enclosure of two numbers.
  EXPECT_FALSE(OrderedTerms(intervals).order({third, one, third}));
  EXPECT_TRUE(OrderedTerms(intervals).order({one, third, one}));
  // Comparisons of signs are not noted as undecided.
  SignAlgebra signs;
  Scalar positive = SignAlgebra::fromSigns(SignAlgebra::Positive);
  EXPECT_FALSE(OrderedTerms(signs).order({positive, positive}));
  EXPECT_FALSE(OrderedTerms(signs).order({signs.integer(1), positive}));
  EXPECT_TRUE(OrderedTerms(signs).order(
      {signs.integer(1), signs.integer(1), signs.integer(2)}));
  // Numbers that doubles do not tell apart come in any order.
  RationalAlgebra exact;
  Scalar more = exact.add(exact.rational(1), exact.rational(1, 1LL << 60));
  EXPECT_TRUE(OrderedTerms(exact).order({exact.rational(1), more}));
  EXPECT_FALSE(OrderedTerms(exact).order({more, exact.rational(1)}));
  // What was undecided before stays so, and nothing else is.
  EXPECT_FALSE(intervals.status().isUndecided);
  intervals.compare(Comparison::Less, third, other);
  EXPECT_TRUE(OrderedTerms(intervals).order({two, one}));
  EXPECT_TRUE(intervals.status().isUndecided);
}

TEST_F(RunOrderTest, EqualElementsApartInOrder) {
  // As doubles all are equal and stay in their order, in which no neighbours
  // are equal.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %x = tv.constant dense<[1.0, 2.0, 1.0]> : tensor<3xf64> : () -> tensor<3xf64>
    %e = tv.constant dense<8.271806125530277e-25> : tensor<f64> : () -> tensor<3xf64>
    %small = tv.multiply %x, %e : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<3xf64>
    %sum = tv.add %one, %small : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  })");
  ASSERT_TRUE(graph);
  LongRun<RationalAlgebra> run(graph, 3);
  Value sum = graph.getBody().front().back().getResult(0);
  ASSERT_TRUE(succeeded(run.dense.run({}, {sum}))) << run.dense.getFailure();
  auto areDistinct = [&](Scalar left, Scalar right) {
    return run.algebra.toDouble(
               run.algebra.compare(Comparison::NotEqual, left, right)) != 0;
  };
  EXPECT_FALSE(run.dense.haveDistinctElements(sum, areDistinct));
}

TEST_F(RunOrderTest, TiesInOneRowOfMany) {
  // Rows of the first and the second half, and the last one, are alone.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<2x600x36xf64>
    %a = tv.slice %x {dimension = 1 : i64, start = 0 : i64, end = 300 : i64} : (tensor<2x600x36xf64>) -> tensor<2x300x36xf64>
    %y = tv.negate %x : (tensor<2x600x36xf64>) -> tensor<2x600x36xf64>
    %rank = tv.descending_rank %y : (tensor<2x600x36xf64>) -> tensor<2x600x36xi64>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 1, 8192});
  auto rank = *body.getOps<tv::DescendingRankOp>().begin();
  auto isDistinctBut = [&](std::optional<std::pair<int64_t, int64_t>> tied) {
    DoubleAlgebra algebra;
    TiedSource source(algebra, factors, tied);
    DenseEvaluator dense(factors, algebra, source);
    EXPECT_TRUE(succeeded(dense.run({}, {rank.getScores()})))
        << dense.getFailure();
    return dense.haveDistinctElements(
        rank.getScores(), [&](Scalar left, Scalar right) {
          return algebra.toDouble(left) != algebra.toDouble(right);
        });
  };
  EXPECT_TRUE(isDistinctBut(std::nullopt));
  for (int64_t sample : {0, 1})
    for (int64_t token : {0, 300, 599})
      EXPECT_FALSE(isDistinctBut(std::pair(sample, token)))
          << sample << ", " << token;
}
