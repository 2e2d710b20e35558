//===- GroupedPositionsTest.cpp - neighbours that are looked at together --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"

#include "Verify/Scalar/SignAlgebra.h"

using namespace verify;

namespace {
class GroupedPositionsTest : public DenseEvaluatorTest {
protected:
  /// The analysis of a graph; `group` is not called.
  std::unique_ptr<FactorAnalysis> analyze(StringRef text) {
    graph = parse(text);
    EXPECT_TRUE(graph);
    if (!graph)
      return nullptr;
    auto factors = std::make_unique<FactorAnalysis>(
        graph.getBody().front(), graph.getMesh(),
        FactorAnalysis::Options{FactorAnalysis::Positions::Exact,
                                /*fixedWidth=*/0});
    EXPECT_FALSE(factors->getFailure()) << *factors->getFailure();
    return factors;
  }
  /// Dimension 0 of the first input.
  FactorAnalysis::Node getFirst(const FactorAnalysis &factors) {
    auto input = *graph.getBody().getOps<tv::InputOp>().begin();
    return factors.getDimensions(input.getResult()).front();
  }

  tv::GraphOp graph;
};

/// What the first input is up to each position.
constexpr StringLiteral average = R"(tv.graph @graph <dp = 1> {
  %x = tv.input <input "x"> : tensor<4096x2xf32>
  %mask = tv.lower_triangle : () -> tensor<4096x4096xf32>
  %sum = tv.einsum %mask, %x {equation = "mn,nk->mk"} : (tensor<4096x4096xf32>, tensor<4096x2xf32>) -> tensor<4096x2xf32>
})";

/// The same number everywhere, but for the last position.
struct LastSource : PlaceSource {
  LastSource(NumericAlgebra &algebra) : PlaceSource(algebra), own(algebra) {}
  Scalar input(Value, ArrayRef<int64_t> index) override {
    return own.rational(index.front() == 4095 ? 3 : 1);
  }
  LongPositions getLongPositions() const override {
    return LongPositions::Last;
  }
  NumericAlgebra &own;
};
} // namespace

TEST_F(GroupedPositionsTest, GroupsAreSmallPartsAndTheLastPositionIsAlone) {
  auto factors = analyze(average);
  ASSERT_TRUE(factors);
  ASSERT_TRUE(factors->canGroup());
  EXPECT_EQ(factors->getRepresentatives(getFirst(*factors)).size(), 4096u);
  FactorAnalysis grouped(*factors);
  grouped.group();
  FactorAnalysis::Node node = getFirst(grouped);
  int64_t next = 0;
  for (Representative entry : grouped.getRepresentatives(node)) {
    EXPECT_EQ(entry.position, next + entry.weight - 1);
    EXPECT_TRUE(entry.weight == 1 || 8 * entry.weight <= next);
    EXPECT_EQ(grouped.getWeight(node, entry.position), entry.weight);
    if (entry.weight > 1)
      EXPECT_EQ(grouped.getWeight(node, next), 0);
    next = entry.position + 1;
  }
  EXPECT_EQ(next, 4096);
  EXPECT_EQ(grouped.getRepresentatives(node).back().weight, 1);
  // As many as make a dimension long, and not many more.
  EXPECT_GT(grouped.getRepresentatives(node).size(), 32u);
  EXPECT_LT(grouped.getRepresentatives(node).size(), 100u);
  // The other one stays as it was.
  EXPECT_EQ(factors->getRepresentatives(getFirst(*factors)).size(), 4096u);
}

