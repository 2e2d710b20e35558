//===- Indicators.cpp - normal forms of comparisons -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A boolean is a polynomial over indicators, which are 0 or 1. The indicators
// of comparisons are those of `n = c` and `n > c`, where `n` has no constant
// term, coprime integer coefficients and a positive first one; integers and
// reals differ only in which `c` are left. What an indicator means is defined
// for the solver, which therefore sees why a comparison has its normal form.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

PolynomialId NormalizerState::complement(PolynomialId polynomial) {
  return polynomials.subtract(PolynomialStore::one, polynomial);
}

NormalizerState::IndicatorRelation NormalizerState::relate(GeneratorId first,
                                                           GeneratorId second) {
  const Generator &a = generators[first], &b = generators[second];
  if (a.kind != GeneratorKind::Indicator ||
      b.kind != GeneratorKind::Indicator || !a.isComparison ||
      !b.isComparison || a.argument != b.argument)
    return IndicatorRelation::None;
  if (a.isEquality && b.isEquality)
    return a.bound == b.bound ? IndicatorRelation::FirstImplies
                              : IndicatorRelation::Excludes;
  if (a.isEquality)
    return b.bound < a.bound ? IndicatorRelation::FirstImplies
                             : IndicatorRelation::Excludes;
  if (b.isEquality)
    return a.bound < b.bound ? IndicatorRelation::SecondImplies
                             : IndicatorRelation::Excludes;
  return a.bound < b.bound ? IndicatorRelation::SecondImplies
                           : IndicatorRelation::FirstImplies;
}

/// Tells the solver what a product with an indicator is in either case.
void NormalizerState::emitCases(PolynomialId polynomial) {
  Polynomial summands = polynomials.get(polynomial);
  for (const WeightedMonomial &term : summands) {
    Monomial monomial = polynomials.getMonomial(term.monomial);
    for (const GeneratorPower &power : monomial.powers) {
      if (generators[power.generator].kind != GeneratorKind::Indicator)
        continue;
      Monomial rest = monomial;
      llvm::erase_if(rest.powers, [&](const GeneratorPower &other) {
        return other.generator == power.generator;
      });
      MonomialId restId = polynomials.intern(rest);
      llvm::SmallVector<Scalar> restTerms;
      appendFactors(restId, restTerms);
      for (bool value : {false, true})
        emit(laws.indicatorCase(generators[power.generator].term, value,
                                restTerms));
      monomial = rest;
    }
  }
}

/// The indicator of `difference = 0` or `difference > 0`, without looking for
/// indicators inside.
PolynomialId NormalizerState::compareWithoutCases(bool isEquality,
                                                  PolynomialId difference) {
  if (std::optional<Rational> constant = polynomials.getConstant(difference)) {
    bool holds = isEquality ? constant->isZero() : constant->sign() > 0;
    return holds ? PolynomialStore::one : PolynomialStore::zero;
  }
  PolynomialId negated = polynomials.scale(difference, Rational(-1));
  auto decide = [&](ClaimKind kind, PolynomialId of) {
    std::optional<RecordId> sign = findSign(kind, of);
    if (sign)
      need(*sign);
    return sign.has_value();
  };
  if (isEquality && decide(ClaimKind::NonZero, difference))
    return PolynomialStore::zero;
  if (!isEquality && decide(ClaimKind::Positive, difference))
    return PolynomialStore::one;
  if (!isEquality && decide(ClaimKind::NonNegative, negated))
    return PolynomialStore::zero;
  // difference = content * (n - bound).
  Rational offset =
      polynomials.getCoefficient(difference, PolynomialStore::unit);
  PolynomialId variable =
      polynomials.subtract(difference, polynomials.constant(offset));
  Rational content = polynomials.getContent(variable);
  bool isReversed = polynomials.get(variable).front().coefficient.sign() < 0;
  if (isReversed)
    content = -content;
  variable = polynomials.scale(variable, content.inverse());
  Rational bound = -(offset / content);
  bool isWhole = isInteger(variable);
  if (isWhole && isEquality && !bound.isInteger())
    return PolynomialStore::zero;
  auto get = [&](bool wantsEquality, const Rational &limit) {
    Generator generator;
    generator.kind = GeneratorKind::Indicator;
    generator.isInteger = generator.isComparison = true;
    generator.isEquality = wantsEquality;
    generator.argument = variable;
    generator.bound = limit;
    Scalar limitTerm = terms.constant(limit);
    Scalar condition =
        wantsEquality
            ? terms.compare(Comparison::Equal, termOf(variable), limitTerm)
            : terms.compare(Comparison::Less, limitTerm, termOf(variable));
    generator.term = terms.toReal(condition);
    return polynomials.generator(getGenerator(std::move(generator)));
  };
  if (isEquality)
    return get(true, bound);
  if (!isReversed)
    return get(false, isWhole ? bound.floor() : bound);
  // n < bound.
  if (isWhole) {
    // Not n > ceil(bound) - 1.
    Rational ceiling = -(-bound).floor();
    return complement(get(false, ceiling - 1));
  }
  return polynomials.subtract(complement(get(false, bound)), get(true, bound));
}

