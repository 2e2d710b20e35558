//===- DenseRunsTest.cpp - long values against single elements ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongExecution.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace verify;

namespace {
/// Numbers below 1, different for each last position.
class ScoreSource : public LongSource {
public:
  ScoreSource(NumericAlgebra &algebra, const FactorAnalysis &factors)
      : LongSource(algebra, factors, LongPositions::Last), algebra(algebra) {}
  Scalar input(Value, ArrayRef<int64_t> index) override {
    return algebra.rational(index.back() * 7919 % 1009, 1009);
  }

private:
  NumericAlgebra &algebra;
};
} // namespace

TEST_F(DenseRunsTest, AttentionAndItsDerivatives) {
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %q = tv.input <input "q"> : tensor<2x40x3xf64>
    %k = tv.input <input "k"> : tensor<2x40x3xf64>
    %v = tv.input <input "v"> : tensor<2x40x3xf64>
    %mask = tv.causal_mask : () -> tensor<1x40x40x!tv.extended<f64>>
    %scores = tv.einsum %q, %k {equation = "bid,bjd->bij"} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<2x40x40xf64>
    %masked = tv.add %scores, %mask : (tensor<2x40x40xf64>, tensor<1x40x40x!tv.extended<f64>>) -> tensor<2x40x40x!tv.extended<f64>>
    %exp = tv.exp %masked : (tensor<2x40x40x!tv.extended<f64>>) -> tensor<2x40x40xf64>
    %sum = tv.reduce sum %exp keep {dimensions = array<i64: 2>} : (tensor<2x40x40xf64>) -> tensor<2x40x1xf64>
    %weights = tv.divide %exp, %sum : (tensor<2x40x40xf64>, tensor<2x40x1xf64>) -> tensor<2x40x40xf64>
    %output = tv.einsum %weights, %v {equation = "bij,bjd->bid"} : (tensor<2x40x40xf64>, tensor<2x40x3xf64>) -> tensor<2x40x3xf64>
    %dv = tv.einsum %weights, %output {equation = "bij,bid->bjd"} : (tensor<2x40x40xf64>, tensor<2x40x3xf64>) -> tensor<2x40x3xf64>
    %dw = tv.einsum %output, %v {equation = "bid,bjd->bij"} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<2x40x40xf64>
    %product = tv.multiply %dw, %weights : (tensor<2x40x40xf64>, tensor<2x40x40xf64>) -> tensor<2x40x40xf64>
    %rows = tv.reduce average %product {dimensions = array<i64: 2>} : (tensor<2x40x40xf64>) -> tensor<2x40xf64>
    %columns = tv.reduce average %product {dimensions = array<i64: 1>} : (tensor<2x40x40xf64>) -> tensor<2x40xf64>
    %highest = tv.reduce maximum %product {dimensions = array<i64: 1>} : (tensor<2x40x40xf64>) -> tensor<2x40xf64>
    %lowest = tv.reduce minimum %product {dimensions = array<i64: 2>} : (tensor<2x40x40xf64>) -> tensor<2x40xf64>
    %all = tv.reduce sum %product {dimensions = array<i64: 0, 1, 2>} : (tensor<2x40x40xf64>) -> tensor<f64>
    %transposed = tv.transpose %weights {permutation = array<i64: 2, 0, 1>} : (tensor<2x40x40xf64>) -> tensor<40x2x40xf64>
    %back = tv.einsum %transposed, %weights {equation = "jbi,bij->bi"} : (tensor<40x2x40xf64>, tensor<2x40x40xf64>) -> tensor<2x40xf64>
    %flat = tv.reshape %weights : (tensor<2x40x40xf64>) -> tensor<80x40xf64>
    %gradient = tv.einsum %output, %v {equation = "bid,bie->de"} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<3x3xf64>
    %table = tv.constant dense<[0.0, 0.0, 0.5, 0.5, 3.0]> : tensor<5xf64> : () -> tensor<5xf64>
    %short = tv.einsum %rows, %table {equation = "bi,e->be"} : (tensor<2x40xf64>, tensor<5xf64>) -> tensor<2x5xf64>
    %opposite = tv.negate %short : (tensor<2x5xf64>) -> tensor<2x5xf64>
    %even = tv.input <input "even"> : tensor<2x40x5xf64>
    %odd = tv.einsum %even, %table {equation = "bie,e->bei"} : (tensor<2x40x5xf64>, tensor<5xf64>) -> tensor<2x5x40xf64>
    %mixed = tv.concat %v, %dv {dimension = 2 : i64} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<2x40x6xf64>
    %pairs = tv.einsum %mixed, %mixed {equation = "bid,bjd->bij"} : (tensor<2x40x6xf64>, tensor<2x40x6xf64>) -> tensor<2x40x40xf64>
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %diagonal = tv.einsum %weights {equation = "bii->bi"} : (tensor<2x40x40xf64>) -> tensor<2x40xf64>
  })");
}

