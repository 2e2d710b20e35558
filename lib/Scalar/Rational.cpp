//===- Rational.cpp - exact rational numbers ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on two machine words where the result fits, GMP where not. A value
// that fits is always held in machine words, so equality is structural.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Rational.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <numeric>
#include <utility>

using namespace verify;

static_assert(sizeof(void *) == sizeof(int64_t),
              "a rational keeps an address in its numerator");
static_assert(sizeof(long) == sizeof(int64_t),
              "GMP's long functions are used for 64 bits");

namespace {
/// An initialized GMP rational that is freed at the end of its scope, or given
/// away.
struct BigRational {
  mpq_t value;
  BigRational() { mpq_init(value); }
  explicit BigRational(const Rational &from) : BigRational() {
    from.copyTo(value);
  }
  BigRational(const BigRational &) = delete;
  BigRational &operator=(const BigRational &) = delete;
  ~BigRational() { mpq_clear(value); }
};
} // namespace

//===--- Storage ----------------------------------------------------------===//

Rational::Rational(int64_t top, int64_t bottom)
    : numerator(top), denominator(bottom) {
  if (bottom == 1)
    return;
  if (bottom == 0)
    llvm::report_fatal_error("a rational with denominator 0");
  if (bottom > 0 && top != INT64_MIN) {
    int64_t divisor = std::gcd(top, bottom);
    numerator = top / divisor;
    denominator = bottom / divisor;
    return;
  }
  BigRational result;
  mpz_set_si(mpq_numref(result.value), top);
  mpz_set_si(mpq_denref(result.value), bottom);
  mpq_canonicalize(result.value);
  numerator = 0;
  denominator = 1;
  *this = take(result.value);
}

Rational Rational::fromGmp(mpq_srcptr value) {
  BigRational copy;
  mpq_set(copy.value, value);
  return take(copy.value);
}

Rational Rational::take(mpq_ptr value) {
  Rational result;
  if (mpz_fits_slong_p(mpq_numref(value)) &&
      mpz_fits_slong_p(mpq_denref(value))) {
    result.numerator = mpz_get_si(mpq_numref(value));
    result.denominator = mpz_get_si(mpq_denref(value));
    return result;
  }
  auto *kept = static_cast<mpq_ptr>(std::malloc(sizeof(__mpq_struct)));
  if (!kept)
    llvm::report_bad_alloc_error("out of memory in rational arithmetic");
  mpq_init(kept);
  mpq_swap(kept, value);
  result.numerator = reinterpret_cast<int64_t>(kept);
  result.denominator = 0;
  return result;
}

void Rational::release() {
  if (isSmall())
    return;
  mpq_clear(big());
  std::free(big());
}

Rational::Rational(const Rational &other)
    : numerator(other.numerator), denominator(other.denominator) {
  if (other.isSmall())
    return;
  BigRational copy(other);
  numerator = 0;
  denominator = 1;
  *this = take(copy.value);
}

Rational::Rational(Rational &&other) noexcept
    : numerator(std::exchange(other.numerator, 0)),
      denominator(std::exchange(other.denominator, 1)) {}

Rational &Rational::operator=(const Rational &other) {
  if (this != &other)
    *this = Rational(other);
  return *this;
}

Rational &Rational::operator=(Rational &&other) noexcept {
  std::swap(numerator, other.numerator);
  std::swap(denominator, other.denominator);
  return *this;
}

Rational::~Rational() { release(); }

void Rational::copyTo(mpq_ptr result) const {
  if (!isSmall())
    return mpq_set(result, big());
  mpz_set_si(mpq_numref(result), numerator);
  mpz_set_si(mpq_denref(result), denominator);
}

//===--- Arithmetic -------------------------------------------------------===//

Rational Rational::operator+(const Rational &other) const {
  int64_t sum;
  if (denominator == 1 && other.denominator == 1 &&
      !__builtin_add_overflow(numerator, other.numerator, &sum))
    return Rational(sum);
  int64_t left, right, bottom;
  if (isSmall() && other.isSmall() &&
      !__builtin_mul_overflow(numerator, other.denominator, &left) &&
      !__builtin_mul_overflow(other.numerator, denominator, &right) &&
      !__builtin_mul_overflow(denominator, other.denominator, &bottom) &&
      !__builtin_add_overflow(left, right, &sum))
    return Rational(sum, bottom);
  BigRational result(*this), addend(other);
  mpq_add(result.value, result.value, addend.value);
  return take(result.value);
}

Rational Rational::operator-() const {
  if (isSmall() && numerator != INT64_MIN) {
    Rational result;
    result.numerator = -numerator;
    result.denominator = denominator;
    return result;
  }
  BigRational result(*this);
  mpq_neg(result.value, result.value);
  return take(result.value);
}

Rational Rational::operator-(const Rational &other) const {
  return *this + -other;
}

Rational Rational::operator*(const Rational &other) const {
  int64_t top, bottom;
  if (isSmall() && other.isSmall() &&
      !__builtin_mul_overflow(numerator, other.numerator, &top) &&
      !__builtin_mul_overflow(denominator, other.denominator, &bottom))
    return Rational(top, bottom);
  BigRational result(*this), factor(other);
  mpq_mul(result.value, result.value, factor.value);
  return take(result.value);
}

