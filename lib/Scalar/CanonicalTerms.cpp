//===- CanonicalTerms.cpp - terms of normal forms -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One term for each polynomial, in which claims are stated: a weighted sum of
// products of generators, their inverses and one exponential.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

Scalar NormalizerState::inverseTerm(Scalar term) {
  return terms.divide(terms.rational(1, 1), term);
}

static void appendPower(llvm::SmallVectorImpl<Scalar> &result, Scalar term,
                        int32_t count) {
  result.append(static_cast<size_t>(count), term);
}

void NormalizerState::appendFactors(MonomialId monomial,
                                    llvm::SmallVectorImpl<Scalar> &result) {
  const Monomial &factors = polynomials.getMonomial(monomial);
  for (const GeneratorPower &power : factors.powers) {
    Scalar term = generators[power.generator].term;
    if (power.exponent > 0)
      appendPower(result, term, power.exponent);
    else
      appendPower(result, inverseTerm(term), -power.exponent);
  }
  if (factors.exponent != PolynomialStore::zero)
    result.push_back(terms.apply(Function::Exp, termOf(factors.exponent)));
}

llvm::SmallVector<Scalar>
NormalizerState::factorTerms(const FactorList &factors) {
  llvm::SmallVector<Scalar> result;
  for (const FactorList::Power &power : factors.powers) {
    Scalar term = generators[power.generator].term;
    appendPower(result, term, power.positive);
    if (power.negative != 0)
      appendPower(result, inverseTerm(term), power.negative);
  }
  for (PolynomialId exponent : factors.exponents)
    result.push_back(terms.apply(Function::Exp, termOf(exponent)));
  return result;
}

Scalar NormalizerState::termOf(PolynomialId polynomial) {
  if (polynomial < hasTerm.size() && hasTerm[polynomial])
    return termOfPolynomial[polynomial];
  llvm::SmallVector<WeightedScalar> summands;
  // A copy, because terms of exponents are created on the way.
  Polynomial monomials = polynomials.get(polynomial);
  for (const WeightedMonomial &monomial : monomials) {
    llvm::SmallVector<Scalar> factors;
    std::optional<int64_t> weight = monomial.coefficient.getInteger();
    if (!weight || monomial.monomial == PolynomialStore::unit) {
      factors.push_back(terms.constant(monomial.coefficient));
      weight = 1;
    }
    appendFactors(monomial.monomial, factors);
    summands.push_back({terms.product(factors), *weight});
  }
  Scalar result = terms.sum(summands);
  if (polynomial >= hasTerm.size()) {
    hasTerm.resize(polynomials.size());
    termOfPolynomial.resize(polynomials.size());
  }
  hasTerm[polynomial] = true;
  termOfPolynomial[polynomial] = result;
  return result;
}

//===--- Generators -------------------------------------------------------===//

GeneratorId NormalizerState::getGenerator(Generator generator) {
  auto [place, isNew] = generatorOfTerm.try_emplace(
      generator.term.bits, static_cast<GeneratorId>(generators.size()));
  if (isNew)
    generators.push_back(std::move(generator));
  return place->second;
}

PolynomialId NormalizerState::opaque(Scalar term, bool isInteger) {
  Generator generator;
  generator.term = term;
  generator.isInteger = isInteger;
  return polynomials.generator(getGenerator(std::move(generator)));
}

PolynomialId NormalizerState::indicator(Scalar booleanTerm) {
  Generator generator;
  generator.kind = GeneratorKind::Indicator;
  generator.isInteger = true;
  generator.term = terms.toReal(booleanTerm);
  return polynomials.generator(getGenerator(std::move(generator)));
}

bool NormalizerState::isInteger(PolynomialId polynomial) {
  return llvm::all_of(
      polynomials.get(polynomial), [&](const WeightedMonomial &term) {
        const Monomial &monomial = polynomials.getMonomial(term.monomial);
        return term.coefficient.isInteger() &&
               monomial.exponent == PolynomialStore::zero &&
               llvm::all_of(monomial.powers, [&](GeneratorPower power) {
                 return power.exponent > 0 &&
                        generators[power.generator].isInteger;
               });
      });
}
