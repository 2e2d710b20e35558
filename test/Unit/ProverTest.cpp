//===- ProverTest.cpp - obligations of training steps ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What parallel programs make of softmax, normalization, activations and
// embeddings, each with a mistake that must not be proved.
//
//===----------------------------------------------------------------------===//

#include "TermExpressions.h"

#include <gmock/gmock.h>

using namespace verify;

namespace {
class ProverTest : public TermTest {
protected:
  Expression sigmoid(Expression value) { return 1 / (1 + exp(-value)); }
  /// exp(x_i - m) summed over a block of tensor 0.
  Expression blockSum(int64_t first, int64_t count, Expression m) {
    Expression result = number(0);
    for (int64_t i = first; i < first + count; ++i)
      result = result + exp(real(0, i) - m);
    return result;
  }
  /// The same with each summand times an element of tensor 1.
  Expression blockOutput(int64_t first, int64_t count, Expression m) {
    Expression result = number(0);
    for (int64_t i = first; i < first + count; ++i)
      result = result + exp(real(0, i) - m) * real(1, i);
    return result;
  }
  Expression softmax(int64_t which, int64_t count) {
    return exp(real(0, which)) / blockSum(0, count, number(0));
  }
  Expression token(int64_t index) {
    return atom(7, index, ScalarSort::Integer);
  }
  Expression hit(Expression tokenValue, int64_t row) {
    return select(compare(tokenValue, Comparison::Equal, integer(row)),
                  number(1), number(0));
  }
};
} // namespace

//===--- Softmax ----------------------------------------------------------===//

TEST_F(ProverTest, OnlineSoftmaxOfTwoBlocks) {
  Expression m0 = max(real(0, 0), real(0, 1));
  Expression m1 = max(real(0, 2), real(0, 3));
  Expression m = max(m0, m1);
  Expression l0 = blockSum(0, 2, m0), l1 = blockSum(2, 2, m1);
  Expression l = l0 * exp(m0 - m) + l1 * exp(m1 - m);
  expectPlanProved(softmax(1, 4), exp(real(0, 1) - m) / l);
  Expression reference =
      blockOutput(0, 4, number(0)) / blockSum(0, 4, number(0));
  Expression o0 = blockOutput(0, 2, m0) / l0, o1 = blockOutput(2, 2, m1) / l1;
  expectPlanProved(reference,
                   (o0 * l0 * exp(m0 - m) + o1 * l1 * exp(m1 - m)) / l);
  // A block that is not rescaled.
  expectNotProved(reference, (o0 * l0 + o1 * l1 * exp(m1 - m)) / l);
  expectNotProved(softmax(1, 4), exp(real(0, 1) - m0) / l);
}

TEST_F(ProverTest, RingAttentionMergesByLogSumExp) {
  Expression zero = number(0);
  Expression l0 = blockSum(0, 2, zero), l1 = blockSum(2, 2, zero);
  Expression o0 = blockOutput(0, 2, zero) / l0;
  Expression o1 = blockOutput(2, 2, zero) / l1;
  Expression reference = blockOutput(0, 4, zero) / blockSum(0, 4, zero);
  Expression gate = sigmoid(log(l1) - log(l0));
  expectPlanProved(reference, o0 - gate * (o0 - o1));
  expectNotProved(reference, o0 - gate * (o1 - o0));
}

TEST_F(ProverTest, SoftmaxBackward) {
  auto y = [&](int64_t i) { return softmax(i, 3); };
  Expression dot = number(0);
  for (int64_t i = 0; i < 3; ++i)
    dot = dot + y(i) * real(1, i);
  Expression reference = y(0) * (real(1, 0) - dot);
  // d (e / s) with the quotient rule.
  Expression s = blockSum(0, 3, number(0));
  Expression plan = real(1, 0) * exp(real(0, 0)) / s -
                    exp(real(0, 0)) * blockOutput(0, 3, number(0)) / (s * s);
  expectPlanProved(reference, plan);
  expectProved(y(0) + y(1) + y(2), number(1), {nonZero(s)});
}

