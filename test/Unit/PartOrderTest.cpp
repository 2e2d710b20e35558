//===- PartOrderTest.cpp - plans by rank and as they are declared ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/NnScaler/Import.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {

class PartOrderTest : public testing::Test {
protected:
  PartOrderTest() { context.loadDialect<tv::TVDialect>(); }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    return text;
  }

  /// A rank that cuts, and one that gathers; what they declare follows each.
  void parse(const std::string &slice, const std::string &gather) {
    module = parseSourceString<ModuleOp>(
        R"(tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @cut on 1 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %y = tv.slice %x {dimension = 0 : i64, start = 2 : i64, end = 4 : i64)" +
            slice + R"(} : (tensor<4xf32>) -> tensor<2xf32>
    tv.return %y : tensor<2xf32>
  }
  tv.segment @gather on 0 cell 1 {
  ^bb0(%y: tensor<2xf32>):
    %z = tv.communicate all_gather %y group [0, 1] {dimension = 0 : i64)" +
            gather + R"(} : (tensor<2xf32>) -> tensor<4xf32>
    tv.return %z : tensor<4xf32>
  }
})",
        &context);
    ASSERT_TRUE(module);
  }
  tv::PlanOp getPlan() { return *module->getOps<tv::PlanOp>().begin(); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(PartOrderTest, WhatIsDeclaredTakesThePlaceOfRanks) {
  parse(", tv.declared = 0 : i64", ", tv.declared = array<i64: 1, 0>");
  std::string before = print(*module);
  auto orders = nnscaler::useDeclaredPartOrder(getPlan());
  ASSERT_TRUE(orders);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  tv::SliceOp slice;
  tv::CommunicateOp gather;
  module->walk([&](tv::SliceOp op) { slice = op; });
  module->walk([&](tv::CommunicateOp op) { gather = op; });
  EXPECT_EQ(slice.getStart(), 0u);
  EXPECT_EQ(slice.getEnd(), 2u);
  EXPECT_EQ(gather.getGroup(), llvm::ArrayRef<int64_t>({1, 0}));
  EXPECT_EQ(print(*module).find("declared"), std::string::npos);
  nnscaler::restorePartOrder(*orders);
  EXPECT_EQ(print(*module), before);
}

TEST_F(PartOrderTest, WhatGoesByRankAnywayStays) {
  parse("", "");
  std::string before = print(*module);
  EXPECT_TRUE(nnscaler::useDeclaredPartOrder(getPlan()));
  EXPECT_EQ(print(*module), before);
}

TEST_F(PartOrderTest, WhatIsNotDeclaredChangesNothing) {
  parse(", tv.declared = 0 : i64", ", tv.declared");
  std::string before = print(*module);
  EXPECT_FALSE(nnscaler::useDeclaredPartOrder(getPlan()));
  EXPECT_EQ(print(*module), before);
}

} // namespace
