//===- DoubleIntervalsTest.cpp - intervals between doubles ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An interval must contain what exact arithmetic gives, or that of high
// precision.
//
//===----------------------------------------------------------------------===//

#include "RandomComputation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace verify;

TEST(DoubleIntervalsTest, ExactValuesLieInThem) {
  RationalAlgebra exact;
  DoubleIntervalAlgebra doubles;
  IntervalAlgebra fine(256);
  unsigned decided = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    exact.reset();
    doubles.reset();
    Rational value = exact.get(compute(exact, seed));
    Scalar enclosed = compute(doubles, seed);
    if (doubles.status().isUndecided)
      continue;
    ++decided;
    EXPECT_LE(Rational::fromDouble(doubles.getLower(enclosed)), value) << seed;
    EXPECT_LE(value, Rational::fromDouble(doubles.getUpper(enclosed))) << seed;
    EXPECT_NEAR(doubles.getLower(enclosed), doubles.getUpper(enclosed),
                1e-9 * (1 + std::fabs(value.toDouble())));
  }
  EXPECT_GT(decided, 1500u);
}

TEST(DoubleIntervalsTest, ExactResultsArePoints) {
  DoubleIntervalAlgebra doubles;
  auto isPoint = [&](Scalar value) {
    return doubles.getLower(value) == doubles.getUpper(value);
  };
  Scalar three = doubles.integer(3), third = doubles.rational(1, 3);
  EXPECT_TRUE(isPoint(doubles.rational(3, 4)));
  EXPECT_FALSE(isPoint(third));
  EXPECT_FALSE(isPoint(doubles.multiply(three, third)));
  EXPECT_TRUE(isPoint(doubles.sum({{three, 5}, {doubles.rational(1, 8), 3}})));
  EXPECT_FALSE(isPoint(doubles.sum({{three, 5}, {third, 3}})));
  Scalar large = doubles.integer(int64_t(1) << 53);
  EXPECT_FALSE(isPoint(doubles.add(large, doubles.integer(1))));
  EXPECT_FALSE(isPoint(
      doubles.multiply(doubles.add(large, doubles.integer(-1)), three)));
  EXPECT_FALSE(
      doubles.areDisjoint(doubles.multiply(three, third), doubles.integer(1)));
  EXPECT_TRUE(isPoint(doubles.power(doubles.rational(9, 4), 3, 2)));
  EXPECT_TRUE(isPoint(doubles.apply(Function::Exp, doubles.minusInfinity())));
}

