//===- MonomialProducts.cpp - products of monomials -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where relations between generators enter: exponentials merge, inverses
// cancel, roots become what they are roots of, indicators are idempotent. Each
// step is an instance of a law for the whole product at hand, so that the
// solver sees equations that are linear in products and needs no nonlinear
// reasoning.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

/// The highest power of a generator in a monomial.
static constexpr int32_t degreeLimit = 1024;

namespace {
/// What a monomial contains that may need a law in a product.
enum Trait : uint8_t {
  IsKnown = 1,
  HasExponent = 2,
  /// A root, absolute value, sign or indicator.
  HasRelation = 4
};
} // namespace

uint8_t NormalizerState::traits(MonomialId monomial) {
  if (monomial >= monomialTraits.size())
    monomialTraits.resize(monomial + 256);
  uint8_t &result = monomialTraits[monomial];
  if (result != 0)
    return result;
  const Monomial &factors = polynomials.getMonomial(monomial);
  result = IsKnown;
  if (factors.exponent != PolynomialStore::zero)
    result |= HasExponent;
  for (const GeneratorPower &power : factors.powers)
    switch (generators[power.generator].kind) {
    case GeneratorKind::Root:
    case GeneratorKind::Absolute:
    case GeneratorKind::Sign:
    case GeneratorKind::Indicator:
      result |= HasRelation;
      break;
    default:
      break;
    }
  return result;
}

//===--- Lists of factors -------------------------------------------------===//

static void appendPower(FactorList &factors, GeneratorPower power) {
  int32_t positive = std::max(power.exponent, 0);
  int32_t negative = std::max(-power.exponent, 0);
  auto *place =
      llvm::lower_bound(factors.powers, power.generator,
                        [](const FactorList::Power &left, GeneratorId right) {
                          return left.generator < right;
                        });
  if (place != factors.powers.end() && place->generator == power.generator) {
    place->positive += positive;
    place->negative += negative;
    return;
  }
  factors.powers.insert(place, {power.generator, positive, negative});
}

static void appendMonomial(FactorList &factors, const Monomial &monomial) {
  for (const GeneratorPower &power : monomial.powers)
    appendPower(factors, power);
  if (monomial.exponent != PolynomialStore::zero)
    factors.exponents.push_back(monomial.exponent);
}

/// Powers of powers multiply: the limit keeps sums of exponents far below what
/// an exponent holds, and terms at a size that can be written down.
static bool isTooHigh(const FactorList &factors) {
  return llvm::any_of(factors.powers, [](const FactorList::Power &power) {
    return std::max(power.positive, power.negative) > degreeLimit;
  });
}

FactorList NormalizerState::listFactors(MonomialId left, MonomialId right) {
  FactorList factors;
  appendMonomial(factors, polynomials.getMonomial(left));
  appendMonomial(factors, polynomials.getMonomial(right));
  return factors;
}

//===--- Laws of products -------------------------------------------------===//

bool NormalizerState::mergeExponents(FactorList &factors) {
  while (factors.exponents.size() > 1) {
    PolynomialId right = factors.exponents.pop_back_val();
    PolynomialId left = factors.exponents.pop_back_val();
    PolynomialId sum = polynomials.add(left, right);
    // A long exponent takes as much as many factors do.
    countSteps(polynomials.get(sum).size() / 4);
    if (isRecording && !hasFailed())
      emit(laws.expOfSum(termOf(left), termOf(right), termOf(sum),
                         factorTerms(factors)));
    if (sum != PolynomialStore::zero)
      factors.exponents.push_back(sum);
  }
  return true;
}

