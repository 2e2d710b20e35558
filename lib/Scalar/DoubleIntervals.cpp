//===- DoubleIntervals.cpp - intervals between doubles --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rounded result is within half a unit in the last place of the exact one, so
// the neighbours enclose it; where the rounding error is computed to be 0 they
// are not needed. Roots are rounded correctly. Functions of the C library are
// taken to be close (docs/Soundness.md, A24), those of MPFR are rounded.
//
//===----------------------------------------------------------------------===//

#include "FunctionBounds.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace verify;
using llvm::ArrayRef;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// The least positive double that is rounded relatively.
static constexpr double leastNormal = std::numeric_limits<double>::min();
/// Twice the relative error of rounding.
static constexpr double unit = 0x1p-52;

/// A double below the number that was rounded to `value`.
static double below(double value, double error = unit) {
  return std::isinf(value) ? value
                           : value - (std::fabs(value) * error + leastNormal);
}

static double above(double value, double error = unit) {
  return std::isinf(value) ? value
                           : value + (std::fabs(value) * error + leastNormal);
}

/// Whether a product was not rounded; its error is exact if it is normal.
static bool isExactProduct(double left, double right, double product) {
  return std::fma(left, right, -product) == 0 &&
         (std::fabs(product) >= 0x1p-900 || left == 0 || right == 0);
}

/// Whether a sum was not rounded, by Knuth's error of a sum.
static bool isExactSum(double left, double right, double sum) {
  double part = sum - left;
  return (left - (sum - part)) + (right - part) == 0;
}

//===--- Storage ----------------------------------------------------------===//

Scalar DoubleIntervalAlgebra::make(double lower, double upper,
                                   bool mayBeMinusInfinity) {
  // Also what is not a number.
  bool isOverflow =
      lower == infinity || (upper == -infinity && !mayBeMinusInfinity);
  if (!(lower <= upper) || isOverflow) {
    lower = -infinity;
    upper = infinity;
  }
  intervals.push_back({lower, upper});
  return {intervals.size() - 1};
}

Scalar DoubleIntervalAlgebra::keep(Scalar value, size_t mark) {
  Interval kept = get(value);
  intervals.resize(mark);
  if (isShared(value))
    return value;
  if (released.empty()) {
    intervals.push_back(kept);
    return {mark};
  }
  size_t place = released.back();
  released.pop_back();
  intervals[place] = kept;
  return {place};
}

void DoubleIntervalAlgebra::keepAll(llvm::MutableArrayRef<Scalar> values,
                                    size_t mark) {
  llvm::SmallVector<Interval, 0> kept;
  for (Scalar value : values)
    kept.push_back(get(value));
  intervals.resize(mark);
  for (auto [value, interval] : llvm::zip_equal(values, kept)) {
    if (isShared(value))
      continue;
    if (released.empty()) {
      value = {intervals.size()};
      intervals.push_back(interval);
      continue;
    }
    value = {released.back()};
    released.pop_back();
    intervals[value.bits] = interval;
  }
}

void DoubleIntervalAlgebra::reset() {
  EnclosingAlgebra::reset();
  intervals.resize(2);
  released.clear();
}

std::optional<Scalar> DoubleIntervalAlgebra::join(Scalar left, Scalar right) {
  const Interval a = get(left), b = get(right);
  if (a.isUndefined() || b.isUndefined())
    return std::nullopt;
  if (a.lower == b.lower && a.upper == b.upper)
    return left;
  double lower = std::min(a.lower, b.lower);
  double upper = std::max(a.upper, b.upper);
  if (!std::isfinite(lower) || !std::isfinite(upper))
    return std::nullopt;
  // Not much wider than they are, or than rounding makes them.
  double rounding = 0x1p-40 * std::min(std::fabs(lower), std::fabs(upper));
  double narrower = std::min(a.upper - a.lower, b.upper - b.lower);
  if (upper - lower > std::max(rounding, 3 * narrower))
    return std::nullopt;
  return make(lower, upper);
}

Scalar DoubleIntervalAlgebra::constant(const Rational &value) {
  double nearest = value.toDouble();
  if (std::isfinite(nearest) && Rational::fromDouble(nearest) == value)
    return point(nearest);
  return make(below(nearest), above(nearest));
}

Scalar DoubleIntervalAlgebra::rational(int64_t numerator, int64_t denominator) {
  constexpr int64_t limit = int64_t(1) << 53;
  if (numerator < -limit || numerator > limit || denominator < -limit ||
      denominator > limit)
    return constant(Rational(numerator, denominator));
  if (denominator == 1)
    return point(static_cast<double>(numerator));
  return divide(point(static_cast<double>(numerator)),
                point(static_cast<double>(denominator)));
}

Scalar DoubleIntervalAlgebra::minusInfinity() {
  return make(-infinity, -infinity, /*mayBeMinusInfinity=*/true);
}

//===--- Observation ------------------------------------------------------===//

double DoubleIntervalAlgebra::toDouble(Scalar value) const {
  const Interval &interval = get(value);
  return interval.isPoint() ? interval.lower
                            : interval.lower / 2 + interval.upper / 2;
}

