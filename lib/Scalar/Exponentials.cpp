//===- Exponentials.cpp - normal forms of exp and log ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exponential of a polynomial is one factor of a monomial, except for
// logarithms in it, which become what they are logarithms of. The logarithm of
// a positive product is the sum of the logarithms of its factors.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

/// The argument of an exponential without its logarithms of positive values.
/// These go to `powers` with their weights, and what their exponentials are to
/// `parts`.
PolynomialId
NormalizerState::splitLogarithms(PolynomialId argument,
                                 llvm::SmallVectorImpl<WeightedScalar> &powers,
                                 llvm::SmallVectorImpl<PolynomialId> &parts) {
  Polynomial rest;
  for (const WeightedMonomial &term : polynomials.get(argument)) {
    const Monomial &monomial = polynomials.getMonomial(term.monomial);
    std::optional<int64_t> weight = term.coefficient.getInteger();
    bool isLogarithm = weight && std::abs(*weight) <= 16 &&
                       monomial.powers.size() == 1 &&
                       monomial.exponent == PolynomialStore::zero &&
                       monomial.powers[0].exponent == 1 &&
                       generators[monomial.powers[0].generator].kind ==
                           GeneratorKind::Logarithm;
    std::optional<RecordId> sign;
    PolynomialId value = PolynomialStore::zero;
    if (isLogarithm) {
      value = generators[monomial.powers[0].generator].argument;
      sign = findSign(ClaimKind::Positive, value);
    }
    if (!sign) {
      rest.push_back(term);
      continue;
    }
    need(*sign);
    powers.push_back({termOf(value), *weight});
    if (*weight < 0) {
      Recorded inverted = inverse(value);
      use(inverted.record);
      value = inverted.result;
    }
    parts.append(static_cast<size_t>(std::abs(*weight)), value);
  }
  return polynomials.intern(std::move(rest));
}

Recorded NormalizerState::exponential(PolynomialId argument) {
  auto known = exponentials.find(argument);
  if (known != exponentials.end())
    return known->second;
  Scope scope(*this);
  Scalar whole = terms.apply(Function::Exp, termOf(argument));
  PolynomialId same = representative(argument);
  llvm::SmallVector<WeightedScalar> powers;
  llvm::SmallVector<PolynomialId> parts;
  Monomial factorOfResult;
  factorOfResult.exponent = splitLogarithms(same, powers, parts);
  PolynomialId result =
      polynomials.monomial(polynomials.intern(factorOfResult), Rational(1));
  if (same == PolynomialStore::zero)
    emit(laws.expOfZero(termOf(same)));
  if (powers.empty()) {
    claimEqual(whole, termOf(result));
  } else {
    emit(laws.expOfLogs(termOf(same), powers, termOf(factorOfResult.exponent)));
    llvm::SmallVector<Scalar> resultFactors;
    for (const WeightedScalar &power : powers)
      resultFactors.append(static_cast<size_t>(std::abs(power.weight)),
                           power.weight < 0 ? inverseTerm(power.value)
                                            : power.value);
    if (factorOfResult.exponent != PolynomialStore::zero)
      resultFactors.push_back(termOf(result));
    claimEqual(whole, terms.product(resultFactors));
    parts.push_back(result);
    result = multiplyAll(parts, true);
  }
  Recorded recorded{result, scope.id};
  exponentials[argument] = recorded;
  return recorded;
}

//===--- Logarithms -------------------------------------------------------===//

/// Splits a positive integer into its small prime factors and the rest.
static void splitInteger(Rational value,
                         llvm::SmallVectorImpl<Rational> &parts) {
  for (int64_t prime = 2; prime < 1000 && !value.isOne(); ++prime)
    while ((value / prime).isInteger()) {
      parts.emplace_back(prime);
      value = value / prime;
    }
  if (!value.isOne())
    parts.push_back(value);
}

