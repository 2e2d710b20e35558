//===- RationalTest.cpp - exact numbers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rationals against the laws of a field, and literals against the format they
// are written in.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/NumericAlgebras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace verify;

//===--- Rationals --------------------------------------------------------===//

TEST(RationalTest, SmallAndBigValuesAgree) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    // Products of three leave 64 bits.
    auto draw = [&] {
      int64_t top = static_cast<int64_t>(random() >> (random() % 60));
      int64_t bottom = static_cast<int64_t>(random() >> (1 + random() % 60));
      return Rational(random() % 2 ? top : -top, bottom + 1);
    };
    Rational a = draw(), b = draw(), c = draw();
    EXPECT_EQ((a + b) - b, a);
    EXPECT_EQ((a + b) * c, a * c + b * c);
    EXPECT_EQ(a * (b * c), (a * b) * c);
    if (!c.isZero())
      EXPECT_EQ(a / c * c, a);
    EXPECT_EQ(a.compare(b), -b.compare(a));
    EXPECT_LE(a.floor(), a);
    EXPECT_LT(a, a.floor() + 1);
    EXPECT_EQ((a * b * c).hash(), (c * b * a).hash());
  }
}

TEST(RationalTest, TextAndParts) {
  EXPECT_EQ(Rational(6, -4).toString(), "-3/2");
  EXPECT_EQ(Rational(INT64_MIN, -1).toString(), "9223372036854775808");
  EXPECT_EQ((-Rational(INT64_MIN)).toString(), "9223372036854775808");
  EXPECT_EQ(Rational(-7, 2).floor(), Rational(-4));
  EXPECT_EQ(Rational(2, 3).power(-3), Rational(27, 8));
  EXPECT_EQ(Rational(4, 9).getExactRoot(), Rational(2, 3));
  EXPECT_FALSE(Rational(2).getExactRoot().has_value());
  EXPECT_EQ(Rational::greatestCommonDivisor(Rational(3, 4), Rational(-5, 6)),
            Rational(1, 12));
  // 2^3 is 1 modulo 7.
  EXPECT_EQ(Rational(2).power(100).residue(7), 2u);
  EXPECT_EQ(Rational(1, 3).residue(7), 5u);
  EXPECT_EQ(Rational(-1).residue(7), 6u);
  EXPECT_FALSE(Rational(1, 7).residue(7).has_value());
}

TEST(RationalTest, DoublesRoundToNearest) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    double value = std::ldexp(static_cast<double>(random() >> 11),
                              static_cast<int>(random() % 200) - 150);
    EXPECT_EQ(Rational::fromDouble(value).toDouble(), value);
  }
  EXPECT_EQ(Rational(1, 3).toDouble(), 1.0 / 3);
  EXPECT_EQ(Rational(INT64_MAX).toDouble(), 9223372036854775807.0);
  // Half-way cases go to the even neighbour.
  EXPECT_EQ(Rational((int64_t(1) << 53) + 1).toDouble(), 9007199254740992.0);
  EXPECT_EQ(Rational((int64_t(1) << 53) + 3).toDouble(), 9007199254740996.0);
}

//===--- Literals ---------------------------------------------------------===//

TEST(LiteralTest, SimplestRationals) {
  EXPECT_EQ(simplestRational(0.1), Rational(1, 10));
  EXPECT_EQ(simplestRational(-0.2), Rational(-1, 5));
  EXPECT_EQ(simplestRational(1.0 / 3), Rational(1, 3));
  EXPECT_EQ(simplestRational(1e-5), Rational(1, 100000));
  EXPECT_EQ(simplestRational(1e-6), Rational(1, 1000000));
  EXPECT_EQ(simplestRational(0.044715), Rational(44715, 1000000));
  EXPECT_EQ(simplestRational(0), Rational(0));
  EXPECT_EQ(simplestRational(0.25), Rational(1, 4));
  EXPECT_EQ(simplestRational(12345), Rational(12345));
  // Where several integers round to a number, it means itself.
  EXPECT_EQ(simplestRational(1e30).toDouble(), 1e30);
  EXPECT_EQ(simplestRational(-9007199254740994.0).toString(),
            "-9007199254740994");
}

TEST(LiteralTest, FormatsDecide) {
  double third = static_cast<double>(1.0F / 3);
  EXPECT_EQ(simplestRational(third, FloatFormat::Single), Rational(1, 3));
  EXPECT_NE(simplestRational(third), Rational(1, 3));
  EXPECT_EQ(simplestRational(static_cast<double>(0.1F), FloatFormat::Single),
            Rational(1, 10));
  // 0.333984375 is 1/3 in bfloat16, 0.333251953125 in half precision.
  EXPECT_EQ(simplestRational(0.333984375, FloatFormat::BFloat), Rational(1, 3));
  EXPECT_EQ(simplestRational(0.333251953125, FloatFormat::Half),
            Rational(1, 3));
  // What is no number of the format denotes itself.
  EXPECT_EQ(simplestRational(0.1, FloatFormat::BFloat),
            Rational::fromDouble(0.1));
}

TEST(LiteralTest, LiteralsRoundBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    double value = std::ldexp(static_cast<double>(random() >> 11),
                              static_cast<int>(random() % 100) - 90);
    EXPECT_EQ(simplestRational(value).toDouble(), value);
    auto single = static_cast<float>(value);
    Rational simple =
        simplestRational(static_cast<double>(single), FloatFormat::Single);
    EXPECT_EQ(static_cast<float>(simple.toDouble()), single);
    EXPECT_LE(simple.getDenominator(),
              simplestRational(static_cast<double>(single)).getDenominator());
  }
}

TEST(LiteralTest, NoSimplerRationalRoundsToTheLiteral) {
  for (int64_t bottom = 1; bottom < 60; ++bottom)
    for (int64_t top = 1; top < 60; ++top) {
      Rational value(top, bottom);
      EXPECT_EQ(simplestRational(value.toDouble()), value);
      EXPECT_EQ(simplestRational(
                    static_cast<double>(static_cast<float>(value.toDouble())),
                    FloatFormat::Single),
                value);
    }
}