TEST_F(DenseRunsTest, DimensionsWithTheSameElements) {
  // Scores are 0 for all of `b` and all positions, and weights equal for all of
  // `b`: one position of these dimensions stands for all.
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %zero = tv.input <input "zero"> : tensor<3x40x2xf64>
    %k = tv.input <input "k"> : tensor<3x40x2xf64>
    %v = tv.input <input "v"> : tensor<3x40x2xf64>
    %w = tv.input <input "w"> : tensor<40xf64>
    %mask = tv.causal_mask : () -> tensor<1x40x40x!tv.extended<f64>>
    %scores = tv.einsum %zero, %k {equation = "bid,bjd->bij"} : (tensor<3x40x2xf64>, tensor<3x40x2xf64>) -> tensor<3x40x40xf64>
    %masked = tv.add %scores, %mask : (tensor<3x40x40xf64>, tensor<1x40x40x!tv.extended<f64>>) -> tensor<3x40x40x!tv.extended<f64>>
    %exp = tv.exp %masked : (tensor<3x40x40x!tv.extended<f64>>) -> tensor<3x40x40xf64>
    %sum = tv.reduce sum %exp keep {dimensions = array<i64: 2>} : (tensor<3x40x40xf64>) -> tensor<3x40x1xf64>
    %weights = tv.divide %exp, %sum : (tensor<3x40x40xf64>, tensor<3x40x1xf64>) -> tensor<3x40x40xf64>
    %output = tv.einsum %weights, %v {equation = "bij,bjd->bid"} : (tensor<3x40x40xf64>, tensor<3x40x2xf64>) -> tensor<3x40x2xf64>
    %over = tv.reduce sum %weights {dimensions = array<i64: 0>} : (tensor<3x40x40xf64>) -> tensor<40x40xf64>
    %mean = tv.reduce average %weights {dimensions = array<i64: 0, 2>} : (tensor<3x40x40xf64>) -> tensor<40xf64>
    %most = tv.reduce maximum %weights {dimensions = array<i64: 0, 1>} : (tensor<3x40x40xf64>) -> tensor<40xf64>
    %none = tv.reduce sum %scores {dimensions = array<i64: 0, 1>} : (tensor<3x40x40xf64>) -> tensor<40xf64>
    %flat = tv.reshape %weights : (tensor<3x40x40xf64>) -> tensor<120x40xf64>
    %turned = tv.transpose %weights {permutation = array<i64: 2, 0, 1>} : (tensor<3x40x40xf64>) -> tensor<40x3x40xf64>
    %both = tv.concat %weights, %scores {dimension = 0 : i64} : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<6x40x40xf64>
    %beside = tv.concat %scores, %weights {dimension = 2 : i64} : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x80xf64>
    %wide = tv.broadcast %w {dimensions = array<i64: 1>} : (tensor<40xf64>) -> tensor<3x40x5xf64>
    %rows = tv.reduce sum %wide {dimensions = array<i64: 1, 2>} : (tensor<3x40x5xf64>) -> tensor<3xf64>
    %part = tv.slice %both {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<6x40x40xf64>) -> tensor<2x40x40xf64>
    %padded = tv.pad %weights {dimension = 0 : i64, low = 1 : i64, high = 1 : i64} : (tensor<3x40x40xf64>) -> tensor<5x40x40xf64>
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %lower = tv.multiply %scores, %triangle : (tensor<3x40x40xf64>, tensor<40x40xf64>) -> tensor<3x40x40xf64>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<3x40xf64>
    %ones = tv.broadcast %one {dimensions = array<i64: 0, 1>} : (tensor<3x40xf64>) -> tensor<3x40x40xf64>
    %squares = tv.einsum %one, %one {equation = "bi,bj->bij"} : (tensor<3x40xf64>, tensor<3x40xf64>) -> tensor<3x40x40xf64>
    %local = tv.distribute %over <[dp, 0:20 of 20], [0:40 of 40]> on <> : (tensor<40x40xf64>) -> tensor<20x40xf64>
    %locals = tv.distribute %squares <[0:3 of 3], [dp, 0:20 of 20], [0:40 of 40]> on <> : (tensor<3x40x40xf64>) -> tensor<3x20x40xf64>
    %gathered = tv.all_reduce %locals over ["dp"] on <> : (tensor<3x20x40xf64>) -> tensor<3x20x40xf64>
    %h = tv.input <input "h"> : tensor<40x4xf64>
    %two = tv.input <input "two"> : tensor<40x2xf64>
    %base = tv.reduce sum %triangle {dimensions = array<i64: 1>} : (tensor<40x40xf64>) -> tensor<40xf64>
    %long = tv.einsum %h, %base, %w, %two {equation = "ij,i,i,ik->jk"} : (tensor<40x4xf64>, tensor<40xf64>, tensor<40xf64>, tensor<40x2xf64>) -> tensor<4x2xf64>
    %heads = tv.reshape %h : (tensor<40x4xf64>) -> tensor<40x2x2xf64>
    %own = tv.distribute %h <[0:40 of 40], [dp, 0:2 of 2]> on <> : (tensor<40x4xf64>) -> tensor<40x2xf64>
    %head = tv.reshape %own on <> : (tensor<40x2xf64>) -> tensor<40x1x2xf64>
    %same = tv.distribute %heads <[0:40 of 40], [dp, 0:1 of 1], [0:2 of 2]> on <> : (tensor<40x2x2xf64>) -> tensor<40x1x2xf64>
    tv.expect %head is %heads <[0:40 of 40], [dp, 0:1 of 1], [0:2 of 2]> on <> : tensor<40x1x2xf64> is tensor<40x2x2xf64>
    tv.expect %same is %heads <[0:40 of 40], [dp, 0:1 of 1], [0:2 of 2]> on <> : tensor<40x1x2xf64> is tensor<40x2x2xf64>
    %all = tv.distribute %w <[0:40 of 40]> on <> : (tensor<40xf64>) -> tensor<40xf64>
    %column = tv.broadcast %all on <> {dimensions = array<i64: 0>} : (tensor<40xf64>) -> tensor<40x1xf64>
    %line = tv.reshape %all on <> : (tensor<40xf64>) -> tensor<40x1xf64>
    tv.expect %column is %two <[0:40 of 40], [dp, 0:1 of 1]> on <> : tensor<40x1xf64> is tensor<40x2xf64>
    tv.expect %line is %two <[0:40 of 40], [dp, 0:1 of 1]> on <> : tensor<40x1xf64> is tensor<40x2xf64>
    tv.expect %locals is %squares <[0:3 of 3], [dp, 0:20 of 20], [0:40 of 40]> on <> : tensor<3x20x40xf64> is tensor<3x40x40xf64>
    tv.expect %locals is %weights <[0:3 of 3], [dp, 0:20 of 20], [0:40 of 40]> on <> : tensor<3x20x40xf64> is tensor<3x40x40xf64>
    tv.expect %local is %triangle <[dp, 0:20 of 20], [0:40 of 40]> on <> : tensor<20x40xf64> is tensor<40x40xf64>
    tv.expect %gathered is %lower <[0:3 of 3], [dp, 0:20 of 20], [0:40 of 40]> on <> : tensor<3x20x40xf64> is tensor<3x40x40xf64>
  })");
}

