//===- FloatRationals.cpp - between floating point and rationals ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact conversion in both directions, and the reading of a literal as the
// simplest rational in its rounding interval (Stern-Brocot search by continued
// fractions).
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Rational.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace verify;

Rational Rational::scaledByPowerOfTwo(int64_t mantissa, int64_t exponent) {
  mpq_t value;
  mpq_init(value);
  mpq_set_si(value, mantissa, 1);
  if (exponent >= 0)
    mpq_mul_2exp(value, value, exponent);
  else
    mpq_div_2exp(value, value, -exponent);
  Rational result = fromGmp(value);
  mpq_clear(value);
  return result;
}

Rational Rational::fromDouble(double value) {
  if (!std::isfinite(value))
    llvm::report_fatal_error("a rational from an infinite or undefined number");
  int exponent;
  double fraction = std::frexp(value, &exponent);
  return scaledByPowerOfTwo(static_cast<int64_t>(std::ldexp(fraction, 53)),
                            exponent - 53);
}

double Rational::toDouble() const {
  if (isZero())
    return 0;
  // mpq_get_d truncates; the exact value lies between that and the next double
  // away from zero.
  mpq_t value;
  mpq_init(value);
  copyTo(value);
  double truncated = mpq_get_d(value);
  mpq_clear(value);
  if (!std::isfinite(truncated))
    return truncated;
  double next = std::nextafter(truncated, sign() * HUGE_VAL);
  if (!std::isfinite(next))
    return truncated;
  Rational below = (*this - fromDouble(truncated)).abs();
  Rational above = (fromDouble(next) - *this).abs();
  int order = below.compare(above);
  if (order != 0)
    return order < 0 ? truncated : next;
  int exponent;
  auto mantissa =
      static_cast<int64_t>(std::ldexp(std::frexp(truncated, &exponent), 53));
  return mantissa % 2 == 0 ? truncated : next;
}

//===--- Literals ---------------------------------------------------------===//

namespace {
/// Bits of the significand, and the exponent of the least subnormal number.
struct FormatParameters {
  int significandBits;
  int leastExponent;
};

/// An interval of positive rationals, with or without its ends.
struct RationalInterval {
  Rational low, high;
  bool isClosed;

  bool contains(const Rational &value) const {
    return isClosed ? low <= value && value <= high
                    : low < value && value < high;
  }
};
} // namespace

static FormatParameters getParameters(FloatFormat format) {
  switch (format) {
  case FloatFormat::Double:
    return {53, -1074};
  case FloatFormat::Single:
    return {24, -149};
  case FloatFormat::Half:
    return {11, -24};
  case FloatFormat::BFloat:
    return {8, -133};
  }
  llvm_unreachable("a floating-point format without parameters");
}

/// The simplest rational of a nonempty interval of positive rationals.
static Rational findSimplest(const RationalInterval &interval) {
  Rational whole = interval.low.floor();
  if (interval.contains(whole) && whole.sign() > 0)
    return whole;
  if (interval.contains(whole + 1))
    return whole + 1;
  // No integer lies inside, so all members share the integer part `whole`.
  Rational low = interval.low - whole, high = interval.high - whole;
  if (low.isZero()) {
    // Only for an open interval (whole, high): 1 / n with the least n that
    // makes it smaller than `high`.
    return whole + (high.inverse().floor() + 1).inverse();
  }
  return whole +
         findSimplest({high.inverse(), low.inverse(), interval.isClosed})
             .inverse();
}

Rational verify::simplestRational(double value, FloatFormat format) {
  if (value == 0)
    return Rational();
  Rational exact = Rational::fromDouble(value);
  FormatParameters parameters = getParameters(format);
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent);
  int unit =
      std::max(exponent - parameters.significandBits, parameters.leastExponent);
  double mantissa = std::ldexp(fraction, exponent - unit);
  // A number that is not of this format denotes itself.
  if (mantissa != std::floor(mantissa))
    return exact;
  Rational magnitude = exact.abs();
  Rational half = Rational::scaledByPowerOfTwo(1, unit - 1);
  // Below a power of two the numbers lie twice as dense.
  bool isLowest = fraction == 0.5 && unit > parameters.leastExponent;
  Rational halfBelow =
      isLowest ? Rational::scaledByPowerOfTwo(1, unit - 2) : half;
  RationalInterval interval{magnitude - halfBelow, magnitude + half,
                            std::fmod(mantissa, 2) == 0};
  bool hasSeveralIntegers = interval.contains(magnitude.floor() + 1) ||
                            interval.contains(magnitude.floor() - 1);
  if (exact.isInteger() && hasSeveralIntegers)
    return exact;
  Rational simplest = findSimplest(interval);
  return value < 0 ? -simplest : simplest;
}
