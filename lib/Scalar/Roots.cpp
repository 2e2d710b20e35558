//===- Roots.cpp - normal forms of roots, powers and absolute values ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be taken out of a root of something that is not negative is taken
// out; that the result is the root is claimed by its power and its sign. All
// broken powers are powers of roots.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

/// The greatest rational whose power divides `value`, as far as small factors
/// show it.
static Rational takeOut(const Rational &value, int64_t degree) {
  if (degree == 2)
    if (std::optional<Rational> root = value.getExactRoot())
      return *root;
  // value = top / bottom = top bottom^(n - 1) / bottom^n.
  Rational bottom = value.getDenominator();
  Rational rest = value.getNumerator() * bottom.power(degree - 1);
  Rational result = bottom.inverse();
  for (int64_t prime = 2; prime < 1000; ++prime) {
    Rational step = Rational(prime).power(degree);
    while ((rest / step).isInteger()) {
      rest = rest / step;
      result *= prime;
    }
  }
  return result;
}

/// Takes powers out of a root: `argument = result^degree * rest`. Everything
/// taken out is not negative.
PolynomialId NormalizerState::takeOutPowers(PolynomialId argument,
                                            int64_t degree,
                                            PolynomialId &rest) {
  Factorization parts = factor(argument);
  if (parts.constant.sign() < 0) {
    parts.constant = -parts.constant;
    parts.rest = polynomials.scale(parts.rest, Rational(-1));
  }
  Rational constant = takeOut(parts.constant, degree);
  Monomial monomial = polynomials.getMonomial(parts.monomial);
  Monomial kept, outside;
  PolynomialId absoluteValues = PolynomialStore::one;
  PolynomialId split = PolynomialStore::one;
  for (const GeneratorPower &power : monomial.powers) {
    // Rounds down, so that the power kept inside is not negative.
    auto count = static_cast<int32_t>(
        Rational(power.exponent, degree).floor().getInteger().value_or(0));
    GeneratorPower taken{power.generator, count};
    bool isRelated = generators[power.generator].kind == GeneratorKind::Root;
    if (isRelated)
      taken.exponent = count = 0;
    if (count != 0 && !findPowerSign(ClaimKind::NonNegative, taken)) {
      // sqrt(x^2) is |x|, not x.
      if (degree == 2 && count % 2 != 0 && count > 0)
        absoluteValues = multiply(
            absoluteValues,
            absolute(polynomials.generator(power.generator), Function::Abs)
                .result);
      else
        count = 0;
      taken.exponent = std::max(count - 1, 0);
    }
    if (taken.exponent != 0)
      outside.powers.push_back(taken);
    int32_t left = power.exponent - count * static_cast<int32_t>(degree);
    PolynomialId base = polynomials.generator(power.generator);
    bool isSplit = left > 0 && base != argument && !isRelated &&
                   generators[power.generator].kind != GeneratorKind::Factor &&
                   findSign(ClaimKind::NonNegative, base);
    // The root of a product of factors that are not negative.
    if (isSplit)
      split = multiply(split, raise(opaqueRoot(base, degree), left, false));
    else if (left != 0)
      kept.powers.push_back({power.generator, left});
  }
  outside.exponent = polynomials.scale(monomial.exponent, Rational(1, degree));
  rest = multiply(polynomials.monomial(polynomials.intern(kept),
                                       parts.constant / constant.power(degree)),
                  parts.rest);
  PolynomialId taken =
      polynomials.monomial(polynomials.intern(outside), constant);
  return multiply(multiply(taken, absoluteValues), split);
}

Recorded NormalizerState::root(PolynomialId argument, int64_t degree) {
  auto known = roots.find({argument, degree});
  if (known != roots.end())
    return known->second;
  Scope scope(*this);
  Scalar whole = laws.root(termOf(argument), degree);
  auto keep = [&](PolynomialId result) {
    claimEqual(whole, termOf(result));
    Recorded recorded{result, scope.id};
    roots[{argument, degree}] = recorded;
    return recorded;
  };
  PolynomialId same = representative(argument);
  std::optional<RecordId> sign = findSign(ClaimKind::NonNegative, same);
  if (!sign)
    return keep(opaque(laws.root(termOf(same), degree)));
  if (same == PolynomialStore::zero) {
    emit(laws.uniqueRoot(termOf(same), degree, termOf(same)));
    return keep(same);
  }
  PolynomialId outside = PolynomialStore::one, rest = same;
  {
    Scratch scratch(*this);
    outside = takeOutPowers(same, degree, rest);
    if (!findSign(ClaimKind::NonNegative, rest))
      deduceRestOfRoot(same, outside, degree, rest);
    if (!findSign(ClaimKind::NonNegative, rest) ||
        !findSign(ClaimKind::NonNegative, outside)) {
      outside = PolynomialStore::one;
      rest = same;
    }
  }
  need(*findSign(ClaimKind::NonNegative, rest));
  PolynomialId inner = PolynomialStore::one;
  if (rest != PolynomialStore::one) {
    Generator generator;
    generator.kind = GeneratorKind::Root;
    generator.degree = degree;
    generator.argument = rest;
    generator.term = laws.root(termOf(rest), degree);
    inner = polynomials.generator(getGenerator(std::move(generator)));
  }
  PolynomialId result = multiplyClaimed(outside, inner);
  std::optional<RecordId> resultSign = findSign(ClaimKind::NonNegative, result);
  if (outside == PolynomialStore::one || !resultSign)
    return keep(opaqueRoot(same, degree));
  // The n-th power is the argument.
  need(*resultSign);
  PolynomialId raised = PolynomialStore::one;
  for (int64_t count = 0; count < degree; ++count)
    raised = multiplyClaimed(raised, result, true);
  if (raised != same)
    return keep(opaqueRoot(same, degree));
  emit(laws.uniqueRoot(termOf(same), degree, termOf(result)));
  return keep(result);
}