Rational Rational::operator/(const Rational &other) const {
  if (other.isZero())
    llvm::report_fatal_error("a rational divided by 0");
  int64_t top, bottom;
  if (isSmall() && other.isSmall() && other.numerator > 0 &&
      !__builtin_mul_overflow(numerator, other.denominator, &top) &&
      !__builtin_mul_overflow(denominator, other.numerator, &bottom))
    return Rational(top, bottom);
  BigRational result(*this), divisor(other);
  mpq_div(result.value, result.value, divisor.value);
  return take(result.value);
}

Rational Rational::power(int64_t exponent) const {
  if (exponent < 0)
    return inverse().power(-exponent);
  Rational result(1), square(*this);
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result *= square;
    if (exponent > 1)
      square *= square;
  }
  return result;
}

Rational Rational::floor() const {
  if (isInteger())
    return *this;
  BigRational value(*this);
  mpz_fdiv_q(mpq_numref(value.value), mpq_numref(value.value),
             mpq_denref(value.value));
  mpz_set_si(mpq_denref(value.value), 1);
  return take(value.value);
}

std::optional<Rational> Rational::getExactRoot() const {
  if (sign() < 0)
    return std::nullopt;
  BigRational value(*this);
  if (!mpz_perfect_square_p(mpq_numref(value.value)) ||
      !mpz_perfect_square_p(mpq_denref(value.value)))
    return std::nullopt;
  mpz_sqrt(mpq_numref(value.value), mpq_numref(value.value));
  mpz_sqrt(mpq_denref(value.value), mpq_denref(value.value));
  return take(value.value);
}

Rational Rational::greatestCommonDivisor(const Rational &left,
                                         const Rational &right) {
  // gcd(a/b, c/d) = gcd(a d, c b) / (b d).
  BigRational a(left), c(right), result;
  mpz_mul(mpq_numref(a.value), mpq_numref(a.value), mpq_denref(c.value));
  mpz_mul(mpq_numref(c.value), mpq_numref(c.value), mpq_denref(a.value));
  mpz_gcd(mpq_numref(result.value), mpq_numref(a.value), mpq_numref(c.value));
  mpz_mul(mpq_denref(result.value), mpq_denref(a.value), mpq_denref(c.value));
  mpq_canonicalize(result.value);
  return take(result.value);
}

//===--- Observation ------------------------------------------------------===//

bool Rational::operator==(const Rational &other) const {
  if (isSmall() || other.isSmall())
    return numerator == other.numerator && denominator == other.denominator;
  return mpq_equal(big(), other.big()) != 0;
}

int Rational::compare(const Rational &other) const {
  if (denominator == other.denominator && isSmall())
    return numerator < other.numerator ? -1 : numerator > other.numerator;
  BigRational left(*this), right(other);
  return mpq_cmp(left.value, right.value);
}

int Rational::sign() const {
  if (isSmall())
    return numerator < 0 ? -1 : numerator > 0;
  return mpq_sgn(big());
}

bool Rational::isInteger() const {
  if (isSmall())
    return denominator == 1;
  return mpz_cmp_si(mpq_denref(big()), 1) == 0;
}

std::optional<int64_t> Rational::getInteger() const {
  if (denominator == 1)
    return numerator;
  return std::nullopt;
}

Rational Rational::getNumerator() const {
  BigRational value(*this);
  mpz_set_si(mpq_denref(value.value), 1);
  return take(value.value);
}

Rational Rational::getDenominator() const {
  BigRational value(*this);
  mpz_swap(mpq_numref(value.value), mpq_denref(value.value));
  mpz_set_si(mpq_denref(value.value), 1);
  return take(value.value);
}

std::optional<uint64_t> Rational::residue(uint64_t prime) const {
  auto reduce = [&](int64_t value) {
    int64_t rest = value % static_cast<int64_t>(prime);
    return static_cast<uint64_t>(rest < 0 ? rest + static_cast<int64_t>(prime)
                                          : rest);
  };
  uint64_t top, bottom;
  if (isSmall()) {
    top = reduce(numerator);
    bottom = reduce(denominator);
  } else {
    top = mpz_fdiv_ui(mpq_numref(big()), prime);
    bottom = mpz_fdiv_ui(mpq_denref(big()), prime);
  }
  if (bottom == 0)
    return std::nullopt;
  // Fermat: bottom^(prime - 2) is the inverse of bottom.
  unsigned __int128 result = top, square = bottom;
  if (bottom != 1)
    for (uint64_t exponent = prime - 2; exponent != 0; exponent >>= 1) {
      if (exponent & 1)
        result = result * square % prime;
      square = square * square % prime;
    }
  return static_cast<uint64_t>(result);
}

std::string Rational::toString() const {
  if (isSmall())
    return std::to_string(numerator) +
           (denominator == 1 ? "" : "/" + std::to_string(denominator));
  std::string text(mpz_sizeinbase(mpq_numref(big()), 10) +
                       mpz_sizeinbase(mpq_denref(big()), 10) + 3,
                   '\0');
  mpq_get_str(text.data(), 10, big());
  text.resize(text.find('\0'));
  return text;
}

llvm::hash_code Rational::hash() const {
  if (isSmall())
    return llvm::hash_combine(numerator, denominator);
  return llvm::hash_combine(
      mpz_fdiv_ui(mpq_numref(big()), 9223372036854775783UL),
      mpz_fdiv_ui(mpq_denref(big()), 9223372036854775783UL));
}