namespace {
/// All elements of `w` are a number of their own, which may change.
class ChangingSource : public LongSource {
public:
  using LongSource::LongSource;
  Scalar input(Value value, ArrayRef<int64_t> index) override {
    auto input = value.getDefiningOp<tv::InputOp>();
    return input.getContract().getName() == "w"
               ? DoubleAlgebra::fromDouble(number)
               : LongSource::input(value, index);
  }
  double number = 3;
};
} // namespace

TEST_F(DenseRunsTest, WhatIsComparedIsOfTheLastRun) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %w = tv.input <input "w"> : tensor<40xf64>
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %all = tv.distribute %w <[0:40 of 40]> on <> : (tensor<40xf64>) -> tensor<40xf64>
    %rows = tv.broadcast %all on <> {dimensions = array<i64: 0>} : (tensor<40xf64>) -> tensor<40x40xf64>
    %count = tv.reduce sum %triangle {dimensions = array<i64: 1>} : (tensor<40x40xf64>) -> tensor<40xf64>
    %counts = tv.broadcast %count {dimensions = array<i64: 1>} : (tensor<40xf64>) -> tensor<40x40xf64>
    tv.expect %rows is %counts <[0:40 of 40], [0:40 of 40]> on <> : tensor<40x40xf64> is tensor<40x40xf64>
    tv.expect %rows is %triangle <[0:40 of 40], [0:40 of 40]> on <> : tensor<40x40xf64> is tensor<40x40xf64>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 2, 8192});
  DoubleAlgebra algebra;
  ChangingSource source(algebra, factors, LongPositions::Blocks);
  DenseEvaluator dense(factors, algebra, source);
  SmallVector<tv::ExpectOp> expects(body.getOps<tv::ExpectOp>());
  for (double number : {3, 7}) {
    source.number = number;
    ASSERT_TRUE(succeeded(dense.run(expects))) << dense.getFailure();
    for (int times = 0; times < 2; ++times)
      for (tv::ExpectOp expect : expects) {
        auto largest =
            dense.compare(expect, [](Scalar, Scalar) { return true; });
        ASSERT_TRUE(largest.has_value());
        EXPECT_EQ(algebra.toDouble(largest->plan), number);
      }
  }
}