/// The root as a generator of its own.
PolynomialId NormalizerState::opaqueRoot(PolynomialId argument,
                                         int64_t degree) {
  Generator generator;
  generator.kind = GeneratorKind::Root;
  generator.degree = degree;
  generator.argument = argument;
  generator.term = laws.root(termOf(argument), degree);
  return polynomials.generator(getGenerator(std::move(generator)));
}

/// If `outside` is positive, `rest` has the sign of `outside^degree * rest`.
void NormalizerState::deduceRestOfRoot(PolynomialId argument,
                                       PolynomialId outside, int64_t degree,
                                       PolynomialId rest) {
  Scope scope(*this);
  PolynomialId raised = raise(outside, degree, false);
  for (ClaimKind kind : {ClaimKind::Positive, ClaimKind::NonNegative}) {
    std::optional<RecordId> whole = findSign(kind, argument);
    std::optional<RecordId> positive = findSign(ClaimKind::Positive, raised);
    if (!whole || !positive || multiply(raised, rest) != argument)
      continue;
    Scope inner(*this);
    need(*whole);
    need(*positive);
    multiply(raised, rest);
    emit(laws.factorPositive(termOf(raised), termOf(rest), kind));
    current().claims.push_back({kind, termOf(rest), Scalar()});
    addSign(kind, rest, inner.id);
    return;
  }
}

Recorded NormalizerState::inverseRoot(PolynomialId argument) {
  Scope scope(*this);
  Scalar term = termOf(argument);
  Scalar whole = terms.apply(Function::Rsqrt, term);
  std::optional<RecordId> sign = findSign(ClaimKind::Positive, argument);
  if (!sign) {
    PolynomialId result =
        opaque(terms.apply(Function::Rsqrt, termOf(representative(argument))));
    claimEqual(whole, termOf(result));
    return {result, scope.id};
  }
  need(*sign);
  emit(laws.inverseRoot(term));
  Scalar base = terms.apply(Function::Sqrt, term);
  claimEqual(whole, inverseTerm(base));
  Recorded rooted = root(argument, 2);
  use(rooted.record);
  Recorded result = inverse(rooted.result);
  use(result.record);
  return {result.result, scope.id};
}

Recorded NormalizerState::power(PolynomialId base, int64_t numerator,
                                int64_t denominator) {
  Scope scope(*this);
  Scalar term = termOf(base);
  Scalar whole = terms.power(term, numerator, denominator);
  bool isInverse = numerator < 0;
  ClaimKind wanted = denominator == 1 ? ClaimKind::NonZero
                     : isInverse      ? ClaimKind::Positive
                                      : ClaimKind::NonNegative;
  std::optional<RecordId> sign = findSign(wanted, base);
  if (!sign || std::abs(numerator) > 64 || denominator > 64) {
    PolynomialId result = opaque(
        terms.power(termOf(representative(base)), numerator, denominator));
    claimEqual(whole, termOf(result));
    return {result, scope.id};
  }
  need(*sign);
  PolynomialId step = base;
  Scalar stepTerm = term;
  if (denominator == 1) {
    emit(laws.negativePower(term, -numerator));
  } else {
    emit(laws.brokenPower(term, numerator, denominator));
    stepTerm = laws.root(term, denominator);
    Recorded rooted = root(base, denominator);
    use(rooted.record);
    step = rooted.result;
  }
  if (isInverse) {
    stepTerm = inverseTerm(stepTerm);
    Recorded inverted = inverse(step);
    use(inverted.record);
    step = inverted.result;
  }
  llvm::SmallVector<Scalar> steps(std::abs(numerator), stepTerm);
  claimEqual(whole, terms.product(steps));
  PolynomialId result = raise(step, std::abs(numerator), true);
  return {result, scope.id};
}

Recorded NormalizerState::absolute(PolynomialId argument, Function function) {
  Scope scope(*this);
  Scalar whole = terms.apply(function, termOf(argument));
  auto keep = [&](PolynomialId result) {
    claimEqual(whole, termOf(result));
    return Recorded{result, scope.id};
  };
  PolynomialId same = representative(argument);
  bool isSign = function == Function::Sign;
  ClaimKind wanted = isSign ? ClaimKind::Positive : ClaimKind::NonNegative;
  if (std::optional<RecordId> sign = findSign(wanted, same)) {
    need(*sign);
    return keep(isSign ? PolynomialStore::one : same);
  }
  if (same == PolynomialStore::zero)
    return keep(same);
  // |c p| = |c| |p| and sign(c p) = sign(c) sign(p).
  Rational content = polynomials.getContent(same);
  Rational factorOfArgument = content;
  if (polynomials.get(same).front().coefficient.sign() < 0)
    factorOfArgument = -content;
  PolynomialId primitive = polynomials.scale(same, factorOfArgument.inverse());
  Generator generator;
  generator.kind = isSign ? GeneratorKind::Sign : GeneratorKind::Absolute;
  generator.argument = primitive;
  generator.term = terms.apply(function, termOf(primitive));
  PolynomialId result =
      polynomials.generator(getGenerator(std::move(generator)));
  return keep(polynomials.scale(
      result, isSign ? Rational(factorOfArgument.sign()) : content));
}
