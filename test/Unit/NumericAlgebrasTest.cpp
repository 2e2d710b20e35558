//===- NumericAlgebrasTest.cpp - numbers, exact and enclosed --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three numeric algebras against each other: an interval must contain what
// exact arithmetic gives, and narrow with precision.
//
//===----------------------------------------------------------------------===//

#include "RandomComputation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace verify;

//===--- Evaluation -------------------------------------------------------===//

TEST(NumericAlgebrasTest, ExactValuesLieInIntervals) {
  RationalAlgebra exact;
  IntervalAlgebra coarse(64), fine(256);
  DoubleAlgebra doubles;
  for (unsigned seed = 0; seed < 500; ++seed) {
    exact.reset();
    coarse.reset();
    fine.reset();
    Rational value = exact.get(compute(exact, seed));
    EXPECT_FALSE(exact.status().isInexact);
    Scalar wide = compute(coarse, seed), narrow = compute(fine, seed);
    // Equal numbers that are not points cannot be told apart.
    if (!coarse.status().isUndecided && !fine.status().isUndecided) {
      for (auto [algebra, interval] :
           {std::pair(&coarse, wide), std::pair(&fine, narrow)}) {
        Scalar enclosed = algebra->constant(value);
        EXPECT_FALSE(algebra->areDisjoint(interval, enclosed)) << seed;
      }
      EXPECT_LE(fine.getUpper(narrow) - fine.getLower(narrow),
                coarse.getUpper(wide) - coarse.getLower(wide));
    }
    double approximate = doubles.toDouble(compute(doubles, seed));
    if (!coarse.status().isUndecided)
      EXPECT_NEAR(approximate, value.toDouble(),
                  1e-9 * (1 + std::fabs(approximate)));
  }
}

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

TEST(NumericAlgebrasTest, ExactValuesThatAreKeptStay) {
  RationalAlgebra exact;
  std::vector<Scalar> kept;
  for (int64_t number = 0; number < 200; ++number) {
    size_t mark = exact.mark();
    Scalar value = exact.divide(exact.integer(number), exact.integer(7));
    kept.push_back(exact.keep(value, mark));
    // Of every three one is forgotten, and its place is used again.
    if (number % 3 == 2) {
      exact.release(kept[number - 1]);
      kept[number - 1] = exact.minusInfinity();
    }
    // What is kept already may be kept once more, apart from the first.
    Scalar copy = exact.keep(kept[number], exact.mark());
    EXPECT_NE(copy, kept[number]);
    exact.release(copy);
  }
  for (int64_t number = 0; number < 200; ++number) {
    if (exact.isMinusInfinity(kept[number]))
      continue;
    EXPECT_EQ(exact.get(kept[number]), Rational(number, 7)) << number;
  }
  EXPECT_LT(exact.mark(), 210u);
}

TEST(NumericAlgebrasTest, FunctionsLieInIntervals) {
  IntervalAlgebra intervals(100);
  DoubleAlgebra doubles;
  for (Function function :
       {Function::Exp, Function::Log, Function::Sqrt, Function::Rsqrt,
        Function::Sin, Function::Cos, Function::Tanh, Function::Erf,
        Function::ErfDerivative, Function::Abs, Function::Sign})
    for (int64_t top = 1; top < 40; ++top) {
      Scalar enclosed = intervals.apply(function, intervals.rational(top, 7));
      double value =
          doubles.toDouble(doubles.apply(function, doubles.rational(top, 7)));
      EXPECT_NEAR(value, intervals.getLower(enclosed),
                  1e-12 * (1 + std::fabs(value)));
      EXPECT_LE(intervals.getLower(enclosed), intervals.getUpper(enclosed));
      EXPECT_LE(intervals.getUpper(enclosed) - intervals.getLower(enclosed),
                1e-12 * (1 + std::fabs(value)));
    }
  EXPECT_FALSE(intervals.status().isUndecided);
}