TEST_F(ProverTest, VocabularyParallelCrossEntropy) {
  Expression m = max(max(real(0, 0), real(0, 1)), max(real(0, 2), real(0, 3)));
  Expression reference = log(blockSum(0, 4, number(0))) - real(0, 1);
  Expression plan =
      log(blockSum(0, 2, m) + blockSum(2, 2, m)) - (real(0, 1) - m);
  expectPlanProved(reference, plan);
  expectNotProved(reference, log(blockSum(0, 2, m)) - (real(0, 1) - m));
}

TEST_F(ProverTest, SoftmaxWithMinusInfinity) {
  auto masked = [&](int64_t i) {
    Expression isVisible = atom(3, i, ScalarSort::Boolean);
    Expression infinity{&terms, terms.minusInfinity()};
    return select(isVisible, real(0, i), infinity);
  };
  Expression total = exp(masked(0)) + exp(masked(1)) + exp(masked(2));
  Expression reference = exp(masked(0)) / total;
  // The mask as a factor of 0 or 1, and sums in another order.
  auto factor = [&](int64_t i) {
    return exp(real(0, i)) *
           select(atom(3, i, ScalarSort::Boolean), number(1), number(0));
  };
  expectPlanProved(reference, factor(0) / (factor(2) + factor(1) + factor(0)));
  expectNotProved(reference, exp(real(0, 0)) / total);
  // A row that is masked throughout is excluded, not assumed away.
  EXPECT_NE(prove(total / total, number(1)), Verdict::Proved);
  expectProved(total / total, number(1), {nonZero(total)});
}

TEST_F(ProverTest, ExtendedAtoms) {
  Expression a = atom(3, 0, ScalarSort::Extended);
  Expression b = atom(3, 1, ScalarSort::Extended);
  Expression x = real(0), y = real(1);
  expectProved((a + x) + b, b + (x + a));
  expectProved(exp(a + x), exp(x) * exp(a));
  expectProved(exp(Expression{&terms, terms.minusInfinity()}), number(0));
  expectProved(max(a + x, a + y), a + max(x, y));
  expectProved(max(a, Expression{&terms, terms.minusInfinity()}), a);
  expectProved(max(a, b), max(b, max(a, b)));
  expectNotProved(exp(a) / exp(a), number(1));
  expectNotProved(exp(a + b), exp(a));
  Expression isLess = compare(a, Comparison::Less, b);
  expectNotProved(select(isLess, x, y), select(isLess, y, x));
}

//===--- Normalization and activations ------------------------------------===//

TEST_F(ProverTest, RmsNormByParts) {
  Expression eps{&terms, terms.literal(1e-5, FloatFormat::Double)};
  Expression whole = sum(0, 4, 2);
  Expression parts = sum(0, 2, 2, 2) + sum(0, 2, 2, 0);
  auto normalize = [&](Expression squares, int64_t size) {
    return real(0, 1) * rsqrt(squares / size + eps) * real(1, 1);
  };
  expectPlanProved(normalize(whole, 4), normalize(parts, 4));
  expectPlanProved(normalize(whole, 4),
                   real(1, 1) * real(0, 1) / sqrt(eps + parts / 4));
  expectNotProved(normalize(whole, 4), normalize(parts, 2));
  expectNotProved(normalize(whole, 4), normalize(sum(0, 2, 2), 4));
}

TEST_F(ProverTest, LayerNormVariance) {
  Expression eps{&terms, terms.literal(1e-6, FloatFormat::Double)};
  Expression mean = sum(0, 3) / 3;
  Expression variance = number(0);
  for (int64_t i = 0; i < 3; ++i)
    variance = variance + pow(real(0, i) - mean, 2);
  Expression reference = (real(0, 0) - mean) * rsqrt(variance / 3 + eps);
  Expression moment = sum(0, 3, 2) / 3 - mean * mean;
  expectPlanProved(reference, (real(0, 0) - mean) / sqrt(moment + eps));
  expectNotProved(reference,
                  (real(0, 0) - mean) / sqrt(sum(0, 3, 2) / 3 + eps));
  // Without epsilon the reference itself excludes equal inputs.
  expectPlanProved((real(0, 0) - mean) * rsqrt(variance),
                   (real(0, 0) - mean) / sqrt(3 * moment));
}

