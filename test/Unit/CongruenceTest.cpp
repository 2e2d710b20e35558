//===- CongruenceTest.cpp - stages whose sides are the same ops -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is proved so has to be proved at full size too; of two sides that are
// not the same nothing may be said.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/Congruence.h"
#include "Verify/Analysis/StageProver.h"
#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace verify;
using namespace mlir;

namespace {
/// The text with the first occurrence of a word replaced.
std::string replaced(StringRef text, StringRef from, StringRef to) {
  size_t at = text.find(from);
  EXPECT_NE(at, StringRef::npos) << from.str();
  return (text.take_front(at) + to + text.drop_front(at + from.size())).str();
}

class CongruenceTest : public testing::Test {
protected:
  void SetUp() override { context.loadDialect<tv::TVDialect>(); }

  /// A stage of the reference's ops and those of the plan, with an expect.
  tv::StageOp parse(StringRef arguments, StringRef ops) {
    std::string text = ("tv.stage @s <dp = 2, mb = 3> expects array<i64: 1>(" +
                        arguments + ") {\n" + ops + "\n}")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    return *module->getOps<tv::StageOp>().begin();
  }
  static bool isCongruent(tv::StageOp stage) {
    Congruence congruence(stage.getMesh());
    return llvm::all_of(
        stage.getBody().getOps<tv::ExpectOp>(),
        [&](tv::ExpectOp expect) { return congruence.proves(expect); });
  }
  static Verdict proveFullSize(tv::StageOp stage) {
    return StageProver(ProverOptions(), "", StageProofs::FullSize)
        .prove(stage)
        .verdict;
  }
  void expectSame(StringRef arguments, StringRef ops) {
    tv::StageOp stage = parse(arguments, ops);
    ASSERT_TRUE(stage) << ops.str();
    EXPECT_TRUE(isCongruent(stage)) << ops.str();
    EXPECT_EQ(proveFullSize(stage), Verdict::Proved) << ops.str();
    StageVerdict verdict = StageProver(ProverOptions()).prove(stage);
    EXPECT_EQ(verdict.verdict, Verdict::Proved) << ops.str();
    EXPECT_EQ(verdict.byCongruence, 1u) << ops.str();
  }
  void expectNothing(StringRef arguments, StringRef ops, Verdict fullSize) {
    tv::StageOp stage = parse(arguments, ops);
    ASSERT_TRUE(stage) << ops.str();
    EXPECT_FALSE(isCongruent(stage)) << ops.str();
    EXPECT_EQ(proveFullSize(stage), fullSize) << ops.str();
  }

