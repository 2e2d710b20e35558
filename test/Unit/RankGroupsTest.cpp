//===- RankGroupsTest.cpp - first ranks that stand for others -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Schedule/Schedule.h"
#include "Verify/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;
using schedule::Outcome;
using schedule::RankGroups;

namespace {
/// Two stages of two ranks: 0 and 1 send to 2 and 3.
class RankGroupsTest : public testing::Test {
protected:
  RankGroupsTest() { context.loadDialect<tv::TVDialect>(); }

  /// What a device does between its collectives.
  std::string between[4] = {"tv.send %1 to 2 : tensor<4xf32>",
                            "tv.send %1 to 3 : tensor<4xf32>",
                            "%2 = tv.receive from 0 : tensor<4xf32>",
                            "%2 = tv.receive from 1 : tensor<4xf32>"};
  std::string after[4];
  std::string reference = "tv.program 0 {}\n";

  tv::PlanOp makePlan() {
    std::string text = "tv.plan @reference <dp = 1, device = 1, mb = 1> {\n" +
                       reference +
                       "}\n"
                       "tv.plan @plan <dp = 1, device = 4, mb = 1> {\n";
    for (int device = 0; device < 4; ++device) {
      StringRef group = device < 2 ? "0, 1" : "2, 3";
      text += llvm::formatv(
          "tv.segment @twice{0} on {0} cell {0} {{\n"
          "^bb0(%x: tensor<4xf32>):\n"
          "%y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
          "%z = tv.communicate all_reduce %y group [{1}] "
          ": (tensor<4xf32>) -> tensor<4xf32>\n"
          "tv.save 7 from %x to %y : tensor<4xf32> to tensor<4xf32>\n"
          "tv.return\n}\n"
          "tv.segment @back{0} on {0} cell 8 {{\n"
          "%y = tv.seed : tensor<4xf32>\n"
          "%z = tv.backward %y of 7 {{outputs = array<i64: 0>, "
          "wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>\n"
          "tv.return\n}\n"
          "tv.program {0} {{\n"
          "%0 = tv.seed : tensor<4xf32>\n"
          "%1 = tv.communicate all_reduce %0 group [{1}] "
          ": (tensor<4xf32>) -> tensor<4xf32>\n{2}\n"
          "tv.call @twice{0}(%1) instance 1 : (tensor<4xf32>) -> ()\n"
          "tv.call @back{0}() instance 3 mirror 1 : () -> ()\n{3}\n}\n",
          device, group, between[device], after[device]);
    }
    module = parseSourceString<ModuleOp>(
        text + "}\n", ParserConfig(&context, /*verifyAfterParse=*/false));
    return module ? module->lookupSymbol<tv::PlanOp>("plan") : tv::PlanOp();
  }

  /// How many groups linking says at last may be stood for.
  size_t countGroups(llvm::function_ref<void(tv::PlanOp)> change = nullptr) {
    tv::PlanOp plan = makePlan();
    EXPECT_TRUE(plan);
    if (change)
      change(plan);
    size_t count = 0;
    ScopedDiagnosticHandler silence(&context,
                                    [](Diagnostic &) { return success(); });
    CanonicalizeSSAPassOptions options;
    options.foldRanks = true;
    PassManager manager(&context);
    manager.addPass(createCanonicalizeSSAPass(
        options, [&](tv::PlanOp, const RankGroups &ranks) {
          count = ranks.groups.size();
          return success();
        }));
    manager.enableVerifier(false);
    (void)manager.run(*module);
    return count;
  }

  Outcome checkAll() {
    ScopedDiagnosticHandler silence(&context,
                                    [](Diagnostic &) { return success(); });
    return schedule::checkSchedule(makePlan(), {});
  }
  std::optional<Outcome> checkFirst(ArrayRef<ArrayRef<int64_t>> groups,
                                    bool isCovered = true,
                                    schedule::Options options = {}) {
    RankGroups ranks;
    ranks.groups.assign(groups.begin(), groups.end());
    ranks.isCovered = [=](Operation *op) {
      auto segment = dyn_cast<tv::SegmentOp>(op);
      return segment ? llvm::any_of(groups,
                                    [&](ArrayRef<int64_t> group) {
                                      return llvm::is_contained(
                                          group.drop_front(),
                                          int64_t(segment.getDevice()));
                                    })
                     : isCovered;
    };
    std::string said;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &error) { said += error.str(); });
    std::optional<Outcome> outcome =
        schedule::checkSchedule(makePlan(), options, ranks);
    EXPECT_EQ(said, "");
    return outcome;
  }

  static constexpr int64_t first[] = {0, 1}, second[] = {2, 3};
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(RankGroupsTest, FirstRanksShowWhatAllDo) {
  EXPECT_EQ(countGroups(), 2u);
  Outcome all = checkAll();
  std::optional<Outcome> outcome = checkFirst({first, second});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(all.isProved && outcome->isProved);
  EXPECT_EQ(all.messages, 2);
  EXPECT_EQ(outcome->messages, all.messages);
  EXPECT_EQ(all.collectives, 4);
  EXPECT_EQ(outcome->collectives, all.collectives);
  EXPECT_EQ(all.liveActivations, SmallVector<int64_t>(4, 1));
  EXPECT_EQ(outcome->liveActivations, all.liveActivations);
  EXPECT_EQ(outcome->liveValues, all.liveValues);
}