TEST_F(DenseRunsTest, ElementsOfOneRunDiffer) {
  // `w` goes from below 0 to above 0, in one run. The first row of its products
  // stands alone, so that no other one widens it, as does their first column.
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %mask = tv.causal_mask : () -> tensor<40x40x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<40x40x!tv.extended<f64>>) -> tensor<40x40xf64>
    %count = tv.reduce sum %exp {dimensions = array<i64: 1>} : (tensor<40x40xf64>) -> tensor<40xf64>
    %tiny = tv.constant dense<8.8817841970012523e-16> : tensor<f64> : () -> tensor<40xf64>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<40xf64>
    %middle = tv.constant dense<1.8e-14> : tensor<f64> : () -> tensor<40xf64>
    %small = tv.multiply %count, %tiny : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %z = tv.add %one, %small : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %rest = tv.subtract %z, %one : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %w = tv.subtract %rest, %middle : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %products = tv.einsum %w, %w {equation = "i,j->ij"} : (tensor<40xf64>, tensor<40xf64>) -> tensor<40x40xf64>
    %squares = tv.multiply %w, %w : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<40xf64>
    %rising = tv.subtract %two, %count : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %first = tv.relu %rising : (tensor<40xf64>) -> tensor<40xf64>
    %row = tv.einsum %w, %w, %first {equation = "i,j,i->ij"} : (tensor<40xf64>, tensor<40xf64>, tensor<40xf64>) -> tensor<40x40xf64>
    %many = tv.constant dense<39.0> : tensor<f64> : () -> tensor<40xf64>
    %falling = tv.subtract %count, %many : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %last = tv.relu %falling : (tensor<40xf64>) -> tensor<40xf64>
    %both = tv.add %w, %last : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %columns = tv.einsum %both, %both, %count {equation = "i,j,j->ij"} : (tensor<40xf64>, tensor<40xf64>, tensor<40xf64>) -> tensor<40x40xf64>
    %scaled = tv.einsum %w, %w, %count, %first {equation = "i,j,j,i->ij"} : (tensor<40xf64>, tensor<40xf64>, tensor<40xf64>, tensor<40xf64>) -> tensor<40x40xf64>
    %sum = tv.einsum %w, %w, %first {equation = "i,j,i->i"} : (tensor<40xf64>, tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
  })",
            /*hasDoubles=*/false);
}