  using Edits = ArrayRef<std::pair<const char *, const char *>>;
  /// After each of the edits alone both sides differ, and nothing is said.
  void expectDifferent(StringRef arguments, StringRef ops, Edits edits) {
    for (auto [from, to] : edits)
      expectNothing(arguments, replaced(ops, from, to), Verdict::NotProved);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

} // namespace

static constexpr StringLiteral arguments =
    "%x: tensor<12x4xf32>, %w: tensor<3x4xf32>, %v: tensor<3x4xf32>";

/// A layer on a sixth of the rows.
static constexpr StringLiteral layer = R"(
  %0 = tv.linear %x, %w : (tensor<12x4xf32>, tensor<3x4xf32>) -> tensor<12x3xf32>
  %1 = tv.exp %0 : (tensor<12x3xf32>) -> tensor<12x3xf32>
  %2 = tv.reduce sum %1 keep {dimensions = array<i64: 1>} : (tensor<12x3xf32>) -> tensor<12x1xf32>
  %3 = tv.divide %1, %2 : (tensor<12x3xf32>, tensor<12x1xf32>) -> tensor<12x3xf32>
  %a = tv.distribute %x <[dp, mb, 0:2 of 2], [0:4 of 4]> on <> : (tensor<12x4xf32>) -> tensor<2x4xf32>
  %b = tv.distribute %w <[0:3 of 3], [0:4 of 4]> on <> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = tv.linear %a, %b on <> : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %5 = tv.exp %4 on <> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = tv.reduce sum %5 keep on <> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %7 = tv.divide %5, %6 on <> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  tv.expect %7 is %3 <[dp, mb, 0:2 of 2], [0:3 of 3]> on <> number 1 : tensor<2x3xf32> is tensor<12x3xf32>
)";

TEST_F(CongruenceTest, ALayerOnPartOfTheRows) { expectSame(arguments, layer); }

TEST_F(CongruenceTest, AnotherPartOpOrOperandIsNotTheSame) {
  const std::pair<const char *, const char *> edits[] = {
      // The expect speaks of other rows, or the operand is of others.
      {"%3 <[dp, mb, 0:2 of 2]", "%3 <[mb, dp, 0:2 of 2]"},
      {"%x <[dp, mb, 0:2 of 2]", "%x <[dp, 0:2 of 2, mb]"},
      {"%x <[dp, mb, 0:2 of 2]", "%x <[2:4 of 12]"},
      // Another operand, op, operand order or kind of reduction.
      {"tv.distribute %w", "tv.distribute %v"},
      {"%5 = tv.exp", "%5 = tv.tanh"},
      {"tv.divide %5, %6", "tv.multiply %5, %6"},
      {"tv.reduce sum %5", "tv.reduce average %5"},
      {"tv.reduce sum %5", "tv.reduce maximum %5"},
      // An op more, or less.
      {"is %3 <", "is %1 <"},
      {"tv.expect %7", "tv.expect %5"},
  };
  expectDifferent(arguments, layer, edits);
}

TEST_F(CongruenceTest, APartOfWhatIsSummedIsATermOfIt) {
  // Columns are divided: each device has a term.
  StringRef ops = R"(
  %0 = tv.linear %x, %w : (tensor<12x4xf32>, tensor<3x4xf32>) -> tensor<12x3xf32>
  %a = tv.distribute %x <[0:12 of 12], [dp, 0:2 of 2]> on <> : (tensor<12x4xf32>) -> tensor<12x2xf32>
  %b = tv.distribute %w <[0:3 of 3], [dp, 0:2 of 2]> on <> : (tensor<3x4xf32>) -> tensor<3x2xf32>
  %4 = tv.linear %a, %b on <> : (tensor<12x2xf32>, tensor<3x2xf32>) -> tensor<12x3xf32>
  tv.expect %4 is %0 <[0:12 of 12], [0:3 of 3]> on <> number 1 : tensor<12x3xf32> is tensor<12x3xf32>
)";
  expectNothing(arguments, ops, Verdict::NotProved);
  expectNothing(arguments,
                replaced(ops, "[0:3 of 3]> on <> number",
                         "[0:3 of 3] sum dp> on <> number"),
                Verdict::Proved);
}

TEST_F(CongruenceTest, WhatAllHaveIsNotATermOfIt) {
  StringRef ops = R"(
  %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = tv.distribute %x <[dp, 0:2 of 2]> on <> : (tensor<4xf32>) -> tensor<2xf32>
  %4 = tv.exp %a on <> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %4 is %0 <[dp, 0:2 of 2]> on <> number 1 : tensor<2xf32> is tensor<4xf32>
)";
  expectSame("%x: tensor<4xf32>", ops);
  expectNothing("%x: tensor<4xf32>",
                replaced(ops, "2]> on <> number", "2] sum mb> on <> number"),
                Verdict::NotProved);
  expectNothing(
      "%x: tensor<4xf32>",
      replaced(replaced(ops, "tv.expect %4 is", "tv.expect %4, %4 is"),
               ": tensor<2xf32> is", ": tensor<2xf32>, tensor<2xf32> is"),
      Verdict::NotProved);
}