TEST_F(ProverTest, SwiGlu) {
  Expression gate = real(0), up = real(1), gradient = real(2);
  Expression reference = gate * sigmoid(gate) * up;
  expectPlanProved(reference, up * gate * exp(gate) / (exp(gate) + 1));
  Expression s = sigmoid(gate);
  Expression backward = gradient * up * (s + gate * s * (1 - s));
  Expression decay = exp(-gate);
  Expression plan = gradient * up / (decay + 1) +
                    gradient * up * gate * decay / pow(1 + decay, 2);
  expectPlanProved(backward, plan);
  expectNotProved(backward, gradient * up * s);
}

TEST_F(ProverTest, ReluBeforeTheReductionIsNotProved) {
  Expression zero = number(0);
  expectNotProved(max(real(0, 0) + real(0, 1), zero),
                  max(real(0, 0), zero) + max(real(0, 1), zero));
}

//===--- Integers ---------------------------------------------------------===//

TEST_F(ProverTest, EmbeddingGradientWithCoincidingTokens) {
  // Row 2 of the gradient: all tokens that are 2, in any order and grouping.
  Expression reference = number(0);
  for (int64_t i = 0; i < 4; ++i)
    reference = reference + hit(token(i), 2) * real(1, i);
  Expression plan =
      (hit(token(3), 2) * real(1, 3) + hit(token(1), 2) * real(1, 1)) +
      (hit(token(0), 2) * real(1, 0) + hit(token(2), 2) * real(1, 2));
  expectProved(reference, plan);
  expectNotProved(reference, plan - hit(token(0), 2) * real(1, 0));
  // One token is one row only, and being it twice is being it.
  expectProved(hit(token(0), 1) * hit(token(0), 2), number(0));
  expectProved(hit(token(0), 1) * hit(token(0), 1), hit(token(0), 1));
  expectNotProved(hit(token(0), 1) * hit(token(1), 2), number(0));
}

TEST_F(ProverTest, VocabularyParallelEmbedding) {
  // Rows 2 and 3 of five live on this rank: indices are shifted, and those
  // outside are clamped and masked.
  Expression t = token(0);
  Expression isBelow = compare(t, Comparison::Less, integer(2));
  Expression isAbove = compare(integer(4), Comparison::LessEqual, t);
  Expression local{&terms, terms.subtract(t, integer(2))};
  Expression clamped =
      select(isBelow, integer(0), select(isAbove, integer(0), local));
  Expression looked =
      hit(clamped, 0) * real(0, 2) + hit(clamped, 1) * real(0, 3);
  Expression plan =
      select(isBelow, number(0), select(isAbove, number(0), looked));
  Expression reference = hit(t, 2) * real(0, 2) + hit(t, 3) * real(0, 3);
  expectProved(reference, plan);
  // Without the mask, tokens outside get row 2.
  expectNotProved(reference, looked);
}

TEST_F(ProverTest, IntegersAreDiscrete) {
  Expression t = token(0), x = real(0), y = real(1);
  Expression less = compare(t, Comparison::Less, integer(3));
  Expression atMost = compare(t, Comparison::LessEqual, integer(2));
  expectProved(select(less, x, y), select(atMost, x, y));
  Expression tReal{&terms, terms.toReal(t)};
  Expression z = real(2);
  expectNotProved(select(compare(z, Comparison::Less, number(3)), x, y),
                  select(compare(z, Comparison::LessEqual, number(2)), x, y));
  expectProved(2 * tReal / 2, tReal);
}

//===--- The prover itself ------------------------------------------------===//