TEST_F(RankGroupsTest, CollectivesOfOneNumberAreCountedForEachRank) {
  for (int device = 0; device < 4; ++device)
    after[device] =
        llvm::formatv("%3 = tv.communicate broadcast %1 group [{0}, {1}] "
                      "{{root = {0} : i64} : (tensor<4xf32>) -> tensor<4xf32>\n"
                      "%4 = tv.communicate all_reduce %3 group [{0}, {1}] "
                      ": (tensor<4xf32>) -> tensor<4xf32>",
                      device % 2, device % 2 + 2);
  EXPECT_EQ(countGroups(), 2u);
  Outcome all = checkAll();
  std::optional<Outcome> outcome = checkFirst({first, second});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(all.collectives, 8);
  EXPECT_EQ(outcome->collectives, all.collectives);
}

TEST_F(RankGroupsTest, RanksThatSendToOthersAreNotStoodFor) {
  std::swap(between[0], between[1]);
  std::swap(between[2], between[3]);
  EXPECT_TRUE(checkAll().isProved);
  EXPECT_EQ(countGroups(), 0u);
  EXPECT_FALSE(checkFirst({first, second}));
}

TEST_F(RankGroupsTest, BroadcastsToOtherRanksAreNotStoodFor) {
  // Rank by rank, but for who is in them besides.
  for (int device = 0; device < 4; ++device) {
    int sender = device < 2 ? device : 3 - device;
    after[device] =
        llvm::formatv("%3 = tv.communicate broadcast %1 group [{0}, {1}] "
                      "{{root = {0} : i64} : (tensor<4xf32>) -> tensor<4xf32>",
                      sender, 3 - sender);
  }
  EXPECT_TRUE(checkAll().isProved);
  EXPECT_EQ(countGroups(), 0u);
  EXPECT_FALSE(checkFirst({first, second}));
}

TEST_F(RankGroupsTest, DevicesOfNoGroupDoNotMeetThoseOfOne) {
  EXPECT_TRUE(checkAll().isProved);
  EXPECT_FALSE(checkFirst({first}));
  EXPECT_FALSE(checkFirst({second}));
}

TEST_F(RankGroupsTest, SeveralRanksDoNotMeetOneDevice) {
  // What the second one sends is not received.
  between[1] = "tv.send %1 to 2 : tensor<4xf32>";
  between[3] = "";
  EXPECT_FALSE(checkAll().isProved);
  EXPECT_FALSE(checkFirst({first}));
}

TEST_F(RankGroupsTest, NobodyMeetsAnotherRankThanTheFirst) {
  for (std::string &ops : between)
    ops.clear();
  between[3] = "%2 = tv.receive from 1 : tensor<4xf32>";
  EXPECT_FALSE(checkFirst({first}));
  between[3] = "tv.send %1 to 1 : tensor<4xf32>";
  EXPECT_FALSE(checkFirst({first}));
  between[3].clear();
  EXPECT_TRUE(checkFirst({first}));
}

TEST_F(RankGroupsTest, WhereMicroBatchesMeetAllAreLookedAt) {
  for (bool isMixed : {false, true}) {
    for (int device = 0; device < 4; ++device)
      after[device] = llvm::formatv(
          "%5 = tv.load_data cell 50 [\"x\"] holds "
          "[#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>\n"
          "%6 = tv.load_data cell 50 [\"x\"] holds "
          "[#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>\n"
          "%7 = tv.communicate all_reduce %{2} group [{0}, {1}] "
          ": (tensor<4xf32>) -> tensor<4xf32>",
          device % 2, device % 2 + 2, isMixed && device < 2 ? 5 : 6);
    EXPECT_TRUE(checkAll().isProved);
    EXPECT_EQ(checkFirst({first, second}).has_value(), !isMixed);
  }
}

TEST_F(RankGroupsTest, WhereSomethingIsStartedAllAreLookedAt) {
  for (const char *started : {"tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>",
                              "tv.communicate all_reduce %1 group [2] "
                              ": (tensor<4xf32>) -> tensor<4xf32>"}) {
    for (std::string &ops : between)
      ops.clear();
    EXPECT_TRUE(checkFirst({first}));
    between[2] = llvm::formatv("%5 = tv.start {{ %7 = {0} }\n"
                               "%6 = tv.wait %5 : tensor<4xf32>",
                               started);
    EXPECT_TRUE(checkAll().isProved);
    EXPECT_FALSE(checkFirst({first}));
  }
}

TEST_F(RankGroupsTest, TimelinesAreThoseOfAll) {
  schedule::Options options;
  options.recordsTimeline = true;
  EXPECT_FALSE(checkFirst({first, second}, /*isCovered=*/true, options));
  EXPECT_TRUE(checkFirst({first, second}));
}

