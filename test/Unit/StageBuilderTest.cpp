//===- StageBuilderTest.cpp - which stages are equal ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/StageBuilder.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
/// The last expect assumes the first one, about `%y`.
constexpr StringRef graphText =
    R"(tv.graph @graph <dp = 2, device = 2, mb = 2> {
  %0 = tv.input <input "data"> : tensor<4x4xf32>
  %1 = tv.input <parameter "weight"> : tensor<4x4xf32>
  %2 = tv.linear %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tv.linear %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tv.reduce sum %3 {dimensions = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %x = tv.distribute %0 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %w = tv.distribute %1 <[0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = tv.linear %x, %w on <device = 0> : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %z = tv.linear %y, %w on <device = 0> : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %r = tv.reduce sum %z on <device = 0> {dimensions = array<i64: 1>} : (tensor<1x4xf32>) -> tensor<1xf32>
  tv.expect %y is %2 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 0 : tensor<1x4xf32> is tensor<4x4xf32>
  tv.expect %r is %4 <[dp, mb, 0:1 of 1]> on <device = 0> number 1 contract <output "sum"> : tensor<1xf32> is tensor<4xf32>
})";

class StageBuilderTest : public ::testing::Test {
protected:
  StageBuilderTest() { context.loadDialect<tv::TVDialect>(); }

  /// The key of the last stage of a graph, in which each of `edits` was made
  /// wherever it fits; empty, after a failure, if one fits nowhere.
  std::string
  getKey(std::initializer_list<std::pair<StringRef, StringRef>> edits = {}) {
    std::string text = graphText.str();
    for (auto [from, to] : edits) {
      size_t place = text.find(from);
      EXPECT_NE(place, std::string::npos) << from.str();
      for (; place != std::string::npos;
           place = text.find(from, place + to.size()))
        text.replace(place, from.size(), to);
    }
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << text;
    if (!modules.back())
      return "";
    StageBuilder stages(*modules.back()->getOps<tv::GraphOp>().begin());
    std::optional<StageOutline> outline =
        stages.outline(stages.getExpects().back());
    EXPECT_TRUE(outline);
    return outline ? stages.getKey(*outline) : "";
  }

  MLIRContext context;
  SmallVector<OwningOpRef<ModuleOp>> modules;
};
} // namespace

TEST_F(StageBuilderTest, NamesNumbersAndDevicesDecideNothing) {
  std::string key = getKey();
  EXPECT_EQ(key, getKey({{"\"data\"", "\"other\""}}));
  EXPECT_EQ(key, getKey({{"\"sum\"", "\"mean\""}}));
  EXPECT_EQ(key, getKey({{"number 0", "number 7"}, {"number 1", "number 3"}}));
  EXPECT_EQ(key, getKey({{"<device = 0>", "<device = 1>"}}));
}

TEST_F(StageBuilderTest, TheOrderOfTheGraphDecidesNothing) {
  constexpr StringRef old = "  %z = tv.linear %y, %w on <device = 0> : "
                            "(tensor<1x4xf32>, tensor<4x4xf32>)";
  std::string type = " on <device = 0> : (tensor<1x4xf32>, tensor<1x4xf32>)";
  std::string sum = "  %u = tv.add %x, %y" + type + " -> tensor<1x4xf32>\n";
  std::string product =
      "  %v = tv.multiply %x, %y" + type + " -> tensor<1x4xf32>\n";
  std::string last = "  %z = tv.add %u, %v" + type;
  EXPECT_EQ(getKey({{old, sum + product + last}}),
            getKey({{old, product + sum + last}}));
  EXPECT_NE(getKey({{old, sum + product + last}}),
            getKey({{old, sum + product + "  %z = tv.add %v, %u" + type}}));
}

