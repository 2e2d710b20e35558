//===- SignAlgebra.cpp - scalars as sets of signs -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar is a double if that is its exact value, and otherwise no number with
// the set of signs in its lowest bits. A rounded sum or product of doubles is 0
// or has another sign than the exact one only where it underflows.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/SignAlgebra.h"

#include <cmath>
#include <limits>

using namespace verify;
using llvm::ArrayRef;

static constexpr uint64_t noNumber = 0x7ff8000000000000;
static constexpr double infinity = std::numeric_limits<double>::infinity();

static uint8_t getSignOf(double value) {
  return value == -infinity ? SignAlgebra::MinusInfinity
         : value < 0        ? SignAlgebra::Negative
         : value == 0       ? SignAlgebra::Zero
                            : SignAlgebra::Positive;
}

/// The signs of minus a value.
static uint8_t flip(uint8_t signs) {
  return (signs & SignAlgebra::Zero) |
         (signs & SignAlgebra::Negative ? SignAlgebra::Positive : 0) |
         (signs & SignAlgebra::Positive ? SignAlgebra::Negative : 0);
}

//===--- Scalars ----------------------------------------------------------===//

Scalar SignAlgebra::fromSigns(uint8_t signs) {
  if (signs == Zero)
    return fromNumber(0);
  if (signs == MinusInfinity)
    return fromNumber(-infinity);
  return {noNumber | signs};
}

Scalar SignAlgebra::fromNumber(double value) {
  return {llvm::bit_cast<uint64_t>(value == 0 ? 0.0 : value)};
}

