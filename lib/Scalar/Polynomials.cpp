//===- Polynomials.cpp - polynomials over generators ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interning and linear operations. Products need the relations between
// generators and are computed in MonomialProducts.cpp.
//
//===----------------------------------------------------------------------===//

#include "Polynomials.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

PolynomialStore::PolynomialStore() {
  intern(Monomial());
  keep({});
  constant(Rational(1));
}

//===--- Interning --------------------------------------------------------===//

size_t
PolynomialStore::MonomialHash::operator()(const Monomial &monomial) const {
  uint64_t hash = monomial.exponent;
  for (const GeneratorPower &power : monomial.powers)
    hash =
        (hash ^ power.generator ^
         (static_cast<uint64_t>(static_cast<uint32_t>(power.exponent)) << 32)) *
            0x9e3779b97f4a7c15ULL +
        (hash >> 29);
  return hash ^ (hash >> 32);
}

size_t
PolynomialStore::PolynomialHash::operator()(const Polynomial &terms) const {
  uint64_t hash = terms.size();
  for (const WeightedMonomial &term : terms)
    hash = (hash ^ term.monomial ^
            (static_cast<uint64_t>(term.coefficient.hash()) << 20)) *
               0x9e3779b97f4a7c15ULL +
           (hash >> 29);
  return hash ^ (hash >> 32);
}

MonomialId PolynomialStore::intern(const Monomial &monomial) {
  auto [place, isNew] = monomialNumbers.try_emplace(
      monomial, static_cast<MonomialId>(monomials.size()));
  if (isNew)
    monomials.push_back(monomial);
  return place->second;
}

PolynomialId PolynomialStore::keep(Polynomial &&terms) {
  auto [place, isNew] = polynomialNumbers.try_emplace(
      terms, static_cast<PolynomialId>(polynomials.size()));
  if (isNew)
    polynomials.push_back(std::move(terms));
  return place->second;
}

PolynomialId PolynomialStore::intern(Polynomial terms) {
  llvm::sort(terms,
             [](const WeightedMonomial &left, const WeightedMonomial &right) {
               return left.monomial < right.monomial;
             });
  size_t kept = 0;
  for (size_t next = 0; next < terms.size();) {
    WeightedMonomial term = std::move(terms[next++]);
    while (next < terms.size() && terms[next].monomial == term.monomial)
      term.coefficient += terms[next++].coefficient;
    if (!term.coefficient.isZero())
      terms[kept++] = std::move(term);
  }
  terms.truncate(kept);
  return keep(std::move(terms));
}

PolynomialId PolynomialStore::constant(const Rational &value) {
  return monomial(unit, value);
}

PolynomialId PolynomialStore::monomial(MonomialId monomial,
                                       const Rational &coefficient) {
  Polynomial terms;
  if (!coefficient.isZero())
    terms.push_back({monomial, coefficient});
  return keep(std::move(terms));
}

PolynomialId PolynomialStore::generator(GeneratorId generator) {
  Monomial power;
  power.powers.push_back({generator, 1});
  return monomial(intern(power), Rational(1));
}

//===--- Linear operations ------------------------------------------------===//

PolynomialId PolynomialStore::add(PolynomialId left, PolynomialId right) {
  const Polynomial &first = get(left), &second = get(right);
  Polynomial result;
  result.reserve(first.size() + second.size());
  const auto *a = first.begin(), *b = second.begin();
  while (a != first.end() && b != second.end()) {
    if (a->monomial != b->monomial) {
      result.push_back(a->monomial < b->monomial ? *a++ : *b++);
      continue;
    }
    Rational sum = a->coefficient + b->coefficient;
    if (!sum.isZero())
      result.push_back({a->monomial, std::move(sum)});
    ++a, ++b;
  }
  result.append(a, first.end());
  result.append(b, second.end());
  return keep(std::move(result));
}

PolynomialId PolynomialStore::subtract(PolynomialId left, PolynomialId right) {
  return add(left, scale(right, Rational(-1)));
}

PolynomialId PolynomialStore::scale(PolynomialId polynomial,
                                    const Rational &factor) {
  if (factor.isZero())
    return zero;
  if (factor.isOne())
    return polynomial;
  Polynomial result = get(polynomial);
  for (WeightedMonomial &term : result)
    term.coefficient *= factor;
  return keep(std::move(result));
}

//===--- Observation ------------------------------------------------------===//

std::optional<Rational>
PolynomialStore::getConstant(PolynomialId polynomial) const {
  const Polynomial &terms = get(polynomial);
  if (terms.empty())
    return Rational();
  if (terms.size() == 1 && terms[0].monomial == unit)
    return terms[0].coefficient;
  return std::nullopt;
}

Rational PolynomialStore::getContent(PolynomialId polynomial) const {
  Rational content;
  for (const WeightedMonomial &term : get(polynomial))
    content = content.isZero()
                  ? term.coefficient.abs()
                  : Rational::greatestCommonDivisor(content, term.coefficient);
  return content;
}

Rational PolynomialStore::getCoefficient(PolynomialId polynomial,
                                         MonomialId monomial) const {
  const Polynomial &terms = get(polynomial);
  const auto *place = llvm::lower_bound(
      terms, monomial, [](const WeightedMonomial &term, MonomialId wanted) {
        return term.monomial < wanted;
      });
  if (place == terms.end() || place->monomial != monomial)
    return Rational();
  return place->coefficient;
}

/// The sign of the first coefficient of `left - right`.
static int compareTerms(const Polynomial &left, const Polynomial &right) {
  const auto *a = left.begin(), *b = right.begin();
  for (; a != left.end() && b != right.end(); ++a, ++b) {
    if (a->monomial != b->monomial)
      return a->monomial < b->monomial ? a->coefficient.sign()
                                       : -b->coefficient.sign();
    if (int order = a->coefficient.compare(b->coefficient))
      return order;
  }
  if (a != left.end())
    return a->coefficient.sign();
  return b != right.end() ? -b->coefficient.sign() : 0;
}

int PolynomialStore::compare(MonomialId left, MonomialId right) const {
  if (left == right)
    return 0;
  const Monomial &first = getMonomial(left), &second = getMonomial(right);
  if (first.exponent != second.exponent)
    if (int order = compareTerms(get(first.exponent), get(second.exponent)))
      return order;
  const auto *a = first.powers.begin(), *b = second.powers.begin();
  for (; a != first.powers.end() && b != second.powers.end(); ++a, ++b) {
    if (a->generator != b->generator)
      return a->generator < b->generator ? a->exponent : -b->exponent;
    if (a->exponent != b->exponent)
      return a->exponent < b->exponent ? -1 : 1;
  }
  if (a != first.powers.end())
    return a->exponent;
  return b != second.powers.end() ? -b->exponent : 0;
}