void NormalizerState::cancelInverses(FactorList &factors) {
  for (FactorList::Power &power : factors.powers) {
    int32_t count = std::min(power.positive, power.negative);
    if (count == 0)
      continue;
    power.positive -= count;
    power.negative -= count;
    if (!isRecording)
      continue;
    Scalar term = generators[power.generator].term;
    emit(laws.cancellation(term, static_cast<unsigned>(count),
                           factorTerms(factors)));
    // Inverses of generators only come from inverses of terms that are not 0.
    PolynomialId polynomial =
        generators[power.generator].kind == GeneratorKind::Factor
            ? generators[power.generator].argument
            : polynomials.generator(power.generator);
    needSign(ClaimKind::NonZero, polynomial);
  }
}

std::optional<PolynomialId>
NormalizerState::applyIndicators(FactorList &factors) {
  for (size_t i = 0; i < factors.powers.size(); ++i) {
    GeneratorId first = factors.powers[i].generator;
    if (generators[first].kind != GeneratorKind::Indicator)
      continue;
    Scalar term = generators[first].term;
    while (factors.powers[i].positive > 1) {
      factors.powers[i].positive -= 2;
      if (isRecording)
        emit(laws.indicatorImplies(term, term, factorTerms(factors)));
      ++factors.powers[i].positive;
    }
    for (size_t j = 0; j < i && factors.powers[i].positive > 0; ++j) {
      GeneratorId second = factors.powers[j].generator;
      IndicatorRelation relation = factors.powers[j].positive > 0
                                       ? relate(first, second)
                                       : IndicatorRelation::None;
      if (relation == IndicatorRelation::None)
        continue;
      Scalar other = generators[second].term;
      bool dropsFirst = relation == IndicatorRelation::SecondImplies;
      factors.powers[i].positive = factors.powers[j].positive = 0;
      if (isRecording && relation == IndicatorRelation::Excludes)
        emit(laws.indicatorExcludes(term, other, factorTerms(factors)));
      if (relation == IndicatorRelation::Excludes)
        return PolynomialStore::zero;
      llvm::SmallVector<Scalar> rest;
      if (isRecording)
        rest = factorTerms(factors);
      if (isRecording)
        emit(dropsFirst ? laws.indicatorImplies(other, term, rest)
                        : laws.indicatorImplies(term, other, rest));
      factors.powers[dropsFirst ? j : i].positive = 1;
    }
  }
  return std::nullopt;
}

std::optional<PolynomialId>
NormalizerState::applyRelation(FactorList &factors) {
  for (FactorList::Power &power : factors.powers) {
    // A copy, because generators may be created on the way.
    Generator generator = generators[power.generator];
    PolynomialId argument = generator.argument;
    if (generator.kind == GeneratorKind::Factor && power.positive > 0) {
      --power.positive;
      return expand(factors, {argument});
    }
    if (generator.kind == GeneratorKind::Root &&
        power.positive >= generator.degree) {
      power.positive -= static_cast<int32_t>(generator.degree);
      if (isRecording) {
        emit(laws.powerOfRoot(termOf(argument), generator.degree,
                              factorTerms(factors)));
        needSign(ClaimKind::NonNegative, argument);
      }
      return expand(factors, {argument});
    }
    if (generator.kind != GeneratorKind::Absolute || power.positive == 0)
      continue;
    if (power.positive > 1) {
      power.positive -= 2;
      if (isRecording)
        emit(laws.absoluteSquare(termOf(argument), factorTerms(factors)));
      return expand(factors, {argument, argument});
    }
    Scalar sign = terms.apply(Function::Sign, termOf(argument));
    for (FactorList::Power &other : factors.powers)
      if (other.positive > 0 && generators[other.generator].term == sign) {
        --power.positive;
        --other.positive;
        if (isRecording)
          emit(laws.absoluteSign(termOf(argument), factorTerms(factors)));
        return expand(factors, {argument});
      }
  }
  return std::nullopt;
}

//===--- Products ---------------------------------------------------------===//

