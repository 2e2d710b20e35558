//===- SeparateSidesTest.cpp - plan and reference, each for itself --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongExecution.h"

using namespace verify;

namespace {
class SeparateSidesTest : public DenseEvaluatorTest {
protected:
  /// Both sides are sums over a triangle after so many steps of their own; the
  /// plan's are `step`.
  void make(int64_t steps, StringRef step) {
    std::string text = R"(tv.graph @graph <device = 1> {
      %x = tv.input <input "x"> : tensor<256x2xf32>
      %r0 = tv.add %x, %x : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
      %p0 = tv.distribute %x <[0:256 of 256], [0:2 of 2]> on <device = 0> : (tensor<256x2xf32>) -> tensor<256x2xf32>
    )";
    auto add = [&](StringRef side, StringRef op, StringRef domain) {
      for (int64_t i = 0; i < steps; ++i)
        text += ("%" + side + Twine(i + 1) + " = tv." + op + " %" + side +
                 Twine(i) + ", %" + side + Twine(i) + domain +
                 " : (tensor<256x2xf32>, tensor<256x2xf32>) -> "
                 "tensor<256x2xf32>\n")
                    .str();
      text += ("%" + side + "mask = tv.lower_triangle" + domain +
               " : () -> tensor<256x256xf32>\n%" + side + " = tv.einsum %" +
               side + "mask, %" + side + Twine(steps) + domain +
               " {equation = \"mn,nk->mk\"} : (tensor<256x256xf32>, "
               "tensor<256x2xf32>) -> tensor<256x2xf32>\n")
                  .str();
    };
    add("r", "add", "");
    add("p", step, " on <device = 0>");
    text +=
        R"(tv.expect %p is %r <[0:256 of 256], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<256x2xf32> is tensor<256x2xf32>
    })";
    graph = parse(text);
    ASSERT_TRUE(graph);
    factors = std::make_unique<FactorAnalysis>(
        graph.getBody().front(), graph.getMesh(),
        FactorAnalysis::Options{FactorAnalysis::Positions::Exact,
                                /*fixedWidth=*/0});
    ASSERT_FALSE(factors->getFailure()) << *factors->getFailure();
    expect = *graph.getBody().getOps<tv::ExpectOp>().begin();
  }

  tv::GraphOp graph;
  tv::ExpectOp expect;
  std::unique_ptr<FactorAnalysis> factors;
};
} // namespace

TEST_F(SeparateSidesTest, WhatAnotherOneHasIsAdopted) {
  make(3, "multiply");
  DoubleIntervalAlgebra algebra, otherAlgebra, one;
  LongSource source(algebra, *factors, LongPositions::Last);
  LongSource otherSource(otherAlgebra, *factors, LongPositions::Last);
  LongSource oneSource(one, *factors, LongPositions::Last);
  DenseEvaluator plan(*factors, algebra, source);
  DenseEvaluator reference(*factors, otherAlgebra, otherSource);
  DenseEvaluator both(*factors, one, oneSource);
  ASSERT_TRUE(succeeded(plan.run({}, {expect.getValues().front()})));
  ASSERT_TRUE(succeeded(reference.run({}, {expect.getReference()})));
  ASSERT_TRUE(succeeded(both.run(expect)));
  plan.adopt(expect.getReference(), reference,
             [&](Scalar value) { return algebra.copy(otherAlgebra, value); });
  auto separate = plan.compare(expect, [&](Scalar left, Scalar right) {
    return algebra.areDisjoint(left, right);
  });
  auto together = both.compare(expect, [&](Scalar left, Scalar right) {
    return one.areDisjoint(left, right);
  });
  ASSERT_TRUE(separate && together);
  EXPECT_EQ(separate->index, together->index);
  EXPECT_EQ(separate->referenceIndex, together->referenceIndex);
  for (auto [own, whole] :
       {std::pair(separate->plan, together->plan),
        std::pair(separate->reference, together->reference)}) {
    EXPECT_EQ(algebra.getLower(own), one.getLower(whole));
    EXPECT_EQ(algebra.getUpper(own), one.getUpper(whole));
  }
  // A value that is there stays what it is.
  plan.adopt(expect.getReference(), reference,
             [&](Scalar) { return algebra.rational(0); });
  EXPECT_TRUE(plan.compare(expect, [&](Scalar left, Scalar) {
    return left.bits == separate->reference.bits;
  }));
}

TEST_F(SeparateSidesTest, WhatIsUndefinedStaysSo) {
  DoubleIntervalAlgebra algebra, other;
  Scalar none = other.divide(other.rational(1), other.rational(0));
  ASSERT_TRUE(other.isUndefined(none));
  EXPECT_TRUE(algebra.isUndefined(algebra.copy(other, none)));
  Scalar third = algebra.copy(other, other.rational(1, 3));
  EXPECT_LT(algebra.getLower(third), algebra.getUpper(third));
  EXPECT_FALSE(algebra.areDisjoint(third, algebra.rational(1, 3)));
}

TEST_F(SeparateSidesTest, SidesAreApartUnlessTheyHaveMuchInCommon) {
  make(20, "multiply");
  DoubleIntervalAlgebra algebra;
  LongSource source(algebra, *factors, LongPositions::Last);
  DenseEvaluator evaluator(*factors, algebra, source);
  Value plan = expect.getValues().front(), reference = expect.getReference();
  // Nothing is known to be equal yet.
  EXPECT_FALSE(evaluator.areApart(plan, reference));
  evaluator.findEqualValues(expect);
  EXPECT_TRUE(evaluator.areApart(plan, reference));
  // One leads to the other.
  Value earlier = plan.getDefiningOp()->getOperand(1);
  EXPECT_FALSE(evaluator.areApart(plan, earlier));
  EXPECT_FALSE(evaluator.areApart(earlier, plan));
}