TEST_F(GroupedPositionsTest, OnlyPositionsThatAreComparedAreInGroups) {
  struct Case {
    StringRef text;
    bool isRowGrouped, isColumnGrouped; ///< of the triangle
  };
  constexpr StringLiteral sum = R"(
    %y = tv.input <input "y"> : tensor<2048xf32>
    %less = tv.lower_triangle : () -> tensor<2048x2048xf32>
    %sum = tv.einsum %less, %y {equation = "mn,n->m"} : (tensor<2048x2048xf32>, tensor<2048xf32>) -> tensor<2048xf32>
  )";
  const std::string selects = (sum + R"(
    %rank = tv.descending_rank %sum : (tensor<2048xf32>) -> tensor<2048xi64>
  )")
                                  .str();
  const std::string numbers = (sum + R"(
    %number = tv.one_hot_index %sum : (tensor<2048xf32>) -> tensor<i64>
  )")
                                  .str();
  const std::string shifts = (sum + R"(
    %a = tv.slice %y {dimension = 0 : i64, start = 0 : i64, end = 2047 : i64} : (tensor<2048xf32>) -> tensor<2047xf32>
    %b = tv.slice %y {dimension = 0 : i64, start = 1 : i64, end = 2048 : i64} : (tensor<2048xf32>) -> tensor<2047xf32>
    %c = tv.add %a, %b : (tensor<2047xf32>, tensor<2047xf32>) -> tensor<2047xf32>
  )")
                                 .str();
  for (const Case &each : std::initializer_list<Case>{
           {sum, true, true},
           // Few positions.
           {"%less = tv.lower_triangle : () -> tensor<512x512xf32>", false,
            false},
           // Something selects among rows.
           {selects, false, true},
           // What is computed of rows is more than that.
           {numbers, false, true},
           // Columns are related to themselves at an offset.
           {shifts, true, false},
           // Data name one of the columns.
           {R"(
    %y = tv.input <input "y"> : tensor<4xi64>
    %less = tv.lower_triangle : () -> tensor<2048x2048xf32>
    %one = tv.one_hot %y {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x2048xf32>
    %row = tv.einsum %one, %less {equation = "bn,mn->bm"} : (tensor<4x2048xf32>, tensor<2048x2048xf32>) -> tensor<4x2048xf32>
            )",
            true, false},
           // A coordinate of the mesh is one of the columns.
           {R"(
    %y = tv.input <input "y"> : tensor<2048xf32>
    %less = tv.lower_triangle : () -> tensor<2048x2048xf32>
    %part = tv.distribute %less <[0:2048 of 2048], [dp]> on <dp = 0:2048> : (tensor<2048x2048xf32>) -> tensor<2048x1xf32>
            )",
            true, false},
       }) {
    auto factors =
        analyze(("tv.graph @graph <dp = 2048> {\n" + each.text + "\n}").str());
    ASSERT_TRUE(factors);
    EXPECT_EQ(factors->canGroup(), each.isRowGrouped || each.isColumnGrouped);
    factors->group();
    auto triangle = *graph.getBody().getOps<tv::LowerTriangleOp>().begin();
    auto isGrouped = [&](size_t dimension) {
      auto size = cast<RankedTensorType>(triangle.getResult().getType())
                      .getDimSize(dimension);
      auto kept = factors->getRepresentatives(
          factors->getDimensions(triangle.getResult())[dimension]);
      return static_cast<int64_t>(kept.size()) < size;
    };
    EXPECT_EQ(isGrouped(0), each.isRowGrouped) << each.text.str();
    EXPECT_EQ(isGrouped(1), each.isColumnGrouped) << each.text.str();
  }
}

TEST_F(GroupedPositionsTest, DoublesAreNear) {
  auto grouped = analyze(average);
  ASSERT_TRUE(grouped);
  grouped->group();
  SmallVector<Value> values = listResults(graph.getBody().front());
  DoubleAlgebra algebra;
  LastSource source(algebra);
  DenseEvaluator evaluator(*grouped, algebra, source);
  ASSERT_TRUE(succeeded(evaluator.run({}, values))) << evaluator.getFailure();
  for (Representative entry : grouped->getRepresentatives(getFirst(*grouped))) {
    auto sum = evaluator.getElement(values.back(), {-1}, {entry.position, 1});
    ASSERT_TRUE(sum);
    // A group counts as its last position does.
    EXPECT_EQ(DoubleAlgebra::getDouble(*sum),
              static_cast<double>(entry.position + 1 +
                                  (entry.position == 4095 ? 2 : 0)));
  }
}

TEST_F(GroupedPositionsTest, NothingElseIsComputedOfGroups) {
  auto grouped = analyze(average);
  ASSERT_TRUE(grouped);
  grouped->group();
  SmallVector<Value> values = listResults(graph.getBody().front());
  DoubleIntervalAlgebra fast;
  IntervalAlgebra precise(128);
  RationalAlgebra rationals;
  SignAlgebra signs;
  for (NumericAlgebra *algebra : std::initializer_list<NumericAlgebra *>{
           &fast, &precise, &rationals, &signs}) {
    LastSource source(*algebra);
    DenseEvaluator evaluator(*grouped, *algebra, source);
    EXPECT_TRUE(failed(evaluator.run({}, values)));
    EXPECT_EQ(evaluator.getFailure(),
              "positions are looked at together that differ");
  }
}

TEST_F(GroupedPositionsTest, MasksOnlyCompare) {
  // All ops of which that is said, on pairs that compare in the same way.
  graph = parse(R"(tv.graph @graph <dp = 1> {
    %0 = tv.lower_triangle : () -> tensor<64x64xf32>
    %1 = tv.causal_mask : () -> tensor<1x64x64x!tv.extended<f32>>
  })");
  ASSERT_TRUE(graph);
  std::set<std::string> seen, expected;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasTrait<tv::ComparesPositions>())
      expected.insert(name.getStringRef().str());
  for (auto op : graph.getBody().getOps<tv::SemanticsOpInterface>()) {
    seen.insert(op->getName().getStringRef().str());
    FailureOr<IndexRelation> relation = op.getIndexRelation();
    ASSERT_TRUE(succeeded(relation));
    EXPECT_EQ(relation->positions.size(), 2u);
    EXPECT_TRUE(relation->accesses.empty());
    DoubleAlgebra algebra;
    std::map<int, double> known;
    for (int64_t first : {0, 1, 7, 40, 63})
      for (int64_t second : {0, 1, 7, 40, 63}) {
        Scalar scalars[] = {algebra.integer(first), algebra.integer(second)};
        double value = DoubleAlgebra::getDouble(op.combine(algebra, scalars));
        auto [found, isNew] =
            known.try_emplace((first > second) - (first < second), value);
        EXPECT_EQ(found->second, value);
      }
  }
  EXPECT_EQ(seen, expected);
}
