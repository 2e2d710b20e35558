//===- RunBuilderTest.cpp - tensors put together from runs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunBuilder.h"

#include "DenseRuns.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace verify;

namespace {
struct Stretch {
  int64_t start, count;
  double value;
};

class RunBuilderTest : public ::testing::Test {
protected:
  /// What several builders, one for each share, make of a tensor of 6 elements.
  LogicalResult build(ArrayRef<std::vector<Stretch>> shares,
                      bool allowsGaps = false) {
    tensor = DenseTensor();
    tensor.size = 6;
    RunBuilder first(algebra, /*limit=*/100, /*joins=*/true);
    for (auto [number, share] : llvm::enumerate(shares)) {
      RunBuilder later(algebra, /*limit=*/100, /*joins=*/true);
      RunBuilder &builder = number == 0 ? first : later;
      for (const Stretch &run : share)
        builder.add(run.start, run.count, DoubleAlgebra::fromDouble(run.value));
      if (number > 0)
        first.take(later);
    }
    return first.finish(tensor, allowsGaps);
  }

  std::vector<double> getElements() const {
    std::vector<double> list;
    list.reserve(tensor.size);
    for (int64_t at = 0; at < tensor.size; ++at)
      list.push_back(DoubleAlgebra::getDouble(tensor.get(at)));
    return list;
  }

  DoubleAlgebra algebra;
  DenseTensor tensor;
};
} // namespace