TEST(NumericAlgebrasTest, IntervalsOfFunctionsContainTheirEnds) {
  IntervalAlgebra intervals(64);
  // [1/3, 2/3], from an undecided choice.
  Scalar unknown = intervals.compare(
      Comparison::Less, intervals.power(intervals.rational(2), 1, 2),
      intervals.power(intervals.rational(2), 1, 2));
  EXPECT_TRUE(intervals.status().isUndecided);
  Scalar wide = intervals.select(unknown, intervals.rational(1, 3),
                                 intervals.rational(2, 3));
  for (Function function :
       {Function::Exp, Function::Log, Function::Rsqrt, Function::Tanh,
        Function::Erf, Function::ErfDerivative, Function::Cos})
    for (int64_t top : {1, 2}) {
      Scalar at = intervals.apply(function, intervals.rational(top, 3));
      EXPECT_FALSE(intervals.areDisjoint(intervals.apply(function, wide), at));
    }
}

TEST(NumericAlgebrasTest, PowersAndRoots) {
  IntervalAlgebra intervals(128);
  Scalar root = intervals.power(intervals.rational(8), 2, 3);
  EXPECT_LE(intervals.getLower(root), 4);
  EXPECT_GE(intervals.getUpper(root), 4);
  Scalar inverse = intervals.power(intervals.rational(-2), -3, 1);
  EXPECT_EQ(intervals.getLower(inverse), -0.125);
  // Squares are not negative, even of intervals around 0.
  Scalar tiny =
      intervals.subtract(intervals.power(intervals.rational(2), 1, 2),
                         intervals.power(intervals.rational(2), 1, 2));
  EXPECT_GE(intervals.getLower(intervals.multiply(tiny, tiny)), 0);
  RationalAlgebra exact;
  EXPECT_EQ(exact.get(exact.power(exact.rational(4, 9), -3, 2)),
            Rational(27, 8));
  EXPECT_FALSE(exact.status().isInexact);
  exact.power(exact.rational(2), 1, 2);
  EXPECT_TRUE(exact.status().isInexact);
}

TEST(NumericAlgebrasTest, MinusInfinity) {
  DoubleAlgebra doubles;
  RationalAlgebra exact;
  IntervalAlgebra intervals(64);
  for (NumericAlgebra *algebra : {static_cast<NumericAlgebra *>(&doubles),
                                  static_cast<NumericAlgebra *>(&exact),
                                  static_cast<NumericAlgebra *>(&intervals)}) {
    Scalar infinity = algebra->minusInfinity();
    Scalar shifted = algebra->add(infinity, algebra->rational(5));
    EXPECT_EQ(algebra->toDouble(shifted), -HUGE_VAL);
    EXPECT_EQ(algebra->toDouble(algebra->apply(Function::Exp, shifted)), 0);
    EXPECT_EQ(
        algebra->toDouble(algebra->maximum({shifted, algebra->rational(-7)})),
        -7);
    EXPECT_EQ(algebra->toDouble(algebra->compare(Comparison::Less, shifted,
                                                 algebra->rational(-7))),
              1);
    Scalar unweighted =
        algebra->sum({{infinity, 0}, {algebra->rational(3), 2}});
    EXPECT_EQ(algebra->toDouble(unweighted), 6);
    EXPECT_FALSE(algebra->status().isUndefined);
    EXPECT_FALSE(algebra->status().isUndecided);
  }
}

TEST(NumericAlgebrasTest, DomainsAreChecked) {
  DoubleAlgebra doubles;
  RationalAlgebra exact;
  IntervalAlgebra intervals(64);
  for (NumericAlgebra *algebra : {static_cast<NumericAlgebra *>(&doubles),
                                  static_cast<NumericAlgebra *>(&exact),
                                  static_cast<NumericAlgebra *>(&intervals)}) {
    auto isUndefined = [&](auto compute) {
      algebra->clearStatus();
      compute();
      return algebra->status().isUndefined;
    };
    Scalar zero = algebra->rational(0), one = algebra->rational(1);
    Scalar negative = algebra->rational(-1);
    EXPECT_TRUE(isUndefined([&] { algebra->divide(one, zero); }));
    EXPECT_TRUE(isUndefined([&] { algebra->apply(Function::Log, zero); }));
    EXPECT_TRUE(isUndefined([&] { algebra->apply(Function::Sqrt, negative); }));
    EXPECT_TRUE(isUndefined([&] { algebra->apply(Function::Rsqrt, zero); }));
    EXPECT_TRUE(isUndefined([&] { algebra->power(zero, -1, 1); }));
    EXPECT_TRUE(isUndefined([&] { algebra->power(negative, 1, 2); }));
    EXPECT_FALSE(isUndefined([&] { algebra->apply(Function::Sqrt, zero); }));
    EXPECT_FALSE(isUndefined([&] { algebra->power(zero, 0, 1); }));
  }
}