TEST_F(ProverTest, ConditionsFollowFromHypothesesOrSigns) {
  Expression x = real(0), y = real(1);
  auto verdict = [&](Condition condition,
                     llvm::ArrayRef<Condition> hypotheses) {
    return prover.proveCondition(condition, hypotheses).verdict;
  };
  EXPECT_EQ(verdict(positive(exp(x) + 1), {}), Verdict::Proved);
  EXPECT_EQ(verdict(nonNegative(x * x + y * y), {}), Verdict::Proved);
  EXPECT_EQ(verdict(nonNegative(pow(x - y, 2)), {}), Verdict::Proved);
  EXPECT_EQ(verdict(nonZero(x), {positive(x)}), Verdict::Proved);
  EXPECT_EQ(verdict(nonZero(3 * x * y), {nonZero(x), nonZero(y)}),
            Verdict::Proved);
  EXPECT_EQ(verdict(nonZero(x - y), {nonZero(y - x)}), Verdict::Proved);
  EXPECT_NE(verdict(nonZero(x), {}), Verdict::Proved);
  EXPECT_NE(verdict(positive(x), {nonNegative(x)}), Verdict::Proved);
  EXPECT_NE(verdict(positive(x * x), {}), Verdict::Proved);
  EXPECT_NE(verdict(nonZero(x + y), {nonZero(x), nonZero(y)}), Verdict::Proved);
}

TEST_F(ProverTest, HypothesesDoNotJustifyThemselves) {
  // x / x != 0 does not tell that x != 0 under a total division.
  Expression x = real(0);
  expectNotProved(x / x, number(1), {nonZero(x / x + real(1))});
}

TEST_F(ProverTest, HypothesesCanBeChanged) {
  Expression x = real(0);
  expectProved(x / x, number(1), {nonZero(x)});
  expectNotProved(x / x, number(1));
  expectProved(x / x, number(1), {positive(x)});
}

TEST_F(ProverTest, CandidatesNameTheAtoms) {
  Expression x = real(0), y = real(1);
  ASSERT_EQ(prove(x + y, x - y), Verdict::NotProved);
  ASSERT_EQ(lastResult.candidate.size(), 2u);
  EXPECT_EQ(lastResult.candidate[1].atom, y.scalar);
  EXPECT_NE(lastResult.candidate[1].value, "0");
}

TEST_F(ProverTest, DifferencesOnTiesAreNotProved) {
  // Samples do not meet x = y, the solver does.
  Expression x = real(0), y = real(1), z = real(2);
  Expression equal = compare(x, Comparison::Equal, y);
  Verdict verdict = prove(select(equal, z, number(0)), number(0));
  EXPECT_TRUE(verdict == Verdict::NotProved || verdict == Verdict::Unknown);
}

TEST_F(ProverTest, SortsMustAgree) {
  EXPECT_EQ(prove(real(0), token(0)), Verdict::Unknown);
  EXPECT_EQ(lastResult.reason,
            "an equation between scalars of different sorts");
}

TEST_F(ProverTest, RepeatedObligationsCostNoQueries) {
  Expression reference = softmax(0, 4);
  Expression plan = exp(real(0, 0) - real(1)) / blockSum(0, 4, real(1));
  auto hypotheses = terms.collectConditions({reference});
  expectProved(reference, plan, hypotheses);
  size_t queries = prover.getStatistics().solverQueries;
  expectProved(reference * real(2), plan * real(2), hypotheses);
  EXPECT_LE(prover.getStatistics().solverQueries, queries + 1);
  EXPECT_EQ(prover.getStatistics().proved, 2u);
}

TEST_F(ProverTest, ClearForgetsTerms) {
  expectProved(real(0) + real(1), real(1) + real(0));
  terms.clear();
  prover.clear();
  expectProved(real(5) * real(6), real(6) * real(5));
  expectNotProved(real(5), real(6));
}

TEST_F(ProverTest, CommonPartsNeedNotBeOpened) {
  // Powers of a sum that no normal form of this size could hold, in common.
  Expression large = number(0);
  for (int64_t i = 0; i < 40; ++i)
    large = large + real(0, i) * real(1, i);
  Expression common = pow(large, 12), x = real(2);
  size_t before = prover.getStatistics().generalized;
  expectProved(common * x + common, common * (x + 1));
  EXPECT_EQ(prover.getStatistics().generalized, before + 1);
  // What holds only for the value of a common part is proved with it.
  expectProved(exp(x) * (x - x) + large, large);
  EXPECT_NE(prove(common * x + common, common * (x + 2)), Verdict::Proved);
}

