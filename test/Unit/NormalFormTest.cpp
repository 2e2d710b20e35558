//===- NormalFormTest.cpp - normal forms have the value of their terms ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random terms are normalized and evaluated at random points: a term and its
// normal form must agree, every claim must hold, and so must every instance of
// a law, whatever the normal form made of it.
//
//===----------------------------------------------------------------------===//

#include "RandomTerms.h"
#include "TermExpressions.h"

#include "Verify/Scalar/NormalForm.h"

using namespace verify;

namespace {
class NormalFormTest : public TermTest {};
} // namespace

TEST_F(NormalFormTest, RandomTermsKeepTheirValue) {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    TermAlgebra algebra;
    Scalar term = RandomTerms(algebra, seed, false).real(4);
    auto conditions = algebra.collectConditions({term});
    Normalizer normalizer(algebra, conditions);
    Scalar normalForm = normalizer.getNormalForm(term);
    if (normalizer.failure())
      continue;
    for (unsigned point = 0; point < 4; ++point) {
      DoublePoint values(algebra, seed * 10 + point);
      values.get(term);
      if (values.algebra.status().isUndefined)
        continue;
      std::optional<double> expected = values.get(term);
      std::optional<double> actual = values.get(normalForm);
      if (!expected || !actual || std::fabs(*expected) > 1e4)
        continue;
      ++compared;
      EXPECT_NEAR(*actual, *expected, 1e-5 * (1 + std::fabs(*expected)))
          << seed << ": " << algebra.toString(term) << "\n"
          << algebra.toString(normalForm);
    }
  }
  EXPECT_GT(compared, 600u);
}

TEST_F(NormalFormTest, RandomRationalTermsKeepTheirExactValue) {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    TermAlgebra algebra;
    Scalar term = RandomTerms(algebra, seed, true).real(4);
    Normalizer normalizer(algebra, algebra.collectConditions({term}));
    Scalar normalForm = normalizer.getNormalForm(term);
    if (normalizer.failure())
      continue;
    RationalAlgebra numbers;
    std::mt19937 random(seed);
    TermEvaluator evaluator(algebra, numbers, [&](Scalar atom) {
      if (algebra.getSort(atom) != ScalarSort::Real)
        return numbers.integer(random() % 2);
      return numbers.rational(int64_t(random() % 9) - 4, random() % 3 + 1);
    });
    Scalar expected = evaluator.evaluate(term);
    if (numbers.status().isUndefined)
      continue;
    Scalar actual = evaluator.evaluate(normalForm);
    ++compared;
    EXPECT_EQ(numbers.get(actual).toString(), numbers.get(expected).toString())
        << algebra.toString(term) << "\n"
        << algebra.toString(normalForm);
    EXPECT_FALSE(numbers.status().isInexact);
  }
  EXPECT_GT(compared, 100u);
}

TEST_F(NormalFormTest, LawInstancesHoldAtRandomPoints) {
  std::vector<unsigned> held(static_cast<size_t>(Law::IndicatorCase) + 1);
  for (unsigned seed = 0; seed < 400; ++seed) {
    TermAlgebra algebra;
    Scalar term = RandomTerms(algebra, seed, false).real(4);
    Normalizer normalizer(algebra, algebra.collectConditions({term}));
    normalizer.getNormalForm(term);
    const LawBook &laws = normalizer.getLaws();
    // Only hypotheses depend on the point.
    DoublePoint values(algebra, seed);
    for (InstanceId id = 0; id < laws.size(); ++id) {
      const LawInstance &instance = laws.get(id);
      if (instance.law == Law::Hypothesis)
        continue;
      bool isApplicable = true;
      for (const Claim &premise : instance.premises)
        isApplicable &= values.holdsExactly(premise).value_or(false);
      bool isDecided = true, holds = false;
      for (const Claim &conclusion : instance.conclusions) {
        std::optional<bool> result = values.holdsNearly(conclusion);
        isDecided &= result.has_value();
        holds |= result.value_or(false);
      }
      if (!isApplicable || !isDecided)
        continue;
      ++held[static_cast<size_t>(instance.law)];
      EXPECT_TRUE(holds) << getName(instance.law).str() << ": "
                         << algebra.toString(instance.conclusions[0].left)
                         << " = "
                         << algebra.toString(instance.conclusions[0].right);
    }
  }
  // Random terms exercise most laws; the others have tests of their own.
  for (Law law :
       {Law::ExpOfSum, Law::ExpPositive, Law::Cancellation, Law::UniqueInverse,
        Law::Square, Law::PowerOfRoot, Law::UniqueRoot, Law::InverseRoot,
        Law::MaximumBound, Law::MaximumAttained, Law::IndicatorImplies,
        Law::IndicatorCase, Law::ProductSign, Law::LogOfProduct})
    EXPECT_GT(held[static_cast<size_t>(law)], 0u) << getName(law).str();
}

