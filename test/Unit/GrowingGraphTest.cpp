//===- GrowingGraphTest.cpp - what is verified of a graph -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrowingGraph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
class GrowingGraphTest : public testing::Test {
protected:
  GrowingGraphTest() {
    context.loadDialect<tv::TVDialect>();
    module = ModuleOp::create(location);
    auto end = OpBuilder::atBlockEnd(module->getBody());
    auto mesh = tv::MeshAttr::get(
        &context, tv::AxisAttr::get(&context, end.getStringAttr("device"), 2));
    graph.emplace(tv::GraphOp::create(end, location, "graph", mesh));
  }

  Value input(ArrayRef<int64_t> shape) {
    OpBuilder &builder = graph->getBuilder();
    return tv::InputOp::create(
        builder, location, RankedTensorType::get(shape, builder.getF32Type()),
        tv::ContractAttr::get(&context, tv::ContractRole::Input,
                              builder.getStringAttr("input")));
  }
  Value add(Value left, Value right, tv::DomainAttr domain = {}) {
    return tv::AddOp::create(graph->getBuilder(), location, left.getType(),
                             left, right, domain);
  }
  tv::DomainAttr everywhere() { return tv::DomainAttr::get(&context, {}); }

  /// What verifying says; nothing if it succeeds.
  template <typename Verify> std::string errorOf(Verify verify) {
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &error) { message = error.str(); });
    bool isVerified = succeeded(verify());
    EXPECT_EQ(isVerified, message.empty());
    return message;
  }
  std::string errorOfNewOps() {
    return errorOf([&] { return graph->verifyNewOps(); });
  }
  std::string errorOfGraph() {
    return errorOf([&] { return graph->verify(); });
  }

  std::string errorOfAddedOps() {
    return errorOf([&] { return graph->verifyAdded(); });
  }

  MLIRContext context;
  Location location = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module;
  std::optional<GrowingGraph> graph;
};
} // namespace

TEST_F(GrowingGraphTest, EveryOpIsVerified) {
  Value four = input(4), five = input(5);
  EXPECT_EQ(errorOfNewOps(), "");
  EXPECT_TRUE(graph->getNewOps().empty());
  add(four, four);
  add(four, five);
  add(four, four);
  EXPECT_NE(errorOfNewOps(), "");
  // It stays, and is found again.
  EXPECT_NE(errorOfGraph(), "");
}

TEST_F(GrowingGraphTest, TheFirstOpIsVerified) {
  input(ShapedType::kDynamic);
  input(4);
  EXPECT_NE(errorOfGraph(), "");
}

TEST_F(GrowingGraphTest, TheLastOpIsVerified) {
  Value four = input(4), five = input(5);
  EXPECT_EQ(errorOfNewOps(), "");
  add(four, five);
  EXPECT_NE(errorOfGraph(), "");
}

TEST_F(GrowingGraphTest, OpsAreVerifiedTogether) {
  Value four = input(4);
  add(four, four);
  EXPECT_EQ(errorOfGraph(), "");
  add(four, four, everywhere());
  EXPECT_EQ(errorOfNewOps(), "");
  EXPECT_EQ(errorOfGraph(),
            "'tv.add' op mixes values of the reference and of the plan");
}

TEST_F(GrowingGraphTest, OrderOfOpsIsVerified) {
  Value four = input(4);
  Value first = add(four, four), second = add(four, four);
  first.getDefiningOp()->setOperand(0, second);
  EXPECT_EQ(errorOfNewOps(), "");
  EXPECT_EQ(errorOfGraph(), "operand #0 does not dominate this use");
}

TEST_F(GrowingGraphTest, OpsThatAreLikeAVerifiedOneAreRight) {
  Value four = input(4), five = input(5);
  add(four, four);
  EXPECT_EQ(errorOfNewOps(), "");
  add(four, four);
  EXPECT_EQ(errorOfNewOps(), "");
  // The same op with the same result, of other operands.
  add(four, five);
  EXPECT_NE(errorOfNewOps(), "");
}

TEST_F(GrowingGraphTest, AddedOpsFitToTheOthers) {
  Value four = input(4);
  EXPECT_EQ(errorOfGraph(), "");
  Value sum = add(four, four);
  EXPECT_EQ(errorOfAddedOps(), "");
  add(sum, four, everywhere());
  EXPECT_EQ(errorOfAddedOps(),
            "'tv.add' op mixes values of the reference and of the plan");
}

TEST_F(GrowingGraphTest, AddedOpsTakeWhatIsBeforeThem) {
  Value four = input(4);
  EXPECT_EQ(errorOfGraph(), "");
  Value first = add(four, four), second = add(four, four);
  first.getDefiningOp()->setOperand(0, second);
  EXPECT_EQ(errorOfAddedOps(),
            "'tv.add' op takes what is not computed before it");
}

TEST_F(GrowingGraphTest, AddedOpsBelongIntoAGraph) {
  Value four = input(4);
  EXPECT_EQ(errorOfGraph(), "");
  tv::OutputOp::create(graph->getBuilder(), location, four, "loss",
                       tv::PieceAttr());
  EXPECT_NE(errorOfAddedOps(), "");
}
