//===- DefinedTensorsTest.cpp - what is defined where results are ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DefinedTensors.h"

#include "Verify/Analysis/StageBuilder.h"
#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
class DefinedTensorsTest : public ::testing::Test {
protected:
  DefinedTensorsTest() { context.loadDialect<tv::TVDialect>(); }

  /// Whether `%t` is defined where the results of a graph are that begins with
  /// an input `%x` and a computed tensor `%t`, both of four elements; or the
  /// result of another op, counted from the input on.
  bool isDefined(StringRef ops, StringRef computed = "tv.log %x",
                 unsigned number = 1) {
    std::string text = "tv.graph @graph <dp = 2, device = 2, mb = 1> {\n"
                       "  %x = tv.input <input \"x\"> : tensor<4xf32>\n"
                       "  %t = " +
                       computed.str() +
                       " : (tensor<4xf32>) -> tensor<4xf32>\n" + ops.str() +
                       "}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return false;
    auto graph = cast<tv::GraphOp>(module->getBody()->front());
    Operation &asked = *std::next(graph.getBody().front().begin(), number);
    return DefinedTensors(graph).contains(asked.getResult(0));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// An expect of the contract that `value` of the plan, of type `type`, is
/// `reference` of four elements; `part` says which.
static std::string give(StringRef reference, StringRef part, StringRef domain,
                        int64_t size) {
  std::string type = "tensor<" + std::to_string(size) + "xf32>";
  static int number = 0;
  std::string value = "%v" + std::to_string(++number);
  std::string on = " on <" + domain.str() + ">";
  return "  " + value + " = tv.distribute %x <" + part.str() + ">" + on +
         " : (tensor<4xf32>) -> " + type + "\n  tv.expect " + value + " is " +
         reference.str() + " <" + part.str() + ">" + on +
         " contract <output \"o\"> : " + type + " is tensor<4xf32>\n";
}

/// All of `reference`.
static std::string give(StringRef reference) {
  return give(reference, "[0:4 of 4]", "device = 0", 4);
}

/// `%name`, the positions from `start` to `end` of `%t`.
static std::string slice(StringRef name, int start, int end) {
  return "  %" + name.str() + " = tv.slice %t {dimension = 0 : i64, start = " +
         std::to_string(start) + " : i64, end = " + std::to_string(end) +
         " : i64} : (tensor<4xf32>) -> tensor<" + std::to_string(end - start) +
         "xf32>\n";
}

/// `%r`, a tensor of four elements.
static std::string join(StringRef left, StringRef right, int first) {
  auto type = [](int size) {
    return "tensor<" + std::to_string(size) + "xf32>";
  };
  return ("  %r = tv.concat %" + left + ", %" + right +
          " {dimension = 0 : i64} : (" + type(first) + ", " + type(4 - first) +
          ") -> tensor<4xf32>\n")
      .str();
}

TEST_F(DefinedTensorsTest, ResultsAndWhatTheyAreComputedFrom) {
  EXPECT_TRUE(isDefined(give("%t")));
  EXPECT_TRUE(isDefined("  %r = tv.multiply %x, %t : (tensor<4xf32>, "
                        "tensor<4xf32>) -> tensor<4xf32>\n" +
                        give("%r")));
  EXPECT_FALSE(isDefined(give("%x")));
}

TEST_F(DefinedTensorsTest, EachElementIsNeeded) {
  EXPECT_TRUE(isDefined(slice("a", 0, 2) + slice("b", 2, 4) +
                        join("a", "b", 2) + give("%r")));
  EXPECT_TRUE(isDefined(slice("a", 1, 4) + slice("b", 0, 1) +
                        join("a", "b", 3) + give("%r")));
  EXPECT_FALSE(isDefined(slice("a", 0, 2) + slice("b", 0, 2) +
                         join("a", "b", 2) + give("%r")));
  EXPECT_FALSE(isDefined(slice("a", 0, 1) + slice("b", 1, 4) +
                         slice("c", 0, 3) + join("a", "c", 1) + give("%r")));
}

TEST_F(DefinedTensorsTest, WhatIsAlwaysDefined) {
  std::string half =
      slice("a", 0, 2) + slice("b", 0, 2) + join("a", "b", 2) + give("%r");
  EXPECT_TRUE(isDefined(half, "tv.exp %x"));
  EXPECT_FALSE(isDefined(half, "tv.sqrt %x"));
  std::string sum = "  %s = tv.add %x, %t : (tensor<4xf32>, tensor<4xf32>) "
                    "-> tensor<4xf32>\n" +
                    give("%x");
  EXPECT_TRUE(isDefined(sum, "tv.exp %x", 2));
  EXPECT_FALSE(isDefined(sum, "tv.log %x", 2));
  // A constant power of 0 is 1, whatever it is of.
  std::string power = "  %r = tv.power %t {numerator = NUMBER : i64} : "
                      "(tensor<4xf32>) -> tensor<4xf32>\n" +
                      give("%r");
  auto raise = [&](StringRef number) {
    std::string text = power;
    return isDefined(text.replace(text.find("NUMBER"), 6, number.str()));
  };
  EXPECT_FALSE(raise("0"));
  EXPECT_TRUE(raise("2"));
}

TEST_F(DefinedTensorsTest, PartsOfResults) {
  auto first = [](StringRef domain) {
    return give("%t", "[0:2 of 4]", domain, 2);
  };
  std::string second = give("%t", "[2:4 of 4]", "device = 1", 2);
  EXPECT_FALSE(isDefined(first("device = 0")));
  EXPECT_FALSE(isDefined(second));
  EXPECT_FALSE(isDefined(second + give("%t", "[0:1 of 4]", "device = 0", 1)));
  EXPECT_TRUE(isDefined(first("device = 0") + second));
  EXPECT_TRUE(isDefined(second + first("device = 0")));
  EXPECT_TRUE(isDefined(give("%t", "[dp, 0:2 of 2]", "device = 0", 2)));
  EXPECT_FALSE(
      isDefined(give("%t", "[dp, 0:2 of 2]", "device = 0, dp = 0", 2)));
}

TEST_F(DefinedTensorsTest, PartsAlongTwoDimensions) {
  // Four quarters of a matrix, and three of them.
  auto isWhole = [&](unsigned quarters) {
    std::string text = "tv.graph @graph <dp = 1, device = 4, mb = 1> {\n"
                       "  %x = tv.input <input \"x\"> : tensor<4x4xf32>\n"
                       "  %t = tv.log %x : (tensor<4x4xf32>) -> "
                       "tensor<4x4xf32>\n";
    for (unsigned i = 0; i < quarters; ++i) {
      auto half = [](unsigned number) {
        return number ? "[2:4 of 4]" : "[0:2 of 4]";
      };
      std::string number = std::to_string(i);
      std::string part = " <" + std::string(half(i / 2)) + ", " + half(i % 2) +
                         "> on <device = " + number + ">";
      text += "  %v" + number + " = tv.distribute %x" + part +
              " : (tensor<4x4xf32>) -> tensor<2x2xf32>\n  tv.expect %v" +
              number + " is %t" + part +
              " contract <output \"o\"> : tensor<2x2xf32> is "
              "tensor<4x4xf32>\n";
    }
    module = parseSourceString<ModuleOp>(text + "}\n", &context);
    EXPECT_TRUE(module) << text;
    auto graph = cast<tv::GraphOp>(module->getBody()->front());
    Operation &log = *std::next(graph.getBody().front().begin());
    return DefinedTensors(graph).contains(log.getResult(0));
  };
  EXPECT_TRUE(isWhole(4));
  EXPECT_FALSE(isWhole(3));
}

TEST_F(DefinedTensorsTest, WhateverTheOperandsHold) {
  // Whether `%t` is, computed of `%x` and of scores `%s` that may be infinite.
  auto isAlways = [&](StringRef ops) {
    std::string text =
        "tv.graph @graph <dp = 1> {\n"
        "  %x = tv.input <input \"x\"> : tensor<600x600xf32>\n"
        "  %s = tv.input <input \"s\"> : tensor<600x600x!tv.extended<f32>>\n" +
        ops.str() + "}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return false;
    auto graph = cast<tv::GraphOp>(module->getBody()->front());
    StageBuilder stages(graph);
    OpBuilder builder(&context);
    OwningOpRef<tv::StageOp> stage = stages.buildDefinition(
        graph.getBody().front().back().getResult(0),
        [](Value) { return false; }, /*limit=*/32, builder);
    EXPECT_TRUE(stage);
    return isAlwaysDefined(*stage);
  };
  std::string type = "tensor<600x600xf32>",
              infinite = "tensor<600x600x!tv.extended<f32>>",
              row = "tensor<600xf32>";
  auto op = [&](StringRef text, StringRef from, StringRef to) {
    return ("  " + text + " : (" + from + ") -> " + to + "\n").str();
  };
  std::string sum =
      op("%e = tv.exp %m", infinite, type) +
      op("%r = tv.reduce sum %e {dimensions = array<i64: 1>}", type, row) +
      op("%t = tv.log %r", row, row);
  std::string mask = "  %c = tv.causal_mask : () -> " + infinite + "\n";
  std::string masked =
      mask + op("%m = tv.add %x, %c", type + ", " + infinite, infinite);
  EXPECT_TRUE(isAlways(masked + sum));
  // A row of scores may be infinite as a whole, or one that no position sees.
  EXPECT_FALSE(isAlways(
      mask + op("%m = tv.add %s, %c", infinite + ", " + infinite, infinite) +
      sum));
  std::string later = masked + op("%e = tv.exp %m", infinite, type) +
                      op("%f = tv.slice %e {dimension = 1 : i64, start = 1 : "
                         "i64, end = 600 : i64}",
                         type, "tensor<600x599xf32>") +
                      op("%r = tv.reduce sum %f {dimensions = array<i64: 1>}",
                         "tensor<600x599xf32>", row) +
                      op("%t = tv.log %r", row, row);
  EXPECT_FALSE(isAlways(later));
  std::string squares =
      op("%p = tv.power %x {numerator = 2 : i64}", type, type) +
      op("%v = tv.reduce average %p {dimensions = array<i64: 1>}", type, row);
  EXPECT_FALSE(isAlways(squares + op("%t = tv.rsqrt %v", row, row)));
  EXPECT_TRUE(isAlways(
      squares +
      "  %k = tv.constant dense<0.5> : tensor<f64> : () -> tensor<f64>\n" +
      op("%w = tv.add %v, %k", row + ", tensor<f64>", row) +
      op("%t = tv.rsqrt %w", row, row)));
  EXPECT_FALSE(isAlways(op("%t = tv.log %x", type, type)));
  // What takes too long is not known, and this is not so.
  std::string large = "tensor<4096x4096xf32>";
  EXPECT_FALSE(
      isAlways("  %l = tv.lower_triangle : () -> " + large + "\n" +
               op("%a = tv.transpose %l {permutation = array<i64: 1, 0>}",
                  large, large) +
               op("%b = tv.add %l, %a", large + ", " + large, large) +
               op("%c = tv.einsum %b, %b {equation = \"ij,jk->ik\"}",
                  large + ", " + large, large) +
               op("%d = tv.negate %c", large, large) +
               op("%t = tv.log %d", large, large)));
}
