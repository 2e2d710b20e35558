//===- LinkedPlansTest.cpp - what linking verifies of plans ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"
#include "Verify/Transforms/Passes.h"
#include "Verify/Transforms/Report.h"
#include "Verify/Transforms/ScheduleCheck.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
class LinkedPlansTest : public testing::Test {
protected:
  LinkedPlansTest() {
    context.loadDialect<tv::TVDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }

  /// Whether linking succeeds, when nothing else verifies; `message` is what it
  /// says.
  bool run(std::unique_ptr<Pass> pass, std::string &message) {
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &error) { message += error.str(); });
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    manager.enableVerifier(false);
    return succeeded(manager.run(*module));
  }

  /// What linking says; nothing if it succeeds.
  std::string link() {
    std::string message;
    bool isLinked = run(createCanonicalizeSSAPass(), message);
    EXPECT_EQ(isLinked, message.empty());
    return message;
  }

  /// Makes the op that is never executed one that does not fit.
  void spoil(StringRef plan) {
    module->lookupSymbol<tv::PlanOp>(plan)
        .lookupSymbol<tv::SegmentOp>("unused")
        .walk([&](tv::ExpOp exp) {
          exp.getResult().setType(
              RankedTensorType::get(5, Float32Type::get(&context)));
        });
  }

  static constexpr StringLiteral text = R"(
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @unused on 0 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "y" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.segment @unused on 0 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "y" <8, []> : tensor<f32>
  }
})";

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(LinkedPlansTest, TheyAreWellFormed) {
  ASSERT_TRUE(module);
  EXPECT_EQ(link(), "");
}

TEST_F(LinkedPlansTest, OnlyPlansThatAreKeptStay) {
  auto print = [&](StringRef name) {
    std::string text;
    if (auto plan = module->lookupSymbol<tv::PlanOp>(name))
      llvm::raw_string_ostream(text) << plan;
    return text;
  };
  module->lookupSymbol<tv::PlanOp>("plan")->setAttr(keptPlanName,
                                                    UnitAttr::get(&context));
  std::string before = print("plan");
  EXPECT_EQ(link(), "");
  EXPECT_EQ(print("plan"), before);
  EXPECT_EQ(print("reference"), "");
  EXPECT_FALSE(module->getOps<tv::GraphOp>().empty());
}

TEST_F(LinkedPlansTest, ThePlanIsVerified) {
  ASSERT_TRUE(module);
  spoil("plan");
  EXPECT_NE(link(), "");
}

TEST_F(LinkedPlansTest, TheReferenceIsVerified) {
  ASSERT_TRUE(module);
  spoil("reference");
  EXPECT_NE(link(), "");
}

TEST_F(LinkedPlansTest, BesideIsDoneOnceAndLinkingHasItsOwnErrors) {
  spoil("plan");
  unsigned calls = 0;
  std::string message;
  EXPECT_FALSE(run(createCanonicalizeSSAPass(
                       CanonicalizeSSAPassOptions(),
                       [&](tv::PlanOp plan, const schedule::RankGroups &) {
                         EXPECT_EQ(plan.getSymName(), "plan");
                         ++calls;
                         return success();
                       }),
                   message));
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(message, link());
}

TEST_F(LinkedPlansTest, WhereBesideFailsLinkingSaysNothing) {
  for (bool isSpoiled : {true, false}) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (isSpoiled)
      spoil("plan");
    std::string message;
    EXPECT_FALSE(run(
        createCanonicalizeSSAPass(
            CanonicalizeSSAPassOptions(),
            [](tv::PlanOp, const schedule::RankGroups &) { return failure(); }),
        message));
    EXPECT_EQ(message, "");
    EXPECT_FALSE(getMalformation(*module));
  }
}

TEST_F(LinkedPlansTest, WhereBesideFailsErrorsOfExecutionAreDropped) {
  std::string stuck = text.str();
  // Nobody sends.
  size_t at = stuck.rfind("%0 = tv.load_data");
  stuck.insert(at, "%r = tv.receive from 0 : tensor<4xf32>\n    ");
  for (bool isRight : {true, false}) {
    module = parseSourceString<ModuleOp>(
        stuck, ParserConfig(&context, /*verifyAfterParse=*/false));
    std::string message;
    EXPECT_FALSE(run(createCanonicalizeSSAPass(
                         CanonicalizeSSAPassOptions(),
                         [&](tv::PlanOp, const schedule::RankGroups &) {
                           return success(/*IsSuccess=*/isRight);
                         }),
                     message));
    EXPECT_EQ(message.empty(), !isRight);
    EXPECT_EQ(getMalformation(*module).has_value(), isRight);
  }
}

TEST_F(LinkedPlansTest, AScheduleThatWasNotCheckedIsAnError) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &error) { message += error.str(); });
  ScheduleCheck check{CheckSchedulePassOptions()};
  EXPECT_TRUE(failed(check.report(*module)));
  EXPECT_EQ(message, "has a schedule that was not checked");
  EXPECT_TRUE(succeeded(check.run(module->lookupSymbol<tv::PlanOp>("plan"))));
  EXPECT_TRUE(succeeded(check.report(*module)));
}