TEST_F(ProverTest, SumsThatAreNotZeroAreNotShifted) {
  // Of scores that a mask may leave out, in a small case: positions of a row
  // stand for more of them.
  auto rowSum = [&](Expression shift, int64_t count) {
    Expression result = number(0);
    for (int64_t i = 0; i < count; ++i)
      result =
          result + exp(real(0, i) + atom(1, i, ScalarSort::Extended) + shift);
    return result;
  };
  Expression zero = number(0), shift = number(-2);
  for (SmallCase smallCase : {SmallCase::Smooth, SmallCase::CountsSteps}) {
    prover.clear();
    prover.setSmallCase(smallCase);
    auto isNonZero = [&](Expression value, Expression known) {
      return prover.proveCondition(nonZero(value), {nonZero(known)}).verdict;
    };
    EXPECT_EQ(isNonZero(rowSum(zero, 3), rowSum(shift, 3)), Verdict::Proved);
    EXPECT_EQ(isNonZero(rowSum(shift, 3), rowSum(zero, 3)), Verdict::Proved);
    EXPECT_NE(isNonZero(rowSum(zero, 2), rowSum(shift, 3)), Verdict::Proved);
    EXPECT_NE(isNonZero(rowSum(zero, 3) - 1, rowSum(shift, 3)),
              Verdict::Proved);
  }
}

TEST_F(ProverTest, CommonPartsBelowCommonPartsNeedNotBeOpened) {
  // One side has it alone as well.
  Expression large = number(0);
  for (int64_t i = 0; i < 40; ++i)
    large = large + real(0, i) * real(1, i);
  Expression below = pow(large, 12), common = exp(below), x = real(2);
  size_t before = prover.getStatistics().generalized;
  expectProved(common * x + below - below, common * x);
  expectProved(common * x, common * x + below - below);
  EXPECT_EQ(prover.getStatistics().generalized, before + 2);
  EXPECT_NE(prove(common * x + below, common * x), Verdict::Proved);
}

TEST_F(ProverTest, HypothesesAboutCommonPartsAreKept) {
  Expression divisor = exp(real(0)) - real(1);
  expectProved(divisor * real(2) / divisor, real(2), {nonZero(divisor)});
  expectNotProved(divisor * real(2) / divisor, real(2));
  // A hypothesis about one common part says nothing about another.
  Expression other = exp(real(3)) - real(1);
  expectNotProved(divisor * real(2) / divisor, real(2) * other / other,
                  {nonZero(other)});
}

TEST_F(ProverTest, CasesOfFewTermsAreNotThoseOfMany) {
  // One, two or a thousand positive numbers are never 500.
  auto isPositive = [&](int64_t index) {
    return select(compare(number(0), Comparison::Less, real(index)), number(1),
                  number(0));
  };
  Expression count = isPositive(0) + isPositive(1) + 998 * isPositive(2);
  Expression isHalf = select(compare(count, Comparison::Equal, number(500)),
                             number(1), number(0));
  expectProved(isHalf, number(0));
  // A sum of squares of some of many numbers, which the solver knows.
  Expression x = real(0), y = real(1);
  Expression isSmall =
      select(compare(x * x + y * y, Comparison::Less, 2 * x * y), number(1),
             number(0));
  prover.clear();
  prover.setSmallCase(SmallCase::Smooth);
  expectProved(isHalf, number(0));
  prover.clear();
  prover.setSmallCase(SmallCase::CountsSteps);
  EXPECT_EQ(prove(isHalf, number(0)), Verdict::Unknown);
  expectProved(isHalf * x + x, x * (1 + isHalf));
  EXPECT_EQ(prove(isSmall, number(0)), Verdict::Unknown);
  prover.clear();
  expectProved(isSmall, number(0));
}