TEST(DoubleIntervalsTest, NothingIsRoundedWithZero) {
  DoubleIntervalAlgebra doubles;
  Scalar zero = doubles.integer(0), third = doubles.rational(1, 3);
  auto isThird = [&](Scalar value) {
    return doubles.getLower(value) == doubles.getLower(third) &&
           doubles.getUpper(value) == doubles.getUpper(third);
  };
  EXPECT_TRUE(isThird(doubles.add(zero, third)));
  EXPECT_TRUE(isThird(doubles.add(third, zero)));
  for (Scalar nothing :
       {doubles.multiply(zero, third), doubles.multiply(third, zero),
        doubles.divide(zero, third), doubles.sum({{zero, 3}, {zero, 1}})}) {
    EXPECT_EQ(doubles.getLower(nothing), 0);
    EXPECT_EQ(doubles.getUpper(nothing), 0);
  }
  // Zeros among terms add no error.
  Scalar plain = doubles.sum({{third, 3}, {third, 1}});
  Scalar among = doubles.sum({{zero, 5}, {third, 3}, {zero, 1}, {third, 1}});
  EXPECT_EQ(doubles.getLower(among), doubles.getLower(plain));
  EXPECT_EQ(doubles.getUpper(among), doubles.getUpper(plain));
  // Of what overflowed nothing is known.
  Scalar large = doubles.constant(Rational(10).power(200));
  EXPECT_LT(doubles.getLower(doubles.multiply(
                zero, doubles.multiply(large, doubles.negate(large)))),
            0);
  // An interval around it is not it, nor has it an inverse.
  Scalar around = doubles.subtract(third, third);
  EXPECT_LT(doubles.getLower(doubles.multiply(around, third)), 0);
  EXPECT_GT(doubles.getUpper(doubles.add(around, zero)), 0);
  EXPECT_EQ(doubles.getUpper(doubles.add(zero, doubles.minusInfinity())),
            -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(doubles.status().isUndefined);
  (void)doubles.divide(zero, zero);
  EXPECT_TRUE(doubles.status().isUndefined);
}

TEST(DoubleIntervalsTest, ZeroAndOneAreForAll) {
  DoubleIntervalAlgebra doubles;
  auto isAt = [&](Scalar value, double number) {
    return doubles.getLower(value) == number &&
           doubles.getUpper(value) == number;
  };
  for (int round = 0; round < 2; ++round) {
    Scalar zero = doubles.integer(0), one = doubles.integer(1);
    EXPECT_EQ(doubles.compare(Comparison::Less, zero, one), one);
    // Who gives them back has only one of many.
    size_t mark = doubles.mark();
    Scalar kept = doubles.keep(one, mark);
    doubles.release(kept);
    doubles.release(zero);
    Scalar other =
        doubles.keep(doubles.multiply(doubles.integer(2), doubles.integer(4)),
                     doubles.mark());
    EXPECT_TRUE(isAt(other, 8));
    EXPECT_TRUE(isAt(zero, 0) && isAt(one, 1));
    EXPECT_TRUE(isAt(doubles.integer(0), 0) && isAt(doubles.integer(1), 1));
    doubles.reset();
  }
}

TEST(DoubleIntervalsTest, LongSumsOfRoundedConstantsContainTheExactOnes) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 50; ++round) {
    DoubleIntervalAlgebra doubles;
    Rational exact;
    std::vector<WeightedScalar> terms;
    for (int term = 0; term < 400; ++term) {
      Rational number(1 + static_cast<int64_t>(random() % 1000),
                      1 + static_cast<int64_t>(random() % 997));
      auto weight = static_cast<int64_t>(random() % 7) - 3;
      exact = exact + number * Rational(weight);
      terms.push_back({doubles.constant(number), weight});
      Scalar one = terms.back().value;
      EXPECT_LE(Rational::fromDouble(doubles.getLower(one)), number);
      EXPECT_LE(number, Rational::fromDouble(doubles.getUpper(one)));
    }
    Scalar sum = doubles.sum(terms);
    EXPECT_LE(Rational::fromDouble(doubles.getLower(sum)), exact);
    EXPECT_LE(exact, Rational::fromDouble(doubles.getUpper(sum)));
    // Exact terms are rounded when they are added up.
    std::vector<WeightedScalar> points;
    Rational total;
    for (int term = 0; term < 400; ++term) {
      double number = std::ldexp(static_cast<double>(random() >> 11),
                                 -static_cast<int>(random() % 60));
      total = total + Rational::fromDouble(number);
      points.push_back({doubles.constant(Rational::fromDouble(number)), 1});
    }
    sum = doubles.sum(points);
    EXPECT_LE(Rational::fromDouble(doubles.getLower(sum)), total);
    EXPECT_LE(total, Rational::fromDouble(doubles.getUpper(sum)));
    EXPECT_LE(doubles.getUpper(sum) - doubles.getLower(sum),
              1e-9 * total.toDouble());
  }
}

namespace {
class FunctionSourceTest : public ::testing::TestWithParam<FunctionSource> {};
} // namespace
INSTANTIATE_TEST_SUITE_P(Sources, FunctionSourceTest,
                         ::testing::Values(FunctionSource::Library,
                                           FunctionSource::Rounded));

