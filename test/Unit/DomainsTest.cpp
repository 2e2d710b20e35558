//===- DomainsTest.cpp - what is executed for its domain alone ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that nothing uses is not executed where signs show that it is
// defined, and is where they do not.
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"
#include "Verify/Scalar/SignAlgebra.h"
#include "llvm/Support/FormatVariadic.h"

using namespace verify;

namespace {
/// Inputs whose elements are their first positions, from 0 on.
class RampSource : public PlaceSource {
public:
  explicit RampSource(NumericAlgebra &algebra)
      : PlaceSource(algebra), algebra(algebra) {}
  Scalar input(Value value, ArrayRef<int64_t> index) override {
    return isZero(value) ? algebra.rational(0) : algebra.integer(index.front());
  }

private:
  NumericAlgebra &algebra;
};

/// What executing the last value of a graph came to.
struct Outcome {
  Operation *undefinedOp;
  bool isUndefined, isUndecided;
  int64_t steps;
};
} // namespace

/// Executes the last value of a graph in intervals, with or without signs.
static Outcome execute(tv::GraphOp graph, bool hasSigns) {
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 64, 8192});
  SmallVector<Value> last = {body.back().getResult(0)};
  DoubleAlgebra doubles;
  RampSource doubleSource(doubles);
  DenseEvaluator first(factors, doubles, doubleSource);
  first.ignoreDomains();
  EXPECT_TRUE(succeeded(first.run({}, last))) << first.getFailure();
  DoubleIntervalAlgebra intervals;
  RampSource source(intervals);
  DenseEvaluator dense(factors, intervals, source);
  dense.setEqualValues(first.getEqualValues());
  SignAlgebra signs;
  RampSource signSource(signs);
  DenseEvaluator domains(factors, signs, signSource);
  domains.setEqualValues(first.getEqualValues());
  if (hasSigns)
    dense.showDomainsWith(domains);
  EXPECT_TRUE(succeeded(dense.run({}, last))) << dense.getFailure();
  return {dense.getUndefinedOp(), intervals.status().isUndefined,
          intervals.status().isUndecided, dense.getSteps()};
}

/// A graph whose result is `%x`, and in which the values of `text` decide only
/// whether that is defined: the last of them, `%q`, is multiplied by 0.
static std::string makeGraph(StringRef text, StringRef domain = "",
                             StringRef type = "tensor<4xf32>") {
  return ("tv.graph @graph <mb = 2, device = 1> {\n"
          "%x = tv.input <input \"x\"> : " +
          type + "\n%z = tv.input <parameter \"zero\"> : " + type + "\n" +
          text + "\n%n = tv.multiply %q, %z" + domain + " : (" + type + ", " +
          type + ") -> " + type + "\n%y = tv.add %x, %n" + domain + " : (" +
          type + ", " + type + ") -> " + type + "\n}")
      .str();
}

using DomainsTest = DenseEvaluatorTest;

TEST_F(DomainsTest, WhatIsShownIsNotExecuted) {
  constexpr StringLiteral shown[] = {
      // Total, whatever the operands are.
      "%q = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>",
      "%q = tv.power %x {denominator = 1 : i64, numerator = 2 : i64} : "
      "(tensor<4xf32>) -> tensor<4xf32>",
      // By an exponential, the operand of a root, an odd power below.
      "%e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.divide %x, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.rsqrt %e : (tensor<4xf32>) -> tensor<4xf32>",
      "%e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.power %e {denominator = 2 : i64, numerator = -3 : i64} : "
      "(tensor<4xf32>) -> tensor<4xf32>"};
  for (StringRef text : shown) {
    tv::GraphOp graph = parse(makeGraph(text));
    ASSERT_TRUE(graph) << text.str();
    Outcome outcome = execute(graph, /*hasSigns=*/true);
    EXPECT_FALSE(outcome.isUndefined || outcome.isUndecided) << text.str();
    EXPECT_EQ(outcome.steps, 0) << text.str();
  }
  // Without signs only what is total is left out.
  tv::GraphOp graph = parse(makeGraph(shown[0]));
  EXPECT_EQ(execute(graph, /*hasSigns=*/false).steps, 0);
  graph = parse(makeGraph(shown[2]));
  EXPECT_GT(execute(graph, /*hasSigns=*/false).steps, 0);
}

