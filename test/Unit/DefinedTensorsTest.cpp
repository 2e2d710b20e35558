//===- DefinedTensorsTest.cpp - what is defined where results are ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DefinedTensors.h"

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
