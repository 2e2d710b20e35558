//===- Rational.h - exact rational numbers ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rationals in lowest terms. Almost all coefficients of a training step fit
// into two machine words and never allocate; the rest is GMP. GMP rather than
// LLVM's DynamicAPInt, because interval arithmetic (MPFI) needs GMP anyway and
// exact execution produces numbers of thousands of digits.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_RATIONAL_H
#define VERIFY_SCALAR_RATIONAL_H

#include "llvm/ADT/Hashing.h"

#include <gmp.h>

#include <cstdint>
#include <optional>
#include <string>

namespace verify {

/// An exact rational number in lowest terms with a positive denominator.
class Rational {
public:
  Rational() = default;
  /// The rational `top / bottom`; `bottom` is not 0.
  Rational(int64_t top, int64_t bottom = 1);
  Rational(const Rational &other);
  Rational(Rational &&other) noexcept;
  Rational &operator=(const Rational &other);
  Rational &operator=(Rational &&other) noexcept;
  ~Rational();

  /// The value of a canonical GMP rational.
  static Rational fromGmp(mpq_srcptr value);
  /// The exact value of a finite double.
  static Rational fromDouble(double value);
  /// `mantissa` times two to the power `exponent`.
  static Rational scaledByPowerOfTwo(int64_t mantissa, int64_t exponent);

  Rational operator+(const Rational &other) const;
  Rational operator-(const Rational &other) const;
  Rational operator*(const Rational &other) const;
  /// Exact quotient; `other` is not 0.
  Rational operator/(const Rational &other) const;
  Rational operator-() const;
  Rational &operator+=(const Rational &other) { return *this = *this + other; }
  Rational &operator*=(const Rational &other) { return *this = *this * other; }

  bool operator==(const Rational &other) const;
  bool operator!=(const Rational &other) const { return !(*this == other); }
  bool operator<(const Rational &other) const { return compare(other) < 0; }
  bool operator<=(const Rational &other) const { return compare(other) <= 0; }
  /// Negative, zero or positive as `*this` is less, equal or greater.
  int compare(const Rational &other) const;

  /// -1, 0 or 1.
  int sign() const;
  bool isZero() const { return isSmall() && numerator == 0; }
  bool isOne() const { return denominator == 1 && numerator == 1; }
  bool isInteger() const;
  /// The value, if it is an integer of 64 bits.
  std::optional<int64_t> getInteger() const;
  Rational inverse() const { return Rational(1) / *this; }
  Rational abs() const { return sign() < 0 ? -*this : *this; }
  /// The greatest integer that is not greater.
  Rational floor() const;
  /// Exact power; a negative exponent requires a value that is not 0.
  Rational power(int64_t exponent) const;
  /// The square root, if it is rational.
  std::optional<Rational> getExactRoot() const;
  Rational getNumerator() const;
  Rational getDenominator() const;
  /// The greatest positive rational of which both are integer multiples.
  static Rational greatestCommonDivisor(const Rational &left,
                                        const Rational &right);

  /// The nearest double, ties to even.
  double toDouble() const;
  /// The residue modulo a prime below 2^63, or nothing if the denominator is a
  /// multiple of it.
  std::optional<uint64_t> residue(uint64_t prime) const;
  /// `3`, `-1/3`.
  std::string toString() const;
  /// Copies the value into an initialized GMP rational.
  void copyTo(mpq_ptr result) const;
  llvm::hash_code hash() const;

private:
  bool isSmall() const { return denominator != 0; }
  mpq_ptr big() const { return reinterpret_cast<mpq_ptr>(numerator); }
  /// Takes over an initialized, canonical GMP rational.
  static Rational take(mpq_ptr value);
  void release();

  /// The numerator, or the address of a GMP rational if `denominator` is 0.
  int64_t numerator = 0;
  int64_t denominator = 1;
};

inline llvm::hash_code hash_value(const Rational &value) {
  return value.hash();
}

/// The floating-point types that literals of a source program come in.
enum class FloatFormat : uint8_t { Double, Single, Half, BFloat };

/// The simplest rational that rounds (to nearest, ties to even) to the finite
/// number `value` in `format`: the one with the least denominator, and of these
/// the one of least magnitude. Where several integers round to `value`, it is
/// `value` itself.
Rational simplestRational(double value,
                          FloatFormat format = FloatFormat::Double);

} // namespace verify

#endif // VERIFY_SCALAR_RATIONAL_H