TEST_P(FunctionSourceTest, FunctionsContainThoseOfHighPrecision) {
  // What the C library gives is assumed to be within 16 units (A24).
  IntervalAlgebra fine(256);
  std::mt19937_64 random(4);
  for (Function function :
       {Function::Exp, Function::Log, Function::Sqrt, Function::Rsqrt,
        Function::Sin, Function::Cos, Function::Tanh, Function::Erf,
        Function::ErfDerivative, Function::Abs, Function::Sign})
    for (int round = 0; round < 4000; ++round) {
      DoubleIntervalAlgebra doubles(GetParam());
      fine.reset();
      double at = std::ldexp(static_cast<double>(random() >> 11) + 1,
                             static_cast<int>(random() % 40) - 80);
      bool isReal = function != Function::Log && function != Function::Sqrt &&
                    function != Function::Rsqrt;
      if (isReal && random() % 2)
        at = -at;
      Rational number = Rational::fromDouble(at);
      Scalar wide = doubles.constant(number), narrow = fine.constant(number);
      if (round % 2) {
        // A little less than the number to a little more.
        wide = doubles.multiply(
            wide, doubles.divide(doubles.integer(3), doubles.integer(7)));
        narrow = fine.constant(number * Rational(3, 7));
      }
      wide = doubles.apply(function, wide);
      narrow = fine.apply(function, narrow);
      EXPECT_LE(doubles.getLower(wide), fine.getLower(narrow)) << at;
      EXPECT_GE(doubles.getUpper(wide), fine.getUpper(narrow)) << at;
      EXPECT_LE(doubles.getUpper(wide) - doubles.getLower(wide),
                1e-9 * (std::fabs(doubles.getUpper(wide)) + std::fabs(at) + 1))
          << getName(function).str() << " " << at;
    }
}

TEST(DoubleIntervalsTest, RoundedFunctionsAreNeighbours) {
  // Of one number there is one double on either side, whatever the library.
  for (Function function :
       {Function::Exp, Function::Log, Function::Tanh, Function::Erf})
    for (int64_t at = 1; at < 40; ++at) {
      DoubleIntervalAlgebra doubles(FunctionSource::Rounded);
      Scalar value = doubles.apply(function, doubles.rational(at, 16));
      double lower = doubles.getLower(value), upper = doubles.getUpper(value);
      EXPECT_LE(lower, upper);
      EXPECT_LE(upper, std::nextafter(lower, 2 * std::fabs(lower) + 1));
    }
}

TEST(DoubleIntervalsTest, OverflowIsNoInfinity) {
  DoubleIntervalAlgebra doubles;
  Scalar large = doubles.constant(Rational(10).power(200));
  Scalar negative = doubles.negate(large);
  Scalar exact = doubles.constant(-Rational(10).power(400));
  for (Scalar overflown :
       {doubles.multiply(large, negative),
        doubles.divide(negative, doubles.constant(Rational(10).power(-200))),
        doubles.sum({{doubles.multiply(
                          negative, doubles.constant(Rational(10).power(108))),
                      1000}}),
        exact}) {
    EXPECT_GT(doubles.getUpper(overflown), -1e300);
    EXPECT_FALSE(doubles.areDisjoint(overflown, exact));
  }
  // It is one where an operand is.
  Scalar infinite = doubles.minusInfinity();
  for (Scalar still :
       {doubles.add(infinite, large), doubles.sum({{infinite, 3}, {large, 1}}),
        doubles.maximum({infinite, infinite})})
    EXPECT_EQ(doubles.getUpper(still),
              -std::numeric_limits<double>::infinity());
}

TEST(DoubleIntervalsTest, KeptScalarsStay) {
  DoubleIntervalAlgebra doubles;
  std::vector<Scalar> kept;
  for (int64_t number = 0; number < 200; ++number) {
    size_t mark = doubles.mark();
    Scalar value = doubles.add(doubles.integer(number), doubles.integer(1));
    kept.push_back(doubles.keep(value, mark));
    if (number % 3 == 2) {
      doubles.release(kept[number - 1]);
      kept[number - 1] = doubles.keep(doubles.integer(0), doubles.mark());
    }
  }
  for (int64_t number = 0; number < 200; ++number)
    EXPECT_EQ(
        doubles.toDouble(kept[number]),
        static_cast<double>(number % 3 == 1 && number < 199 ? 0 : number + 1))
        << number;
}