//===--- Conditions -------------------------------------------------------===//

Scalar DoubleIntervalAlgebra::undefined() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  intervals.push_back({none, none});
  return {intervals.size() - 1};
}

DoubleIntervalAlgebra::Domain
DoubleIntervalAlgebra::requirePositive(const Interval &value, bool allowsZero) {
  if (value.lower > 0 || (allowsZero && value.lower == 0))
    return Domain::Inside;
  if (value.upper < 0 || (!allowsZero && value.upper == 0)) {
    state.isUndefined = true;
    return Domain::Outside;
  }
  state.isUndecided = true;
  return Domain::Undecided;
}

DoubleIntervalAlgebra::Domain
DoubleIntervalAlgebra::requireNonZero(const Interval &value) {
  if (value.lower > 0 || value.upper < 0)
    return Domain::Inside;
  if (value.isPoint()) {
    state.isUndefined = true;
    return Domain::Outside;
  }
  state.isUndecided = true;
  return Domain::Undecided;
}

Scalar DoubleIntervalAlgebra::outside(Domain domain) {
  return domain == Domain::Outside ? undefined() : wholeLine();
}

//===--- Arithmetic -------------------------------------------------------===//

Scalar DoubleIntervalAlgebra::add(Scalar left, Scalar right) {
  const Interval &a = get(left), &b = get(right);
  if (a.isUndefined() || b.isUndefined())
    return undefined();
  // Nothing is rounded.
  if (a.isZero() || b.isZero()) {
    const Interval other = a.isZero() ? b : a;
    return make(other.lower, other.upper, other.upper == -infinity);
  }
  double lower = a.lower + b.lower, upper = a.upper + b.upper;
  bool isMinusInfinity = a.upper == -infinity || b.upper == -infinity;
  if (a.isPoint() && b.isPoint() &&
      (std::isinf(lower) || isExactSum(a.lower, b.lower, lower)))
    return make(lower, upper, isMinusInfinity);
  return make(below(lower), above(upper), isMinusInfinity);
}

Scalar DoubleIntervalAlgebra::multiply(Scalar left, Scalar right) {
  const Interval &a = get(left), &b = get(right);
  if (a.isUndefined() || b.isUndefined())
    return undefined();
  // Nothing is rounded.
  if ((a.isZero() && b.isFinite()) || (b.isZero() && a.isFinite()))
    return point(0);
  if (a.isPoint() && b.isPoint()) {
    double product = a.lower * b.lower;
    if (isExactProduct(a.lower, b.lower, product))
      return point(product);
    return make(below(product), above(product));
  }
  double products[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower,
                       a.upper * b.upper};
  double lower = products[0], upper = products[0];
  for (double product : products) {
    // 0 times infinity.
    if (std::isnan(product))
      return wholeLine();
    lower = std::min(lower, product);
    upper = std::max(upper, product);
  }
  // The square of what may be 0.
  if (left == right)
    lower =
        a.lower <= 0 && a.upper >= 0 ? 0 : std::min(products[0], products[3]);
  // The product of what is not negative is not.
  lower = lower == 0 && left == right ? 0 : below(lower);
  if (a.lower >= 0 && b.lower >= 0)
    lower = std::max(lower, 0.0);
  return make(lower, above(upper));
}

Scalar DoubleIntervalAlgebra::divide(Scalar left, Scalar right) {
  const Interval &a = get(left), &b = get(right);
  if (a.isUndefined() || b.isUndefined())
    return undefined();
  if (Domain domain = requireNonZero(b); domain != Domain::Inside)
    return outside(domain);
  if (a.isZero())
    return point(0);
  if (a.isPoint() && b.isPoint()) {
    double quotient = a.lower / b.lower;
    if (isExactProduct(quotient, b.lower, a.lower))
      return point(quotient);
    return make(below(quotient), above(quotient));
  }
  double quotients[] = {a.lower / b.lower, a.lower / b.upper, a.upper / b.lower,
                        a.upper / b.upper};
  double lower = quotients[0], upper = quotients[0];
  for (double quotient : quotients) {
    if (std::isnan(quotient))
      return wholeLine();
    lower = std::min(lower, quotient);
    upper = std::max(upper, quotient);
  }
  lower = below(lower);
  if (a.lower >= 0 && b.lower > 0)
    lower = std::max(lower, 0.0);
  return make(lower, above(upper));
}

Scalar DoubleIntervalAlgebra::negate(Scalar value) {
  const Interval &a = get(value);
  if (a.isUndefined())
    return undefined();
  return a.lower == -infinity && a.isPoint() ? wholeLine()
                                             : make(-a.upper, -a.lower);
}

