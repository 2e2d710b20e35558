//===- LawsTest.cpp - laws hold, and only where they do -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each law an equation that is proved by it. For each condition of a law
// the same equation without the condition, and for each law that is not one an
// equation, neither of which may be proved.
//
//===----------------------------------------------------------------------===//

#include "TermExpressions.h"

using namespace verify;

namespace {
class LawsTest : public TermTest {
protected:
  Expression x = real(0), y = real(1), z = real(2), k = real(3);
};
} // namespace

//===--- Laws without condition -------------------------------------------===//

TEST_F(LawsTest, SumsAndProducts) {
  expectProved((x + y) + z, z + (y + x));
  expectProved((x * y) * z, z * (y * x));
  expectProved(x * (y + z), x * y + x * z);
  expectProved((x + y) * (x - y), x * x - y * y);
  expectProved(pow(x, 3), x * x * x);
  expectProved(pow(x, 0), number(1));
  expectProved(x / 3 + x / 6, x / 2);
  Scalar weighted = terms.sum({{x, 3}, {y, -2}});
  expectProved(weighted, x + x + x - y - y);
  expectNotProved(x * y, x + y);
  expectNotProved(x / 64, x / 32);
}

TEST_F(LawsTest, Exponentials) {
  expectProved(exp(x + y), exp(x) * exp(y));
  expectProved(exp(x - y) * exp(y), exp(x));
  expectProved(exp(number(0)), number(1));
  expectProved(exp(2 * x), exp(x) * exp(x));
  expectProved(exp(x / 2) * exp(x / 2), exp(x));
  expectProved(log(exp(x)), x);
  expectProved(1 / exp(x), exp(-x));
  expectNotProved(exp(x * y), exp(x) * exp(y));
  expectNotProved(exp(x) + exp(y), exp(x + y));
  expectNotProved(log(x), x);
}

TEST_F(LawsTest, Maxima) {
  expectProved(max(x, y), max(y, x));
  expectProved(max(max(x, y), z), max(x, max(z, y)));
  expectProved(max(x, max(x, x)), x);
  expectProved(max(z + x, y + z), z + max(x, y));
  expectProved(max(max(x, y) + z, z + k), z + max(max(x, k), y));
  expectProved(max(2 * x, 2 * y), 2 * max(x, y));
  expectProved(max(exp(x), exp(y)), exp(max(x, y)));
  expectProved(max(x, x + 1), x + 1);
  expectProved(max(x, number(0)) - max(-x, number(0)), x);
  expectNotProved(max(x, y), x);
  expectNotProved(max(-x, -y), -max(x, y));
  expectNotProved(max(x, y) + max(x, z), max(x + x, y + z));
}

TEST_F(LawsTest, AbsoluteValues) {
  expectProved(sqrt(x * x), abs(x));
  expectProved(abs(x) * sign(x), x);
  expectProved(abs(x) * abs(x), x * x);
  expectProved(abs(x - y), abs(y - x));
  expectProved(abs(3 * x), 3 * abs(x));
  expectProved(abs(exp(x)), exp(x));
  expectNotProved(abs(x), x);
  expectNotProved(abs(x + y), abs(x) + abs(y));
  expectNotProved(sign(x) * sign(x), number(1));
}

TEST_F(LawsTest, Selections) {
  Expression c = atom(4, 0, ScalarSort::Boolean);
  Expression isEqual = compare(x, Comparison::Equal, y);
  expectProved(select(c, x, y) + z, select(c, x + z, y + z));
  expectProved(select(c, x, x), x);
  expectProved(select(c, select(c, x, y), z), select(c, x, z));
  expectProved(exp(select(c, x, y)), select(c, exp(x), exp(y)));
  expectProved(select(isEqual, z, k),
               select(compare(x, Comparison::NotEqual, y), k, z));
  expectProved(compare(x, Comparison::LessEqual, y),
               compare(2 * x + 1, Comparison::LessEqual, 2 * y + 1));
  expectNotProved(select(c, x, y), select(c, y, x));
  expectNotProved(select(isEqual, x, z), select(isEqual, z, x));
}

