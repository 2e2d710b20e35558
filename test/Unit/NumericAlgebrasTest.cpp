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

TEST(NumericAlgebrasTest, RemaindersAreDroppedWhereAsked) {
  DoubleAlgebra keeping, dropping(DoubleAlgebra::Remainders::Drop);
  auto getRest = [](ScalarAlgebra &algebra, double left, double right) {
    return DoubleAlgebra::getDouble(algebra.add(
        DoubleAlgebra::fromDouble(left), DoubleAlgebra::fromDouble(right)));
  };
  double third = 1.0 / 3, close = third * (1 + 0x1p-45);
  EXPECT_NE(getRest(keeping, third, -close), 0);
  EXPECT_EQ(getRest(dropping, third, -close), 0);
  EXPECT_EQ(getRest(*dropping.makeTwin(), third, -close), 0);
  EXPECT_NE(getRest(*keeping.makeTwin(), third, -close), 0);
  // What is small is not what is left.
  EXPECT_EQ(getRest(dropping, 0, 1e-30), 1e-30);
  EXPECT_EQ(getRest(dropping, 1e-30, 0), 1e-30);
  EXPECT_NE(getRest(dropping, third, -third * (1 + 0x1p-35)), 0);
  EXPECT_EQ(getRest(dropping, 1e-30, 1), 1);
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

TEST(NumericAlgebrasTest, WhatIsKnownNotToBeNegative) {
  auto check = [](NumericAlgebra &algebra) {
    Scalar zero = algebra.integer(0);
    Scalar third = algebra.rational(1, 3);
    EXPECT_TRUE(algebra.isNonNegative(zero));
    EXPECT_TRUE(algebra.isNonNegative(third));
    EXPECT_FALSE(algebra.isNonNegative(algebra.negate(third)));
    EXPECT_FALSE(algebra.isNonNegative(algebra.minusInfinity()));
    EXPECT_FALSE(algebra.isNonNegative(algebra.literal(-1e-300)));
  };
  DoubleAlgebra doubles;
  DoubleIntervalAlgebra fast;
  IntervalAlgebra precise(128);
  RationalAlgebra exact;
  check(doubles);
  check(fast);
  check(precise);
  // Others say nothing.
  EXPECT_FALSE(exact.isNonNegative(exact.integer(1)));
  // 0, but for rounding.
  auto makeRest = [](NumericAlgebra &algebra) {
    Scalar third = algebra.rational(1, 3);
    return algebra.subtract(third, algebra.rational(1, 3));
  };
  // Doubles have a value for what is undefined.
  auto makeNone = [](NumericAlgebra &algebra) {
    return algebra.divide(algebra.integer(1), algebra.integer(0));
  };
  for (EnclosingAlgebra *algebra :
       {static_cast<EnclosingAlgebra *>(&fast),
        static_cast<EnclosingAlgebra *>(&precise)}) {
    EXPECT_FALSE(algebra->isNonNegative(makeRest(*algebra)));
    EXPECT_FALSE(algebra->isNonNegative(makeNone(*algebra)));
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

// Which of several numbers a mask chooses is not known by its ends.
TEST(NumericAlgebrasTest, ChosenNumbersAreThoseThatTheyAreChosenFrom) {
  IntervalAlgebra intervals(128);
  auto isTrue = [&](Comparison comparison, Scalar left, Scalar right) {
    intervals.clearStatus();
    Scalar truth = intervals.compare(comparison, left, right);
    return !intervals.status().isUndecided && intervals.getLower(truth) == 1;
  };
  Scalar small = intervals.apply(Function::Exp, intervals.rational(1));
  Scalar large = intervals.apply(Function::Exp, intervals.rational(2));
  WeightedScalar terms[] = {
      {intervals.multiply(intervals.integer(0), small), 1},
      {intervals.multiply(intervals.integer(1), large), 1}};
  size_t mark = intervals.mark();
  Scalar chosen = intervals.keep(intervals.sum(terms), mark);
  Scalar copy = intervals.keep(chosen, intervals.mark());
  Scalar greatest = intervals.maximum({small, large});
  for (Scalar each : {chosen, copy, greatest}) {
    EXPECT_TRUE(isTrue(Comparison::LessEqual, each, large));
    EXPECT_TRUE(isTrue(Comparison::Equal, large, each));
    EXPECT_TRUE(isTrue(Comparison::Less, small, each));
    EXPECT_FALSE(isTrue(Comparison::Less, each, large));
  }
  // The same ends do not make the same number.
  Scalar another = intervals.apply(Function::Exp, intervals.rational(2));
  EXPECT_EQ(intervals.getLower(another), intervals.getLower(large));
  EXPECT_FALSE(isTrue(Comparison::LessEqual, another, large));
  Scalar twice = intervals.sum({{large, 2}});
  EXPECT_TRUE(isTrue(Comparison::Less, large, twice));
}

// One interval stands for several numbers then.
TEST(NumericAlgebrasTest, NothingIsKnownOfTheOriginOfJoinedNumbers) {
  IntervalAlgebra intervals(128);
  auto isUndecided = [&](Scalar left, Scalar right) {
    intervals.clearStatus();
    (void)intervals.compare(Comparison::Equal, left, right);
    return intervals.status().isUndecided;
  };
  auto make = [&] {
    return intervals.apply(Function::Exp, intervals.integer(1));
  };
  auto copy = [&](Scalar value) {
    return intervals.keep(value, intervals.mark());
  };
  Scalar left = make();
  EXPECT_FALSE(isUndecided(left, copy(left)));
  // Points are what they are.
  EXPECT_TRUE(intervals.join(intervals.integer(1), intervals.integer(1)));
  EXPECT_FALSE(isUndecided(left, copy(left)));
  std::optional<Scalar> both = intervals.join(left, make());
  ASSERT_TRUE(both);
  EXPECT_TRUE(isUndecided(*both, copy(*both)));
  intervals.reset();
  left = make();
  EXPECT_FALSE(isUndecided(left, copy(left)));
  Scalar close = intervals.add(left, intervals.rational(1, int64_t(1) << 62));
  for (int64_t i = 0; i < 2; ++i)
    close =
        intervals.multiply(close, intervals.add(intervals.integer(1), close));
  EXPECT_FALSE(intervals.join(left, close));
  EXPECT_FALSE(isUndecided(left, copy(left)));
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