TEST_F(DomainsTest, WhatIsNotShownIsExecuted) {
  // Of each the first element is outside, or one after it.
  constexpr StringLiteral undefined[] = {
      "%q = tv.divide %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%q = tv.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>",
      "%q = tv.log %x : (tensor<4xf32>) -> tensor<4xf32>",
      "%m = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.sqrt %m : (tensor<4xf32>) -> tensor<4xf32>",
      "%q = tv.power %x {denominator = 1 : i64, numerator = -1 : i64} : "
      "(tensor<4xf32>) -> tensor<4xf32>",
      "%m = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.power %m {denominator = 2 : i64, numerator = 1 : i64} : "
      "(tensor<4xf32>) -> tensor<4xf32>",
      // The third element of 2 - x.
      "%c = tv.constant dense<2.0> : tensor<f32> : () -> tensor<4xf32>\n"
      "%d = tv.subtract %c, %x : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>\n"
      "%q = tv.divide %x, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%w = tv.concat %x, %x {dimension = 0 : i64} : (tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<8xf32>\n"
      "%v = tv.divide %w, %w : (tensor<8xf32>, tensor<8xf32>) -> "
      "tensor<8xf32>\n"
      "%q = tv.slice %v {dimension = 0 : i64, start = 4 : i64, end = 8 : i64} "
      ": (tensor<8xf32>) -> tensor<4xf32>"};
  for (StringRef text : undefined) {
    tv::GraphOp graph = parse(makeGraph(text));
    ASSERT_TRUE(graph) << text.str();
    Outcome with = execute(graph, true), without = execute(graph, false);
    EXPECT_TRUE(with.isUndefined) << text.str();
    EXPECT_EQ(with.undefinedOp, without.undefinedOp) << text.str();
    EXPECT_NE(with.undefinedOp, nullptr) << text.str();
  }
  // In doubt, and then defined.
  tv::GraphOp graph = parse(makeGraph(
      "%e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%l = tv.log %e : (tensor<4xf32>) -> tensor<4xf32>\n"
      "%d = tv.add %l, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
      "%q = tv.divide %x, %d : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>"));
  Outcome outcome = execute(graph, true);
  EXPECT_FALSE(outcome.isUndefined || outcome.isUndecided);
  EXPECT_GT(outcome.steps, 0);
}

TEST_F(DomainsTest, OneThatIsUndefinedBeforeIsFound) {
  // The sign of what is made of it says nothing.
  tv::GraphOp graph = parse(
      makeGraph("%u = tv.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>\n"
                "%e = tv.exp %u : (tensor<4xf32>) -> tensor<4xf32>\n"
                "%q = tv.divide %x, %e : (tensor<4xf32>, tensor<4xf32>) -> "
                "tensor<4xf32>"));
  Outcome outcome = execute(graph, true);
  EXPECT_TRUE(outcome.isUndefined);
  ASSERT_NE(outcome.undefinedOp, nullptr);
  EXPECT_TRUE(isa<tv::RsqrtOp>(outcome.undefinedOp));
}

TEST_F(DomainsTest, ElementsOutsideOfADomainDoNotDecide) {
  // Of micro-batch 0 the first element is 0, of micro-batch 1 none is.
  constexpr StringLiteral text = R"(tv.graph @graph <mb = 2, device = 1> {{
      %x = tv.input <input "x"> : tensor<4xf32>
      %z = tv.input <parameter "zero"> : tensor<4xf32>
      %p = tv.distribute %x <[mb, 0:2 of 2]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
      %o = tv.distribute %z <[mb, 0:2 of 2]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
      %q = tv.divide %p, %p on {0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %n = tv.multiply %q, %o on {0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %c = tv.copy %p on {0} : (tensor<2xf32>) -> tensor<2xf32>
      %y = tv.add %c, %n on {0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    })";
  auto make = [&](StringRef domain) {
    return parse(llvm::formatv(text.data(), domain).str());
  };
  tv::GraphOp graph = make("<device = 0, mb = 1>");
  Outcome inside = execute(graph, true);
  EXPECT_FALSE(inside.isUndefined || inside.isUndecided);
  EXPECT_LT(inside.steps, execute(graph, false).steps);
  for (StringRef domain : {"<device = 0>", "<device = 0, mb = 0>"}) {
    Outcome outside = execute(make(domain), true);
    EXPECT_TRUE(outside.isUndefined) << domain.str();
    EXPECT_NE(outside.undefinedOp, nullptr) << domain.str();
  }
}
