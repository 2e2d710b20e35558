//===- LedgerTest.cpp - gaps in the argument of all proofs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EquivalenceChecker.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
/// Two ops on an input, on both sides; the results of the second are equal, and
/// those of the first are a lemma. Each test makes one thing wrong.
class LedgerTest : public ::testing::Test {
protected:
  LedgerTest() { context.loadDialect<tv::TVDialect>(); }

  struct Sides {
    StringRef input = "tv.input <input \"x\"> : tensor<4xf32>";
    StringRef first = "tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>";
    StringRef second = "tv.exp %y : (tensor<4xf32>) -> tensor<4xf32>";
    StringRef given = "tv.distribute %x <[0:4 of 4]> on <device = 0:2> : "
                      "(tensor<4xf32>) -> tensor<4xf32>";
    StringRef lemma = "<[0:4 of 4]> on <device = 0:2>";
  };

  void parse(const Sides &sides) {
    std::string computed =
        " on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>\n";
    std::string types = " : tensor<4xf32> is tensor<4xf32>\n";
    std::string text =
        "tv.graph @graph <dp = 2, device = 2, mb = 1> {\n  %x = " +
        sides.input.str() + "\n  %y = " + sides.first.str() +
        "\n  %z = " + sides.second.str() + "\n  %px = " + sides.given.str() +
        "\n  %py = tv.exp %px" + computed + "  %pz = tv.exp %py" + computed +
        "  tv.expect %py is %y " + sides.lemma.str() + types +
        "  tv.expect %pz is %z <[0:4 of 4]> on <device = 0:2> contract "
        "<output \"o\">" +
        types + "}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    graph = cast<tv::GraphOp>(module->getBody()->front());
    auto expects = llvm::to_vector(graph.getBody().getOps<tv::ExpectOp>());
    ASSERT_EQ(expects.size(), 2U);
    lemma = expects[0];
    result = expects[1];
    for (tv::ExpectOp expect : expects)
      statuses[expect].verdict.verdict = Verdict::Proved;
    statuses[result].assumed = {lemma};
  }

  /// What is said of the argument; empty if it has no gap.
  std::string check() {
    if (!graph)
      return "nothing was parsed";
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said += diagnostic.str();
      return success();
    });
    bool isRight =
        succeeded(checkLedger(statuses, DefinedTensors(graph), graph));
    EXPECT_EQ(isRight, said.empty());
    StringRef text = said;
    text.consume_front("'tv.expect' op ledger: ");
    return text.str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  tv::GraphOp graph;
  tv::ExpectOp lemma, result;
  ExpectStatuses statuses;
};
} // namespace

TEST_F(LedgerTest, Right) {
  parse({});
  EXPECT_EQ(check(), "");
}

TEST_F(LedgerTest, NotProved) {
  parse({});
  statuses[lemma].verdict.verdict = Verdict::Unknown;
  EXPECT_EQ(check(), "is not proved");
  statuses.erase(lemma);
  EXPECT_EQ(check(), "is not proved");
  statuses.erase(result);
  EXPECT_EQ(check(), "is not proved");
}

TEST_F(LedgerTest, Circular) {
  parse({});
  statuses[lemma].assumed = {result};
  EXPECT_EQ(check(), "the argument is circular");
  statuses[lemma].assumed = {lemma};
  EXPECT_EQ(check(), "the argument is circular");
  statuses[lemma].assumed = {};
  statuses[result].assumed = {lemma, result};
  EXPECT_EQ(check(), "the argument is circular");
}

TEST_F(LedgerTest, OutsideOfItsDomain) {
  Sides sides;
  sides.lemma = "<[0:4 of 4]> on <device = 0>";
  parse(sides);
  EXPECT_EQ(check(), "a lemma is used outside its domain");
}

TEST_F(LedgerTest, Sum) {
  Sides sides;
  sides.lemma = "<[0:4 of 4] sum dp> on <device = 0:2>";
  parse(sides);
  EXPECT_EQ(check(), "rests on a sum");
}

TEST_F(LedgerTest, Undefined) {
  Sides sides;
  sides.given = "tv.undefined \"x\" on <device = 0:2> : tensor<4xf32>";
  parse(sides);
  EXPECT_EQ(check(), "rests on an undefined value");
}

TEST_F(LedgerTest, GivenWhatIsComputed) {
  Sides sides;
  sides.given = "tv.distribute %y <[0:4 of 4]> on <device = 0:2> : "
                "(tensor<4xf32>) -> tensor<4xf32>";
  parse(sides);
  EXPECT_EQ(check(), "is given a tensor of the reference that is no input");
}

TEST_F(LedgerTest, MayBeUndefined) {
  Sides sides;
  sides.first = "tv.log %x : (tensor<4xf32>) -> tensor<4xf32>";
  sides.second = "tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>";
  parse(sides);
  EXPECT_EQ(check(),
            "rests on a tensor that may be undefined where the results "
            "are defined");
  statuses[result].assumed = {};
  EXPECT_EQ(check(), "");
}
