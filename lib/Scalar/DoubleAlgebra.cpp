//===- DoubleAlgebra.cpp - scalars as doubles -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fast numeric algebra, and what all numeric algebras share.
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

//===--- NumericAlgebra ---------------------------------------------------===//

void NumericAlgebra::addStatus(const NumericStatus &other) {
  state.isUndefined |= other.isUndefined;
  state.isUndecided |= other.isUndecided;
  state.isInexact |= other.isInexact;
  state.usesUninterpreted |= other.usesUninterpreted;
}

Scalar NumericAlgebra::rational(int64_t numerator, int64_t denominator) {
  return constant(Rational(numerator, denominator));
}

Scalar NumericAlgebra::literal(double value, FloatFormat format) {
  if (std::isfinite(value))
    return constant(simplestRational(value, format));
  if (!std::isinf(value) || value > 0)
    state.isUndefined = true;
  return minusInfinity();
}

Scalar NumericAlgebra::integer(int64_t value) {
  return constant(Rational(value));
}

Scalar NumericAlgebra::boolean(bool value) { return constant(Rational(value)); }

Scalar NumericAlgebra::subtract(Scalar left, Scalar right) {
  return add(left, negate(right));
}

//===--- DoubleAlgebra ----------------------------------------------------===//

/// The part of a number that others may differ by which are joined with it: a
/// few roundings.
static constexpr double closeness = 0x1p-44;

std::optional<Scalar> DoubleAlgebra::join(Scalar left, Scalar right) {
  double first = getDouble(left), second = getDouble(right);
  bool isClose = std::fabs(first - second) <=
                 closeness * std::min(std::fabs(first), std::fabs(second));
  if (left == right || (std::isfinite(first) && isClose))
    return left;
  return std::nullopt;
}

bool DoubleAlgebra::areApart(ArrayRef<Scalar> row) const {
  // Without branches, so that several are compared at once.
  bool mayBeClose = false;
  for (size_t i = 1; i < row.size(); ++i) {
    double first = getDouble(row[i - 1]), second = getDouble(row[i]);
    double smaller = std::min(std::fabs(first), std::fabs(second));
    mayBeClose |= !(std::fabs(first - second) > closeness * smaller);
  }
  return !mayBeClose;
}

Scalar DoubleAlgebra::undefined(double argument, double phase) {
  state.isUndefined = true;
  // Unspecified, and the same for the same argument.
  return fromDouble(2 + std::sin(argument + phase));
}

Scalar DoubleAlgebra::constant(const Rational &value) {
  return fromDouble(value.toDouble());
}

Scalar DoubleAlgebra::rational(int64_t numerator, int64_t denominator) {
  // Integers of up to 53 bits are doubles, and their quotient is rounded once.
  constexpr int64_t limit = int64_t(1) << 53;
  auto isExact = [](int64_t value) {
    return value >= -limit && value <= limit;
  };
  if (isExact(numerator) && isExact(denominator))
    return fromDouble(static_cast<double>(numerator) /
                      static_cast<double>(denominator));
  return constant(Rational(numerator, denominator));
}

Scalar DoubleAlgebra::minusInfinity() {
  return fromDouble(-std::numeric_limits<double>::infinity());
}

Scalar DoubleAlgebra::add(Scalar left, Scalar right) {
  return fromDouble(sumUp(getDouble(left), getDouble(right)));
}

Scalar DoubleAlgebra::multiply(Scalar left, Scalar right) {
  return fromDouble(getDouble(left) * getDouble(right));
}

Scalar DoubleAlgebra::divide(Scalar left, Scalar right) {
  // The inverse of 0 is unspecified, its products are products.
  if (getDouble(right) == 0)
    return multiply(left, undefined(0, 1));
  return fromDouble(getDouble(left) / getDouble(right));
}

Scalar DoubleAlgebra::negate(Scalar value) {
  return fromDouble(-getDouble(value));
}

Scalar DoubleAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  double result = 0;
  for (const WeightedScalar &term : terms)
    if (term.weight != 0)
      result += static_cast<double>(term.weight) * getDouble(term.value);
  return fromDouble(result);
}

Scalar DoubleAlgebra::power(Scalar base, int64_t numerator,
                            int64_t denominator) {
  double value = getDouble(base);
  double exponent =
      static_cast<double>(numerator) / static_cast<double>(denominator);
  if ((value == 0 && exponent < 0) ||
      (value < 0 && numerator % denominator != 0))
    return undefined(value, 2 + exponent);
  return fromDouble(std::pow(value, exponent));
}

Scalar DoubleAlgebra::apply(Function function, Scalar argument) {
  double value = getDouble(argument);
  switch (function) {
  case Function::Exp:
    return fromDouble(std::exp(value));
  case Function::Log:
    return value > 0 ? fromDouble(std::log(value)) : undefined(value, 3);
  case Function::Sqrt:
    return value >= 0 ? fromDouble(std::sqrt(value)) : undefined(value, 4);
  case Function::Rsqrt:
    return value > 0 ? fromDouble(1 / std::sqrt(value)) : undefined(value, 5);
  case Function::Sin:
    return fromDouble(std::sin(value));
  case Function::Cos:
    return fromDouble(std::cos(value));
  case Function::Tanh:
    return fromDouble(std::tanh(value));
  case Function::Erf:
    return fromDouble(std::erf(value));
  case Function::ErfDerivative:
    return fromDouble(2 * llvm::numbers::inv_sqrtpi * std::exp(-value * value));
  case Function::Abs:
    return fromDouble(std::fabs(value));
  case Function::Sign:
    return fromDouble((value > 0) - (value < 0));
  }
  llvm_unreachable("a function without a value");
}

Scalar DoubleAlgebra::maximum(ArrayRef<Scalar> values) {
  double result = getDouble(values[0]);
  for (Scalar value : values.drop_front())
    result = std::max(result, getDouble(value));
  return fromDouble(result);
}

Scalar DoubleAlgebra::compare(Comparison comparison, Scalar left,
                              Scalar right) {
  double first = getDouble(left), second = getDouble(right);
  switch (comparison) {
  case Comparison::Equal:
    return fromDouble(first == second);
  case Comparison::NotEqual:
    return fromDouble(first != second);
  case Comparison::Less:
    return fromDouble(first < second);
  case Comparison::LessEqual:
    return fromDouble(first <= second);
  }
  llvm_unreachable("a comparison without a value");
}

Scalar DoubleAlgebra::select(Scalar condition, Scalar ifTrue, Scalar ifFalse) {
  return getDouble(condition) != 0 ? ifTrue : ifFalse;
}

Scalar DoubleAlgebra::uninterpreted(llvm::StringRef name,
                                    ArrayRef<Scalar> arguments,
                                    ScalarSort sort) {
  state.usesUninterpreted = true;
  uint64_t seed = llvm::xxh3_64bits(name);
  // Frequencies and phases between 0 and 2, made from the name.
  auto draw = [&] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 40) / (1 << 23);
  };
  double result = draw();
  for (Scalar argument : arguments) {
    double value = std::max(getDouble(argument), -1e6);
    result += std::sin((draw() + 0.25) * value + draw()) * (0.5 + draw());
  }
  if (sort == ScalarSort::Integer)
    return fromDouble(std::floor(std::fabs(result) * 4));
  if (sort == ScalarSort::Boolean)
    return fromDouble(std::sin(result * 3) > 0);
  return fromDouble(result);
}