TEST(NumericAlgebrasTest, OverlapsAreUndecided) {
  IntervalAlgebra intervals(64);
  auto isUndecided = [&](auto compute) {
    intervals.clearStatus();
    compute();
    return intervals.status().isUndecided;
  };
  Scalar third = intervals.rational(1, 3), again = intervals.rational(1, 3);
  Scalar half = intervals.rational(1, 2);
  // Whichever is greater, the ends enclose it.
  EXPECT_FALSE(isUndecided([&] { intervals.maximum({third, again}); }));
  EXPECT_TRUE(
      isUndecided([&] { intervals.compare(Comparison::Equal, third, again); }));
  EXPECT_TRUE(isUndecided(
      [&] { intervals.compare(Comparison::LessEqual, third, again); }));
  EXPECT_FALSE(isUndecided([&] {
    intervals.compare(Comparison::Equal, half, intervals.rational(2, 4));
  }));
  Scalar difference = intervals.subtract(third, again);
  EXPECT_TRUE(isUndecided([&] { intervals.divide(half, difference); }));
  EXPECT_TRUE(
      isUndecided([&] { intervals.apply(Function::Sign, difference); }));
}

TEST(NumericAlgebrasTest, BothKindsOfIntervalsCompareAlike) {
  DoubleIntervalAlgebra doubles;
  IntervalAlgebra wide(64);
  // Points, intervals that overlap, the whole line, and minus infinity.
  auto list = [](EnclosingAlgebra &algebra) {
    Scalar third = algebra.rational(1, 3), again = algebra.rational(1, 3);
    return std::vector<Scalar>{
        algebra.rational(0),
        algebra.rational(-7, 4),
        algebra.rational(2),
        algebra.rational(8, 4),
        third,
        again,
        algebra.add(third, algebra.rational(5, 3)),
        algebra.uninterpreted("f", {third}, ScalarSort::Real),
        algebra.minusInfinity()};
  };
  std::vector<Scalar> first = list(doubles), second = list(wide);
  auto compare = [](EnclosingAlgebra &algebra, Comparison comparison,
                    Scalar left, Scalar right) {
    algebra.clearStatus();
    double truth = algebra.toDouble(algebra.compare(comparison, left, right));
    return std::pair(truth, algebra.status().isUndecided);
  };
  for (Comparison comparison : {Comparison::Equal, Comparison::NotEqual,
                                Comparison::Less, Comparison::LessEqual})
    for (size_t i = 0; i < first.size(); ++i)
      for (size_t j = 0; j < first.size(); ++j)
        EXPECT_EQ(compare(doubles, comparison, first[i], first[j]),
                  compare(wide, comparison, second[i], second[j]))
            << static_cast<int>(comparison) << ": " << i << ", " << j;
}

TEST(NumericAlgebrasTest, UnknownFunctions) {
  DoubleAlgebra doubles;
  RationalAlgebra exact;
  IntervalAlgebra intervals(64);
  for (NumericAlgebra *algebra : {static_cast<NumericAlgebra *>(&doubles),
                                  static_cast<NumericAlgebra *>(&exact),
                                  static_cast<NumericAlgebra *>(&intervals)}) {
    auto call = [&](llvm::StringRef name, int64_t argument) {
      return algebra->toDouble(algebra->uninterpreted(
          name, {algebra->rational(argument)}, ScalarSort::Real));
    };
    double first = call("f", 1), second = call("f", 1);
    EXPECT_TRUE(first == second || std::isnan(first));
    EXPECT_TRUE(algebra->status().usesUninterpreted);
    if (algebra == &intervals)
      continue;
    EXPECT_NE(first, call("f", 2));
    EXPECT_NE(first, call("g", 1));
  }
  Scalar anything = intervals.uninterpreted("f", {}, ScalarSort::Real);
  EXPECT_FALSE(intervals.areDisjoint(anything, intervals.rational(7)));
}
