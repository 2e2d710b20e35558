//===- FarthestPairTest.cpp - how far apart numbers are -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WitnessInputs.h"

#include <gtest/gtest.h>

#include <random>

using namespace verify;

TEST(FarthestPairTest, PairsThatAreCloseAreAddedTogether) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  size_t close = 0, apart = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<Scalar> lefts, rights;
    FarthestPair wanted, found;
    bool isAnyFar = false;
    size_t count = 1 + random() % 11;
    for (size_t i = 0; i < count; ++i) {
      double left = static_cast<double>(random() % 1000) - 500, right = left;
      switch (random() % 40) {
      case 0:
        right = left + 1;
        break;
      case 1:
        left = right = -infinity;
        break;
      case 2:
        right = random() % 2 ? infinity : none;
        break;
      case 3:
        right = left * (1 + 1e-9);
        break;
      default:
        break;
      }
      isAnyFar |= wanted.add(left, right) || std::isnan(right);
      lefts.push_back(DoubleAlgebra::fromDouble(left));
      rights.push_back(DoubleAlgebra::fromDouble(right));
    }
    bool areClose = found.addClose(lefts, rights);
    ++(areClose ? close : apart);
    EXPECT_TRUE(!areClose || !isAnyFar) << "seed " << seed;
    EXPECT_EQ(found.getMagnitude(), areClose ? wanted.getMagnitude() : 0);
    EXPECT_FALSE(found.isFarApart(0));
  }
  EXPECT_GT(close, 500U);
  EXPECT_GT(apart, 200U);
}
