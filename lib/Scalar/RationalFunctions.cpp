//===- RationalFunctions.cpp - sums in denominators -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inverse of a sum is a generator of its own, so a rational function has
// many normal forms. Sums that divide a numerator exactly are cancelled, and
// equality is decided by bringing the difference to a common denominator, for
// which a fingerprint modulo a prime (Fingerprints.cpp) finds the candidates.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace verify;

//===--- Common factors ---------------------------------------------------===//

/// The coefficient-wise least exponent of all terms. It moves with the terms
/// when all are multiplied by the same exponential.
PolynomialId NormalizerState::shareExponent(PolynomialId polynomial) {
  const Polynomial &terms = polynomials.get(polynomial);
  std::map<MonomialId, std::pair<Rational, size_t>> least;
  for (const WeightedMonomial &term : terms) {
    PolynomialId exponent = polynomials.getMonomial(term.monomial).exponent;
    for (const WeightedMonomial &part : polynomials.get(exponent)) {
      auto [place, isNew] =
          least.try_emplace(part.monomial, part.coefficient, 1);
      if (isNew)
        continue;
      ++place->second.second;
      if (part.coefficient < place->second.first)
        place->second.first = part.coefficient;
    }
  }
  Polynomial shared;
  for (auto &[monomial, entry] : least) {
    auto &[coefficient, count] = entry;
    // A term without this part has coefficient 0.
    if (count == terms.size() || coefficient.sign() < 0)
      shared.push_back({monomial, coefficient});
  }
  return polynomials.intern(std::move(shared));
}

Factorization NormalizerState::factor(PolynomialId polynomial) {
  const Polynomial &summands = polynomials.get(polynomial);
  Factorization result;
  result.constant = polynomials.getContent(polynomial);
  if (summands.front().coefficient.sign() < 0)
    result.constant = -result.constant;
  Monomial shared = polynomials.getMonomial(summands.front().monomial);
  for (const WeightedMonomial &term : summands) {
    const Monomial &monomial = polynomials.getMonomial(term.monomial);
    llvm::SmallVector<GeneratorPower, 4> powers;
    const auto *a = shared.powers.begin(), *b = monomial.powers.begin();
    while (a != shared.powers.end() || b != monomial.powers.end()) {
      bool onlyA = b == monomial.powers.end() ||
                   (a != shared.powers.end() && a->generator < b->generator);
      bool onlyB =
          !onlyA && (a == shared.powers.end() || b->generator < a->generator);
      GeneratorPower least = onlyA ? *a : *b;
      if (onlyA || onlyB)
        least.exponent = std::min(least.exponent, 0);
      else
        least.exponent = std::min(a->exponent, b->exponent);
      a += !onlyB;
      b += !onlyA;
      if (least.exponent != 0)
        powers.push_back(least);
    }
    shared.powers = powers;
  }
  shared.exponent = shareExponent(polynomial);
  result.monomial = polynomials.intern(shared);
  // Sums that were inverted become ordinary again; nothing is claimed here.
  Scratch scratch(*this);
  Polynomial rest;
  for (const WeightedMonomial &term : summands) {
    MonomialId quotient = divideMonomials(term.monomial, result.monomial);
    PolynomialId part =
        mergeFactors(listFactors(quotient, PolynomialStore::unit));
    for (const WeightedMonomial &partTerm : polynomials.get(part))
      rest.push_back(
          {partTerm.monomial,
           partTerm.coefficient * term.coefficient / result.constant});
  }
  result.rest = polynomials.intern(std::move(rest));
  return result;
}

//===--- Division ---------------------------------------------------------===//