TEST_F(RunBuilderTest, SharesFollowEachOther) {
  ASSERT_TRUE(
      succeeded(build({{{0, 2, 1}, {2, 1, 2}}, {{3, 2, 3}, {5, 1, 4}}})));
  EXPECT_EQ(getElements(), (std::vector<double>{1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(tensor.starts, (std::vector<int64_t>{0, 2, 3, 5}));
}

TEST_F(RunBuilderTest, RunsComeInAnyOrder) {
  ASSERT_TRUE(succeeded(build({{{4, 2, 4}, {0, 2, 1}}, {{2, 2, 3}}})));
  EXPECT_EQ(getElements(), (std::vector<double>{1, 1, 3, 3, 4, 4}));
}

TEST_F(RunBuilderTest, EachElementIsThereOnce) {
  // The same element twice, in one share and in two.
  EXPECT_TRUE(failed(build({{{0, 3, 1}, {2, 4, 2}}})));
  EXPECT_TRUE(failed(build({{{0, 3, 1}}, {{2, 4, 2}}})));
  // Runs that end before they begin.
  EXPECT_TRUE(failed(build({{{0, 4, 1}, {4, -2, 2}, {2, 4, 3}}})));
  // More elements than there are.
  EXPECT_TRUE(failed(build({{{0, 3, 1}}, {{3, 4, 2}}})));
  // One that is not there: at the start, between shares, at the end.
  EXPECT_TRUE(failed(build({{{1, 5, 1}}})));
  EXPECT_TRUE(failed(build({{{0, 2, 1}}, {{3, 3, 2}}})));
  EXPECT_TRUE(failed(build({{{0, 3, 1}}, {{3, 2, 2}}})));
}

TEST_F(RunBuilderTest, WhatIsNotThereIsZero) {
  ASSERT_TRUE(
      succeeded(build({{{1, 2, 1}}, {{4, 1, 2}}}, /*allowsGaps=*/true)));
  EXPECT_EQ(getElements(), (std::vector<double>{0, 1, 1, 0, 2, 0}));
}

TEST_F(RunBuilderTest, CountsWhatIsTakenOver) {
  RunBuilder first(algebra, /*limit=*/2, /*joins=*/true);
  RunBuilder later(algebra, /*limit=*/2, /*joins=*/true);
  for (int64_t at = 0; at < 2; ++at) {
    first.add(at, 1, DoubleAlgebra::fromDouble(1 + at));
    later.add(2 + at, 1, DoubleAlgebra::fromDouble(3 + at));
  }
  EXPECT_FALSE(first.isFull());
  EXPECT_FALSE(later.isFull());
  first.take(later);
  EXPECT_TRUE(first.isFull());
}

/// Numbers of which neighbours are often equal or close.
static std::vector<Scalar> drawRow(std::mt19937 &random, size_t count) {
  std::vector<Scalar> row;
  for (size_t i = 0; i < count; ++i) {
    double last = i == 0 ? 1 : DoubleAlgebra::getDouble(row.back());
    double next = random() % 40 == 0   ? last
                  : random() % 40 == 0 ? last * (1 + 0x1p-46)
                                       : static_cast<double>(random());
    row.push_back(DoubleAlgebra::fromDouble(next));
  }
  return row;
}

TEST_F(RunBuilderTest, RowsAreAddedAsTheirElements) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    bool joins = seed % 3 != 0;
    RunBuilder single(algebra, /*limit=*/1 << 20, joins);
    RunBuilder rows(algebra, /*limit=*/1 << 20, joins);
    DenseTensor wanted, found;
    int64_t &offset = wanted.size;
    offset = 0;
    for (int part = 0; part < 4; ++part) {
      bool isRow = random() % 2;
      std::vector<Scalar> values = drawRow(random, 1 + random() % 600);
      std::vector<int64_t> ends;
      int64_t start = offset;
      for (Scalar value : values) {
        int64_t count = isRow ? 1 : 1 + static_cast<int64_t>(random() % 3);
        single.add(offset, count, value);
        ends.push_back(offset += count);
      }
      if (isRow)
        rows.addRow(start, values);
      else
        rows.addRuns(start, ends, values);
    }
    found.size = offset;
    ASSERT_TRUE(succeeded(single.finish(wanted, false)));
    ASSERT_TRUE(succeeded(rows.finish(found, false)));
    EXPECT_EQ(wanted.starts, found.starts) << "seed " << seed;
    ASSERT_EQ(wanted.elements.size(), found.elements.size());
    for (auto [left, right] : llvm::zip(wanted.elements, found.elements))
      EXPECT_EQ(left.bits, right.bits) << "seed " << seed;
  }
}

TEST_F(RunBuilderTest, WhatIsJoinedIsComparedWithTheFirst) {
  // Neighbours in the row are apart, but both are close to what comes before.
  constexpr double unit = 0x1p-44;
  std::vector<Scalar> row;
  for (double value : {1 + 0.875 * unit, 1 - 0.5 * unit, 3.0})
    row.push_back(DoubleAlgebra::fromDouble(value));
  ASSERT_FALSE(algebra.join(row[0], row[1]));
  RunBuilder builder(algebra, /*limit=*/100, /*joins=*/true);
  builder.add(0, 1, algebra.integer(1));
  builder.addRow(1, row);
  tensor.size = 4;
  ASSERT_TRUE(succeeded(builder.finish(tensor, /*allowsGaps=*/false)));
  EXPECT_EQ(tensor.starts, (std::vector<int64_t>{0, 3}));
}

TEST_F(RunBuilderTest, RowsAreRepeated) {
  DoubleIntervalAlgebra intervals;
  auto make = [&](double value) {
    size_t mark = intervals.mark();
    return intervals.keep(intervals.constant(Rational::fromDouble(value)),
                          mark);
  };
  DenseTensor row;
  row.size = 13;
  RunBuilder builder(intervals, /*limit=*/100, /*joins=*/true);
  // The first run begins before the row, and its last one is close to it.
  builder.add(0, 3, make(5));
  builder.add(3, 1, make(7));
  builder.add(4, 1, make(5 + 0x1p-50));
  EXPECT_GT(builder.repeat(/*start=*/1, /*count=*/4, /*distance=*/4,
                           /*times=*/2),
            0);
  // What was given back is used again.
  for (int i = 0; i < 20; ++i)
    (void)make(100 + i);
  ASSERT_TRUE(succeeded(builder.finish(row, /*allowsGaps=*/false)));
  for (int64_t at = 0; at < row.size; ++at) {
    bool isSeven = at > 0 && (at - 1) % 4 == 2;
    EXPECT_EQ(std::round(intervals.toDouble(row.get(at))), isSeven ? 7 : 5)
        << at;
    double last = 5 + 0x1p-50;
    if (at > 0 && (at - 1) % 4 == 3)
      EXPECT_TRUE(intervals.getLower(row.get(at)) <= last &&
                  intervals.getUpper(row.get(at)) >= last)
          << at;
  }
}

TEST_F(RunBuilderTest, SumsOfRangesAreThoseOfTheirTerms) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    auto count = static_cast<int64_t>(1 + random() % 300);
    RangeTerms terms(count);
    RangeSums sums(count);
    std::vector<double> wanted(count);
    for (int range = 0; range < 50; ++range) {
      auto start = static_cast<int64_t>(random() % count);
      int64_t end =
          start + 1 + static_cast<int64_t>(random() % (count - start));
      // As those of a mask.
      if (random() % 3 == 0)
        start = 0;
      else if (random() % 2)
        end = count;
      double number = static_cast<double>(random() % 1000) - 500;
      terms.add(start, end, {DoubleAlgebra::fromDouble(number), 2});
      sums.add(start, end, 2 * number);
      for (int64_t at = start; at < end; ++at)
        wanted[at] += 2 * number;
    }
    std::vector<Scalar> found = sums.getSums();
    for (int64_t at = 0; at < count; ++at)
      EXPECT_EQ(DoubleAlgebra::getDouble(found[at]), wanted[at]);
    terms.visit(
        [&](std::vector<WeightedScalar> &list) { return algebra.sum(list); },
        [&](int64_t at, std::optional<Scalar> sum) {
          EXPECT_EQ(sum ? DoubleAlgebra::getDouble(*sum) : 0, wanted[at]);
        });
  }
}
