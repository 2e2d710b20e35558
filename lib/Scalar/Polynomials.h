//===- Polynomials.h - polynomials over generators --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interned polynomials with rational coefficients. A monomial is a product of
// integer powers of generators and of one exponential, whose argument is again
// a polynomial. Generators are plain numbers here; what they mean, and which
// relations hold between them, is known to the normalizer.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCALAR_POLYNOMIALS_H
#define VERIFY_LIB_SCALAR_POLYNOMIALS_H

#include "Verify/Scalar/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace verify {

using GeneratorId = uint32_t;
using MonomialId = uint32_t;
using PolynomialId = uint32_t;

/// A generator to a power that is not 0.
struct GeneratorPower {
  GeneratorId generator;
  int32_t exponent;
  bool operator==(const GeneratorPower &other) const {
    return generator == other.generator && exponent == other.exponent;
  }
};

/// A product of powers, sorted by generator, times `exp(exponent)`.
struct Monomial {
  llvm::SmallVector<GeneratorPower, 4> powers;
  PolynomialId exponent = 0;
  bool operator==(const Monomial &other) const {
    return exponent == other.exponent && powers == other.powers;
  }
};

/// A monomial with its coefficient.
struct WeightedMonomial {
  MonomialId monomial;
  Rational coefficient;
  bool operator==(const WeightedMonomial &other) const {
    return monomial == other.monomial && coefficient == other.coefficient;
  }
};

/// A polynomial: monomials in ascending order, coefficients not 0.
using Polynomial = llvm::SmallVector<WeightedMonomial, 2>;

/// Keeps monomials and polynomials; equal ones have equal numbers.
class PolynomialStore {
public:
  /// The numbers of the constant monomial and the constant polynomials 0 and 1.
  static constexpr MonomialId unit = 0;
  static constexpr PolynomialId zero = 0;
  static constexpr PolynomialId one = 1;

  PolynomialStore();

  const Monomial &getMonomial(MonomialId monomial) const {
    return monomials[monomial];
  }
  const Polynomial &get(PolynomialId polynomial) const {
    return polynomials[polynomial];
  }
  size_t size() const { return polynomials.size(); }

  /// Powers must be sorted, with exponents that are not 0.
  MonomialId intern(const Monomial &monomial);
  /// Sorts and merges `terms`, which may repeat monomials.
  PolynomialId intern(Polynomial terms);
  PolynomialId constant(const Rational &value);
  PolynomialId monomial(MonomialId monomial, const Rational &coefficient);
  PolynomialId generator(GeneratorId generator);

  PolynomialId add(PolynomialId left, PolynomialId right);
  PolynomialId subtract(PolynomialId left, PolynomialId right);
  PolynomialId scale(PolynomialId polynomial, const Rational &factor);

  /// The value of a polynomial without generators.
  std::optional<Rational> getConstant(PolynomialId polynomial) const;
  /// The greatest positive rational of which all coefficients are integer
  /// multiples; 0 for the polynomial 0.
  Rational getContent(PolynomialId polynomial) const;
  /// The coefficient of a monomial, or 0.
  Rational getCoefficient(PolynomialId polynomial, MonomialId monomial) const;

  /// A total order that products respect; negative if `left` comes first.
  int compare(MonomialId left, MonomialId right) const;

private:
  struct MonomialHash {
    size_t operator()(const Monomial &monomial) const;
  };
  struct PolynomialHash {
    size_t operator()(const Polynomial &terms) const;
  };
  /// Keeps a sorted polynomial without zeros.
  PolynomialId keep(Polynomial &&terms);

  /// Deques, because references to elements are handed out.
  std::deque<Monomial> monomials;
  std::deque<Polynomial> polynomials;
  std::unordered_map<Monomial, MonomialId, MonomialHash> monomialNumbers;
  std::unordered_map<Polynomial, PolynomialId, PolynomialHash>
      polynomialNumbers;
};

} // namespace verify

#endif // VERIFY_LIB_SCALAR_POLYNOMIALS_H