Scalar DoubleIntervalAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  // Rounding errors are added up beside the sum, and doubled for the rounding
  // of that.
  double lower = 0, upper = 0, error = 0;
  bool isExact = true, isMinusInfinity = false;
  for (const WeightedScalar &term : terms) {
    if (term.weight == 0)
      continue;
    const Interval &a = get(term.value);
    if (a.isUndefined())
      return undefined();
    if (a.isZero())
      continue;
    isMinusInfinity |= a.upper == -infinity;
    auto weight = static_cast<double>(term.weight);
    // Larger ones are rounded themselves.
    if (std::fabs(weight) > 0x1p53)
      return wholeLine();
    double first = weight * a.lower, second = weight * a.upper;
    if (weight < 0)
      std::swap(first, second);
    isExact &= a.isPoint() && (weight == 1 || std::isinf(first) ||
                               isExactProduct(weight, a.lower, first));
    double nextLower = lower + first, nextUpper = upper + second;
    isExact &= std::isinf(nextLower) || isExactSum(lower, first, nextLower);
    lower = nextLower;
    upper = nextUpper;
    error += std::max(std::fabs(lower), std::fabs(upper)) +
             std::max(std::fabs(first), std::fabs(second)) + leastNormal;
  }
  if (isExact)
    return make(lower, upper, isMinusInfinity);
  if (!std::isfinite(error))
    return std::isinf(lower) && lower == upper
               ? make(lower, upper, isMinusInfinity)
               : wholeLine();
  error *= unit;
  return make(below(lower - error), above(upper + error));
}

Scalar DoubleIntervalAlgebra::power(Scalar base, int64_t numerator,
                                    int64_t denominator) {
  if (get(base).isUndefined())
    return undefined();
  Rational exponent(numerator, denominator);
  std::optional<int64_t> top = exponent.getNumerator().getInteger();
  std::optional<int64_t> bottom = exponent.getDenominator().getInteger();
  // Other roots are left to higher precision.
  if (!top || !bottom || *bottom > 2) {
    state.isUndecided = true;
    return wholeLine();
  }
  Scalar value = base;
  if (*bottom == 2) {
    Domain domain = requirePositive(get(base), *top > 0);
    if (domain != Domain::Inside)
      return outside(domain);
    value = root(get(base));
  } else if (*top < 0) {
    Domain domain = requireNonZero(get(base));
    if (domain != Domain::Inside)
      return outside(domain);
  }
  Scalar result = point(1);
  Scalar square = value;
  for (uint64_t rest = static_cast<uint64_t>(*top < 0 ? -*top : *top);
       rest != 0; rest >>= 1) {
    if (rest & 1)
      result = multiply(result, square);
    if (rest > 1)
      square = multiply(square, square);
  }
  return *top < 0 ? divide(point(1), result) : result;
}

//===--- Functions --------------------------------------------------------===//

Scalar DoubleIntervalAlgebra::root(const Interval &value) {
  double lower = std::sqrt(value.lower), upper = std::sqrt(value.upper);
  if (value.isPoint() && isExactProduct(lower, lower, value.lower))
    return point(lower);
  return make(std::max(below(lower), 0.0), above(upper));
}

Scalar DoubleIntervalAlgebra::increasing(Function function,
                                         const Interval &value) {
  return make(getLowerBound(function, value.lower, source),
              getUpperBound(function, value.upper, source));
}

Scalar DoubleIntervalAlgebra::wave(Function function, const Interval &value) {
  // The slope is 1 at most.
  double middle = value.lower / 2 + value.upper / 2;
  double radius = above(value.upper - value.lower);
  if (!(radius < 2))
    return make(-1, 1);
  double lower = getLowerBound(function, middle, source);
  double upper = getUpperBound(function, middle, source);
  return make(std::max(below(lower - radius), -1.0),
              std::min(above(upper + radius), 1.0));
}

Scalar DoubleIntervalAlgebra::apply(Function function, Scalar argument) {
  const Interval value = get(argument);
  bool needsSign = function == Function::Log || function == Function::Sqrt ||
                   function == Function::Rsqrt;
  if (value.isUndefined())
    return undefined();
  if (needsSign) {
    Domain domain = requirePositive(value, function == Function::Sqrt);
    if (domain != Domain::Inside)
      return outside(domain);
  }
  switch (function) {
  case Function::Exp: {
    if (value.isPoint() && value.lower == -infinity)
      return point(0);
    double lower = getLowerBound(function, value.lower, source);
    return make(std::max(lower, 0.0),
                getUpperBound(function, value.upper, source));
  }
  case Function::Log:
  case Function::Tanh:
  case Function::Erf:
    return increasing(function, value);
  case Function::Sqrt:
    return root(value);
  case Function::Rsqrt: {
    Scalar inverse = root(value);
    return divide(point(1), inverse);
  }
  case Function::Sin:
  case Function::Cos:
    return wave(function, value);
  case Function::ErfDerivative: {
    Scalar decay = apply(Function::Exp, negate(multiply(argument, argument)));
    double factor = 2 * llvm::numbers::inv_sqrtpi;
    return multiply(make(below(factor), above(factor)), decay);
  }
  case Function::Abs:
    if (value.lower >= 0)
      return argument;
    if (value.upper <= 0)
      return negate(argument);
    return make(0, std::max(-value.lower, value.upper));
  case Function::Sign: {
    auto sign = [](double of) { return (of > 0) - (of < 0); };
    if (sign(value.lower) != sign(value.upper))
      state.isUndecided = true;
    return make(sign(value.lower), sign(value.upper));
  }
  }
  llvm_unreachable("a function without a value");
}