TEST_F(StageBuilderTest, WhatALemmaSaysDecides) {
  // The lineage of the lemma: other axes, another order of them.
  EXPECT_NE(getKey(), getKey({{"tv.expect %y is %2 <[dp, mb, 0:1 of 1]",
                               "tv.expect %y is %2 <[mb, dp, 0:1 of 1]"}}));
  // Another tensor of the reference.
  EXPECT_NE(getKey(), getKey({{"tv.expect %y is %2", "tv.expect %y is %0"}}));
  // In some micro-batches only.
  EXPECT_NE(getKey({{"on <device = 0>", "on <device = 0, mb = 0>"}}),
            getKey({{"on <device = 0>", "on <device = 0, mb = 1>"}}));
  // Of three lemmas the second speaks of the first one's tensor, or the
  // third's.
  auto withThree = [&](StringRef second) {
    std::string expects =
        "  tv.expect %u is " + second.str() +
        " <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 5 : "
        "tensor<1x4xf32> is tensor<4x4xf32>\n"
        "  tv.expect %v is %3 <[dp, mb, 0:1 of 1], [0:4 of 4]> on "
        "<device = 0> number 6 : tensor<1x4xf32> is tensor<4x4xf32>\n"
        "  tv.expect %y is";
    return getKey(
        {{"  %z = tv.linear %y, %w on <device = 0> : (tensor<1x4xf32>, "
          "tensor<4x4xf32>)",
          "  %u = tv.add %x, %x on <device = 0> : (tensor<1x4xf32>, "
          "tensor<1x4xf32>) -> tensor<1x4xf32>\n"
          "  %v = tv.add %x, %x on <device = 0> : (tensor<1x4xf32>, "
          "tensor<1x4xf32>) -> tensor<1x4xf32>\n"
          "  %p = tv.add %y, %u on <device = 0> : (tensor<1x4xf32>, "
          "tensor<1x4xf32>) -> tensor<1x4xf32>\n"
          "  %z = tv.add %p, %v on <device = 0> : (tensor<1x4xf32>, "
          "tensor<1x4xf32>)"},
         {"  tv.expect %y is", expects}});
  };
  EXPECT_NE(withThree("%2"), withThree("%3"));
  // A lemma about another value.
  EXPECT_NE(getKey(), getKey({{"tv.expect %y is %2", "tv.expect %z is %3"}}));
}

TEST_F(StageBuilderTest, WhatIsExpectedDecides) {
  EXPECT_NE(getKey(), getKey({{"tv.expect %r is %4 <[dp, mb,",
                               "tv.expect %r is %4 <[mb, dp,"}}));
}

TEST_F(StageBuilderTest, BoundariesDecide) {
  EXPECT_NE(getKey(), getKey({{"%w = tv.distribute %1 <[0:4 of 4], [0:4 of 4]>",
                               "%w = tv.distribute %0 <[0:4 of 4], "
                               "[0:4 of 4]>"}}));
  EXPECT_NE(getKey(), getKey({{"x4xf32", "x4xf64"}}));
  EXPECT_NE(getKey(), getKey({{"dp = 2", "dp = 1"}, {"mb = 2", "mb = 4"}}));
}

TEST_F(StageBuilderTest, OpsDecide) {
  // On either side: another op, other operands, another attribute.
  EXPECT_NE(getKey(), getKey({{"tv.reduce sum %z", "tv.reduce maximum %z"}}));
  EXPECT_NE(getKey(), getKey({{"tv.reduce sum %3", "tv.reduce maximum %3"}}));
  EXPECT_NE(getKey(), getKey({{"tv.linear %2, %1", "tv.linear %1, %2"}}));
  EXPECT_NE(getKey(), getKey({{"tv.linear %2, %1", "tv.linear %2, %2"}}));
  EXPECT_NE(getKey(),
            getKey({{"tv.reduce sum %3 {dimensions = array<i64: 1>}",
                     "tv.reduce sum %3 {dimensions = array<i64: 0>}"}}));
  EXPECT_NE(getKey(), getKey({{"%z = tv.linear %y, %w on <device = 0>",
                               "%z = tv.linear %y, %w on <device = 0> "
                               "{note}"}}));
}