std::optional<double> SignAlgebra::getNumber(Scalar value) {
  auto number = llvm::bit_cast<double>(value.bits);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

uint8_t SignAlgebra::getSigns(Scalar value) {
  if (std::optional<double> number = getNumber(value))
    return getSignOf(*number);
  return static_cast<uint8_t>(value.bits & 0xf);
}

double SignAlgebra::toDouble(Scalar value) const {
  if (std::optional<double> number = getNumber(value))
    return *number;
  uint8_t signs = getSigns(value);
  return signs & Zero ? 0 : signs & Positive ? 1 : -1;
}

std::optional<Scalar> SignAlgebra::join(Scalar left, Scalar right) {
  return left == right ? std::optional(left) : std::nullopt;
}

Scalar SignAlgebra::constant(const Rational &value) {
  double nearest = value.toDouble();
  if (std::isfinite(nearest) && Rational::fromDouble(nearest) == value)
    return fromNumber(nearest);
  return fromSigns(value < Rational(0) ? Negative : Positive);
}

Scalar SignAlgebra::rational(int64_t numerator, int64_t denominator) {
  // Bodies ask for 0 and 1 for each element.
  return denominator == 1 ? integer(numerator)
                          : constant(Rational(numerator, denominator));
}

Scalar SignAlgebra::integer(int64_t value) {
  constexpr int64_t limit = int64_t(1) << 53;
  if (value >= -limit && value <= limit)
    return fromNumber(static_cast<double>(value));
  return fromSigns(value < 0 ? Negative : Positive);
}

Scalar SignAlgebra::minusInfinity() { return fromNumber(-infinity); }

void SignAlgebra::require(Scalar value, uint8_t allowed) {
  uint8_t signs = getSigns(value);
  if (signs == 0 || (signs & ~allowed) != 0)
    state.isUndecided = true;
}

//===--- Arithmetic -------------------------------------------------------===//

Scalar SignAlgebra::add(Scalar left, Scalar right) {
  auto first = getNumber(left), second = getNumber(right);
  if (first && second) {
    double total = *first + *second, part = total - *first;
    // Minus infinity, or by Knuth's error of a sum.
    bool isInfinite = *first == -infinity || *second == -infinity;
    if (isInfinite || (std::isfinite(total) &&
                       (*first - (total - part)) + (*second - part) == 0))
      return fromNumber(total);
  }
  uint8_t a = getSigns(left), b = getSigns(right);
  uint8_t signs = (a | b) & MinusInfinity;
  if ((a & anyReal) == 0 || (b & anyReal) == 0)
    return fromSigns(signs);
  signs |= (a | b) & (Negative | Positive);
  if ((a & b & Zero) || (a & flip(b) & (Negative | Positive)))
    signs |= Zero;
  return fromSigns(signs);
}

Scalar SignAlgebra::multiply(Scalar left, Scalar right) {
  auto first = getNumber(left), second = getNumber(right);
  if (first && second) {
    double product = *first * *second;
    bool isNormal =
        std::fabs(product) >= 0x1p-900 || *first == 0 || *second == 0;
    if (isNormal && std::isfinite(product) &&
        std::fma(*first, *second, -product) == 0)
      return fromNumber(product);
  }
  uint8_t a = getSigns(left), b = getSigns(right);
  if ((a | b) & MinusInfinity)
    return fromSigns(MinusInfinity | anyReal);
  uint8_t signs = (a | b) & Zero;
  for (auto [sign, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (sign & Positive)
      signs |= other & (Negative | Positive);
    if (sign & Negative)
      signs |= flip(other & (Negative | Positive));
  }
  return fromSigns(signs);
}

Scalar SignAlgebra::divide(Scalar left, Scalar right) {
  require(right, Negative | Positive);
  uint8_t divisor = getSigns(right);
  if (divisor & (MinusInfinity | Zero))
    return fromSigns(anyReal);
  auto first = getNumber(left), second = getNumber(right);
  if (first && second) {
    double quotient = *first / *second;
    bool isNormal = std::fabs(*first) >= 0x1p-900 && std::isfinite(quotient) &&
                    std::fabs(quotient) >= 0x1p-900;
    if (isNormal && std::fma(quotient, *second, -*first) == 0)
      return fromNumber(quotient);
  }
  return multiply(fromSigns(getSigns(left)), fromSigns(divisor));
}

Scalar SignAlgebra::negate(Scalar value) {
  if (std::optional<double> number = getNumber(value);
      number && *number != -infinity)
    return fromNumber(-*number);
  uint8_t signs = getSigns(value);
  return fromSigns(signs & MinusInfinity ? anyReal | MinusInfinity
                                         : flip(signs));
}

Scalar SignAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  Scalar total = fromNumber(0);
  for (const WeightedScalar &term : terms) {
    bool isInfinite = getSigns(term.value) & MinusInfinity;
    if (term.weight == 0)
      continue;
    if (!isInfinite && getNumber(term.value)) {
      total = add(total, multiply(integer(term.weight), term.value));
      continue;
    }
    // So many values, which may differ: what two of them add up to is what more
    // of them do.
    Scalar one = term.weight > 0 ? term.value : negate(term.value);
    total = add(total, one);
    if (term.weight != 1 && term.weight != -1)
      total = add(total, one);
  }
  return total;
}

Scalar SignAlgebra::power(Scalar base, int64_t numerator, int64_t denominator) {
  Rational exponent(numerator, denominator);
  std::optional<int64_t> top = exponent.getNumerator().getInteger();
  std::optional<int64_t> bottom = exponent.getDenominator().getInteger();
  if (!top || !bottom || *bottom > 2) {
    state.isUndecided = true;
    return fromSigns(anyReal);
  }
  if (*top == 0)
    return fromNumber(1);
  uint8_t allowed = anyReal;
  if (*bottom == 2)
    allowed &= ~Negative;
  if (*top < 0)
    allowed &= ~Zero;
  require(base, allowed);
  uint8_t signs = getSigns(base) & allowed;
  if (signs != getSigns(base))
    return fromSigns(anyReal);
  bool isEven = *bottom == 2 || *top % 2 == 0;
  if (isEven && (signs & Negative))
    signs = (signs & ~Negative) | Positive;
  return fromSigns(signs);
}

//===--- Functions --------------------------------------------------------===//

Scalar SignAlgebra::apply(Function function, Scalar argument) {
  uint8_t signs = getSigns(argument);
  switch (function) {
  case Function::Exp:
    return fromSigns((signs & MinusInfinity ? Zero : 0) |
                     (signs & anyReal ? Positive : 0));
  case Function::Log:
    require(argument, Positive);
    return fromSigns(anyReal);
  case Function::Sqrt:
    require(argument, Zero | Positive);
    return fromSigns(signs & ~(Zero | Positive) ? anyReal : signs);
  case Function::Rsqrt:
    require(argument, Positive);
    return fromSigns(signs == Positive ? Positive : anyReal);
  case Function::Tanh:
  case Function::Erf:
  case Function::Sign:
    return fromSigns(signs & MinusInfinity ? anyReal : signs);
  case Function::Sin:
  case Function::Cos:
    return fromSigns(anyReal);
  case Function::ErfDerivative:
    return fromSigns(Positive);
  case Function::Abs:
    return fromSigns(signs & MinusInfinity
                         ? anyReal
                         : (signs | flip(signs)) & (Zero | Positive));
  }
  state.isUndecided = true;
  return fromSigns(MinusInfinity | anyReal);
}

//===--- Choice -----------------------------------------------------------===//

namespace {
/// How two values compare, a bit for each.
enum Order : uint8_t { Less = 1, Equal = 2, Greater = 4 };
} // namespace

/// Whether the first of two values of these signs may be less, equal or
/// greater.
static uint8_t listOrders(uint8_t left, uint8_t right) {
  uint8_t orders = 0;
  for (uint8_t a = 1; a <= SignAlgebra::Positive; a <<= 1)
    for (uint8_t b = 1; b <= SignAlgebra::Positive; b <<= 1)
      if ((left & a) && (right & b))
        orders |= a < b   ? Less
                  : a > b ? Greater
                  : a == SignAlgebra::Negative || a == SignAlgebra::Positive
                      ? Less | Equal | Greater
                      : Equal;
  return orders;
}

Scalar SignAlgebra::maximum(ArrayRef<Scalar> values) {
  Scalar result = values.front();
  for (Scalar value : values.drop_front()) {
    auto first = getNumber(result), second = getNumber(value);
    if (first && second) {
      result = fromNumber(std::max(*first, *second));
      continue;
    }
    uint8_t signs = 0;
    for (uint8_t a = 1; a <= Positive; a <<= 1)
      for (uint8_t b = 1; b <= Positive; b <<= 1)
        if ((getSigns(result) & a) && (getSigns(value) & b))
          signs |= std::max(a, b);
    result = fromSigns(signs);
  }
  return result;
}

Scalar SignAlgebra::compare(Comparison comparison, Scalar left, Scalar right) {
  auto first = getNumber(left), second = getNumber(right);
  uint8_t orders = first && second
                       ? (*first < *second   ? Less
                          : *first > *second ? Greater
                                             : Equal)
                       : listOrders(getSigns(left), getSigns(right));
  uint8_t wanted = 0;
  switch (comparison) {
  case Comparison::Equal:
    wanted = Equal;
    break;
  case Comparison::NotEqual:
    wanted = Less | Greater;
    break;
  case Comparison::Less:
    wanted = Less;
    break;
  case Comparison::LessEqual:
    wanted = Less | Equal;
    break;
  }
  if ((orders & ~wanted) == 0)
    return boolean(true);
  if ((orders & wanted) == 0)
    return boolean(false);
  return fromSigns(Zero | Positive);
}

Scalar SignAlgebra::select(Scalar condition, Scalar ifTrue, Scalar ifFalse) {
  uint8_t signs = getSigns(condition);
  if (ifTrue == ifFalse || signs == Positive)
    return ifTrue;
  if (signs == Zero)
    return ifFalse;
  uint8_t either = getSigns(ifTrue) | getSigns(ifFalse);
  // One scalar may stand for many elements, of both signs.
  bool isMixed = (either & Negative) && (either & Positive);
  return fromSigns(isMixed ? either | Zero : either);
}

Scalar SignAlgebra::uninterpreted(llvm::StringRef, ArrayRef<Scalar>,
                                  ScalarSort sort) {
  state.usesUninterpreted = true;
  switch (sort) {
  case ScalarSort::Boolean:
    return fromSigns(Zero | Positive);
  case ScalarSort::Real:
  case ScalarSort::Integer:
    return fromSigns(anyReal);
  case ScalarSort::Extended:
    return fromSigns(MinusInfinity | anyReal);
  }
  return fromSigns(MinusInfinity | anyReal);
}
