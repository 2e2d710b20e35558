//===- BodyTraitsTest.cpp - what traits say of scalar bodies --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data keep what they are, and lineages are followed, where elements are moved
// (`tv::MovesElements`); terms are those of pairs in order where bodies compare
// (`tv::ComparesOperands`). Each op that is said to do so is held to it.
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <random>

using namespace mlir;
using namespace verify;

namespace {
class BodyTraitsTest : public DenseEvaluatorTest {
protected:
  /// No op that has a trait is missing.
  template <template <typename> class Trait>
  void expectAll(const llvm::StringSet<> &seen) {
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.hasTrait<Trait>())
        EXPECT_TRUE(seen.contains(name.getStringRef()))
            << name.getStringRef().str();
  }
};
} // namespace

static bool hasHole(const DimensionExpr &expr) {
  return expr.getKind() == DimensionExpr::Kind::Hole ||
         llvm::any_of(expr.getChildren(), hasHole);
}

TEST_F(BodyTraitsTest, MovesElements) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <rank = 2> {
    %x = tv.input <input "x"> : tensor<4x6xf64>
    %a = tv.reshape %x : (tensor<4x6xf64>) -> tensor<4x2x3xf64>
    %b = tv.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf64>) -> tensor<6x4xf64>
    %c = tv.slice %x {dimension = 1 : i64, start = 1 : i64, end = 3 : i64} : (tensor<4x6xf64>) -> tensor<4x2xf64>
    %d = tv.concat %x, %c {dimension = 1 : i64} : (tensor<4x6xf64>, tensor<4x2xf64>) -> tensor<4x8xf64>
    %e = tv.broadcast %x {dimensions = array<i64: 1, 2>} : (tensor<4x6xf64>) -> tensor<3x4x6xf64>
    %f = tv.copy %x : (tensor<4x6xf64>) -> tensor<4x6xf64>
    %j = tv.detach %x : (tensor<4x6xf64>) -> tensor<4x6xf64>
    %p = tv.distribute %x <[0:4 of 4], [rank, 0:3 of 3]> on <> : (tensor<4x6xf64>) -> tensor<4x3xf64>
    %g = tv.all_gather %p over "rank" on <> {dimension = 1 : i64} : (tensor<4x3xf64>) -> tensor<4x6xf64>
    %h = tv.all_slice %g over "rank" on <> {dimension = 0 : i64} : (tensor<4x6xf64>) -> tensor<2x6xf64>
    %i = tv.move %g from <rank = 1> on <> : (tensor<4x6xf64>) -> tensor<4x6xf64>
  })");
  ASSERT_TRUE(graph);
  llvm::StringSet<> seen;
  DoubleAlgebra algebra;
  Scalar number = algebra.rational(3, 7);
  for (Operation &op : graph.getBody().front()) {
    if (!op.hasTrait<tv::MovesElements>())
      continue;
    seen.insert(op.getName().getStringRef());
    auto semantics = cast<tv::SemanticsOpInterface>(op);
    FailureOr<IndexRelation> relation = semantics.getIndexRelation();
    ASSERT_TRUE(succeeded(relation));
    EXPECT_EQ(semantics.combine(algebra, {number}), number);
    EXPECT_TRUE(relation->positions.empty());
    EXPECT_TRUE(relation->axisSums.empty());
    EXPECT_EQ(relation->divisor, 1);
    EXPECT_FALSE(llvm::any_of(relation->result, hasHole));
    // Nothing is reduced: one access reads no factor that the result lacks.
    for (const auto &access : relation->accesses) {
      llvm::BitVector read(relation->extents.size());
      for (const DimensionExpr &dimension : access.dimensions)
        dimension.markFactors(read);
      read.reset(relation->getBoundFactors());
      EXPECT_TRUE(read.none()) << op.getName().getStringRef().str();
    }
  }
  expectAll<tv::MovesElements>(seen);
}

TEST_F(BodyTraitsTest, ComparesOperands) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <device = 2> {
    %x = tv.input <input "x"> : tensor<4x6xf64>
    %a = tv.descending_rank %x : (tensor<4x6xf64>) -> tensor<4x6xi64>
    %b = tv.descending_rank %x, %x : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xi64>
  })");
  ASSERT_TRUE(graph);
  llvm::StringSet<> seen;
  DoubleAlgebra algebra;
  for (Operation &op : graph.getBody().front()) {
    if (!op.hasTrait<tv::ComparesOperands>())
      continue;
    seen.insert(op.getName().getStringRef());
    auto semantics = cast<tv::SemanticsOpInterface>(op);
    FailureOr<IndexRelation> relation = semantics.getIndexRelation();
    ASSERT_TRUE(succeeded(relation));
    // By whether the first one is less, and the other scalars that are read.
    std::map<std::pair<bool, std::vector<int>>, uint64_t> results;
    std::mt19937 random(1);
    for (int round = 0; round < 1000; ++round) {
      std::vector<Scalar> scalars;
      std::vector<int> numbers;
      size_t count = relation->accesses.size();
      for (size_t i = 0; i < count + relation->positions.size(); ++i) {
        numbers.push_back(static_cast<int>(random() % 4));
        scalars.push_back(algebra.integer(numbers.back()));
      }
      std::vector<int> rest(numbers.begin() + 2, numbers.begin() + count);
      uint64_t result = semantics.combine(algebra, scalars).bits;
      auto [found, isNew] =
          results.try_emplace({numbers[0] < numbers[1], rest}, result);
      EXPECT_EQ(found->second, result) << op.getName().getStringRef().str();
    }
    EXPECT_GE(results.size(), 2u);
  }
  expectAll<tv::ComparesOperands>(seen);
}