TEST_F(ProverTest, LongAttemptsAreAskedFor) {
  // Products of vectors, a matrix and a vector, from either end.
  constexpr int64_t size = 80;
  std::vector<WeightedScalar> left, right;
  for (int64_t i = 0; i < size; ++i) {
    Expression row = number(0);
    for (int64_t j = 0; j < size; ++j)
      row = row + real(0, size * i + j) * real(1, j);
    for (uint32_t vector = 2; vector < 18; ++vector)
      right.push_back({real(vector, i) * row, 1});
  }
  for (uint32_t vector = 2; vector < 18; ++vector)
    for (int64_t j = 0; j < size; ++j) {
      Expression column = number(0);
      for (int64_t i = 0; i < size; ++i)
        column = column + real(vector, i) * real(0, size * i + j);
      left.push_back({column * real(1, j), 1});
    }
  ProverOptions options;
  options.monomialLimit = size_t(1) << 20;
  options.stepLimit = 260000;
  Prover patient(terms, options);
  llvm::SmallVector<Effort> asked;
  bool mayGoOn = false;
  patient.setBeforeLongAttempt([&](Effort effort) {
    asked.push_back(effort);
    return mayGoOn;
  });
  ProofResult result = patient.prove(terms.sum(left), terms.sum(right), {});
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_NE(result.reason.find("takes long"), std::string::npos);
  EXPECT_FALSE(result.isTooLong);
  EXPECT_THAT(asked, testing::ElementsAre(Effort::Long));
  // A short one is not asked for.
  patient.clear();
  Expression x = real(0), y = real(1);
  EXPECT_EQ(patient.prove(x * (y + 1), x + x * y, {}).verdict, Verdict::Proved);
  EXPECT_EQ(asked.size(), 1u);
  // None goes on for ever.
  patient.clear();
  mayGoOn = true;
  result = patient.prove(terms.sum(left), terms.sum(right), {});
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_NE(result.reason.find("takes too long"), std::string::npos);
  EXPECT_TRUE(result.isTooLong);
  EXPECT_EQ(asked.size(), 2u);
  // Also where the last attempt ends at once, as powers are too high for it.
  patient.clear();
  Expression tower = real(30);
  for (int level = 0; level < 16; ++level)
    tower = tower * tower * tower * tower;
  Expression first{&terms, terms.sum(left)}, second{&terms, terms.sum(right)};
  result = patient.prove(first * tower, second * tower, {});
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_EQ(result.reason.find("takes too long"), std::string::npos);
  EXPECT_TRUE(result.isTooLong);
}

TEST_F(ProverTest, SamplesAreComparedWithoutAProof) {
  Expression x = real(0), y = real(1);
  EXPECT_FALSE(prover.compareAtSamples(x * (y + 1), x + x * y, {}));
  auto different = prover.compareAtSamples(exp(x), exp(y), {});
  ASSERT_TRUE(different);
  EXPECT_EQ(different->verdict, Verdict::NotProved);
  EXPECT_EQ(prover.getStatistics().solverQueries, 0u);
}

TEST_F(ProverTest, SmtLibText) {
  Expression x = real(0), y = real(1);
  std::string text = prover.toSmtLib(exp(x) * exp(y), exp(y + x), {});
  auto contains = [&](llvm::StringRef part) {
    return llvm::StringRef(text).contains(part);
  };
  EXPECT_TRUE(contains("; obligation of Verify: "));
  EXPECT_TRUE(contains("(set-info :status unsat)"));
  EXPECT_TRUE(contains("(declare-fun real_exp (Real) Real)"));
  EXPECT_TRUE(contains("; exp-of-sum\n(assert"));
  EXPECT_TRUE(contains("(check-sat)"));
  EXPECT_EQ(text, prover.toSmtLib(exp(x) * exp(y), exp(y + x), {}));
  EXPECT_TRUE(llvm::StringRef(prover.toSmtLib(x, y, {}))
                  .contains("(set-info :status unknown)"));
}

TEST_F(ProverTest, OptionsArePrinted) {
  EXPECT_EQ(prover.getOptions().toString(),
            "random-seed=0 resource-limit=5000000 "
            "nonlinear-resource-limit=50000 resource-budget=30000000 "
            "formula-limit=16384 "
            "monomial-limit=20000 "
            "step-limit=500000 samples=10");
}
