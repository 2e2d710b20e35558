//===- RationalAlgebra.cpp - scalars as exact rationals -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact wherever the result is rational and known to be; a double with a mark
// on the status where it is not.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/NumericAlgebras.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <limits>

using namespace verify;
using llvm::ArrayRef;

RationalAlgebra::RationalAlgebra() { values.emplace_back(); }

void RationalAlgebra::reset() {
  NumericAlgebra::reset();
  values.resize(1);
  released.clear();
}

Scalar RationalAlgebra::keep(Scalar value, size_t mark) {
  if (isMinusInfinity(value)) {
    values.resize(mark);
    return value;
  }
  Rational kept =
      value.bits >= mark ? std::move(values[value.bits]) : values[value.bits];
  values.resize(mark);
  if (released.empty())
    return constant(kept);
  size_t place = released.back();
  released.pop_back();
  values[place] = std::move(kept);
  return {place};
}

void RationalAlgebra::release(Scalar value) {
  if (isMinusInfinity(value))
    return;
  values[value.bits] = Rational();
  released.push_back(value.bits);
}

std::optional<Scalar> RationalAlgebra::join(Scalar left, Scalar right) {
  bool isEqual =
      left == right || (!isMinusInfinity(left) && !isMinusInfinity(right) &&
                        get(left) == get(right));
  return isEqual ? std::optional<Scalar>(left) : std::nullopt;
}

Scalar RationalAlgebra::constant(const Rational &value) {
  values.push_back(value);
  return {values.size() - 1};
}

Scalar RationalAlgebra::undefined() {
  state.isUndefined = true;
  return constant(Rational());
}

Scalar RationalAlgebra::inexact(double value) {
  state.isInexact = true;
  if (!std::isfinite(value)) {
    state.isUndefined = true;
    value = 0;
  }
  return constant(Rational::fromDouble(value));
}

double RationalAlgebra::toDouble(Scalar value) const {
  if (isMinusInfinity(value))
    return -std::numeric_limits<double>::infinity();
  return get(value).toDouble();
}

//===--- Arithmetic -------------------------------------------------------===//

Scalar RationalAlgebra::add(Scalar left, Scalar right) {
  return sum({{left, 1}, {right, 1}});
}

Scalar RationalAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  Rational result;
  for (const WeightedScalar &term : terms) {
    if (term.weight == 0)
      continue;
    if (isMinusInfinity(term.value))
      return term.weight < 0 ? undefined() : minusInfinity();
    result += get(term.value) * term.weight;
  }
  return constant(result);
}

Scalar RationalAlgebra::negate(Scalar value) { return sum({{value, -1}}); }

Scalar RationalAlgebra::multiply(Scalar left, Scalar right) {
  if (isMinusInfinity(left) || isMinusInfinity(right))
    return undefined();
  return constant(get(left) * get(right));
}

Scalar RationalAlgebra::divide(Scalar left, Scalar right) {
  if (isMinusInfinity(left) || isMinusInfinity(right) || get(right).isZero())
    return undefined();
  return constant(get(left) / get(right));
}

Scalar RationalAlgebra::power(Scalar base, int64_t numerator,
                              int64_t denominator) {
  Rational exponent(numerator, denominator);
  if (isMinusInfinity(base) || (get(base).isZero() && exponent.sign() < 0))
    return undefined();
  if (std::optional<int64_t> whole = exponent.getInteger())
    return constant(get(base).power(*whole));
  if (get(base).sign() < 0)
    return undefined();
  if (exponent.getDenominator() == Rational(2))
    if (std::optional<Rational> root = get(base).getExactRoot())
      return constant(root->power(*exponent.getNumerator().getInteger()));
  return inexact(std::pow(get(base).toDouble(), exponent.toDouble()));
}

//===--- Functions --------------------------------------------------------===//

Scalar RationalAlgebra::apply(Function function, Scalar argument) {
  if (isMinusInfinity(argument))
    return function == Function::Exp ? constant(Rational()) : undefined();
  const Rational value = get(argument);
  double approximate = value.toDouble();
  switch (function) {
  case Function::Exp:
    return value.isZero() ? constant(1) : inexact(std::exp(approximate));
  case Function::Log:
    if (value.sign() <= 0)
      return undefined();
    return value.isOne() ? constant(Rational())
                         : inexact(std::log(approximate));
  case Function::Sqrt:
    return power(argument, 1, 2);
  case Function::Rsqrt:
    return power(argument, -1, 2);
  case Function::Sin:
    return value.isZero() ? argument : inexact(std::sin(approximate));
  case Function::Cos:
    return value.isZero() ? constant(1) : inexact(std::cos(approximate));
  case Function::Tanh:
    return value.isZero() ? argument : inexact(std::tanh(approximate));
  case Function::Erf:
    return value.isZero() ? argument : inexact(std::erf(approximate));
  case Function::ErfDerivative:
    return inexact(2 * llvm::numbers::inv_sqrtpi *
                   std::exp(-approximate * approximate));
  case Function::Abs:
    return constant(value.abs());
  case Function::Sign:
    return constant(value.sign());
  }
  llvm_unreachable("a function without a value");
}

int RationalAlgebra::order(Scalar left, Scalar right) const {
  if (isMinusInfinity(left) || isMinusInfinity(right))
    return isMinusInfinity(right) - isMinusInfinity(left);
  return get(left).compare(get(right));
}

Scalar RationalAlgebra::maximum(ArrayRef<Scalar> candidates) {
  Scalar result = candidates[0];
  for (Scalar operand : candidates.drop_front())
    if (order(result, operand) < 0)
      result = operand;
  return result;
}

Scalar RationalAlgebra::compare(Comparison comparison, Scalar left,
                                Scalar right) {
  int relation = order(left, right);
  switch (comparison) {
  case Comparison::Equal:
    return constant(relation == 0);
  case Comparison::NotEqual:
    return constant(relation != 0);
  case Comparison::Less:
    return constant(relation < 0);
  case Comparison::LessEqual:
    return constant(relation <= 0);
  }
  llvm_unreachable("a comparison without a value");
}

Scalar RationalAlgebra::select(Scalar condition, Scalar ifTrue,
                               Scalar ifFalse) {
  return get(condition).isZero() ? ifFalse : ifTrue;
}

Scalar RationalAlgebra::uninterpreted(llvm::StringRef name,
                                      ArrayRef<Scalar> arguments,
                                      ScalarSort sort) {
  state.usesUninterpreted = true;
  // Equal arguments give equal values; exact arithmetic knows equal ones.
  uint64_t hash = llvm::xxh3_64bits(name);
  for (Scalar argument : arguments) {
    uint64_t value =
        isMinusInfinity(argument) ? 1 : uint64_t(get(argument).hash());
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  }
  hash ^= hash >> 32;
  auto number = static_cast<int64_t>(hash % 1009);
  if (sort == ScalarSort::Boolean)
    return constant(number % 2);
  if (sort == ScalarSort::Integer)
    return constant(number % 8);
  return constant(Rational(number - 504, 128));
}
