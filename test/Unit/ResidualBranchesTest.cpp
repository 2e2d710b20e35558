//===- ResidualBranchesTest.cpp - inputs that keep deep models simple -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualBranches.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace verify;

namespace {
class ResidualBranchesTest : public ::testing::Test {
protected:
  ResidualBranchesTest() { context.loadDialect<tv::TVDialect>(); }

  /// The layers `x + x w m` of the reference, or of a plan that has a mask of
  /// its own for each half of them.
  static std::string makeLayers(bool isPlan) {
    std::string side = isPlan ? "p" : "r", text;
    std::string domain = isPlan ? " on <device = 0>" : "";
    auto add = [&](const Twine &name, StringRef op, const Twine &operands) {
      text += ("%" + side + name + " = tv." + op + " " + operands + domain +
               " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n")
                  .str();
    };
    auto get = [&](const Twine &name) { return ("%" + side + name).str(); };
    auto state = [&](const Twine &name) {
      if (isPlan)
        text += ("tv.expect %p" + name + " is %r" + name +
                 " <[0:4 of 4]> on <device = 0> : tensor<4xf32> is "
                 "tensor<4xf32>\n")
                    .str();
    };
    for (unsigned layer = 0; layer < layerCount; ++layer) {
      StringRef mask = isPlan && layer >= layerCount / 2 ? "late" : "mask";
      add("w" + Twine(layer) + "x", "multiply",
          get("x" + Twine(layer)) + ", " + get("w" + Twine(layer)));
      add("y" + Twine(layer), "multiply",
          get("w" + Twine(layer) + "x") + ", " + get(mask));
      state("y" + Twine(layer));
      add("x" + Twine(layer + 1), "add",
          get("x" + Twine(layer)) + ", " + get("y" + Twine(layer)));
      state("x" + Twine(layer + 1));
    }
    return text;
  }

  static constexpr unsigned layerCount = 12;
  MLIRContext context;
};
} // namespace

TEST_F(ResidualBranchesTest, OfAMaskThoseThatReadItAreNear) {
  std::string text = "tv.graph @graph <device = 1> {\n"
                     "%rx0 = tv.input <input \"x\"> : tensor<4xf32>\n"
                     "%px0 = tv.distribute %rx0 <[0:4 of 4]> on <device = 0> "
                     ": (tensor<4xf32>) -> tensor<4xf32>\n";
  for (unsigned layer = 0; layer < layerCount; ++layer)
    text += ("%rw" + Twine(layer) + " = tv.input <parameter \"" + Twine(layer) +
             "\"> : tensor<4xf32>\n%pw" + Twine(layer) +
             " = tv.distribute %rw" + Twine(layer) +
             " <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> "
             "tensor<4xf32>\n")
                .str();
  text += "%rmask = tv.constant dense<2.0> : tensor<f32> : () -> "
          "tensor<4xf32>\n";
  for (StringRef name : {"pmask", "plate"})
    text += ("%" + name +
             " = tv.constant dense<2.0> : tensor<f32> on <device = 0> : () -> "
             "tensor<4xf32>\ntv.expect %" +
             name +
             " is %rmask <[0:4 of 4]> on <device = 0> : tensor<4xf32> is "
             "tensor<4xf32>\n")
                .str();
  text += makeLayers(/*isPlan=*/false) + makeLayers(/*isPlan=*/true) +
          "tv.expect %px12 is %rx12 <[0:4 of 4]> on <device = 0> contract "
          "<output \"y\"> : tensor<4xf32> is tensor<4xf32>\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto graph = *module->getOps<tv::GraphOp>().begin();
  FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, /*fixedWidth=*/0});
  ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
  auto expects = llvm::to_vector(graph.getBody().getOps<tv::ExpectOp>());
  ResidualBranches branches(expects.back(), factors);
  auto chooseZeros = [&](tv::ExpectOp place) {
    return branches.chooseZeros(place, QuadraticBranches::LikeOthers).names;
  };
  llvm::StringSet<> early = chooseZeros(expects[0]);
  EXPECT_FALSE(early.contains("5"));
  EXPECT_TRUE(early.contains("11"));
  llvm::StringSet<> late = chooseZeros(expects[1]);
  EXPECT_TRUE(late.contains("5"));
  EXPECT_FALSE(late.contains("11"));
}