TEST_F(LawsTest, Comparisons) {
  Expression less = compare(x, Comparison::Less, y);
  Expression lessEqual = compare(x, Comparison::LessEqual, y);
  Expression greater = compare(y, Comparison::Less, x);
  Expression equal = compare(x, Comparison::Equal, y);
  expectProved(select(less, z, k),
               select(compare(y, Comparison::LessEqual, x), k, z));
  // <= is < or =.
  expectProved(select(lessEqual, z, k), select(less, z, select(equal, z, k)));
  expectProved(select(less, select(greater, x, y), y), y);
  expectNotProved(select(less, z, k), select(lessEqual, z, k));
  expectNotProved(select(less, z, k), select(greater, k, z));
}

//===--- Laws with a condition --------------------------------------------===//

TEST_F(LawsTest, Inverses) {
  expectProved(x / x, number(1), {nonZero(x)});
  expectNotProved(x / x, number(1));
  expectProved(x * y / y, x, {nonZero(y)});
  expectNotProved(x * y / y, x, {nonZero(x)});
  expectProved(1 / (1 / x), x, {nonZero(x)});
  expectNotProved(1 / (1 / x), x);
  expectProved(pow(x, -2) * pow(x, 3), x, {nonZero(x)});
  expectNotProved(pow(x, -2) * pow(x, 3), x);
  expectProved(1 / (x * y), (1 / x) * (1 / y), {nonZero(x * y)});
  expectNotProved(1 / (x * y), (1 / x) * (1 / y), {nonZero(x)});
  expectProved((x * x - y * y) / (x - y), x + y, {nonZero(x - y)});
  expectNotProved((x * x - y * y) / (x - y), x + y, {nonZero(x + y)});
  expectProved(1 / x - 1 / (x + 1), 1 / (x * (x + 1)),
               {nonZero(x), nonZero(x + 1)});
  expectProved(x / (x + 1), 1 - 1 / (x + 1), {nonZero(x + 1)});
  expectNotProved(x / (x + 1), 1 - 1 / (x + 1));
  expectNotProved((x + y) / z, x / z + y / k, {nonZero(z), nonZero(k)});
}

TEST_F(LawsTest, Roots) {
  expectProved(sqrt(x) * sqrt(x), x, {nonNegative(x)});
  expectNotProved(sqrt(x) * sqrt(x), x);
  expectProved(sqrt(x * y), sqrt(x) * sqrt(y),
               {nonNegative(x), nonNegative(y)});
  expectNotProved(sqrt(x * y), sqrt(x) * sqrt(y), {nonNegative(x * y)});
  expectProved(sqrt(4 * x), 2 * sqrt(x), {nonNegative(x)});
  expectNotProved(sqrt(x * x), x);
  expectNotProved(sqrt(x * x), x, {nonZero(x)});
  expectProved(sqrt(x * x), x, {nonNegative(x)});
  expectProved(rsqrt(x), 1 / sqrt(x), {positive(x)});
  expectNotProved(rsqrt(x), 1 / sqrt(x), {nonNegative(x)});
  expectProved(rsqrt(x) * rsqrt(x), 1 / x, {positive(x)});
  expectProved(pow(rsqrt(x), 3), rsqrt(x) / x, {positive(x)});
  expectNotProved(rsqrt(x) * rsqrt(x), 1 / x);
  expectProved(sqrt(exp(x)), exp(x / 2));
}

TEST_F(LawsTest, Logarithms) {
  expectProved(log(x * y), log(x) + log(y), {positive(x), positive(y)});
  expectNotProved(log(x * y), log(x) + log(y), {positive(x * y)});
  expectProved(log(x / y), log(x) - log(y), {positive(x), positive(y)});
  expectProved(exp(log(x)), x, {positive(x)});
  expectNotProved(exp(log(x)), x, {nonZero(x)});
  expectProved(log(6 * exp(x)), log(number(2)) + log(number(3)) + x);
  expectProved(exp(x - log(y)), exp(x) / y, {positive(y)});
  expectProved(log(exp(x) + exp(y)), x + log(1 + exp(y - x)));
}