PolynomialId NormalizerState::expand(const FactorList &factors,
                                     llvm::ArrayRef<PolynomialId> sums) {
  if (sums.empty())
    return mergeFactors(factors);
  Polynomial result;
  Polynomial first = polynomials.get(sums.front());
  for (const WeightedMonomial &term : first) {
    FactorList larger = factors;
    countSteps(1);
    if (hasFailed())
      return PolynomialStore::zero;
    appendMonomial(larger, polynomials.getMonomial(term.monomial));
    PolynomialId part = expand(larger, sums.drop_front());
    for (const WeightedMonomial &partTerm : polynomials.get(part))
      result.push_back(
          {partTerm.monomial, partTerm.coefficient * term.coefficient});
  }
  return polynomials.intern(std::move(result));
}

PolynomialId NormalizerState::mergeFactors(FactorList factors) {
  if (hasFailed())
    return PolynomialStore::zero;
  if (isTooHigh(factors)) {
    fail("a power is too high");
    return PolynomialStore::zero;
  }
  mergeExponents(factors);
  cancelInverses(factors);
  if (std::optional<PolynomialId> result = applyIndicators(factors))
    return *result;
  if (std::optional<PolynomialId> result = applyRelation(factors))
    return *result;
  Monomial monomial;
  for (const FactorList::Power &power : factors.powers)
    if (int32_t exponent = power.positive - power.negative)
      monomial.powers.push_back({power.generator, exponent});
  if (!factors.exponents.empty())
    monomial.exponent = factors.exponents.front();
  return polynomials.monomial(polynomials.intern(monomial), Rational(1));
}

void NormalizerState::countSteps(size_t count) {
  size_t before = steps;
  steps += count;
  auto isPassed = [&](size_t limit) {
    return before < limit && steps >= limit;
  };
  if (isPassed(limits.freeSteps) && limits.beforeMoreSteps &&
      !limits.beforeMoreSteps())
    fail("the normal form takes long");
  if (isPassed(limits.mostSteps)) {
    isExhausted = true;
    fail("the normal form takes too long");
  }
}

PolynomialId NormalizerState::multiplyMonomials(MonomialId left,
                                                MonomialId right) {
  countSteps(1);
  if (left > right)
    std::swap(left, right);
  if (left == PolynomialStore::unit)
    return polynomials.monomial(right, Rational(1));
  uint64_t key = static_cast<uint64_t>(left) << 32 | right;
  auto place = products.find(key);
  if (place == products.end()) {
    FactorList factors = listFactors(left, right);
    if (isTooHigh(factors)) {
      fail("a power is too high");
      return PolynomialStore::zero;
    }
    uint8_t shared = traits(left) & traits(right);
    bool isPlain = (shared & (HasExponent | HasRelation)) == 0 &&
                   llvm::none_of(factors.powers, [](FactorList::Power power) {
                     return power.positive > 0 && power.negative > 0;
                   });
    if (isPlain) {
      // Without laws, and not worth a place in the table.
      Monomial monomial;
      for (const FactorList::Power &power : factors.powers)
        monomial.powers.push_back(
            {power.generator, power.positive - power.negative});
      if (!factors.exponents.empty())
        monomial.exponent = factors.exponents.front();
      return polynomials.monomial(polynomials.intern(monomial), Rational(1));
    }
    if (!isRecording) {
      auto known = unrecordedProducts.find(key);
      if (known != unrecordedProducts.end())
        return known->second;
      PolynomialId result = mergeFactors(std::move(factors));
      unrecordedProducts[key] = result;
      return result;
    }
    CachedProduct product;
    {
      Scope scope(*this);
      product.result = mergeFactors(std::move(factors));
      product.instances.assign(current().instances.begin(),
                               current().instances.end());
      product.needs.assign(current().needs.begin(), current().needs.end());
    }
    place = products.try_emplace(key, std::move(product)).first;
  }
  const CachedProduct &product = place->second;
  if (!isRecording)
    return product.result;
  current().instances.append(product.instances.begin(),
                             product.instances.end());
  current().needs.append(product.needs.begin(), product.needs.end());
  return product.result;
}
