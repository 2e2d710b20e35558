//===- ValueNumberingTest.cpp - what is executed once ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that are found to be equal are, and those that only look so are not.
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"

using namespace verify;

namespace {
/// A graph that is executed in an algebra.
template <typename Algebra> struct Execution {
  template <typename... Arguments>
  explicit Execution(tv::GraphOp graph, Arguments... arguments)
      : body(graph.getBody().front()),
        factors(body, graph.getMesh(),
                {FactorAnalysis::Positions::Exact, 1, 8192}),
        algebra(arguments...), source(algebra),
        dense(body, factors, algebra, source) {}

  Block &body;
  FactorAnalysis factors;
  Algebra algebra;
  PlaceSource source;
  DenseEvaluator dense;
};
} // namespace

TEST_F(DenseEvaluatorTest, EqualValuesAreOne) {
  // Layers, on two devices, between which a value is cut and put together.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2, device = 2> {
    %x = tv.input <input "x"> : tensor<8x6xf32>
    %w0 = tv.input <parameter "same0"> : tensor<6x6xf32>
    %w1 = tv.input <parameter "same1"> : tensor<6x6xf32>
    %z0 = tv.input <parameter "zero0"> : tensor<6x6xf32>
    %a0 = tv.linear %x, %w0 : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %e0 = tv.exp %a0 : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %b0 = tv.linear %e0, %z0 : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %y0 = tv.add %x, %b0 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %a1 = tv.linear %y0, %w1 : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %e1 = tv.exp %a1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %px = tv.distribute %x <[dp, 0:4 of 4], [0:6 of 6]> on <device = 0> : (tensor<8x6xf32>) -> tensor<4x6xf32>
    %pl = tv.slice %px on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x2xf32>
    %pr = tv.slice %px on <device = 0> {dimension = 1 : i64, start = 2 : i64, end = 6 : i64} : (tensor<4x6xf32>) -> tensor<4x4xf32>
    %ml = tv.move %pl from <device = 0> on <device = 1> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %mr = tv.move %pr from <device = 0> on <device = 1> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %pg = tv.all_gather %ml, %mr on <device = 1> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<4x6xf32>
    tv.expect %px is %e0 <[dp, 0:4 of 4], [0:6 of 6]> on <device = 0> : tensor<4x6xf32> is tensor<8x6xf32>
    tv.expect %pg is %e1 <[dp, 0:4 of 4], [0:6 of 6]> on <device = 1> : tensor<4x6xf32> is tensor<8x6xf32>
    tv.expect %px is %a0 <[dp, 0:4 of 4], [0:6 of 6]> on <device = 0> : tensor<4x6xf32> is tensor<8x6xf32>
    tv.expect %px is %e0 <[dp, 0:4 of 4], [0:6 of 6]> on <device = 0, dp = 1> : tensor<4x6xf32> is tensor<8x6xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<DoubleAlgebra> execution(graph);
  Block &body = execution.body;
  DenseEvaluator &dense = execution.dense;
  SmallVector<tv::ExpectOp> expects(body.getOps<tv::ExpectOp>());
  ASSERT_TRUE(succeeded(dense.run(expects)));
  auto key = [&](size_t number) {
    return dense.getComparisonKey(expects[number]);
  };
  EXPECT_EQ(key(0), key(1));
  EXPECT_NE(key(0), key(2));
  EXPECT_NE(key(0), key(3));
}

