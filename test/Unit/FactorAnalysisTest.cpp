//===- FactorAnalysisTest.cpp - what is known of the ops of a graph -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"

using namespace verify;

TEST_F(DenseEvaluatorTest, EqualOpsShareTheirRelationButForTheirData) {
  // Nothing is asked of `free` but where it is equal; of `used` more is.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %free = tv.input <input "free"> : tensor<8xi64>
    %used = tv.input <input "used"> : tensor<8xi64>
    %less = tv.compare less %used, %used : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xf32>
    %0 = tv.one_hot %free {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x64xf32>
    %1 = tv.one_hot %used {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x64xf32>
    %2 = tv.one_hot %free {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x64xf32>
    %3 = tv.one_hot %free {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x32xf32>
    %4 = tv.one_hot %free {start = 1 : i64} : (tensor<8xi64>) -> tensor<8x64xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(), {});
  ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
  SmallVector<const IndexRelation *> relations;
  for (auto op : body.getOps<tv::OneHotOp>())
    relations.push_back(&factors.getRelation(op));
  ASSERT_EQ(relations.size(), 5u);
  EXPECT_EQ(relations[0], relations[2]);
  EXPECT_EQ(relations[0]->positions[0].use, PositionUse::Equality);
  EXPECT_EQ(relations[1]->positions[0].use, PositionUse::Order);
  EXPECT_EQ(relations[3]->extents.back(), 32);
  EXPECT_EQ(relations[4]->positions[0].start, 1);
}

// A literal that data are compared with for equality is a number of its own. A
// proof that data may be permuted is none where they are ordered; an execution
// only needs positions for the numbers that it takes.
TEST_F(DenseEvaluatorTest, TheNumbersThatDataAreComparedWithAreKept) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %labels = tv.input <input "labels"> : tensor<8xi64>
    %ignored = tv.constant dense<4711> : tensor<i64> : () -> tensor<i64>
    %counted = tv.compare not_equal %labels, %ignored : (tensor<8xi64>, tensor<i64>) -> tensor<8xf32>
    %0 = tv.one_hot %labels {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x30000xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  auto oneHot = *body.getOps<tv::OneHotOp>().begin();
  auto ignored = *body.getOps<tv::ConstantOp>().begin();
  EXPECT_EQ(getIntegerLiteral(ignored.getResult()), 4711);
  EXPECT_EQ(getIntegerLiteral(oneHot.getIndices()), std::nullopt);
  FactorAnalysis::Options execution = {FactorAnalysis::Positions::Exact,
                                       /*fixedWidth=*/0};
  auto expectKept = [&](const FactorAnalysis &factors) {
    ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
    ArrayRef<Representative> kept = factors.getRepresentatives(
        factors.getDimensions(oneHot.getResult()).back());
    EXPECT_LT(kept.size(), 16u);
    EXPECT_TRUE(llvm::any_of(kept, [](Representative entry) {
      return entry.position == 4711 && entry.weight == 1;
    }));
  };
  expectKept(FactorAnalysis(body, graph.getMesh(), {}));
  expectKept(FactorAnalysis(body, graph.getMesh(), execution));
  auto compare = *body.getOps<tv::CompareOp>().begin();
  compare.setKind(tv::ComparisonKind::Less);
  EXPECT_EQ(FactorAnalysis(body, graph.getMesh(), {}).getFailure(),
            "a dimension of size 30000 has to be looked at in full");
  expectKept(FactorAnalysis(body, graph.getMesh(), execution));
}

// What an op computes of data has any number, so that all positions stay.
TEST_F(DenseEvaluatorTest, ExecutionsKeepAllPositionsForComputedData) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %labels = tv.input <input "labels"> : tensor<8xi64>
    %next = tv.add %labels, %labels : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
    %0 = tv.one_hot %next {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x30000xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, /*fixedWidth=*/0});
  EXPECT_EQ(factors.getFailure(),
            "a dimension of size 30000 has to be looked at in full");
}

// Each position of a dimension is looked at as one that stands for as many.
TEST_F(DenseEvaluatorTest, PositionsStandForAsManyAsTheyWeigh) {
  // Products, and parts that are put together.
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 1> {
    %x = tv.input <input "x"> : tensor<600x7xf32>
    %tokens = tv.input <input "tokens"> : tensor<600xi64>
    %first = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 100 : i64} : (tensor<600x7xf32>) -> tensor<100x7xf32>
    %rows = tv.reshape %first : (tensor<100x7xf32>) -> tensor<5x20x7xf32>
    %sums = tv.reduce sum %rows {dimensions = array<i64: 0>} : (tensor<5x20x7xf32>) -> tensor<20x7xf32>
    %chosen = tv.one_hot %tokens {start = 0 : i64} : (tensor<600xi64>) -> tensor<600x7xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  for (int64_t width : {0, 1, 3}) {
    FactorAnalysis factors(body, graph.getMesh(),
                           {FactorAnalysis::Positions::Exact, width});
    ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
    for (auto input : body.getOps<tv::InputOp>())
      for (auto [size, node] :
           llvm::zip_equal(input.getType().getShape(),
                           factors.getDimensions(input.getResult()))) {
        std::map<int64_t, int64_t> count;
        for (int64_t i = 0; i < size; ++i)
          ++count[factors.getRepresentative(node, i)];
        ArrayRef<Representative> kept = factors.getRepresentatives(node);
        EXPECT_EQ(count.size(), kept.size());
        for (Representative entry : kept) {
          EXPECT_EQ(count[entry.position], entry.weight);
          EXPECT_EQ(factors.getRepresentative(node, entry.position),
                    entry.position);
        }
      }
  }
}