TEST_F(DenseRunsTest, WhatIsSelectedIsToldApart) {
  // Tokens are equal but for rounding, and experts are not.
  StringRef text = R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<600x36xf64>
    %mask = tv.causal_mask : () -> tensor<600x600x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<600x600x!tv.extended<f64>>) -> tensor<600x600xf64>
    %sums = tv.einsum %exp, %x {equation = "ij,je->ie"} : (tensor<600x600xf64>, tensor<600x36xf64>) -> tensor<600x36xf64>
    %count = tv.reduce sum %exp keep {dimensions = array<i64: 1>} : (tensor<600x600xf64>) -> tensor<600x1xf64>
    %scores = tv.divide %sums, %count : (tensor<600x36xf64>, tensor<600x1xf64>) -> tensor<600x36xf64>
    %rank = tv.descending_rank %scores : (tensor<600x36xf64>) -> tensor<600x36xi64>
  })";
  tv::GraphOp graph = parse(text);
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 1, 8192});
  DoubleIntervalAlgebra algebra(FunctionSource::Rounded);
  ScoreSource source(algebra, factors);
  DenseEvaluator dense(factors, algebra, source);
  auto rank = *body.getOps<tv::DescendingRankOp>().begin();
  ASSERT_TRUE(succeeded(dense.run({}, {rank.getResult(), rank.getScores()})))
      << dense.getFailure();
  EXPECT_FALSE(algebra.status().isUndecided);
  std::set<double> ranks;
  for (int64_t expert = 0; expert < 36; ++expert) {
    Scalar found = *dense.getElement(rank.getResult(), {-1}, {599, expert});
    EXPECT_EQ(algebra.getLower(found), algebra.getUpper(found));
    EXPECT_TRUE(ranks.insert(algebra.getLower(found)).second);
  }
  std::set<double> compared;
  auto compare = [&](Scalar left, Scalar right) {
    compared.insert(algebra.getLower(left));
    return algebra.getLower(left) == algebra.getLower(right);
  };
  EXPECT_TRUE(
      dense.haveEqualElements(rank.getResult(), rank.getResult(), compare));
  EXPECT_EQ(compared, ranks);
  EXPECT_FALSE(
      dense.haveEqualElements(rank.getResult(), rank.getScores(), compare));
  EXPECT_TRUE(dense.haveDistinctElements(
      rank.getScores(), [&](Scalar left, Scalar right) {
        return algebra.areDisjoint(left, right);
      }));
  EXPECT_FALSE(dense.haveDistinctElements(
      rank.getScores(), [&](Scalar left, Scalar right) {
        return algebra.getLower(left) + algebra.getLower(right) < 1.9;
      }));
}

TEST_F(DenseRunsTest, DifferentLayoutsAreNotCompared) {
  // The experts of one are selected from, and short; of two more, other
  // elements are kept.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %selected = tv.input <input "selected"> : tensor<40x36xf64>
    %rank = tv.descending_rank %selected : (tensor<40x36xf64>) -> tensor<40x36xi64>
    %other = tv.input <input "other"> : tensor<40x36xf64>
    %third = tv.input <input "third"> : tensor<40x36xf64>
    %early = tv.input <input "early"> : tensor<99xf64>
    %forty = tv.slice %early {dimension = 0 : i64, start = 0 : i64, end = 40 : i64} : (tensor<99xf64>) -> tensor<40xf64>
    %late = tv.input <input "late"> : tensor<99xf64>
    %fifty = tv.slice %late {dimension = 0 : i64, start = 0 : i64, end = 50 : i64} : (tensor<99xf64>) -> tensor<50xf64>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 36, 8192});
  llvm::StringMap<Value> inputs;
  for (auto input : body.getOps<tv::InputOp>())
    inputs[input.getContract().getName().getValue()] = input.getResult();
  SmallVector<Value> values;
  for (Operation &op : body)
    values.push_back(op.getResult(0));
  DoubleAlgebra algebra;
  LongSource source(algebra, factors, LongPositions::Last);
  DenseEvaluator dense(factors, algebra, source);
  ASSERT_TRUE(succeeded(dense.run({}, values))) << dense.getFailure();
  auto areCompared = [&](StringRef left, StringRef right) {
    return dense.haveEqualElements(inputs[left], inputs[right],
                                   [](Scalar, Scalar) { return true; });
  };
  auto getFailure = [&](StringRef left, StringRef right) -> std::string {
    Value first = inputs[left];
    std::string text = "#tv.lineage<[0:40 of 40], [0:36 of 36]>";
    if (cast<RankedTensorType>(first.getType()).getRank() == 1)
      text = "#tv.lineage<[0:99 of 99]>";
    auto lineage = cast<tv::LineageAttr>(parseAttribute(text, &context));
    auto visitor = [](const Coordinates &, ArrayRef<int64_t>, Scalar, Scalar,
                      int64_t) { return DenseEvaluator::Visit::Continue; };
    bool isDone = succeeded(dense.visit(
        {{first, inputs[right]}, first, lineage, {}}, false, visitor));
    EXPECT_EQ(isDone, dense.getFailure().empty());
    return dense.getFailure();
  };
  EXPECT_TRUE(areCompared("other", "third"));
  EXPECT_EQ(getFailure("other", "third"), "");
  EXPECT_FALSE(areCompared("selected", "other"));
  EXPECT_EQ(getFailure("selected", "other"),
            "the terms of a sum are kept in different orders");
  EXPECT_FALSE(areCompared("early", "late"));
  EXPECT_EQ(getFailure("early", "late"),
            "the terms of a sum are kept at different positions");
}