TEST_F(NormalFormTest, RandomTermsEqualTheirNormalForms) {
  // Every step of every normalization is accepted by the solver.
  unsigned proved = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    TermAlgebra algebra;
    Scalar term = RandomTerms(algebra, seed, false).real(3);
    auto conditions = algebra.collectConditions({term});
    Scalar normalForm;
    {
      Normalizer normalizer(algebra, conditions);
      normalForm = normalizer.getNormalForm(term);
      if (normalizer.failure())
        continue;
    }
    Prover algebraProver(algebra);
    ProofResult result = algebraProver.prove(term, normalForm, conditions);
    EXPECT_EQ(result.verdict, Verdict::Proved)
        << seed << ": " << algebra.toString(term) << " = "
        << algebra.toString(normalForm) << ": " << result.reason;
    ++proved;
  }
  EXPECT_GT(proved, 140u);
}

/// A sum with its summands in another order, and maybe one of another sign.
static Scalar changeSum(TermAlgebra &terms, llvm::ArrayRef<Scalar> operands,
                        llvm::ArrayRef<int64_t> weights, bool isHere,
                        std::mt19937 &random) {
  llvm::SmallVector<WeightedScalar> summands;
  for (auto [operand, weight] : llvm::zip(operands, weights)) {
    bool isNegated = isHere && random() % 4 == 0;
    summands.push_back({operand, isNegated ? -weight : weight});
  }
  std::shuffle(summands.begin(), summands.end(), random);
  return terms.sum(summands);
}

/// A product of two, distributed over a sum.
static Scalar distribute(TermAlgebra &terms, Scalar sum, Scalar factor) {
  llvm::SmallVector<WeightedScalar> summands;
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(sum), terms.getWeights(sum)))
    summands.push_back({terms.multiply(factor, operand), weight});
  return terms.sum(summands);
}

/// Another function of the same argument, the same one or not.
static Scalar changeFunction(TermAlgebra &terms, Function function,
                             Scalar argument, bool isHere) {
  if (isHere && function == Function::Rsqrt)
    return terms.divide(terms.rational(1),
                        terms.apply(Function::Sqrt, argument));
  if (isHere && function == Function::Abs)
    return argument;
  if (isHere && function == Function::Sqrt)
    return terms.power(argument, 1, 2);
  return terms.apply(function, argument);
}

/// The term with changes at random places, some of which change its value.
static Scalar change(TermAlgebra &terms, Scalar term, std::mt19937 &random) {
  llvm::SmallVector<Scalar> operands;
  for (Scalar operand : terms.getOperands(term))
    operands.push_back(change(terms, operand, random));
  bool isHere = random() % 6 == 0;
  switch (terms.getKind(term)) {
  case TermKind::Sum:
    return changeSum(terms, operands, terms.getWeights(term), isHere, random);
  case TermKind::Product:
    if (isHere && terms.getKind(operands[0]) == TermKind::Sum)
      return distribute(terms, operands[0], operands[1]);
    std::shuffle(operands.begin(), operands.end(), random);
    return terms.product(operands);
  case TermKind::Quotient:
    if (isHere)
      return terms.multiply(terms.divide(terms.rational(1), operands[1]),
                            operands[0]);
    return terms.divide(operands[0], operands[1]);
  case TermKind::Apply:
    return changeFunction(terms, terms.getFunction(term), operands[0], isHere);
  case TermKind::Maximum:
    std::shuffle(operands.begin(), operands.end(), random);
    if (isHere)
      operands.pop_back();
    return terms.maximum(operands);
  case TermKind::Compare: {
    Comparison comparison = terms.getComparison(term);
    if (isHere && comparison == Comparison::Less)
      comparison = Comparison::LessEqual;
    return terms.compare(comparison, operands[0], operands[1]);
  }
  case TermKind::Select:
    if (isHere)
      std::swap(operands[1], operands[2]);
    return terms.select(operands[0], operands[1], operands[2]);
  case TermKind::Power: {
    auto [numerator, denominator] = terms.getExponent(term);
    return terms.power(operands[0], numerator, denominator);
  }
  default:
    return term;
  }
}

TEST_F(NormalFormTest, WhatIsProvedHasTheSameValue) {
  // Without samples, so that only the proof stands between right and wrong.
  ProverOptions options;
  options.samples = 0;
  options.nonlinearResourceLimit = 20000;
  unsigned proved = 0, others = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    TermAlgebra algebra;
    std::mt19937 random(seed);
    Scalar left = RandomTerms(algebra, seed, seed % 3 == 0).real(3);
    Scalar right = change(algebra, left, random);
    if (left == right)
      continue;
    auto conditions = algebra.collectConditions({left, right});
    Prover algebraProver(algebra, options);
    ProofResult result = algebraProver.prove(left, right, conditions);
    bool isProved = result.verdict == Verdict::Proved ||
                    result.verdict == Verdict::ProvedByNormalization;
    ++(isProved ? proved : others);
    for (unsigned point = 0; isProved && point < 12; ++point) {
      DoublePoint values(algebra, seed * 100 + point);
      std::optional<double> first = values.get(left);
      std::optional<double> second = values.get(right);
      if (values.algebra.status().isUndefined || !first || !second)
        continue;
      EXPECT_NEAR(*first, *second, 1e-5 * (1 + std::fabs(*first)))
          << seed << ": " << algebra.toString(left) << " = "
          << algebra.toString(right);
    }
  }
  EXPECT_GT(proved, 100u);
  EXPECT_GT(others, 100u);
}