/// The value of a function of a polynomial with few indicators, from its values
/// in the cases that the first of them is 0 or 1.
std::optional<PolynomialId> NormalizerState::applyByCases(
    PolynomialId argument,
    llvm::function_ref<PolynomialId(PolynomialId)> applyTo) {
  llvm::SmallVector<GeneratorId> indicators;
  for (const WeightedMonomial &term : polynomials.get(argument))
    for (const GeneratorPower &power :
         polynomials.getMonomial(term.monomial).powers)
      if (generators[power.generator].kind == GeneratorKind::Indicator &&
          !llvm::is_contained(indicators, power.generator))
        indicators.push_back(power.generator);
  if (indicators.empty() || indicators.size() > limits.indicators)
    return std::nullopt;
  emitCases(argument);
  GeneratorId chosen = *llvm::min_element(indicators);
  Polynomial ifZero, ifOne;
  for (const WeightedMonomial &term : polynomials.get(argument)) {
    Monomial monomial = polynomials.getMonomial(term.monomial);
    bool contains = false;
    llvm::erase_if(monomial.powers, [&](const GeneratorPower &power) {
      contains |= power.generator == chosen;
      return power.generator == chosen;
    });
    MonomialId rest = polynomials.intern(monomial);
    ifOne.push_back({rest, term.coefficient});
    if (!contains)
      ifZero.push_back({rest, term.coefficient});
  }
  PolynomialId zeroCase = applyTo(polynomials.intern(std::move(ifZero)));
  PolynomialId oneCase = applyTo(polynomials.intern(std::move(ifOne)));
  PolynomialId change = polynomials.subtract(oneCase, zeroCase);
  PolynomialId result = polynomials.add(
      zeroCase, multiplyClaimed(polynomials.generator(chosen), change));
  emitCases(result);
  emitCases(zeroCase);
  emitCases(oneCase);
  // Products before indicators were merged occur in the claim of the product.
  for (const WeightedMonomial &term : polynomials.get(change)) {
    llvm::SmallVector<Scalar> rest;
    appendFactors(term.monomial, rest);
    for (bool value : {false, true})
      emit(laws.indicatorCase(generators[chosen].term, value, rest));
  }
  return result;
}

PolynomialId NormalizerState::compareWithZero(bool isEquality,
                                              PolynomialId difference) {
  std::optional<PolynomialId> result =
      applyByCases(difference, [&](PolynomialId part) {
        return compareWithZero(isEquality, part);
      });
  return result ? *result : compareWithoutCases(isEquality, difference);
}

Recorded NormalizerState::compare(Comparison comparison, PolynomialId left,
                                  PolynomialId right) {
  Scope scope(*this);
  Scalar whole =
      terms.toReal(terms.compare(comparison, termOf(left), termOf(right)));
  // left <= right is not right < left.
  bool isNegated =
      comparison == Comparison::LessEqual || comparison == Comparison::NotEqual;
  bool isEquality =
      comparison == Comparison::Equal || comparison == Comparison::NotEqual;
  if (comparison == Comparison::LessEqual)
    std::swap(left, right);
  PolynomialId result =
      compareWithZero(isEquality, polynomials.subtract(representative(right),
                                                       representative(left)));
  if (isNegated)
    result = complement(result);
  claimEqual(whole, termOf(result));
  return {result, scope.id};
}
