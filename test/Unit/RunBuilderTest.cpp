//===- RunBuilderTest.cpp - tensors put together from runs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunBuilder.h"

#include <gtest/gtest.h>

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
