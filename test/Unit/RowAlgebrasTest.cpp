//===- RowAlgebrasTest.cpp - many scalars at once ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomComputation.h"

#include <gtest/gtest.h>

using namespace verify;

/// Rows give what their elements give, with a row of equal ones among them.
template <typename Algebra> static void checkRows(Algebra &algebra) {
  std::unique_ptr<RowAlgebra> rows = algebra.makeRows();
  ASSERT_TRUE(rows);
  for (unsigned seed = 0; seed < 300; ++seed) {
    constexpr size_t count = 5;
    algebra.reset();
    rows->reset(count);
    std::mt19937 random(seed);
    std::vector<std::vector<Scalar>> columns(count, std::vector<Scalar>(4));
    std::vector<std::vector<Scalar>> drawn;
    for (size_t row = 0; row < 4; ++row) {
      std::vector<Scalar> &scalars = drawn.emplace_back();
      scalars.resize(2 * count);
      for (Scalar &scalar : scalars)
        scalar = draw(algebra, random);
      for (size_t i = 0; i < count; ++i)
        columns[i][row] = scalars[row == 0 ? 0 : 2 * i];
    }
    // A square is more than a product of equal numbers.
    for (std::vector<Scalar> &column : columns)
      column.push_back(column[1]);
    std::vector<Scalar> operands;
    operands.reserve(drawn.size() + 1);
    for (const std::vector<Scalar> &scalars : drawn)
      operands.push_back(
          rows->makeRow(scalars.data(), operands.empty() ? 0 : 2));
    operands.push_back(operands[1]);
    RowAlgebra::Elements row = rows->get(compute(*rows, random, operands));
    for (size_t i = 0; i < count; ++i) {
      Scalar single = compute(algebra, random, columns[i]);
      EXPECT_EQ(algebra.toDouble(row[i]), algebra.toDouble(single)) << seed;
      if constexpr (std::is_same_v<Algebra, DoubleIntervalAlgebra>) {
        EXPECT_EQ(algebra.getLower(row[i]), algebra.getLower(single));
        EXPECT_EQ(algebra.getUpper(row[i]), algebra.getUpper(single));
      }
    }
  }
}

TEST(RowAlgebrasTest, RowsAreTheirElements) {
  DoubleAlgebra doubles;
  checkRows(doubles);
  DoubleIntervalAlgebra intervals;
  checkRows(intervals);
}

/// Rows are added up as their elements are.
template <typename Algebra> static void checkSums(Algebra &algebra) {
  std::unique_ptr<RowAlgebra> rows = algebra.makeRows();
  for (unsigned seed = 0; seed < 100; ++seed) {
    algebra.reset();
    std::mt19937 random(seed);
    size_t count = 1 + random() % 9;
    std::vector<Scalar> first(count), drawn(2 * count);
    for (Scalar &scalar : first)
      scalar = draw(algebra, random);
    for (Scalar &scalar : drawn)
      scalar = draw(algebra, random);
    for (int64_t stride : {0, 1, 2}) {
      rows->reset(count);
      Scalar row = rows->makeRow(drawn.data(), stride);
      std::vector<Scalar> sums = first;
      rows->addTo(sums, row, 3);
      for (size_t i = 0; i < count; ++i) {
        Scalar wanted = algebra.sum({{first[i], 1}, {drawn[stride * i], 3}});
        EXPECT_EQ(algebra.toDouble(sums[i]), algebra.toDouble(wanted));
      }
      std::vector<int64_t> weights(count);
      std::vector<WeightedScalar> all, rest;
      size_t cut = random() % count;
      for (size_t i = 0; i < count; ++i) {
        weights[i] = static_cast<int64_t>(random() % 5);
        (i < cut ? all : rest).push_back({drawn[stride * i], weights[i]});
      }
      std::vector<Scalar> parts(2);
      rows->sumParts(row, weights, {cut, count}, parts);
      EXPECT_EQ(algebra.toDouble(parts[0]), algebra.toDouble(algebra.sum(all)));
      EXPECT_EQ(algebra.toDouble(parts[1]),
                algebra.toDouble(algebra.sum(rest)));
    }
  }
}

TEST(RowAlgebrasTest, RowsAreAddedUpAsTheirElements) {
  DoubleAlgebra doubles;
  checkSums(doubles);
  DoubleIntervalAlgebra intervals;
  checkSums(intervals);
}

TEST(RowAlgebrasTest, NeighboursThatAreApartAreNotJoined) {
  DoubleAlgebra doubles;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const double numbers[] = {0,         -0.0,          1,         1 + 0x1p-43,
                            -1,        1 + 0x1p-45,   -infinity, infinity,
                            none,      0x1p-1074,     1e300,     -1e300,
                            1 + 1e-16, 1e300 * 1.001, 2};
  size_t apart = 0;
  for (double left : numbers)
    for (double right : numbers) {
      Scalar row[] = {DoubleAlgebra::fromDouble(left),
                      DoubleAlgebra::fromDouble(right)};
      if (doubles.areApart(row)) {
        ++apart;
        EXPECT_FALSE(doubles.join(row[0], row[1])) << left << ' ' << right;
      } else if (std::isfinite(left) && std::isfinite(right)) {
        EXPECT_TRUE(doubles.join(row[0], row[1])) << left << ' ' << right;
      }
    }
  EXPECT_GT(apart, 50U);
  // It is enough that two of many are close.
  Scalar row[] = {doubles.integer(1), doubles.integer(2), doubles.integer(3),
                  doubles.integer(3)};
  EXPECT_FALSE(doubles.areApart(row));
  EXPECT_TRUE(doubles.areApart(llvm::ArrayRef(row).drop_back()));
  EXPECT_FALSE(DoubleIntervalAlgebra().areApart(row));
}

TEST(RowAlgebrasTest, ScalarsThatAreKeptTogetherStay) {
  DoubleIntervalAlgebra doubles;
  // Two places that are free, below what is made next.
  for (int64_t number : {77, 78})
    doubles.release(doubles.integer(number));
  std::vector<std::vector<Scalar>> kept;
  for (int64_t first = 0; first < 3; ++first) {
    size_t mark = doubles.mark();
    std::vector<Scalar> &values = kept.emplace_back();
    for (int64_t i = 0; i < 5; ++i)
      values.push_back(
          doubles.add(doubles.integer(first * 5 + i), doubles.integer(-3)));
    // One twice, and one that is there for all.
    values.push_back(values[4]);
    values.push_back(doubles.integer(1));
    doubles.keepAll(values, mark);
    EXPECT_NE(values[4], values[5]);
  }
  for (int64_t first = 0; first < 3; ++first) {
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_EQ(doubles.toDouble(kept[first][i]), first * 5 + i - 3);
    EXPECT_EQ(doubles.toDouble(kept[first][5]), first * 5 + 1);
    EXPECT_EQ(doubles.toDouble(kept[first][6]), 1);
  }
}
