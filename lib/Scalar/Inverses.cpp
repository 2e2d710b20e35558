//===- Inverses.cpp - normal forms of inverses ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inverse of a polynomial that is known not to be 0 is the product of the
// inverses of its factors; that this is the inverse is claimed by the product
// of both being 1. Any other inverse stays an unknown function.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

/// Splits off the sums that have been inverted before.
void NormalizerState::splitRest(PolynomialId rest,
                                llvm::SmallVectorImpl<PolynomialId> &parts) {
  size_t tried = 0;
  for (GeneratorId known : factors) {
    PolynomialId divisor = generators[known].argument;
    if (++tried > 64 || rest == divisor || polynomials.get(rest).size() > 64)
      break;
    while (std::optional<PolynomialId> quotient =
               divideExactly(rest, divisor)) {
      Factorization smaller = factor(*quotient);
      // Only a sum that remains a sum is worth splitting.
      if (!smaller.constant.isOne() ||
          smaller.monomial != PolynomialStore::unit ||
          smaller.rest == PolynomialStore::one)
        break;
      parts.push_back(divisor);
      rest = *quotient;
    }
  }
  parts.push_back(rest);
}

PolynomialId NormalizerState::invertPower(GeneratorPower power) {
  Generator generator = generators[power.generator];
  if (generator.kind == GeneratorKind::Factor) {
    // The inverse of an inverted sum is the sum.
    return raise(generator.argument, -power.exponent, false);
  }
  if (generator.kind == GeneratorKind::Root && power.exponent > 0) {
    // 1 / s^e = s^(n - e) / a with s^n = a.
    Monomial rest;
    rest.powers.push_back(
        {power.generator,
         static_cast<int32_t>(generator.degree) - power.exponent});
    Recorded argument = inverse(generator.argument);
    return multiply(polynomials.monomial(polynomials.intern(rest), Rational(1)),
                    argument.result);
  }
  Monomial inverted;
  inverted.powers.push_back({power.generator, -power.exponent});
  return polynomials.monomial(polynomials.intern(inverted), Rational(1));
}

/// The inverse of a product whose factors are known not to be 0. The laws this
/// takes are not recorded: the result is claimed as a whole.
PolynomialId
NormalizerState::invertFactored(const Factorization &parts,
                                llvm::ArrayRef<PolynomialId> sums) {
  Scratch scratch(*this);
  Monomial monomial = polynomials.getMonomial(parts.monomial);
  Monomial exponential;
  exponential.exponent = polynomials.scale(monomial.exponent, Rational(-1));
  PolynomialId result = polynomials.monomial(polynomials.intern(exponential),
                                             parts.constant.inverse());
  for (const GeneratorPower &power : monomial.powers)
    result = multiply(result, invertPower(power));
  for (PolynomialId sum : sums) {
    Generator generator;
    generator.kind = GeneratorKind::Factor;
    generator.term = termOf(sum);
    generator.argument = sum;
    auto known = factorOfPolynomial.find(sum);
    GeneratorId number;
    if (known != factorOfPolynomial.end()) {
      number = known->second;
    } else {
      number = static_cast<GeneratorId>(generators.size());
      generators.push_back(std::move(generator));
      factorOfPolynomial[sum] = number;
      factors.push_back(number);
    }
    Monomial inverted;
    inverted.powers.push_back({number, -1});
    result = multiply(result, polynomials.monomial(polynomials.intern(inverted),
                                                   Rational(1)));
  }
  return result;
}

/// From `factors[0] * factors[1] * ... != 0` to the same of each factor.
void NormalizerState::deduceNonZero(RecordId isProduct,
                                    llvm::ArrayRef<PolynomialId> parts) {
  llvm::SmallVector<Scalar> partTerms;
  for (PolynomialId part : parts)
    partTerms.push_back(termOf(part));
  for (size_t which = 0; which < parts.size(); ++which) {
    if (polynomials.getConstant(parts[which]) ||
        findSign(ClaimKind::NonZero, parts[which]))
      continue;
    Scope scope(*this);
    need(isProduct);
    emit(laws.factorNonZero(partTerms, static_cast<unsigned>(which)));
    current().claims.push_back({ClaimKind::NonZero, partTerms[which]});
    addSign(ClaimKind::NonZero, parts[which], scope.id);
  }
}

/// Records that all factors of a polynomial that is not 0 are not 0.
void NormalizerState::deduceFactors(PolynomialId polynomial,
                                    const Factorization &parts,
                                    llvm::ArrayRef<PolynomialId> sums,
                                    RecordId isNonZero) {
  Scope scope(*this);
  need(isNonZero);
  PolynomialId outer = polynomials.monomial(parts.monomial, parts.constant);
  if (!claimProduct(outer, parts.rest, polynomial))
    return fail("a factorization does not multiply to what was factored");
  deduceNonZero(scope.id, {outer, parts.rest});
  // The factors of the monomial, one by one.
  llvm::SmallVector<PolynomialId> powers;
  for (const GeneratorPower &power :
       polynomials.getMonomial(parts.monomial).powers)
    if (power.exponent > 0)
      powers.append(power.exponent, polynomials.generator(power.generator));
  if (!powers.empty()) {
    Monomial others;
    for (const GeneratorPower &power :
         polynomials.getMonomial(parts.monomial).powers)
      if (power.exponent < 0)
        others.powers.push_back(power);
    others.exponent = polynomials.getMonomial(parts.monomial).exponent;
    powers.push_back(
        polynomials.monomial(polynomials.intern(others), parts.constant));
    Scope monomialScope(*this);
    if (std::optional<RecordId> sign = findSign(ClaimKind::NonZero, outer))
      need(*sign);
    deduceNonZero(monomialScope.id, powers);
  }
  if (sums.size() > 1) {
    Scope sumScope(*this);
    if (std::optional<RecordId> sign = findSign(ClaimKind::NonZero, parts.rest))
      need(*sign);
    multiplyAll(sums, true);
    deduceNonZero(sumScope.id, sums);
  }
}

Recorded NormalizerState::inverse(PolynomialId polynomial) {
  auto known = inverses.find(polynomial);
  if (known != inverses.end())
    return known->second;
  Scope scope(*this);
  Scalar term = termOf(polynomial);
  std::optional<RecordId> sign = findSign(ClaimKind::NonZero, polynomial);
  auto keep = [&](PolynomialId result) {
    claimEqual(inverseTerm(term), termOf(result));
    Recorded recorded{result, scope.id};
    inverses[polynomial] = recorded;
    return recorded;
  };
  if (!sign)
    return keep(opaque(inverseTerm(termOf(representative(polynomial)))));
  need(*sign);
  if (std::optional<Rational> constant = polynomials.getConstant(polynomial))
    return keep(polynomials.constant(constant->inverse()));
  Factorization parts = factor(polynomial);
  llvm::SmallVector<PolynomialId> sums;
  if (parts.rest != PolynomialStore::one)
    splitRest(parts.rest, sums);
  deduceFactors(polynomial, parts, sums, *sign);
  deducePositive(polynomial, parts);
  PolynomialId result = invertFactored(parts, sums);
  if (!claimProduct(result, polynomial, PolynomialStore::one))
    return keep(opaque(inverseTerm(termOf(representative(polynomial)))));
  emit(laws.uniqueInverse(term, termOf(result)));
  return keep(result);
}