std::optional<PolynomialId>
NormalizerState::divideExactly(PolynomialId dividend, PolynomialId divisor) {
  auto isGreater = [&](MonomialId left, MonomialId right) {
    return polynomials.compare(left, right) > 0;
  };
  std::map<MonomialId, Rational, decltype(isGreater)> remainder(isGreater);
  for (const WeightedMonomial &term : polynomials.get(dividend))
    remainder.emplace(term.monomial, term.coefficient);
  llvm::SmallVector<MonomialId> divisorMonomials;
  for (const WeightedMonomial &term : polynomials.get(divisor))
    divisorMonomials.push_back(term.monomial);
  llvm::sort(divisorMonomials, isGreater);
  if (remainder.empty() || divisorMonomials.empty())
    return std::nullopt;
  MonomialId leading = divisorMonomials.front();
  Rational leadingCoefficient = polynomials.getCoefficient(divisor, leading);
  // The last term of the quotient is the quotient of the last terms.
  MonomialId last =
      divideMonomials(remainder.rbegin()->first, divisorMonomials.back());
  Scratch scratch(*this);
  Polynomial quotient;
  while (!remainder.empty()) {
    auto first = remainder.begin();
    MonomialId monomial = divideMonomials(first->first, leading);
    bool isPolynomial = llvm::all_of(
        polynomials.getMonomial(monomial).powers, [&](GeneratorPower power) {
          return power.exponent > 0 ||
                 generators[power.generator].kind == GeneratorKind::Factor;
        });
    if (!isPolynomial || polynomials.compare(monomial, last) < 0 ||
        quotient.size() > polynomials.get(dividend).size() || hasFailed())
      return std::nullopt;
    Rational coefficient = first->second / leadingCoefficient;
    MonomialId cleared = first->first;
    for (const WeightedMonomial &term : polynomials.get(divisor)) {
      PolynomialId product = multiplyMonomials(monomial, term.monomial);
      for (const WeightedMonomial &part : polynomials.get(product)) {
        Rational &entry = remainder[part.monomial];
        entry += -(part.coefficient * term.coefficient * coefficient);
        if (entry.isZero())
          remainder.erase(part.monomial);
      }
    }
    // Relations between generators may break the order.
    if (!remainder.empty() && remainder.begin()->first == cleared)
      return std::nullopt;
    quotient.push_back({monomial, coefficient});
  }
  return polynomials.intern(std::move(quotient));
}

//===--- Cancellation -----------------------------------------------------===//

/// The exponent of a generator in a monomial.
static int32_t getExponent(const Monomial &monomial, GeneratorId generator) {
  for (const GeneratorPower &power : monomial.powers)
    if (power.generator == generator)
      return power.exponent;
  return 0;
}

std::optional<GeneratorId>
NormalizerState::findInvertedSum(PolynomialId polynomial) {
  if (factors.empty())
    return std::nullopt;
  for (const WeightedMonomial &term : polynomials.get(polynomial))
    for (const GeneratorPower &power :
         polynomials.getMonomial(term.monomial).powers)
      if (generators[power.generator].kind == GeneratorKind::Factor)
        return power.generator;
  return std::nullopt;
}

PolynomialId NormalizerState::cancelFactor(PolynomialId polynomial,
                                           GeneratorId sum) {
  PolynomialId divisor = generators[sum].argument;
  Scalar divisorTerm = generators[sum].term;
  while (true) {
    int32_t lowest = 0;
    for (const WeightedMonomial &term : polynomials.get(polynomial))
      lowest = std::min(
          lowest, getExponent(polynomials.getMonomial(term.monomial), sum));
    if (lowest == 0)
      return polynomial;
    Monomial power;
    power.powers.push_back({sum, lowest});
    MonomialId inverse = polynomials.intern(power);
    Polynomial numerator, others;
    for (const WeightedMonomial &term : polynomials.get(polynomial)) {
      const Monomial &monomial = polynomials.getMonomial(term.monomial);
      if (getExponent(monomial, sum) == lowest)
        numerator.push_back(
            {divideMonomials(term.monomial, inverse), term.coefficient});
      else
        others.push_back(term);
    }
    if (numerator.size() < 2)
      return polynomial;
    std::optional<PolynomialId> quotient =
        divideExactly(polynomials.intern(std::move(numerator)), divisor);
    if (!quotient)
      return polynomial;
    for (const WeightedMonomial &term : polynomials.get(*quotient)) {
      // quotient (1/d)^n, first as d (1/d) rest and then as rest.
      Monomial full = polynomials.getMonomial(term.monomial);
      MonomialId whole =
          polynomials.get(multiplyMonomials(polynomials.intern(full), inverse))
              .front()
              .monomial;
      for (const WeightedMonomial &part : polynomials.get(divisor))
        multiplyMonomials(whole, part.monomial);
      FactorList rest = listFactors(whole, PolynomialStore::unit);
      for (FactorList::Power &factorPower : rest.powers)
        if (factorPower.generator == sum)
          --factorPower.negative;
      emit(laws.cancellation(divisorTerm, 1, factorTerms(rest)));
      Monomial kept = polynomials.getMonomial(whole);
      for (GeneratorPower &keptPower : kept.powers)
        if (keptPower.generator == sum)
          ++keptPower.exponent;
      llvm::erase_if(kept.powers, [](GeneratorPower keptPower) {
        return keptPower.exponent == 0;
      });
      others.push_back({polynomials.intern(kept), term.coefficient});
    }
    if (std::optional<RecordId> sign = findSign(ClaimKind::NonZero, divisor))
      need(*sign);
    PolynomialId result = polynomials.intern(std::move(others));
    claimEqual(termOf(polynomial), termOf(result));
    polynomial = result;
  }
}

