//===- PatternTest.cpp - proofs under other names -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was proved of some unknowns is known of others, and of nothing that
// differs in more than their names. Each case has an equation that holds and
// one that is as like it as can be and does not.
//
//===----------------------------------------------------------------------===//

#include "TermExpressions.h"

using namespace verify;

namespace {
class PatternTest : public TermTest {
protected:
  /// What all sides have in common, so that it is left out of the proof.
  Expression common(uint32_t tensor = 0) { return exp(real(tensor)); }

  size_t repeated() { return prover.getStatistics().repeated; }

  void expectRepeated(Scalar left, Scalar right,
                      llvm::ArrayRef<Condition> hypotheses = {}) {
    size_t before = repeated(), queries = prover.getStatistics().solverQueries;
    expectProved(left, right, hypotheses);
    EXPECT_EQ(repeated(), before + 1);
    EXPECT_EQ(prover.getStatistics().solverQueries, queries);
  }
  void expectOther(Scalar left, Scalar right,
                   llvm::ArrayRef<Condition> hypotheses = {}) {
    size_t before = repeated();
    expectNotProved(left, right, hypotheses);
    EXPECT_EQ(repeated(), before);
  }
};
} // namespace

TEST_F(PatternTest, OtherNames) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * x + c, c * (x + 1));
  expectRepeated(c * y + c, c * (y + 1));
  // Of other common terms, that are themselves other terms.
  Expression d = log(real(3) * real(3) + 1);
  expectRepeated(d * y + d, d * (y + 1));
  expectRepeated(d * real(1, 7) + d, d * (real(1, 7) + 1));
}

TEST_F(PatternTest, WhichUnknownIsWhere) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * x * y, c * (y * x));
  expectOther(c * x * y, c * (x * x));
  expectOther(c * x * x, c * (y * x));
  expectProved(c * x + c, c * (x + 1));
  expectOther(c * x + c, c * (y + 1));
  // Two common terms are not one.
  Expression d = common(3);
  expectProved((c + x) * d, c * d + x * d);
  expectOther((c + x) * d, c * c + x * d);
}

TEST_F(PatternTest, Constants) {
  Expression x = real(1), c = common();
  expectProved(c * x + 3 * c, c * (x + 3));
  expectOther(c * x + 3 * c, c * (x + 5));
  expectOther(c * x + 5 * c, c * (x + 3));
  expectOther(c * x + c * number(3, 2), c * (x + 3));
  expectOther(c * x - 3 * c, c * (x + 3));
}

TEST_F(PatternTest, ConstantsOfALaterAlgebra) {
  Expression x = real(1), c = common();
  expectProved(c * x + c * number(3), c * (x + number(3)));
  terms.clear();
  prover.clear();
  // The first number that is seen is another one.
  c = common(), x = real(1);
  Expression left = c * x + c * number(5);
  expectOther(left, c * (x + number(3)));
  expectRepeated(c * x + c * number(3), c * (x + number(3)));
}

TEST_F(PatternTest, WeightsAndExponents) {
  Expression x = real(1), y = real(2), c = common();
  Scalar twice = terms.sum({{x, 2}, {y, 1}}),
         thrice = terms.sum({{x, 3}, {y, 1}});
  expectProved(c * Expression{&terms, twice}, c * (x + x + y));
  expectOther(c * Expression{&terms, thrice}, c * (x + x + y));
  expectProved(c * pow(x + y, 2), c * (x * x + 2 * x * y + y * y));
  expectOther(c * pow(x + y, 3), c * (x * x + 2 * x * y + y * y));
}

TEST_F(PatternTest, FunctionsAndComparisons) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * exp(x + y), c * (exp(x) * exp(y)));
  expectOther(c * apply(Function::Tanh, x + y),
              c * (apply(Function::Tanh, x) * apply(Function::Tanh, y)));
  expectProved(c * max(x, y),
               c * select(compare(x, Comparison::LessEqual, y), y, x));
  expectOther(c * max(x, y),
              c * select(compare(x, Comparison::Equal, y), y, x));
  auto call = [&](llvm::StringRef name, Expression at) {
    return Expression{&terms,
                      terms.uninterpreted(name, {at}, ScalarSort::Real)};
  };
  expectProved(c * call("f", x + y), c * call("f", y + x));
  expectOther(c * call("f", x + y), c * call("g", y + x));
}

TEST_F(PatternTest, Operations) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * max(x, y), c * max(y, x));
  expectOther(c * (x * y), c * max(y, x));
}

TEST_F(PatternTest, Sorts) {
  // What may be minus infinity has an exponential that may be 0.
  Expression c = common(), finite = real(1);
  Expression extended = atom(2, 0, ScalarSort::Extended);
  expectProved(c * (exp(finite) / exp(finite)), c);
  expectOther(c * (exp(extended) / exp(extended)), c);
}

TEST_F(PatternTest, Hypotheses) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * x / x, c, {nonZero(x)});
  expectOther(c * y / y, c);
  expectOther(c * y / y, c, {nonNegative(y)});
  expectOther(c * y / y, c, {nonZero(x)});
  expectRepeated(c * y / y, c, {nonZero(y)});
  expectProved(c * (x * y / x), c * y, {nonZero(x)});
  expectOther(c * (x * y / x), c * y, {nonZero(y)});
  expectProved(c * abs(x), c * x, {nonNegative(x)});
  expectOther(c * abs(y), c * y, {nonZero(y)});
}

TEST_F(PatternTest, SmallCases) {
  Expression x = real(1), y = real(2), c = common();
  expectProved(c * x + c, c * (x + 1));
  size_t before = repeated();
  prover.clear();
  prover.setSmallCase(SmallCase::CountsSteps);
  expectProved(c * y + c, c * (y + 1));
  EXPECT_EQ(repeated(), before);
}
