//===- SweepTest.cpp - sides that are made equal step by step -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sides have nothing in common but leaves and are too large to be
// multiplied out. Each case has an equation that holds and one that is as like
// it as can be and does not.
//
//===----------------------------------------------------------------------===//

#include "TermExpressions.h"

using namespace verify;

namespace {
class SweepTest : public TermTest {
protected:
  /// A product of many sums, of which the last is of `last`. On one side each
  /// sum has a factor more, which is 1.
  Expression large(Expression last, bool hasOps) {
    Expression result = number(1);
    for (int64_t i = 0; i < 24; ++i) {
      Expression left = real(0, i), right = i < 23 ? real(1, i) : last;
      result = result * (hasOps ? left * number(1) + right : right + left);
    }
    return result;
  }
  size_t swept() { return prover.getStatistics().swept; }

  void expectSwept(Scalar left, Scalar right,
                   llvm::ArrayRef<Condition> hypotheses = {}) {
    size_t before = swept();
    expectProved(left, right, hypotheses);
    EXPECT_EQ(swept(), before + 1);
  }
};
} // namespace

TEST_F(SweepTest, AnOpMoreOnOneSide) {
  Expression x = real(2);
  expectSwept(large(x, true), large(x, false));
  expectNotProved(large(x, true), large(2 * x, false));
  expectNotProved(large(x, true), large(real(3), false));
}

TEST_F(SweepTest, OneSideHasBothForms) {
  Expression x = real(2), y = real(3);
  expectSwept(large(x * number(1), true) + exp(y * x) * (x * number(1)),
              large(x, false) + exp(x * y) * x);
  expectNotProved(large(x * number(1), true) + exp(y * x) * (x * number(1)),
                  large(x, false) + exp(x * x) * x);
}

TEST_F(SweepTest, WhatAgreesAtSamplesIsProved) {
  Expression x = real(2);
  // No sample is as large.
  Expression other =
      select(compare(x, Comparison::Less, number(1 << 20)), x, number(0));
  expectNotProved(large(x, true), large(other, false));
  expectNotProved(large(other, true), large(x, false));
}

TEST_F(SweepTest, Hypotheses) {
  Expression x = real(2), y = real(3);
  expectSwept(large(x * y / y, true), large(x, false), {nonZero(y)});
  expectNotProved(large(x * y / y, true), large(x, false));
  expectNotProved(large(x * y / y, true), large(x, false), {nonZero(x)});
  // Of a term whose place another one takes.
  Expression z = y * number(2) * number(1, 2);
  expectSwept(large(x * z / z, true), large(x * y / z, false), {nonZero(z)});
  expectNotProved(large(x * z / z, true), large(x * x / z, false),
                  {nonZero(z)});
}

TEST_F(SweepTest, SmallCases) {
  Expression x = real(2), zero = number(0);
  Expression isPositive = compare(zero, Comparison::Less, x);
  Expression outside = select(isPositive, exp(2 * x), number(1));
  Expression inside = exp(2 * select(isPositive, x, zero));
  expectSwept(large(outside, true), large(inside, false));
  // There are more cases than these where a function is of a sum of steps.
  prover.setSmallCase(SmallCase::CountsSteps);
  expectNotProved(large(outside, true), large(inside, false));
  expectSwept(large(outside, true), large(outside, false));
}

TEST_F(SweepTest, FalseCandidatesDoNotEndIt) {
  // Some are equal at all samples, which are positive at some of them.
  Expression left = real(2), right = real(2);
  for (int64_t i = 0; i < 100; ++i) {
    Expression x = real(3, i) + 1;
    left = left + exp(max(x * number(1), number(0)));
    right = right + exp(max(number(0), x));
  }
  expectSwept(large(left, true), large(right, false));
  expectNotProved(large(left, true), large(right + real(4), false));
}

TEST_F(SweepTest, WhatIsCommonMayBeLookedInto) {
  Expression x = real(2), y = real(3);
  expectSwept(large(max(exp(x * y), number(0)), true),
              large(exp(x * y), false));
  expectSwept(large(abs(exp(x * y)), true), large(exp(x * y), false));
  expectNotProved(large(max(exp(x * y), number(1)), true),
                  large(exp(x * y), false));
  expectNotProved(large(max(apply(Function::Tanh, x * y), number(0)), true),
                  large(apply(Function::Tanh, x * y), false));
}

TEST_F(SweepTest, ConditionsThatAreGiven) {
  Expression x = real(2), left = large(x, true), right = large(x, false);
  auto prove = [&](Condition condition, Condition given) {
    return prover.proveCondition(condition, {given}).verdict;
  };
  EXPECT_EQ(prove(nonZero(left), nonZero(right)), Verdict::Proved);
  EXPECT_EQ(prove(positive(left), positive(right)), Verdict::Proved);
  EXPECT_NE(prove(positive(left), nonZero(right)), Verdict::Proved);
  EXPECT_NE(prove(nonZero(left), nonNegative(right)), Verdict::Proved);
  Expression other = large(x + 1, false);
  EXPECT_NE(prove(nonZero(left), nonZero(other)), Verdict::Proved);
  std::string text = prover.toSmtLib(positive(left), {positive(right)});
  EXPECT_EQ(llvm::StringRef(text).count("(reset)\n"), 2u) << text;
}

TEST_F(SweepTest, ManyEquationsAreAskedFor) {
  auto proveMany = [&](int64_t count, Prover &prover) {
    Expression left = real(2), right = real(2);
    for (int64_t i = 0; i < count; ++i) {
      Expression x = real(3, i);
      left = left + exp(x * number(i + 2) * number(1, i + 2));
      right = right + exp(x);
    }
    return prover.prove(large(left, true), large(right, false), {}).verdict;
  };
  Prover curious(terms);
  unsigned asked = 0;
  bool mayGoOn = true;
  curious.setBeforeLongAttempt([&](Effort effort) {
    asked += effort == Effort::Long;
    return mayGoOn;
  });
  EXPECT_EQ(proveMany(100, curious), Verdict::Proved);
  EXPECT_EQ(asked, 0u);
  // Of which 200 are new.
  EXPECT_EQ(proveMany(300, curious), Verdict::Proved);
  EXPECT_EQ(asked, 1u);
  // Those that were proved before are not counted.
  EXPECT_EQ(proveMany(300, curious), Verdict::Proved);
  EXPECT_EQ(asked, 1u);
  mayGoOn = false;
  Prover impatient(terms);
  impatient.setBeforeLongAttempt([&](Effort) { return mayGoOn; });
  EXPECT_EQ(proveMany(100, impatient), Verdict::Proved);
  EXPECT_EQ(proveMany(300, impatient), Verdict::Unknown);
}

TEST_F(SweepTest, EachEquationIsAScript) {
  // That x * 1 and 1 * x are x, and that x + y is y + x.
  Expression x = real(2);
  std::string text = prover.toSmtLib(large(x, true), large(x, false), {});
  EXPECT_EQ(llvm::StringRef(text).count("(check-sat)"), 6u) << text;
  EXPECT_EQ(llvm::StringRef(text).count("(reset)\n"), 2u) << text;
  EXPECT_EQ(llvm::StringRef(text).count(":status unsat"), 3u) << text;
  std::string wrong = prover.toSmtLib(large(x, true), large(2 * x, false), {});
  EXPECT_EQ(llvm::StringRef(wrong).count("unsat"), 0u) << wrong;
}