TEST_F(DenseRunsTest, PartsOfLongValues) {
  checkRuns(R"(tv.graph @graph <dp = 2, device = 2> {
    %x = tv.input <input "x"> : tensor<4x80x3xf64>
    %mask = tv.causal_mask : () -> tensor<80x80x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<80x80x!tv.extended<f64>>) -> tensor<80x80xf64>
    %prefix = tv.einsum %exp, %x {equation = "ij,bjd->bid"} : (tensor<80x80xf64>, tensor<4x80x3xf64>) -> tensor<4x80x3xf64>
    %padded = tv.pad %prefix {dimension = 1 : i64, low = 3 : i64, high = 1 : i64} : (tensor<4x80x3xf64>) -> tensor<4x84x3xf64>
    %low = tv.distribute %x <[dp, 0:2 of 2], [0:40 of 80], [0:3 of 3]> on <device = 0> : (tensor<4x80x3xf64>) -> tensor<2x40x3xf64>
    %high = tv.distribute %x <[dp, 0:2 of 2], [40:80 of 80], [0:3 of 3]> on <device = 1> : (tensor<4x80x3xf64>) -> tensor<2x40x3xf64>
    %whole = tv.all_gather %low, %high on <device = 0:2> {dimension = 1 : i64} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<2x80x3xf64>
    %wrong = tv.all_gather %high, %low on <device = 0:2> {dimension = 1 : i64} : (tensor<2x40x3xf64>, tensor<2x40x3xf64>) -> tensor<2x80x3xf64>
    %rows = tv.distribute %exp <[40:80 of 80], [0:80 of 80]> on <device = 1> : (tensor<80x80xf64>) -> tensor<40x80xf64>
    %sums = tv.einsum %rows, %whole on <device = 1> {equation = "ij,bjd->bid"} : (tensor<40x80xf64>, tensor<2x80x3xf64>) -> tensor<2x40x3xf64>
    tv.expect %sums is %prefix <[dp, 0:2 of 2], [40:80 of 80], [0:3 of 3]> on <device = 1> : tensor<2x40x3xf64> is tensor<4x80x3xf64>
    tv.expect %wrong is %x <[dp, 0:2 of 2], [0:80 of 80], [0:3 of 3]> on <device = 0:2> : tensor<2x80x3xf64> is tensor<4x80x3xf64>
    %moved = tv.distribute %prefix <[dp, 0:2 of 2], [0:80 of 80], [0:3 of 3]> on <device = 0> : (tensor<4x80x3xf64>) -> tensor<2x80x3xf64>
    tv.expect %whole is %prefix <[dp, 0:2 of 2], [0:80 of 80], [0:3 of 3]> on <device = 0> : tensor<2x80x3xf64> is tensor<4x80x3xf64>
    tv.expect %moved is %x <[dp, 0:2 of 2], [0:80 of 80], [0:3 of 3]> on <device = 0> : tensor<2x80x3xf64> is tensor<4x80x3xf64>
    %nothing = tv.input <input "zero"> : tensor<80x80xf64>
    %first = tv.distribute %nothing <[0:80 of 80], [0:40 of 80]> on <device = 0> : (tensor<80x80xf64>) -> tensor<80x40xf64>
    tv.expect %first is %exp <[0:80 of 80], [0:40 of 80]> on <device = 0> : tensor<80x40xf64> is tensor<80x80xf64>
    %half = tv.negate %sums on <device = 1, dp = 1> : (tensor<2x40x3xf64>) -> tensor<2x40x3xf64>
    %term = tv.reduce sum %whole on <device = 0> {dimensions = array<i64: 0>} : (tensor<2x80x3xf64>) -> tensor<80x3xf64>
    %total = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4x80x3xf64>) -> tensor<80x3xf64>
    tv.expect %term is %total <[0:80 of 80], [0:3 of 3] sum dp> on <device = 0> : tensor<80x3xf64> is tensor<80x3xf64>
    %reduced = tv.all_reduce %term over ["dp"] on <device = 0> : (tensor<80x3xf64>) -> tensor<80x3xf64>
    tv.expect %reduced is %total <[0:80 of 80], [0:3 of 3]> on <device = 0> : tensor<80x3xf64> is tensor<80x3xf64>
    %outer = tv.einsum %total, %total {equation = "id,jd->ij"} : (tensor<80x3xf64>, tensor<80x3xf64>) -> tensor<80x80xf64>
    %copy = tv.distribute %total <[0:80 of 80], [0:3 of 3]> on <device = 0> : (tensor<80x3xf64>) -> tensor<80x3xf64>
    %narrow = tv.distribute %prefix <[0:1 of 4], [3:13 of 80], [0:3 of 3]> on <device = 0> : (tensor<4x80x3xf64>) -> tensor<1x10x3xf64>
    %short = tv.distribute %exp <[0:80 of 80], [3:13 of 80]> on <device = 0> : (tensor<80x80xf64>) -> tensor<80x10xf64>
    %every = tv.distribute %exp <[0:80 of 80], [0:40 of 40, dp]> on <device = 0> : (tensor<80x80xf64>) -> tensor<80x40xf64>
    %second = tv.distribute %prefix <[0:4 of 4], [0:40 of 40, dp], [0:3 of 3]> on <device = 0> : (tensor<4x80x3xf64>) -> tensor<4x40x3xf64>
    %inner = tv.einsum %copy, %copy on <device = 0> {equation = "id,jd->ji"} : (tensor<80x3xf64>, tensor<80x3xf64>) -> tensor<80x80xf64>
    tv.expect %inner is %outer <[0:80 of 80], [0:80 of 80]> on <device = 0> : tensor<80x80xf64> is tensor<80x80xf64>
  })");
}