TEST_F(CongruenceTest, RowsOfTwoOperandsHaveToBeTheSame) {
  StringRef ops = R"(
  %0 = tv.add %x, %y : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
  %a = tv.distribute %x <[dp, mb, 0:2 of 2], [0:4 of 4]> on <> : (tensor<12x4xf32>) -> tensor<2x4xf32>
  %b = tv.distribute %y <[dp, mb, 0:2 of 2], [0:4 of 4]> on <> : (tensor<12x4xf32>) -> tensor<2x4xf32>
  %4 = tv.add %a, %b on <> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  tv.expect %4 is %0 <[dp, mb, 0:2 of 2], [0:4 of 4]> on <> number 1 : tensor<2x4xf32> is tensor<12x4xf32>
)";
  StringRef both = "%x: tensor<12x4xf32>, %y: tensor<12x4xf32>";
  expectSame(both, ops);
  expectNothing(both, replaced(ops, "%y <[dp, mb", "%y <[mb, dp"),
                Verdict::NotProved);
  // Sums commute, which is for the small case to find.
  expectNothing(both, replaced(ops, "tv.add %a, %b", "tv.add %b, %a"),
                Verdict::Proved);
}

TEST_F(CongruenceTest, PositionsHaveToBeThoseOfTheWhole) {
  // A part of a causal mask is the mask of a part only on the diagonal.
  StringRef mask = R"(
  %0 = tv.causal_mask : () -> tensor<4x4x!tv.extended<f32>>
  %4 = tv.causal_mask on <> : () -> tensor<2x4x!tv.extended<f32>>
  tv.expect %4 is %0 <[dp, 0:2 of 2], [0:4 of 4]> on <> number 1 : tensor<2x4x!tv.extended<f32>> is tensor<4x4x!tv.extended<f32>>
)";
  expectNothing("", mask, Verdict::Unknown);
  // The rank among some is not that among all, and so for what is numbered.
  StringRef rank = R"(
  %0 = tv.descending_rank %x : (tensor<3x4xf32>) -> tensor<3x4xi64>
  %a = tv.distribute %x <[0:3 of 3], [dp, 0:2 of 2]> on <> : (tensor<3x4xf32>) -> tensor<3x2xf32>
  %4 = tv.descending_rank %a on <> : (tensor<3x2xf32>) -> tensor<3x2xi64>
  tv.expect %4 is %0 <[0:3 of 3], [dp, 0:2 of 2]> on <> number 1 : tensor<3x2xi64> is tensor<3x4xi64>
)";
  expectNothing("%x: tensor<3x4xf32>", rank, Verdict::NotProved);
  StringRef hot = R"(
  %0 = tv.one_hot %x {start = 0 : i64} : (tensor<6xi64>) -> tensor<6x4xf32>
  %a = tv.distribute %x <[dp, 0:3 of 3]> on <> : (tensor<6xi64>) -> tensor<3xi64>
  %4 = tv.one_hot %a on <> {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x2xf32>
  tv.expect %4 is %0 <[dp, 0:3 of 3], [mb, 0:2 of 2]> on <> number 1 : tensor<3x2xf32> is tensor<6x4xf32>
)";
  expectNothing(
      "%x: tensor<6xi64>",
      replaced(replaced(hot, "6x4", "6x6"), "tensor<6x4", "tensor<6x6"),
      Verdict::NotProved);
  StringRef whole = R"(
  %0 = tv.one_hot %x {start = 0 : i64} : (tensor<6xi64>) -> tensor<6x4xf32>
  %a = tv.distribute %x <[dp, 0:3 of 3]> on <> : (tensor<6xi64>) -> tensor<3xi64>
  %4 = tv.one_hot %a on <> {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x4xf32>
  tv.expect %4 is %0 <[dp, 0:3 of 3], [0:4 of 4]> on <> number 1 : tensor<3x4xf32> is tensor<6x4xf32>
)";
  expectSame("%x: tensor<6xi64>", whole);
  expectNothing("%x: tensor<6xi64>",
                replaced(whole, "on <> {start = 0", "on <> {start = 1"),
                Verdict::NotProved);
}