TEST_F(LawsTest, BrokenPowers) {
  expectProved(pow(x, 1, 2), sqrt(x), {nonNegative(x)});
  expectProved(pow(x, 3, 2), x * sqrt(x), {nonNegative(x)});
  expectNotProved(pow(x, 3, 2), x * sqrt(x));
  expectProved(pow(x, -1, 2), rsqrt(x), {positive(x)});
  expectNotProved(pow(x, -1, 2), rsqrt(x), {nonNegative(x)});
  expectProved(pow(x, 1, 3) * pow(x, 2, 3), x, {nonNegative(x)});
  expectNotProved(pow(x, 1, 3) * pow(x, 2, 3), x);
}

TEST_F(LawsTest, ScaledMaxima) {
  expectProved(max(k * x, k * y), k * max(x, y), {nonNegative(k)});
  expectNotProved(max(k * x, k * y), k * max(x, y));
  expectProved(max(exp(k) * x, exp(k) * y), exp(k) * max(x, y));
}

//===--- What is never a law ----------------------------------------------===//

TEST_F(LawsTest, PowersOfPowersAreNotMerged) {
  expectNotProved(pow(pow(x, 2), 1, 2), x);
  expectNotProved(pow(pow(x, 1, 2), 2), x);
  expectNotProved(pow(pow(x, 4), 1, 4), x, {nonZero(x)});
}

TEST_F(LawsTest, IntegersDoNotDivide) {
  Expression i = atom(5, 0, ScalarSort::Integer);
  terms.divide(i, integer(2));
  ASSERT_TRUE(terms.error());
  EXPECT_EQ(prove(x + y, y + x), Verdict::Unknown);
  EXPECT_EQ(lastResult.reason, "divide of an integer scalar");
}

TEST_F(LawsTest, MinusInfinityDoesNotMultiply) {
  Expression e = atom(5, 0, ScalarSort::Extended);
  terms.multiply(e, x);
  ASSERT_TRUE(terms.error());
  EXPECT_EQ(*terms.error(), "multiply of an extended (minus infinity) scalar");
  EXPECT_EQ(prove(x + y, y + x), Verdict::Unknown);
}

TEST_F(LawsTest, CastsAreNotIdentities) {
  auto cast = [&](Expression value) {
    return Expression{
        &terms, terms.uninterpreted("cast-f16", {value}, ScalarSort::Real)};
  };
  expectProved(cast(x + y), cast(y + x));
  expectNotProved(cast(x), x);
  expectNotProved(cast(x + y), cast(x) + cast(y));
}

TEST_F(LawsTest, UnknownFunctionsDifferByNameAndSort) {
  Expression i = atom(5, 0, ScalarSort::Integer);
  Expression asReal{&terms, terms.toReal(i)};
  auto call = [&](llvm::StringRef name, Scalar value) {
    return terms.uninterpreted(name, {value}, ScalarSort::Real);
  };
  expectNotProved(call("f", x), call("g", x));
  expectNotProved(call("f", x), call("f", y));
  EXPECT_NE(prove(call("f", i), call("f", asReal)), Verdict::Proved);
}

TEST_F(LawsTest, TanhGeluIsNotErfGelu) {
  Expression half = number(1, 2);
  Expression byErf =
      half * x * (1 + apply(Function::Erf, x * rsqrt(number(2))));
  Expression byTanh =
      half * x *
      (1 + apply(Function::Tanh, x + number(44715, 1000000) * pow(x, 3)));
  expectNotProved(byErf, byTanh);
}

//===--- Identities of one size -------------------------------------------===//

TEST_F(LawsTest, IdentitiesThatHoldAtSizeTwoOnly) {
  auto cubes = [&](int64_t size) { return 2 * sum(6, size, 3); };
  auto sums = [&](int64_t size) {
    return 3 * sum(6, size) * sum(6, size, 2) - pow(sum(6, size), 3);
  };
  expectProved(cubes(2), sums(2));
  expectNotProved(cubes(3), sums(3));
}

TEST_F(LawsTest, SumMinusMaximumIsMinimumAtSizeTwoOnly) {
  Expression least = -max(-x, -y);
  expectProved(x + y - max(x, y), least);
  expectNotProved(x + y + z - max(max(x, y), z), -max(-x, max(-y, -z)));
}
