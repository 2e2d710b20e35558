//===- SignAlgebraTest.cpp - sets of signs --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sign of what exact or enclosing arithmetic gives is in the set, and what
// leaves a domain there leaves doubt here.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/SignAlgebra.h"
#include "RandomComputation.h"

#include <gtest/gtest.h>

#include <limits>

using namespace verify;

static bool isInDoubt(const NumericAlgebra &algebra) {
  return algebra.status().isUndefined || algebra.status().isUndecided;
}

static uint8_t signOf(const Rational &value) {
  return value < Rational(0)   ? SignAlgebra::Negative
         : Rational(0) < value ? SignAlgebra::Positive
                               : SignAlgebra::Zero;
}

TEST(SignAlgebraTest, SignsOfExactValuesAreAmongThem) {
  RationalAlgebra exact;
  SignAlgebra signs;
  unsigned single = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    exact.reset();
    signs.clearStatus();
    uint8_t sign = signOf(exact.get(compute(exact, seed)));
    uint8_t found = SignAlgebra::getSigns(compute(signs, seed));
    EXPECT_TRUE(found & sign) << seed;
    EXPECT_EQ(found & SignAlgebra::MinusInfinity, 0) << seed;
    // Of a square it is not known that its factors are one.
    single += found == sign && !isInDoubt(signs);
  }
  EXPECT_GT(single, 1500u);
}

/// A computation with functions, extended scalars and domains.
static Scalar computeFunctions(ScalarAlgebra &algebra, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Scalar> reals, extended = {algebra.minusInfinity()};
  for (int i = 0; i < 4; ++i)
    reals.push_back(draw(algebra, random));
  auto pick = [&](const std::vector<Scalar> &from) {
    return from[random() % from.size()];
  };
  for (int step = 0; step < 8; ++step) {
    Scalar a = pick(reals), b = pick(reals), e = pick(extended);
    switch (random() % 9) {
    case 0:
      reals.push_back(algebra.apply(Function(random() % 11), a));
      break;
    case 1:
      reals.push_back(algebra.power(a, int64_t(random() % 7) - 3,
                                    int64_t(random() % 2) + 1));
      break;
    case 2:
      reals.push_back(algebra.divide(a, b));
      break;
    case 3:
      extended.push_back(algebra.add(a, e));
      break;
    case 4:
      reals.push_back(algebra.apply(Function::Exp, e));
      break;
    case 5:
      extended.push_back(algebra.maximum({a, e}));
      break;
    case 6:
      reals.push_back(algebra.select(
          algebra.compare(Comparison(random() % 4), a, e), a, b));
      break;
    case 7:
      reals.push_back(
          algebra.sum({{a, int64_t(random() % 5) - 2}, {b, 1}, {a, 2}}));
      break;
    default:
      reals.push_back(algebra.multiply(a, algebra.negate(b)));
      break;
    }
  }
  return reals.back();
}

TEST(SignAlgebraTest, WhatLeavesADomainLeavesDoubt) {
  SignAlgebra signs;
  unsigned certain = 0, undefined = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    IntervalAlgebra intervals(128);
    signs.clearStatus();
    Scalar enclosed = computeFunctions(intervals, seed);
    uint8_t found = SignAlgebra::getSigns(computeFunctions(signs, seed));
    undefined += intervals.status().isUndefined;
    if (intervals.status().isUndefined)
      EXPECT_TRUE(isInDoubt(signs)) << seed;
    if (isInDoubt(intervals) || isInDoubt(signs))
      continue;
    certain += 1;
    double lower = intervals.getLower(enclosed),
           upper = intervals.getUpper(enclosed);
    uint8_t sign = lower > 0                  ? SignAlgebra::Positive
                   : upper < 0                ? SignAlgebra::Negative
                   : lower == 0 && upper == 0 ? SignAlgebra::Zero
                                              : found;
    EXPECT_TRUE(found & sign) << seed;
  }
  EXPECT_GT(certain, 2000u);
  EXPECT_GT(undefined, 500u);
}

TEST(SignAlgebraTest, DivisorsOfModelsArePositive) {
  SignAlgebra signs;
  Scalar any = SignAlgebra::fromSigns(SignAlgebra::anyReal);
  Scalar masked = signs.add(any, signs.minusInfinity());
  Scalar one = signs.rational(1);
  // A row of a softmax of which something is not masked, a sigmoid, and the
  // root of a mean of squares.
  Scalar row = signs.sum({{signs.apply(Function::Exp, any), 8191},
                          {signs.apply(Function::Exp, masked), 5}});
  Scalar sigmoid =
      signs.add(one, signs.apply(Function::Exp, signs.negate(any)));
  Scalar mean = signs.add(
      signs.divide(signs.sum({{signs.power(any, 2), 64}}), signs.rational(64)),
      signs.rational(1, 100000));
  for (Scalar divisor : {row, sigmoid, mean}) {
    EXPECT_EQ(SignAlgebra::getSigns(divisor), SignAlgebra::Positive);
    (void)signs.divide(any, divisor);
    (void)signs.apply(Function::Rsqrt, divisor);
    EXPECT_FALSE(isInDoubt(signs));
  }
  (void)signs.divide(one, signs.apply(Function::Exp, masked));
  EXPECT_TRUE(isInDoubt(signs));
}

