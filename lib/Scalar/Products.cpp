//===- Products.cpp - products of polynomials -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with their claims. A product that used a law is claimed on its own,
// so that what the solver has to show stays linear in products of generators.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

PolynomialId NormalizerState::multiply(PolynomialId left, PolynomialId right) {
  if (hasFailed())
    return PolynomialStore::zero;
  if (std::optional<Rational> constant = polynomials.getConstant(left))
    return polynomials.scale(right, *constant);
  if (std::optional<Rational> constant = polynomials.getConstant(right))
    return polynomials.scale(left, *constant);
  // References stay valid: polynomials do not move.
  const Polynomial &first = polynomials.get(left);
  const Polynomial &second = polynomials.get(right);
  if (first.size() * second.size() > limits.products) {
    fail("a product of sums has too many terms");
    return PolynomialStore::zero;
  }
  Polynomial result;
  for (const WeightedMonomial &a : first)
    for (const WeightedMonomial &b : second) {
      Rational coefficient = a.coefficient * b.coefficient;
      PolynomialId product = multiplyMonomials(a.monomial, b.monomial);
      for (const WeightedMonomial &term : polynomials.get(product))
        result.push_back({term.monomial, term.coefficient * coefficient});
    }
  PolynomialId product = polynomials.intern(std::move(result));
  if (polynomials.get(product).size() > limits.monomials)
    fail("a sum has too many terms");
  return product;
}

PolynomialId NormalizerState::multiplyClaimed(PolynomialId left,
                                              PolynomialId right,
                                              bool isForced) {
  size_t before = current().instances.size();
  PolynomialId product = multiply(left, right);
  if (hasFailed())
    return product;
  if (isForced || current().instances.size() != before)
    claimEqual(terms.product({termOf(left), termOf(right)}), termOf(product));
  return cancelFactors(product);
}

PolynomialId
NormalizerState::multiplyAll(llvm::ArrayRef<PolynomialId> allFactors,
                             bool isForced) {
  if (allFactors.empty())
    return PolynomialStore::one;
  size_t before = current().instances.size();
  PolynomialId product = allFactors.front();
  for (PolynomialId factor : allFactors.drop_front())
    product = multiplyClaimed(product, factor, isForced);
  // A chain of products is claimed as a whole or not at all.
  if (!isForced && current().instances.size() != before)
    return multiplyAll(allFactors, true);
  return product;
}

PolynomialId NormalizerState::raise(PolynomialId base, int64_t exponent,
                                    bool isForced) {
  if (exponent > 64) {
    fail("a power is too high");
    return PolynomialStore::zero;
  }
  llvm::SmallVector<PolynomialId> copies(static_cast<size_t>(exponent), base);
  return multiplyAll(copies, isForced);
}

MonomialId NormalizerState::divideMonomials(MonomialId left, MonomialId right) {
  Monomial result = polynomials.getMonomial(left);
  const Monomial &divisor = polynomials.getMonomial(right);
  result.exponent = polynomials.subtract(result.exponent, divisor.exponent);
  llvm::SmallVector<GeneratorPower, 4> powers;
  const auto *a = result.powers.begin(), *b = divisor.powers.begin();
  while (a != result.powers.end() || b != divisor.powers.end()) {
    if (b == divisor.powers.end() ||
        (a != result.powers.end() && a->generator < b->generator)) {
      powers.push_back(*a++);
    } else if (a == result.powers.end() || b->generator < a->generator) {
      powers.push_back({b->generator, -b->exponent});
      ++b;
    } else {
      if (a->exponent != b->exponent)
        powers.push_back({a->generator, a->exponent - b->exponent});
      ++a, ++b;
    }
  }
  result.powers = powers;
  return polynomials.intern(result);
}
