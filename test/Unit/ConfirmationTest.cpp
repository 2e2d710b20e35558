//===- ConfirmationTest.cpp - differences shown in intervals --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plan and reference are executed each for itself here: what either of them is
// undefined in, undecided in or selects from ties counts.
//
//===----------------------------------------------------------------------===//

#include "Confirmation.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace verify;

namespace {
class ConfirmationTest : public ::testing::Test {
protected:
  ConfirmationTest() { context.loadDialect<tv::TVDialect>(); }

  /// Ops that give `%<side>` of `%x` after some steps, `%<side>start` being
  /// given.
  static std::string takeSteps(StringRef side, StringRef op, StringRef domain) {
    std::string text;
    std::string before = (side + "start").str();
    for (unsigned step = 0; step < 8; ++step) {
      std::string next = (side + Twine(step)).str();
      text += ("%" + next + " = tv." + op + " %" + before + ", %" + before +
               domain +
               " : (tensor<256x2xf32>, tensor<256x2xf32>) -> "
               "tensor<256x2xf32>\n")
                  .str();
      before = next;
    }
    return text + ("%" + side + "mask = tv.lower_triangle" + domain +
                   " : () -> tensor<256x256xf32>\n%" + side + " = tv.einsum %" +
                   side + "mask, %" + before + domain +
                   " {equation = \"mn,nk->mk\"} : (tensor<256x256xf32>, "
                   "tensor<256x2xf32>) -> tensor<256x2xf32>\n")
                      .str();
  }
  /// What comes of a plan that multiplies where the reference adds, with these
  /// ops at their starts.
  Confirmation::Outcome confirm(StringRef reference, StringRef plan,
                                LongPositions positions) {
    std::string text = (R"(tv.graph @graph <device = 1> {
          %x = tv.input <input "x"> : tensor<256x2xf32>
          %minus = tv.negate %x : (tensor<256x2xf32>) -> tensor<256x2xf32>
          %zero = tv.add %x, %minus : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
          %xp = tv.distribute %x <[0:256 of 256], [0:2 of 2]> on <device = 0> : (tensor<256x2xf32>) -> tensor<256x2xf32>
        )" + reference + takeSteps("r", "add", "") +
                        plan + takeSteps("p", "multiply", " on <device = 0>") +
                        R"(
          tv.expect %p is %r <[0:256 of 256], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<256x2xf32> is tensor<256x2xf32>
        })")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module)
      return {};
    auto graph = *module->getOps<tv::GraphOp>().begin();
    FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                           {FactorAnalysis::Positions::Exact,
                            /*fixedWidth=*/0});
    EXPECT_FALSE(factors.getFailure()) << *factors.getFailure();
    WitnessSeed seed;
    seed.positions = positions;
    std::atomic<bool> stopped = false;
    Confirmation confirmation(factors, seed);
    if (usesDoublesAlone)
      confirmation.useDoublesAlone();
    return confirmation.run(*graph.getBody().getOps<tv::ExpectOp>().begin(),
                            stopped);
  }
  Confirmation::Outcome confirm(StringRef reference, StringRef plan) {
    return confirm(reference, plan, LongPositions::Last);
  }

  MLIRContext context;
  bool usesDoublesAlone = false;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral noDomain = "the inputs that were tried lie outside the "
                                   "domain";
constexpr StringLiteral reads =
    "%rstart = tv.add %x, %x : (tensor<256x2xf32>, tensor<256x2xf32>) -> "
    "tensor<256x2xf32>\n";
constexpr StringLiteral readsPart =
    "%pstart = tv.add %xp, %xp on <device = 0> : (tensor<256x2xf32>, "
    "tensor<256x2xf32>) -> tensor<256x2xf32>\n";
/// `%pnone` is undefined everywhere, and `%pzero` is 0.
constexpr StringLiteral isUndefined = R"(
  %pminus = tv.negate %xp on <device = 0> : (tensor<256x2xf32>) -> tensor<256x2xf32>
  %pzero = tv.add %xp, %pminus on <device = 0> : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
  %pnone = tv.divide %xp, %pzero on <device = 0> : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
)";
constexpr StringLiteral selects = R"(
  %rank = tv.descending_rank %zero : (tensor<256x2xf32>) -> tensor<256x2xi64>
  %one = tv.one_hot %rank {start = 0 : i64} : (tensor<256x2xi64>) -> tensor<256x2x2xf32>
  %rstart = tv.einsum %one, %x {equation = "mnk,mk->mn"} : (tensor<256x2x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
)";
} // namespace

