//===- Maxima.cpp - normal forms of maxima --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A maximum is a set of polynomials without what they all share: nested maxima
// are flattened, common summands and common positive factors taken out. All but
// the last follow from what a maximum is, which the solver is told.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace verify;

/// Most arguments of a maximum of which each is compared with each.
static constexpr size_t mostCompared = 64;

/// Says of a maximum that it is one of its values, and at least each of them.
void NormalizerState::defineMaximum(Scalar greatest) {
  if (terms.getKind(greatest) != TermKind::Maximum)
    return;
  auto count = static_cast<unsigned>(terms.getOperands(greatest).size());
  for (unsigned which = 0; which < count; ++which)
    emit(laws.maximumBound(greatest, which));
  emit(laws.maximumAttained(greatest));
}

/// The coefficient-wise minimum of all arguments, which moves with them.
PolynomialId
NormalizerState::shareSummands(llvm::ArrayRef<PolynomialId> arguments) {
  std::map<MonomialId, std::pair<Rational, size_t>> least;
  for (PolynomialId argument : arguments)
    for (const WeightedMonomial &term : polynomials.get(argument)) {
      auto [place, isNew] =
          least.try_emplace(term.monomial, term.coefficient, 0);
      ++place->second.second;
      if (term.coefficient < place->second.first)
        place->second.first = term.coefficient;
    }
  Polynomial shared;
  for (auto &[monomial, entry] : least)
    if (entry.second == arguments.size() || entry.first.sign() < 0)
      shared.push_back({monomial, entry.first});
  return polynomials.intern(std::move(shared));
}

/// Replaces arguments that are maxima, plus something, by their values.
bool NormalizerState::flattenMaxima(
    llvm::SmallVectorImpl<PolynomialId> &arguments) {
  llvm::SmallVector<PolynomialId> flat;
  bool isChanged = false;
  for (PolynomialId argument : arguments) {
    std::optional<GeneratorId> inner;
    Rational weight;
    unsigned count = 0;
    for (const WeightedMonomial &term : polynomials.get(argument)) {
      const Monomial &monomial = polynomials.getMonomial(term.monomial);
      for (const GeneratorPower &power : monomial.powers) {
        if (generators[power.generator].kind != GeneratorKind::Maximum)
          continue;
        ++count;
        bool isAlone = monomial.powers.size() == 1 && power.exponent == 1 &&
                       monomial.exponent == PolynomialStore::zero &&
                       term.coefficient.sign() > 0;
        if (isAlone) {
          inner = power.generator;
          weight = term.coefficient;
        }
      }
    }
    if (!inner || count != 1) {
      flat.push_back(argument);
      continue;
    }
    isChanged = true;
    defineMaximum(generators[*inner].term);
    PolynomialId rest = polynomials.subtract(
        argument, polynomials.scale(polynomials.generator(*inner), weight));
    for (PolynomialId value : generators[*inner].arguments)
      flat.push_back(polynomials.add(polynomials.scale(value, weight), rest));
  }
  arguments.assign(flat.begin(), flat.end());
  return isChanged;
}

/// Drops repeated arguments and, if there are few, those that are never greater
/// than another.
void NormalizerState::dropSmaller(
    llvm::SmallVectorImpl<PolynomialId> &arguments) {
  llvm::sort(arguments);
  arguments.erase(llvm::unique(arguments), arguments.end());
  if (arguments.size() > mostCompared)
    return;
  for (size_t i = 0; i < arguments.size();) {
    bool isDropped = false;
    for (size_t j = 0; j < arguments.size() && !isDropped; ++j) {
      if (i == j)
        continue;
      auto sign = findSign(ClaimKind::NonNegative,
                           polynomials.subtract(arguments[j], arguments[i]));
      if (sign) {
        need(*sign);
        isDropped = true;
      }
    }
    if (isDropped)
      arguments.erase(arguments.begin() + static_cast<ptrdiff_t>(i));
    else
      ++i;
  }
}