TEST_F(NormalFormTest, TheSolverIsNotAskedWhatIsTooLarge) {
  // The softmax of two numbers, as it is and with the second one subtracted.
  Expression x = real(0), y = real(1);
  auto getPart = [&](Expression x, Expression y) {
    return exp(x) / (exp(x) + exp(y));
  };
  auto proveWith = [&](size_t limit) {
    ProverOptions options;
    options.formulaLimit = limit;
    Prover modest(terms, options);
    return modest.prove(getPart(x, y), getPart(x - y, number(0)), {});
  };
  ProofResult result = proveWith(4);
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_NE(result.reason.find("formulas at once"), std::string::npos)
      << result.reason;
  EXPECT_TRUE(result.isTooLong);
  // A short attempt is about fewer, and a long one follows it.
  EXPECT_EQ(proveWith(32).verdict, Verdict::Proved);
}

TEST_F(NormalFormTest, TheSolverDoesNotGiveUpTimeAndAgain) {
  // The softmax of two numbers, as it is and with the second one subtracted.
  auto proveWith = [&](Prover &prover, Expression x, Expression y) {
    auto getPart = [&](Expression x, Expression y) {
      return exp(x) / (exp(x) + exp(y));
    };
    return prover.prove(getPart(x, y), getPart(x - y, number(0)), {});
  };
  ProverOptions options;
  options.setResourceLimit(1);
  Prover patient(terms, options);
  EXPECT_EQ(proveWith(patient, real(0), real(1)).verdict,
            Verdict::ProvedByNormalization);
  // One way of one step.
  options.resourceBudget = 1;
  Prover modest(terms, options);
  ProofResult result = proveWith(modest, real(0), real(1));
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_EQ(result.reason, "Z3 gave up too often");
  EXPECT_TRUE(result.isTooLong);
  modest.clear();
  EXPECT_EQ(modest.prove(real(0), real(0), {}).verdict, Verdict::Proved);
}

// Claims beyond what is asked at once; later parts rest on earlier ones.
TEST_F(NormalFormTest, LongArgumentsAreProvedInParts) {
  constexpr int64_t count = 300;
  auto getPart = [&](Expression subtracted, Expression last) {
    Expression sum = exp(last - subtracted);
    for (int64_t i = 0; i < count; ++i)
      sum = sum + exp(real(0, i) - subtracted);
    return exp(real(0, 0) - subtracted) / sum;
  };
  size_t queries = prover.getStatistics().solverQueries;
  expectProved(getPart(number(0), real(0, count)),
               getPart(real(0, 1), real(0, count)));
  EXPECT_GT(prover.getStatistics().solverQueries, queries + 1);
  expectNotProved(getPart(number(0), real(0, count)),
                  getPart(real(0, 1), real(0, 1)));
}

TEST_F(NormalFormTest, TooManyTermsAreReported) {
  constexpr int64_t count = 20;
  Expression product = number(1), other = number(1);
  for (int64_t i = 0; i < count; ++i)
    product = product * (real(0, i) + real(1, i));
  // Of two of the factors each, but not of two that follow each other in the
  // other product, so that nothing on the way is common.
  for (int64_t i = 1; i < count; i += 2) {
    int64_t j = (i + 1) % count;
    other = other * (real(0, i) * real(0, j) + real(0, i) * real(1, j) +
                     real(1, i) * real(0, j) + real(1, i) * real(1, j));
  }
  EXPECT_EQ(prove(product, other), Verdict::Unknown);
  EXPECT_EQ(lastResult.reason, "a sum has too many terms");
  // The prover goes on after that.
  expectProved(real(0) + real(1), real(1) + real(0));
}

// 64 to the 6 is more than an exponent holds; 2 to the 32 as an int32 would be
// 0.
TEST_F(NormalFormTest, TooHighPowersAreReported) {
  for (bool isInverse : {false, true}) {
    Expression tower = isInverse ? 1 / real(0) : real(0);
    for (int level = 0; level < 16; ++level)
      tower = tower * tower * tower * tower;
    EXPECT_EQ(prove(tower + real(1), number(1) + real(1)), Verdict::NotProved);
    Normalizer normalizer(terms, {});
    normalizer.getNormalForm(tower);
    EXPECT_EQ(normalizer.failure(), "a power is too high");
  }
  expectProved(pow(pow(real(0), 8), 8), pow(real(0), 64));
}

TEST_F(NormalFormTest, NormalFormsAreTheSameForTheSameSums) {
  Normalizer normalizer(terms, {});
  Expression x = real(0), y = real(1);
  EXPECT_EQ(normalizer.getNormalForm(exp(x + y)),
            normalizer.getNormalForm(exp(y) * exp(x)));
  EXPECT_EQ(normalizer.getNormalForm(max(x, y) + 1),
            normalizer.getNormalForm(max(y + 1, x + 1)));
  EXPECT_NE(normalizer.getNormalForm(x / y), normalizer.getNormalForm(y / x));
}