/// The sum of the logarithms of the factors of a polynomial, all of which are
/// positive; the factors go to `parts`.
PolynomialId
NormalizerState::addLogarithms(const Factorization &split,
                               llvm::SmallVectorImpl<Scalar> &parts) {
  PolynomialId result = PolynomialStore::zero;
  auto addLogarithm = [&](PolynomialId value, bool isInverse) {
    Generator generator;
    generator.kind = GeneratorKind::Logarithm;
    generator.term = terms.apply(Function::Log, termOf(value));
    generator.argument = value;
    PolynomialId logarithmOfValue =
        polynomials.generator(getGenerator(std::move(generator)));
    result = polynomials.add(
        result,
        polynomials.scale(logarithmOfValue, Rational(isInverse ? -1 : 1)));
    parts.push_back(isInverse ? inverseTerm(termOf(value)) : termOf(value));
    if (std::optional<RecordId> sign = findSign(ClaimKind::Positive, value))
      need(*sign);
    if (!isInverse)
      return;
    emit(laws.logOfInverse(termOf(value)));
    emit(laws.inverseSign(termOf(value), ClaimKind::Positive));
  };
  llvm::SmallVector<Rational> constants;
  splitInteger(split.constant.getNumerator(), constants);
  for (const Rational &constant : constants)
    addLogarithm(polynomials.constant(constant), false);
  constants.clear();
  splitInteger(split.constant.getDenominator(), constants);
  for (const Rational &constant : constants)
    addLogarithm(polynomials.constant(constant), true);
  Monomial monomial = polynomials.getMonomial(split.monomial);
  for (const GeneratorPower &power : monomial.powers) {
    const Generator &generator = generators[power.generator];
    PolynomialId base = generator.kind == GeneratorKind::Factor
                            ? generator.argument
                            : polynomials.generator(power.generator);
    for (int32_t count = 0; count < std::abs(power.exponent); ++count)
      addLogarithm(base, power.exponent < 0);
  }
  if (split.rest != PolynomialStore::one)
    addLogarithm(split.rest, false);
  if (monomial.exponent != PolynomialStore::zero) {
    Scalar exponent = termOf(monomial.exponent);
    emit(laws.expPositive(exponent));
    emit(laws.logOfExp(exponent));
    parts.push_back(terms.apply(Function::Exp, exponent));
    result = polynomials.add(result, monomial.exponent);
  }
  return result;
}

/// Whether every factor is known to be positive.
bool NormalizerState::isPositiveByFactors(const Factorization &split) {
  if (split.constant.sign() < 0 || (split.rest != PolynomialStore::one &&
                                    !findSign(ClaimKind::Positive, split.rest)))
    return false;
  Monomial monomial = polynomials.getMonomial(split.monomial);
  return llvm::all_of(monomial.powers, [&](const GeneratorPower &power) {
    const Generator &generator = generators[power.generator];
    PolynomialId base = generator.kind == GeneratorKind::Factor
                            ? generator.argument
                            : polynomials.generator(power.generator);
    return findSign(ClaimKind::Positive, base).has_value();
  });
}

Recorded NormalizerState::logarithm(PolynomialId argument) {
  auto known = logarithms.find(argument);
  if (known != logarithms.end())
    return known->second;
  Scope scope(*this);
  Scalar whole = terms.apply(Function::Log, termOf(argument));
  auto keep = [&](PolynomialId result) {
    claimEqual(whole, termOf(result));
    Recorded recorded{result, scope.id};
    logarithms[argument] = recorded;
    return recorded;
  };
  PolynomialId same = representative(argument);
  std::optional<RecordId> sign = findSign(ClaimKind::Positive, same);
  Factorization split;
  if (sign) {
    split = factor(same);
    deducePositive(same, split);
  }
  if (!sign || !isPositiveByFactors(split)) {
    Generator generator;
    generator.kind = sign ? GeneratorKind::Logarithm : GeneratorKind::Opaque;
    generator.term = terms.apply(Function::Log, termOf(same));
    generator.argument = same;
    return keep(polynomials.generator(getGenerator(std::move(generator))));
  }
  llvm::SmallVector<Scalar> parts;
  PolynomialId result = addLogarithms(split, parts);
  // That the product of the factors is the argument.
  PolynomialId outer = polynomials.monomial(split.monomial, split.constant);
  if (!claimProduct(outer, split.rest, same)) {
    fail("a factorization does not multiply to what was factored");
    return {result, scope.id};
  }
  if (parts.size() > 1)
    emit(laws.logOfProduct(termOf(same), parts));
  return keep(result);
}