/// Takes the common factor out of all arguments if it is not negative.
PolynomialId
NormalizerState::scaleMaximum(llvm::SmallVectorImpl<PolynomialId> &arguments) {
  // The sum of all, with coefficients that cannot cancel, has the factors that
  // all arguments share.
  Polynomial all;
  Rational content;
  for (PolynomialId argument : arguments) {
    for (const WeightedMonomial &term : polynomials.get(argument))
      all.push_back({term.monomial, Rational(1)});
    Rational next = polynomials.getContent(argument);
    content = content.isZero() ? next
              : next.isZero()  ? content
                               : Rational::greatestCommonDivisor(content, next);
  }
  PolynomialId outer = polynomials.constant(content);
  Factorization parts = factor(polynomials.intern(std::move(all)));
  if (parts.monomial != PolynomialStore::unit) {
    PolynomialId withMonomial = polynomials.monomial(parts.monomial, content);
    if (findSign(ClaimKind::NonNegative, withMonomial))
      outer = withMonomial;
  }
  if (outer == PolynomialStore::one)
    return outer;
  MonomialId divisor = polynomials.get(outer).front().monomial;
  llvm::SmallVector<PolynomialId> values;
  llvm::SmallVector<Scalar> scaledTerms, valueTerms;
  for (PolynomialId argument : arguments) {
    Scratch scratch(*this);
    Polynomial quotient;
    for (const WeightedMonomial &term : polynomials.get(argument)) {
      PolynomialId part = mergeFactors(listFactors(
          divideMonomials(term.monomial, divisor), PolynomialStore::unit));
      for (const WeightedMonomial &partTerm : polynomials.get(part))
        quotient.push_back({partTerm.monomial,
                            partTerm.coefficient * term.coefficient / content});
    }
    values.push_back(polynomials.intern(std::move(quotient)));
  }
  for (auto [argument, value] : llvm::zip(arguments, values)) {
    // Division need not find what products merge; then nothing is taken out.
    if (multiply(outer, value) != argument)
      return PolynomialStore::one;
    scaledTerms.push_back(termOf(argument));
    valueTerms.push_back(termOf(value));
  }
  need(*findSign(ClaimKind::NonNegative, outer));
  emit(laws.maximumScale(termOf(outer), scaledTerms, valueTerms));
  arguments.assign(values.begin(), values.end());
  return outer;
}

/// The maximum of exponentials, if all arguments are such.
PolynomialId
NormalizerState::maximumOfExps(llvm::ArrayRef<PolynomialId> arguments) {
  llvm::SmallVector<PolynomialId> exponents;
  llvm::SmallVector<Scalar> exponentTerms;
  for (PolynomialId argument : arguments) {
    const Polynomial &summands = polynomials.get(argument);
    if (summands.size() != 1 || !summands[0].coefficient.isOne())
      return PolynomialStore::zero;
    const Monomial &monomial = polynomials.getMonomial(summands[0].monomial);
    if (!monomial.powers.empty())
      return PolynomialStore::zero;
    exponents.push_back(monomial.exponent);
    exponentTerms.push_back(termOf(monomial.exponent));
  }
  emit(laws.maximumOfExp(exponentTerms));
  // One of the arguments may be exp(0) = 1.
  if (llvm::is_contained(exponents, PolynomialStore::zero))
    emit(laws.expOfZero(termOf(PolynomialStore::zero)));
  Recorded greatest = maximum(exponents);
  need(greatest.record);
  Recorded result = exponential(greatest.result);
  need(result.record);
  return result.result;
}

Recorded
NormalizerState::maximum(llvm::ArrayRef<PolynomialId> originalArguments) {
  Scope scope(*this);
  llvm::SmallVector<PolynomialId> arguments;
  llvm::SmallVector<Scalar> originalTerms;
  for (PolynomialId argument : originalArguments) {
    originalTerms.push_back(termOf(argument));
    arguments.push_back(representative(argument));
  }
  Scalar whole = terms.maximum(originalTerms);
  defineMaximum(whole);
  auto keep = [&](PolynomialId result) {
    claimEqual(whole, termOf(result));
    return Recorded{result, scope.id};
  };
  while (flattenMaxima(arguments))
    ;
  dropSmaller(arguments);
  if (arguments.size() == 1)
    return keep(arguments.front());
  if (PolynomialId result = maximumOfExps(arguments)) {
    llvm::SmallVector<Scalar> values;
    for (PolynomialId argument : arguments)
      values.push_back(termOf(argument));
    defineMaximum(terms.maximum(values));
    return keep(result);
  }
  PolynomialId shared = shareSummands(arguments);
  for (PolynomialId &argument : arguments)
    argument = polynomials.subtract(argument, shared);
  llvm::sort(arguments);
  llvm::SmallVector<PolynomialId> unscaled = arguments;
  PolynomialId scale = scaleMaximum(arguments);
  auto build = [&](llvm::ArrayRef<PolynomialId> values) {
    llvm::SmallVector<Scalar> valueTerms;
    for (PolynomialId value : values)
      valueTerms.push_back(termOf(value));
    Scalar greatest = terms.maximum(valueTerms);
    defineMaximum(greatest);
    return greatest;
  };
  if (scale != PolynomialStore::one)
    build(unscaled);
  // The terms must stand in the order of the arguments.
  Generator generator;
  generator.kind = GeneratorKind::Maximum;
  generator.isInteger = llvm::all_of(
      arguments, [&](PolynomialId argument) { return isInteger(argument); });
  generator.term = build(arguments);
  generator.arguments.assign(arguments.begin(), arguments.end());
  PolynomialId greatest =
      polynomials.generator(getGenerator(std::move(generator)));
  return keep(polynomials.add(shared, multiplyClaimed(scale, greatest)));
}