TEST_F(RankGroupsTest, RanksOfAPlanThatIsNotValidAreNotStoodFor) {
  EXPECT_EQ(countGroups(), 2u);
  EXPECT_EQ(countGroups([](tv::PlanOp plan) {
              plan.lookupSymbol<tv::SegmentOp>("twice1").setDevice(3);
            }),
            0u);
}

TEST_F(RankGroupsTest, NumbersOfSavedOpsMayBeOthers) {
  for (int64_t number : {int64_t(7), int64_t(8), INT64_MAX})
    EXPECT_EQ(countGroups([=](tv::PlanOp plan) {
                plan.lookupSymbol("twice1")->walk(
                    [=](tv::SaveOp save) { save.setOp(number); });
                plan.lookupSymbol("back1")->walk([=](tv::BackwardOp backward) {
                  backward.setForward(number);
                });
              }),
              number == INT64_MAX ? 0u : 2u);
}

TEST_F(RankGroupsTest, NumbersOfExecutionsMayBeOthers) {
  // Of the first call, and of the second with that which it mirrors. Each rank
  // has one number where the first one has one.
  struct {
    int64_t first, second, mirrored;
    bool isLike;
  } cases[] = {{1, 3, 1, true},  {3, 1, 3, true},  {1, 5, 1, true},
               {1, 3, 3, false}, {3, 3, 3, false}, {1, 5, 5, false}};
  for (auto &numbers : cases)
    EXPECT_EQ(countGroups([&](tv::PlanOp plan) {
                for (auto program : plan.getOps<tv::ProgramOp>())
                  if (program.getDevice() == 1)
                    for (auto call : program.getOps<tv::CallOp>()) {
                      call.setInstance(call.getMirror() ? numbers.second
                                                        : numbers.first);
                      if (call.getMirror())
                        call.setMirror(numbers.mirrored);
                    }
              }),
              numbers.isLike ? 2u : 0u)
        << numbers.first << " " << numbers.second << " " << numbers.mirrored;
}

TEST_F(RankGroupsTest, RanksUseTheirOwnBuffers) {
  reference = "tv.buffer @w on 0 \"w\" holds <9, [0:4 of 4]> "
              ": !tv.buffer<tensor<4xf32>>\n"
              "tv.program 0 {\n%0 = tv.read @w : tensor<4xf32>\n}\n";
  for (bool isOther : {false, true}) {
    for (int device = 0; device < 4; ++device)
      after[device] =
          llvm::formatv("%9 = tv.read @b{1} : tensor<4xf32>\n}\n"
                        "tv.buffer @b{0} on {0} \"w\" holds <9, [0:4 of 4]> "
                        ": !tv.buffer<tensor<4xf32>>\n"
                        "tv.segment @unused{0} on {0} cell 9 {{\ntv.return",
                        device, isOther && device == 1 ? 3 : device);
    EXPECT_EQ(countGroups(), isOther ? 0u : 2u);
  }
}

TEST_F(RankGroupsTest, NamesAreThoseOfOneOp) {
  for (bool isTwice : {false, true}) {
    for (int device = 0; device < 4; ++device)
      after[device] =
          llvm::formatv("}\ntv.segment @unused{0} on {1} cell 9 {{\ntv.return",
                        isTwice && device == 3 ? 1 : device, device);
    EXPECT_EQ(countGroups(), isTwice ? 0u : 2u);
  }
}

TEST_F(RankGroupsTest, WhatWasNotComparedIsNotStoodFor) {
  EXPECT_FALSE(checkFirst({first, second}, /*isCovered=*/false));
}

TEST_F(RankGroupsTest, WhereFirstRanksWaitForeverAllAreLookedAt) {
  between[2] = "%2 = tv.receive from 0 : tensor<4xf32>\n"
               "%5 = tv.receive from 0 : tensor<4xf32>";
  between[3] = "%2 = tv.receive from 1 : tensor<4xf32>\n"
               "%5 = tv.receive from 1 : tensor<4xf32>";
  EXPECT_FALSE(checkAll().isProved);
  EXPECT_FALSE(checkFirst({first, second}));
}

TEST_F(RankGroupsTest, EachRankHasItsOwnSegments) {
  // Both of the first rank's are that of the other one, which saves once for a
  // backward that never runs.
  after[0] = "tv.call @again(%1) instance 2 : (tensor<4xf32>) -> ()\n}\n"
             "tv.segment @again on 0 cell 9 {\n"
             "^bb0(%x: tensor<4xf32>):\n"
             "%y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
             "%z = tv.communicate all_reduce %y group [0, 1] "
             ": (tensor<4xf32>) -> tensor<4xf32>\n"
             "tv.save 7 from %x to %y : tensor<4xf32> to tensor<4xf32>\n"
             "tv.return";
  after[1] = "tv.call @twice1(%1) instance 2 : (tensor<4xf32>) -> ()";
  EXPECT_FALSE(checkAll().isProved);
  EXPECT_EQ(countGroups(), 0u);
}