TEST_F(DenseRunsTest, RefusesWhatIsTooLarge) {
  // All elements are computed from positions, and no two are alike.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %mask = tv.causal_mask : () -> tensor<8000x8000x!tv.extended<f32>>
    %x = tv.exp %mask : (tensor<8000x8000x!tv.extended<f32>>) -> tensor<8000x8000xf32>
    %count = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<8000x8000xf32>) -> tensor<8000xf32>
    %products = tv.einsum %count, %count {equation = "i,j->ij"} : (tensor<8000xf32>, tensor<8000xf32>) -> tensor<8000x8000xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  LongRun<DoubleAlgebra> run(graph);
  DenseEvaluator &dense = run.dense;
  auto reduce = *body.getOps<tv::ReduceOp>().begin();
  EXPECT_TRUE(succeeded(dense.run({}, {reduce.getResult()})))
      << dense.getFailure();
  EXPECT_EQ(
      run.algebra.toDouble(*dense.getElement(reduce.getResult(), {-1}, {7})),
      8);
  // With a limit of its own a run is refused sooner.
  int64_t steps = dense.getSteps();
  dense.limitSteps(steps - 1);
  EXPECT_TRUE(failed(dense.run({}, {reduce.getResult()})));
  EXPECT_TRUE(dense.wasTooCostly());
  dense.limitSteps(steps);
  EXPECT_TRUE(succeeded(dense.run({}, {reduce.getResult()})));
  auto einsum = *body.getOps<tv::EinsumOp>().begin();
  EXPECT_TRUE(failed(dense.run({}, {einsum.getResult()})));
  EXPECT_TRUE(dense.wasTooCostly());
}

TEST_F(DenseRunsTest, SharesAreLimitedTogether) {
  // Each element is a sum of as many terms, in several shares.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %mask = tv.causal_mask : () -> tensor<700x700x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<700x700x!tv.extended<f64>>) -> tensor<700x700xf64>
    %sums = tv.einsum %exp, %exp {equation = "ij,jk->ik"} : (tensor<700x700xf64>, tensor<700x700xf64>) -> tensor<700x700xf64>
  })");
  ASSERT_TRUE(graph);
  LongRun<DoubleAlgebra> run(graph);
  DenseEvaluator &dense = run.dense;
  Value sums = listResults(graph.getBody().front()).back();
  ASSERT_TRUE(succeeded(dense.run({}, {sums}))) << dense.getFailure();
  int64_t all = dense.getSteps(), limit = all / 8;
  dense.limitSteps(limit);
  EXPECT_TRUE(failed(dense.run({}, {sums})));
  EXPECT_TRUE(dense.wasTooCostly());
  EXPECT_LT(dense.getSteps(), 3 * limit);
}