TEST_F(ConfirmationTest, SidesAreTheSameTogetherAndApart) {
  Confirmation::Outcome apart = confirm(reads, readsPart);
  ASSERT_TRUE(apart.witness) << apart.failureReason;
  EXPECT_EQ(apart.witness->precision, 53u);
  EXPECT_FALSE(apart.witness->undefinedOp);
  EXPECT_NE(apart.witness->planValue, apart.witness->referenceValue);
  context.disableMultithreading();
  Confirmation::Outcome alone = confirm(reads, readsPart);
  ASSERT_TRUE(alone.witness) << alone.failureReason;
  EXPECT_EQ(alone.witness->index, apart.witness->index);
  EXPECT_EQ(alone.witness->planValue, apart.witness->planValue);
  EXPECT_EQ(alone.witness->referenceValue, apart.witness->referenceValue);
  // All positions are told apart: both sides are one execution.
  EXPECT_TRUE(confirm(reads, readsPart, LongPositions::All).witness);
}

TEST_F(ConfirmationTest, AnUndefinedReferenceShowsNothing) {
  constexpr StringLiteral divides =
      "%rstart = tv.divide %x, %zero : (tensor<256x2xf32>, tensor<256x2xf32>) "
      "-> tensor<256x2xf32>\n";
  for (bool isAlone : {true, false}) {
    usesDoublesAlone = isAlone;
    for (bool isThreaded : {true, false}) {
      context.enableMultithreading(isThreaded);
      Confirmation::Outcome outcome = confirm(divides, readsPart);
      EXPECT_FALSE(outcome.witness);
      EXPECT_EQ(outcome.failureReason, noDomain);
    }
  }
}

TEST_F(ConfirmationTest, AnUndefinedPlanDiffers) {
  Confirmation::Outcome outcome = confirm(
      reads, (isUndefined + "%pstart = tv.add %pnone, %xp on <device = 0> : "
                            "(tensor<256x2xf32>, tensor<256x2xf32>) -> "
                            "tensor<256x2xf32>\n")
                 .str());
  ASSERT_TRUE(outcome.witness) << outcome.failureReason;
  EXPECT_TRUE(isa_and_present<tv::DivideOp>(outcome.witness->undefinedOp));
  EXPECT_EQ(outcome.witness->planValue, "undefined");
}

TEST_F(ConfirmationTest, AnUndecidedReferenceShowsNothing) {
  // Rounded, so that nobody knows whether it is 0.
  constexpr StringLiteral divides = R"(
    %three = tv.constant dense<3.0> : tensor<f64> : () -> tensor<f32>
    %third = tv.divide %x, %three : (tensor<256x2xf32>, tensor<f32>) -> tensor<256x2xf32>
    %whole = tv.multiply %third, %three : (tensor<256x2xf32>, tensor<f32>) -> tensor<256x2xf32>
    %rest = tv.add %whole, %minus : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
    %rstart = tv.divide %x, %rest : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
  )";
  Confirmation::Outcome outcome = confirm(divides, readsPart);
  EXPECT_FALSE(outcome.witness);
  EXPECT_EQ(outcome.failureReason, roundingReason);
}

TEST_F(ConfirmationTest, AReferenceThatSelectsFromTiesShowsNothing) {
  Confirmation::Outcome outcome = confirm(selects, readsPart);
  EXPECT_FALSE(outcome.witness);
  EXPECT_EQ(outcome.failureReason,
            "what is selected from ties on the inputs that were tried");
}

TEST_F(ConfirmationTest, WhatAnUndefinedPlanSelectsFromIsNoTie) {
  // Ranks of numbers that are defined, in the plan or the reference, still are.
  constexpr StringLiteral selectsPart = R"(
    %pone = tv.one_hot %prank on <device = 0> {start = 0 : i64} : (tensor<256x2xi64>) -> tensor<256x2x2xf32>
    %pchosen = tv.einsum %pone, %xp on <device = 0> {equation = "mnk,mk->mn"} : (tensor<256x2x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
    %pstart = tv.add %pchosen, %pnone on <device = 0> : (tensor<256x2xf32>, tensor<256x2xf32>) -> tensor<256x2xf32>
  )";
  auto selectsFrom = [&](StringRef scores) {
    return (isUndefined + "%prank = tv.descending_rank " + scores +
            " on <device = 0> : (tensor<256x2xf32>) -> tensor<256x2xi64>\n" +
            selectsPart)
        .str();
  };
  Confirmation::Outcome outcome = confirm(reads, selectsFrom("%pnone"));
  ASSERT_TRUE(outcome.witness) << outcome.failureReason;
  EXPECT_EQ(outcome.witness->planValue, "undefined");
  outcome = confirm(reads, selectsFrom("%pzero"));
  EXPECT_FALSE(outcome.witness);
  EXPECT_EQ(outcome.failureReason, tiesReason);
  outcome = confirm(selects, selectsFrom("%pnone"));
  EXPECT_FALSE(outcome.witness);
  EXPECT_EQ(outcome.failureReason, tiesReason);
}