TEST(SignAlgebraTest, EveryDomainIsDoubted) {
  Scalar any = SignAlgebra::fromSigns(SignAlgebra::anyReal);
  Scalar least =
      SignAlgebra::fromSigns(SignAlgebra::Zero | SignAlgebra::Positive);
  auto isDoubted = [](auto use) {
    SignAlgebra signs;
    use(signs);
    return isInDoubt(signs);
  };
  using Signs = SignAlgebra;
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.divide(any, least); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.divide(any, s.rational(0)); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.apply(Function::Log, least); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.apply(Function::Rsqrt, least); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.apply(Function::Sqrt, any); }));
  EXPECT_FALSE(isDoubted([&](Signs &s) { s.apply(Function::Sqrt, least); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.power(least, -1); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.power(any, 1, 2); }));
  EXPECT_FALSE(isDoubted([&](Signs &s) { s.power(least, 3, 2); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.power(least, -3, 2); }));
  EXPECT_TRUE(isDoubted([&](Signs &s) { s.power(least, 1, 3); }));
  EXPECT_TRUE(
      isDoubted([&](Signs &s) { s.divide(any, SignAlgebra::fromSigns(0)); }));
  EXPECT_TRUE(isDoubted(
      [&](Signs &s) { s.literal(std::numeric_limits<double>::quiet_NaN()); }));
}

TEST(SignAlgebraTest, NumbersStayNumbersAsLongAsNothingIsRounded) {
  SignAlgebra signs;
  Scalar three = signs.integer(3), third = signs.rational(1, 3);
  EXPECT_EQ(signs.add(three, signs.rational(1, 4)), signs.rational(13, 4));
  EXPECT_EQ(signs.multiply(three, signs.rational(-1, 4)),
            signs.rational(-3, 4));
  EXPECT_EQ(signs.divide(three, signs.rational(3, 8)), signs.integer(8));
  EXPECT_EQ(signs.compare(Comparison::LessEqual, three, signs.integer(3)),
            signs.boolean(true));
  EXPECT_EQ(signs.compare(Comparison::Less, three, signs.integer(3)),
            signs.boolean(false));
  // A third, its product with 3, and sums and products that lose bits.
  Scalar rounded[] = {
      third,
      signs.multiply(three, third),
      signs.divide(three, signs.integer(7)),
      signs.add(signs.rational(int64_t(1) << 53), signs.rational(1, 3)),
      signs.add(signs.integer(int64_t(1) << 53), signs.rational(1, 4)),
      signs.integer((int64_t(1) << 60) + 1),
      signs.multiply(signs.integer((int64_t(1) << 40) + 1),
                     signs.integer((int64_t(1) << 40) + 1))};
  for (Scalar value : rounded) {
    EXPECT_EQ(value, SignAlgebra::fromSigns(SignAlgebra::Positive));
    EXPECT_EQ(SignAlgebra::getSigns(signs.subtract(value, value)),
              SignAlgebra::anyReal);
  }
  // What overflows is not infinite.
  Scalar huge = signs.constant(Rational::fromDouble(-1.5e308));
  EXPECT_EQ(SignAlgebra::getSigns(signs.add(huge, huge)),
            SignAlgebra::Negative);
  EXPECT_EQ(SignAlgebra::getSigns(signs.multiply(huge, huge)),
            SignAlgebra::Positive);
  EXPECT_EQ(SignAlgebra::getSigns(signs.add(signs.minusInfinity(), huge)),
            SignAlgebra::MinusInfinity);
  // Nothing is taken for 0 because it is small.
  Scalar small = signs.rational(1, int64_t(1) << 62);
  for (int i = 0; i < 5; ++i)
    small = signs.multiply(small, small);
  EXPECT_EQ(SignAlgebra::getSigns(small), SignAlgebra::Positive);
}

TEST(SignAlgebraTest, WeightsCountDifferentValues) {
  SignAlgebra signs;
  auto sum = [&](uint8_t of, int64_t weight) {
    return SignAlgebra::getSigns(
        signs.sum({{SignAlgebra::fromSigns(of), weight}}));
  };
  constexpr uint8_t mixed = SignAlgebra::Negative | SignAlgebra::Positive;
  EXPECT_EQ(sum(mixed, 1), mixed);
  EXPECT_EQ(sum(mixed, 3), SignAlgebra::anyReal);
  EXPECT_EQ(sum(mixed | SignAlgebra::MinusInfinity, 3),
            SignAlgebra::anyReal | SignAlgebra::MinusInfinity);
  EXPECT_EQ(sum(SignAlgebra::MinusInfinity, 3), SignAlgebra::MinusInfinity);
  EXPECT_EQ(sum(SignAlgebra::MinusInfinity | SignAlgebra::Zero, -1),
            SignAlgebra::anyReal | SignAlgebra::MinusInfinity);
  EXPECT_EQ(sum(SignAlgebra::Positive, 3), SignAlgebra::Positive);
  EXPECT_EQ(sum(SignAlgebra::Positive, -3), SignAlgebra::Negative);
  EXPECT_EQ(sum(SignAlgebra::Zero | SignAlgebra::Positive, -1),
            SignAlgebra::Zero | SignAlgebra::Negative);
  // A mean of what is chosen may be 0.
  Scalar chosen = signs.select(signs.compare(Comparison::Less,
                                             SignAlgebra::fromSigns(mixed),
                                             signs.integer(0)),
                               signs.integer(1), signs.integer(-1));
  EXPECT_EQ(SignAlgebra::getSigns(chosen), SignAlgebra::anyReal);
}