/// Rows of heads: a device has half of the heads, of two rows each.
static constexpr StringLiteral heads = R"(
  %0 = tv.reshape %x : (tensor<3x12xf32>) -> tensor<3x4x3xf32>
  %1 = tv.exp %0 : (tensor<3x4x3xf32>) -> tensor<3x4x3xf32>
  %2 = tv.reshape %1 : (tensor<3x4x3xf32>) -> tensor<3x12xf32>
  %a = tv.distribute %x <[0:3 of 3], [dp, 0:6 of 6]> on <> : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %4 = tv.reshape %a on <> : (tensor<3x6xf32>) -> tensor<3x2x3xf32>
  %5 = tv.exp %4 on <> : (tensor<3x2x3xf32>) -> tensor<3x2x3xf32>
  %6 = tv.reshape %5 on <> : (tensor<3x2x3xf32>) -> tensor<3x6xf32>
  tv.expect %6 is %2 <[0:3 of 3], [dp, 0:6 of 6]> on <> number 1 : tensor<3x6xf32> is tensor<3x12xf32>
)";

TEST_F(CongruenceTest, PartsOfTheMajorFactorGoThroughProducts) {
  StringRef x = "%x: tensor<3x12xf32>";
  expectSame(x, heads);
  const std::pair<const char *, const char *> same[] = {
      {"tv.expect %6 is %2 <[0:3 of 3], [dp, 0:6 of 6]>",
       "tv.expect %5 is %1 <[0:3 of 3], [dp, 0:2 of 2], [0:3 of 3]>"},
      // The heads are one factor each, or one is divided by two axes.
      {"%x <[0:3 of 3], [dp, 0:6 of 6]>",
       "%x <[0:3 of 3], [dp, 0:2 of 2, 0:3 of 3]>"},
  };
  for (auto [from, to] : same) {
    std::string ops = replaced(heads, from, to);
    if (StringRef(from).starts_with("tv.expect"))
      ops =
          replaced(replaced(ops, "tensor<3x6xf32> is", "tensor<3x2x3xf32> is"),
                   "is tensor<3x12xf32>", "is tensor<3x4x3xf32>");
    expectSame(x, ops);
  }
  // The second half of the heads on all devices.
  expectSame(x,
             replaced(replaced(heads, "[dp, 0:6 of 6]> on", "[6:12 of 12]> on"),
                      "[dp, 0:6 of 6]> on", "[6:12 of 12]> on"));
  const std::pair<const char *, const char *> edits[] = {
      // Other heads, or every other column.
      {"%2 <[0:3 of 3], [dp, 0:6 of 6]>", "%2 <[0:3 of 3], [0:6 of 12]>"},
      {"%x <[0:3 of 3], [dp, 0:6 of 6]>", "%x <[0:3 of 3], [0:6 of 6, dp]>"},
      {"%2 <[0:3 of 3], [dp, 0:6 of 6]>", "%2 <[0:3 of 3], [0:6 of 6, dp]>"},
      {"%x <[0:3 of 3], [dp, 0:6 of 6]>", "%x <[0:3 of 3], [3:9 of 12]>"},
  };
  expectDifferent(x, heads, edits);
}

TEST_F(CongruenceTest, PartsThatCutTheMajorFactorDoNot) {
  // A device has one and a half of the rows.
  StringRef ops = R"(
  %0 = tv.reshape %x : (tensor<12xf32>) -> tensor<3x4xf32>
  %a = tv.distribute %x <[dp, 0:6 of 6]> on <> : (tensor<12xf32>) -> tensor<6xf32>
  %4 = tv.reshape %a on <> : (tensor<6xf32>) -> tensor<3x2xf32>
  tv.expect %4 is %0 <[0:3 of 3], [dp, 0:2 of 2]> on <> number 1 : tensor<3x2xf32> is tensor<3x4xf32>
)";
  expectNothing("%x: tensor<12xf32>", ops, Verdict::NotProved);
}