TEST_F(DenseRunsTest, ThreadsChangeNothing) {
  // More scalars than one thread computes alone.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<9x700xf64>
    %mask = tv.causal_mask : () -> tensor<700x700x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<700x700x!tv.extended<f64>>) -> tensor<700x700xf64>
    %positive = tv.exp %x : (tensor<9x700xf64>) -> tensor<9x700xf64>
    %sums = tv.einsum %exp, %positive {equation = "ij,bj->bi"} : (tensor<700x700xf64>, tensor<9x700xf64>) -> tensor<9x700xf64>
    %table = tv.constant dense<[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 0.0]> : tensor<9xf64> : () -> tensor<9xf64>
    %scaled = tv.einsum %sums, %table {equation = "bi,b->bi"} : (tensor<9x700xf64>, tensor<9xf64>) -> tensor<9x700xf64>
    %logarithm = tv.log %scaled : (tensor<9x700xf64>) -> tensor<9x700xf64>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 2, 8192});
  SmallVector<Value> values = listResults(body);
  auto execute = [&] {
    DoubleAlgebra algebra;
    ScoreSource source(algebra, factors);
    DenseEvaluator dense(factors, algebra, source);
    std::vector<uint64_t> bits;
    EXPECT_TRUE(succeeded(dense.run({}, values))) << dense.getFailure();
    forEachPlace(
        factors, {}, factors.getDimensions(values.back()),
        [&](const Coordinates &coordinates, ArrayRef<int64_t> index) {
          bits.push_back(
              dense.getElement(values.back(), coordinates, index)->bits);
        });
    // The logarithm of 0, in the last share.
    EXPECT_TRUE(algebra.status().isUndefined);
    return std::pair(bits, dense.getSteps());
  };
  auto inThreads = execute();
  context.disableMultithreading();
  EXPECT_EQ(inThreads, execute());
  EXPECT_FALSE(inThreads.first.empty());
}

TEST_F(DenseRunsTest, RowsThatAreAloneComeBeforeRepeatedOnes) {
  // Of each pair of rows of `y` the first is one run, the second is not, and is
  // the same for all but the last `i`.
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %mask = tv.lower_triangle : () -> tensor<40x40xf64>
    %count = tv.einsum %mask {equation = "ij->i"} : (tensor<40x40xf64>) -> tensor<40xf64>
    %w = tv.constant dense<[0.0, 1.0]> : tensor<2xf64> : () -> tensor<2xf64>
    %x = tv.einsum %w, %count {equation = "a,j->aj"} : (tensor<2xf64>, tensor<40xf64>) -> tensor<2x40xf64>
    %many = tv.constant dense<39.0> : tensor<f64> : () -> tensor<40xf64>
    %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<40xf64>
    %falling = tv.subtract %count, %many : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %last = tv.relu %falling : (tensor<40xf64>) -> tensor<40xf64>
    %z = tv.add %two, %last : (tensor<40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %y = tv.einsum %x, %z {equation = "aj,i->aij"} : (tensor<2x40xf64>, tensor<40xf64>) -> tensor<2x40x40xf64>
  })");
}

TEST_F(DenseRunsTest, ShortResultsOfManyPositions) {
  // `v` has 36 positions, of which something selects: what has it alone is kept
  // element by element, in rows with runs of several.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %s = tv.input <input "s"> : tensor<40x36xf64>
    %rank = tv.descending_rank %s : (tensor<40x36xf64>) -> tensor<40x36xi64>
    %zeros = tv.constant dense<0.0> : tensor<f64> : () -> tensor<40x36x5xf64>
    %ones = tv.constant dense<1.0> : tensor<f64> : () -> tensor<40x36xf64>
    %both = tv.add %ones, %s : (tensor<40x36xf64>, tensor<40x36xf64>) -> tensor<40x36xf64>
    %table = tv.constant dense<[1.0, 1.0, 4.0, 4.0, 4.0]> : tensor<5xf64> : () -> tensor<5xf64>
    %products = tv.einsum %ones, %table {equation = "tv,d->tvd"} : (tensor<40x36xf64>, tensor<5xf64>) -> tensor<40x36x5xf64>
    %sums = tv.reduce sum %products {dimensions = array<i64: 0>} : (tensor<40x36x5xf64>) -> tensor<36x5xf64>
    %none = tv.reduce sum %zeros {dimensions = array<i64: 0>} : (tensor<40x36x5xf64>) -> tensor<36x5xf64>
    %opposite = tv.negate %none : (tensor<36x5xf64>) -> tensor<36x5xf64>
    %total = tv.add %opposite, %sums : (tensor<36x5xf64>, tensor<36x5xf64>) -> tensor<36x5xf64>
  })");
  ASSERT_TRUE(graph);
  FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 36, 8192});
  ASSERT_FALSE(factors.getFailure());
  for (LongPositions positions : {LongPositions::Blocks, LongPositions::Last}) {
    DoubleIntervalAlgebra intervals(FunctionSource::Rounded);
    checkAgainstElements(graph, factors, positions, intervals,
                         [&](Scalar value) {
                           return std::pair(intervals.getLower(value),
                                            intervals.getUpper(value));
                         });
    DoubleAlgebra doubles;
    checkAgainstElements(graph, factors, positions, doubles, [](Scalar value) {
      double number = DoubleAlgebra::getDouble(value);
      return std::pair(number - 1e-9, number + 1e-9);
    });
  }
}