TEST_F(DenseEvaluatorTest, ValuesThatOnlyLookEqualAreNot) {
  checkAll(R"(tv.graph @graph <dp = 2, mb = 2, device = 2> {
    %x = tv.input <input "x"> : tensor<4x4xf32>
    %w = tv.input <parameter "same0"> : tensor<4x4xf32>
    %v = tv.input <parameter "other"> : tensor<4x4xf32>
    %z = tv.input <parameter "zero"> : tensor<4x4xf32>
    %xw = tv.linear %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %xv = tv.linear %x, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %minus = tv.subtract %z, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %same = tv.subtract %x, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %one = tv.exp %z : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %next = tv.add %x, %one : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %transposed = tv.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %max = tv.maximum %x, %transposed : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %left = tv.slice %x {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %right = tv.slice %x {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %swapped = tv.concat %right, %left {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    %twice = tv.concat %left, %left {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    %top = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %bottom = tv.slice %x {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %whole = tv.concat %top, %bottom {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %px = tv.distribute %x <[dp, 0:2 of 2], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %first = tv.move %px from <device = 0, dp = 0> on <device = 1> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %sum = tv.all_reduce %px over ["dp"] on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %w2 = tv.exp %px on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %average = tv.all_reduce %px, %w2 by average over [] on <device = 0> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  })");
}

TEST_F(DenseEvaluatorTest, PartsWithTheSameElementsAreOne) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2, device = 2> {
    %w = tv.input <parameter "w.rows"> : tensor<4x6xf32>
    %v = tv.input <parameter "v"> : tensor<4x6xf32>
    %same = tv.input <parameter "same"> : tensor<4x6xf32>
    %other = tv.input <parameter "same.rows"> : tensor<4x6xf32>
    %top = tv.distribute %w <[0:2 of 4], [0:6 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %bottom = tv.distribute %w <[2:4 of 4], [0:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %left = tv.distribute %w <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %right = tv.distribute %w <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %vtop = tv.distribute %v <[0:2 of 4], [0:6 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %vbottom = tv.distribute %v <[2:4 of 4], [0:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %varying = tv.distribute %w <[dp, 0:2 of 2], [0:6 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %e0 = tv.exp %top on <device = 0> : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %e1 = tv.exp %bottom on <device = 1> : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %sum = tv.all_reduce %varying over ["dp"] on <device = 0> : (tensor<2x6xf32>) -> tensor<2x6xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<DoubleAlgebra> execution(graph);
  Block &body = execution.body;
  DenseEvaluator &dense = execution.dense;
  SmallVector<Value> values = listResults(body);
  ASSERT_TRUE(succeeded(dense.run({}, values)));
  SmallVector<Value> parts = llvm::map_to_vector(
      body.getOps<tv::DistributeOp>(),
      [](tv::DistributeOp op) -> Value { return op.getResult(); });
  auto areOne = [&](Value one, Value other) {
    return dense.getLeader(one) == dense.getLeader(other);
  };
  EXPECT_TRUE(areOne(parts[0], parts[1]));
  EXPECT_TRUE(areOne(values[values.size() - 3], values[values.size() - 2]));
  // Along a dimension with other elements, of an input with other rows, and of
  // what has other coordinates.
  EXPECT_FALSE(areOne(parts[2], parts[3]));
  EXPECT_FALSE(areOne(parts[4], parts[5]));
  EXPECT_FALSE(areOne(parts[0], parts[6]));
  // Inputs of one number, one of them with equal rows.
  EXPECT_FALSE(areOne(values[2], values[3]));
}

TEST_F(DenseEvaluatorTest, ZerosAreOne) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %x = tv.input <input "x"> : tensor<4x4xf32>
    %y = tv.input <input "y"> : tensor<4x4xf32>
    %z = tv.input <parameter "zero"> : tensor<4x4xf32>
    %first = tv.linear %x, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %second = tv.linear %y, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %exp0 = tv.exp %first : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %exp1 = tv.exp %second : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %difference = tv.subtract %first, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %small = tv.reduce sum %first {dimensions = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<IntervalAlgebra> run(graph, 64);
  SmallVector<Value> values;
  for (Operation &op : run.body)
    values.push_back(op.getResult(0));
  ASSERT_TRUE(succeeded(run.dense.run({}, values)));
  auto leader = [&](size_t number) {
    return run.dense.getLeader(values[number]);
  };
  EXPECT_EQ(leader(4), leader(3));
  EXPECT_EQ(leader(6), leader(5));
  EXPECT_NE(leader(5), leader(3));
  EXPECT_NE(leader(7), leader(3));
  EXPECT_NE(leader(8), leader(3));
}

TEST_F(DenseEvaluatorTest, ZerosThatMayBeUndefinedAreNotOne) {
  // 0 / 0 is not the 0 before it.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %x = tv.input <input "x"> : tensor<4xf32>
    %z = tv.input <parameter "zero"> : tensor<4xf32>
    %nothing = tv.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %quotient = tv.divide %nothing, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  })");
  ASSERT_TRUE(graph);
  Execution<IntervalAlgebra> run(graph, 64);
  Value last = run.body.back().getResult(0);
  ASSERT_TRUE(succeeded(run.dense.run({}, {last})));
  EXPECT_EQ(run.dense.getLeader(last), last);
  EXPECT_TRUE(run.algebra.status().isUndefined);
}

TEST_F(DenseEvaluatorTest, ZerosHideNoDomain) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %x = tv.input <input "x"> : tensor<4xf32>
    %z = tv.input <parameter "zero"> : tensor<4xf32>
    %quotient = tv.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %nothing = tv.multiply %quotient, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.add %x, %nothing : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  })");
  ASSERT_TRUE(graph);
  Execution<IntervalAlgebra> run(graph, 64);
  Value y = run.body.back().getResult(0);
  ASSERT_TRUE(succeeded(run.dense.run({}, {y})));
  EXPECT_TRUE(run.algebra.status().isUndefined);
}
