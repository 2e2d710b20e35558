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
        dense(factors, algebra, source) {}

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

  // What is known of a part is taken over for that part, and asked anew where
  // more is needed.
  DenseEvaluator other(execution.factors, execution.algebra, execution.source);
  std::shared_ptr<const ValueNumbering> known =
      other.findEqualValues(expects[2]);
  ASSERT_TRUE(succeeded(other.run(expects[2])));
  EXPECT_EQ(other.getEqualValues(), known);
  ASSERT_TRUE(succeeded(other.run(expects)));
  EXPECT_NE(other.getEqualValues(), known);
  EXPECT_EQ(other.getComparisonKey(expects[0]),
            other.getComparisonKey(expects[1]));
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

TEST_F(DenseEvaluatorTest, PartsOfRanksAreOneWhole) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <rank = 2, device = 4> {
    %x = tv.input <input "x"> : tensor<4x6xf32>
    %all = tv.distribute %x <[0:4 of 4], [0:6 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %part = tv.all_slice %all over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %m0 = tv.move %part from <device = 0, rank = 0> on <device = 2, rank = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %m1 = tv.move %part from <device = 0, rank = 1> on <device = 2, rank = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %gathered = tv.all_gather %m0, %m1 on <device = 2, rank = 0> {dimension = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    %s0 = tv.slice %gathered on <device = 2, rank = 0> {dimension = 1 : i64, start = 0 : i64, end = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %s1 = tv.slice %gathered on <device = 2, rank = 0> {dimension = 1 : i64, start = 3 : i64, end = 6 : i64} : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %t0 = tv.move %s0 from <device = 2, rank = 0> on <device = 3> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %t1 = tv.move %s1 from <device = 2, rank = 0> on <device = 3> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %stack = tv.all_gather %t0, %t1 on <device = 3> {dimension = 0 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %own = tv.all_slice %stack over "rank" on <device = 3> {dimension = 0 : i64} : (tensor<8x3xf32>) -> tensor<4x3xf32>
    %again = tv.all_gather %own over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x6xf32>
    %copied = tv.move %again from <device = 3, rank = 1> on <device = 1, rank = 0> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %e0 = tv.exp %copied on <device = 1, rank = 0> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %e1 = tv.exp %all on <device = 0> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<DoubleAlgebra> execution(graph);
  SmallVector<Value> values = listResults(execution.body);
  ASSERT_TRUE(succeeded(execution.dense.run({}, values)));
  auto leader = [&](size_t number) {
    return execution.dense.getLeader(values[number]);
  };
  EXPECT_EQ(leader(5), leader(1));
  EXPECT_EQ(leader(12), leader(1));
  EXPECT_EQ(leader(13), leader(1));
  EXPECT_EQ(leader(15), leader(14));
  EXPECT_NE(leader(3), leader(4));
  EXPECT_NE(leader(11), leader(2));
}

TEST_F(DenseEvaluatorTest, PartsOfRanksThatAreNoWhole) {
  // In another order, one twice, stacked in another order, cut in other pieces
  // than were stacked, gathered along another dimension or of what each rank
  // has of its own.
  tv::GraphOp graph = parse(R"(tv.graph @graph <rank = 2, device = 4> {
    %x = tv.input <input "x"> : tensor<4x4xf32>
    %y = tv.input <input "y"> : tensor<8x4xf32>
    %all = tv.distribute %x <[0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %varying = tv.distribute %y <[rank, 0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %part = tv.all_slice %all over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %own = tv.all_slice %varying over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %m0 = tv.move %part from <device = 0, rank = 0> on <device = 2, rank = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %m1 = tv.move %part from <device = 0, rank = 1> on <device = 2, rank = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %n0 = tv.move %own from <device = 0, rank = 0> on <device = 2, rank = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %n1 = tv.move %own from <device = 0, rank = 1> on <device = 2, rank = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %one = tv.move %varying from <device = 0, rank = 1> on <device = 2, rank = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %other = tv.move %varying from <device = 0, rank = 0> on <device = 2, rank = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %exchanged = tv.all_gather %m1, %m0 on <device = 2, rank = 0> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    %twice = tv.all_gather %m0, %m0 on <device = 2, rank = 0> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    %mixed = tv.all_gather %n0, %n1 on <device = 2, rank = 0> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
    %here = tv.move %all from <device = 0> on <device = 3> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s0 = tv.slice %here on <device = 3> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %s1 = tv.slice %here on <device = 3> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %r0 = tv.slice %here on <device = 3> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %r1 = tv.slice %here on <device = 3> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %upside = tv.all_gather %s1, %s0 on <device = 3> {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %a = tv.all_slice %upside over "rank" on <device = 3> {dimension = 0 : i64} : (tensor<8x2xf32>) -> tensor<4x2xf32>
    %wrong = tv.all_gather %a over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<4x2xf32>) -> tensor<4x4xf32>
    %stack = tv.all_gather %s0, %s1 on <device = 3> {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %b = tv.all_slice %stack over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<8x2xf32>) -> tensor<8x1xf32>
    %c = tv.all_gather %b over "rank" on <device = 3> {dimension = 0 : i64} : (tensor<8x1xf32>) -> tensor<16x1xf32>
    %rows = tv.all_gather %r0, %r1 on <device = 3> {dimension = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
    %d = tv.all_slice %rows over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %e = tv.all_gather %d over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %f = tv.all_gather %part over "rank" on <device = 0> {dimension = 0 : i64} : (tensor<4x2xf32>) -> tensor<8x2xf32>
    %four = tv.all_gather %s0, %s1, %s0, %s1 on <device = 3> {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<16x2xf32>
    %g = tv.all_slice %four over "rank" on <device = 3> {dimension = 0 : i64} : (tensor<16x2xf32>) -> tensor<8x2xf32>
    %h = tv.all_gather %g over "rank" on <device = 3> {dimension = 1 : i64} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
}

TEST_F(DenseEvaluatorTest, DomainsMatterWhereValuesVary) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <mb = 3, device = 2> {
    %x = tv.input <input "x"> : tensor<6x4xf32>
    %w = tv.input <parameter "w"> : tensor<2x4xf32>
    %a = tv.distribute %w <[0:2 of 2], [0:4 of 4]> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b = tv.distribute %x <[mb, 0:2 of 2], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<2x4xf32>
    %a0 = tv.exp %a on <device = 0, mb = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a1 = tv.exp %a on <device = 0, mb = 1:3> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b0 = tv.exp %b on <device = 0, mb = 0:2> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b1 = tv.exp %b on <device = 0, mb = 1:3> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %sum0 = tv.accumulate %b0 over <mb = 0:2> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %sum1 = tv.accumulate %b1 over <mb = 1:3> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    tv.expect %a0 is %w <[0:2 of 2], [0:4 of 4]> on <device = 0, mb = 0> : tensor<2x4xf32> is tensor<2x4xf32>
    tv.expect %a1 is %w <[0:2 of 2], [0:4 of 4]> on <device = 0, mb = 1:3> : tensor<2x4xf32> is tensor<2x4xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<DoubleAlgebra> execution(graph);
  SmallVector<Value> values = listResults(execution.body);
  ASSERT_TRUE(succeeded(execution.dense.run({}, values)));
  auto leader = [&](size_t number) {
    return execution.dense.getLeader(values[number]);
  };
  EXPECT_EQ(leader(4), leader(5));
  EXPECT_NE(leader(6), leader(7));
  EXPECT_NE(leader(8), leader(9));
}

TEST_F(DenseEvaluatorTest, SumsOfOtherTermsAreOthers) {
  // Of equal values each exists in as many micro-batches as its domain says.
  tv::GraphOp graph = parse(R"(tv.graph @graph <mb = 4, device = 2> {
    %x = tv.input <parameter "x"> : tensor<4xf32>
    %e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %px = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
    %qx = tv.distribute %x <[0:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<4xf32>
    %pa = tv.exp %px on <device = 0, mb = 0:1> : (tensor<4xf32>) -> tensor<4xf32>
    %pb = tv.tanh %px on <device = 0, mb = 1:4> : (tensor<4xf32>) -> tensor<4xf32>
    %qa = tv.exp %qx on <device = 1, mb = 0:3> : (tensor<4xf32>) -> tensor<4xf32>
    %qb = tv.tanh %qx on <device = 1, mb = 3:4> : (tensor<4xf32>) -> tensor<4xf32>
    tv.expect %pa, %pb is %e <[0:4 of 4] sum mb> on <device = 0> : tensor<4xf32>, tensor<4xf32> is tensor<4xf32>
    tv.expect %qa, %qb is %e <[0:4 of 4] sum mb> on <device = 1> : tensor<4xf32>, tensor<4xf32> is tensor<4xf32>
  })");
  ASSERT_TRUE(graph);
  checkGraph(graph);
  Execution<DoubleAlgebra> execution(graph);
  SmallVector<tv::ExpectOp> expects(execution.body.getOps<tv::ExpectOp>());
  ASSERT_TRUE(succeeded(execution.dense.run(expects)));
  EXPECT_EQ(execution.dense.getLeader(expects[0].getValues().front()),
            execution.dense.getLeader(expects[1].getValues().front()));
  EXPECT_NE(execution.dense.getComparisonKey(expects[0]),
            execution.dense.getComparisonKey(expects[1]));
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