PolynomialId NormalizerState::cancelFactors(PolynomialId polynomial) {
  if (factors.empty() || hasFailed())
    return polynomial;
  llvm::SmallVector<GeneratorId> sums;
  for (const WeightedMonomial &term : polynomials.get(polynomial))
    for (const GeneratorPower &power :
         polynomials.getMonomial(term.monomial).powers)
      if (generators[power.generator].kind == GeneratorKind::Factor &&
          !llvm::is_contained(sums, power.generator))
        sums.push_back(power.generator);
  for (GeneratorId sum : sums)
    polynomial = cancelFactor(polynomial, sum);
  return polynomial;
}

//===--- Common denominators ----------------------------------------------===//

/// `difference` times the value of `sum`.
PolynomialId NormalizerState::clear(PolynomialId difference, GeneratorId sum) {
  PolynomialId divisor = generators[sum].argument;
  Scalar divisorTerm = generators[sum].term;
  Polynomial result;
  Polynomial summands = polynomials.get(difference);
  for (const WeightedMonomial &term : summands) {
    bool isInverted =
        getExponent(polynomials.getMonomial(term.monomial), sum) < 0;
    for (const WeightedMonomial &part : polynomials.get(divisor)) {
      PolynomialId product = multiplyMonomials(term.monomial, part.monomial);
      if (!isInverted)
        for (const WeightedMonomial &productTerm : polynomials.get(product))
          result.push_back(
              {productTerm.monomial,
               productTerm.coefficient * part.coefficient * term.coefficient});
    }
    if (!isInverted)
      continue;
    Monomial rest = polynomials.getMonomial(term.monomial);
    for (GeneratorPower &power : rest.powers)
      if (power.generator == sum)
        ++power.exponent;
    llvm::erase_if(rest.powers,
                   [](GeneratorPower power) { return power.exponent == 0; });
    MonomialId kept = polynomials.intern(rest);
    llvm::SmallVector<Scalar> restTerms;
    appendFactors(kept, restTerms);
    emit(laws.cancellation(divisorTerm, 1, restTerms));
    result.push_back({kept, term.coefficient});
  }
  return polynomials.intern(std::move(result));
}

std::optional<RecordId>
NormalizerState::proveEqualByClearing(PolynomialId left, PolynomialId right) {
  PolynomialId difference = polynomials.subtract(left, right);
  if (!findInvertedSum(difference) || fingerprint(difference) != 0)
    return std::nullopt;
  Scope scope(*this);
  while (std::optional<GeneratorId> sum = findInvertedSum(difference)) {
    PolynomialId cleared = clear(difference, *sum);
    if (hasFailed() || polynomials.get(cleared).size() > limits.monomials)
      return std::nullopt;
    Scalar divisor = generators[*sum].term;
    claimEqual(terms.product({divisor, termOf(difference)}), termOf(cleared));
    emit(laws.zeroProduct(divisor, termOf(difference)));
    std::optional<RecordId> sign =
        findSign(ClaimKind::NonZero, generators[*sum].argument);
    if (!sign)
      return std::nullopt;
    need(*sign);
    difference = cleared;
  }
  if (difference != PolynomialStore::zero)
    return std::nullopt;
  claimEqual(termOf(left), termOf(right));
  return scope.id;
}

bool NormalizerState::claimProduct(PolynomialId left, PolynomialId right,
                                   PolynomialId result) {
  PolynomialId product = multiplyClaimed(left, right, true);
  if (hasFailed())
    return false;
  if (product == result)
    return true;
  std::optional<RecordId> cleared = proveEqualByClearing(product, result);
  if (cleared)
    need(*cleared);
  return cleared.has_value();
}