TEST_F(CongruenceTest, PartsOfMinorFactorsGoThroughProductsNowhere) {
  // Rows of parts put together are other rows than parts of rows.
  StringRef ops = R"(
  %0 = tv.reshape %x : (tensor<4x3xf32>) -> tensor<12xf32>
  %a = tv.distribute %x <[0:4 of 4], [mb, 0:1 of 1]> on <> : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %4 = tv.reshape %a on <> : (tensor<4x1xf32>) -> tensor<4xf32>
  tv.expect %4 is %0 <[mb, 0:4 of 4]> on <> number 1 : tensor<4xf32> is tensor<12xf32>
)";
  expectNothing("%x: tensor<4x3xf32>", ops, Verdict::NotProved);
}

TEST_F(CongruenceTest, WhatIsDefinedNowhereIsNotProved) {
  StringRef ops = R"(
  %0 = tv.constant dense<0.0> : tensor<f64> : () -> tensor<f64>
  %1 = tv.divide %x, %0 : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %a = tv.distribute %x <[dp, 0:2 of 2]> on <> : (tensor<4xf32>) -> tensor<2xf32>
  %4 = tv.constant dense<0.0> : tensor<f64> on <> : () -> tensor<f64>
  %5 = tv.divide %a, %4 on <> : (tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  tv.expect %5 is %1 <[dp, 0:2 of 2]> on <> number 1 : tensor<2xf32> is tensor<4xf32>
)";
  tv::StageOp stage = parse("%x: tensor<4xf32>", ops);
  ASSERT_TRUE(stage);
  EXPECT_TRUE(isCongruent(stage));
  EXPECT_EQ(StageProver(ProverOptions()).prove(stage).reason,
            "no input was found at which the reference is defined");
}

TEST_F(CongruenceTest, DifferencesAreSeenBeforeAnythingIsProved) {
  // The first half is the same, for which the solver is asked.
  StringRef ops = R"(
  %0 = tv.add %y, %z : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = tv.multiply %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tv.concat %1, %x {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %a = tv.distribute %x <[0:2 of 2]> on <> : (tensor<2xf32>) -> tensor<2xf32>
  %b = tv.distribute %y <[0:2 of 2]> on <> : (tensor<2xf32>) -> tensor<2xf32>
  %c = tv.distribute %z <[0:2 of 2]> on <> : (tensor<2xf32>) -> tensor<2xf32>
  %3 = tv.multiply %a, %b on <> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = tv.multiply %a, %c on <> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = tv.add %3, %4 on <> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = tv.copy %a on <> : (tensor<2xf32>) -> tensor<2xf32>
  %7 = tv.concat %5, %6 on <> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  tv.expect %7 is %2 <[0:4 of 4]> on <> number 1 : tensor<4xf32> is tensor<4xf32>
)";
  StringRef arguments =
      "%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>";
  tv::StageOp stage = parse(arguments, ops);
  ASSERT_TRUE(stage);
  StageVerdict right = StageProver(ProverOptions()).prove(stage);
  EXPECT_EQ(right.verdict, Verdict::Proved);
  EXPECT_GT(right.confirmed, 0u);
  std::string other = replaced(ops, "tv.copy %a", "tv.negate %a");
  stage = parse(arguments, other);
  ASSERT_TRUE(stage);
  StageVerdict wrong = StageProver(ProverOptions()).prove(stage);
  EXPECT_EQ(wrong.verdict, Verdict::NotProved);
  EXPECT_EQ(wrong.confirmed, 0u);
}

TEST_F(CongruenceTest, NothingIsSaidOfOpsAlongAxes) {
  StringRef ops = R"(
  %a = tv.distribute %x <[dp, 0:2 of 2]> on <> : (tensor<4xf32>) -> tensor<2xf32>
  %4 = tv.all_reduce %a over ["dp"] on <> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %4 is %x <[dp, 0:2 of 2]> on <> number 1 : tensor<2xf32> is tensor<4xf32>
)";
  expectNothing("%x: tensor<4xf32>", ops, Verdict::NotProved);
}
