//===- Signs.cpp - which normal forms are positive or not zero ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions of laws are found from the hypotheses, from exponentials, squares,
// roots and maxima, and from sums and products of those. A record claims what
// was found, for the solver to check.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

static std::pair<PolynomialId, unsigned> key(ClaimKind kind,
                                             PolynomialId polynomial) {
  return {polynomial, static_cast<unsigned>(kind)};
}

//===--- Knowledge --------------------------------------------------------===//

void NormalizerState::addSign(ClaimKind kind, PolynomialId polynomial,
                              RecordId record) {
  signs.try_emplace(key(kind, polynomial), record);
  ++signVersion;
}

void NormalizerState::addHypothesis(const Condition &condition) {
  if (terms.getSort(condition.term) != ScalarSort::Real ||
      !normalize(condition.term))
    return;
  PolynomialId polynomial = getForm(condition.term).value;
  Claim claim = toClaim(condition);
  claim.left = termOf(polynomial);
  if (polynomials.getConstant(polynomial) || findSign(claim.kind, polynomial))
    return;
  Scope scope(*this);
  // The hypothesis is about the term, in which every node has been replaced.
  claimEqual(literals[condition.term.bits].value, claim.left);
  current().roots.push_back(condition.term);
  emit(laws.hypothesis(
      {claim.kind, literals[condition.term.bits].value, Scalar()}));
  current().claims.push_back(claim);
  addSign(claim.kind, polynomial, scope.id);
  // Sums of exponentials are not 0 whatever they are shifted by.
  Factorization parts = factor(polynomial);
  if (claim.kind == ClaimKind::NonZero &&
      parts.monomial != PolynomialStore::unit)
    deduceFactors(polynomial, parts, {}, scope.id);
}

std::optional<RecordId>
NormalizerState::lookUpSign(ClaimKind kind, PolynomialId polynomial) const {
  for (ClaimKind known : {kind, ClaimKind::Positive}) {
    auto place = signs.find(key(known, polynomial));
    if (place != signs.end())
      return place->second;
  }
  return std::nullopt;
}

std::optional<RecordId> NormalizerState::findSign(ClaimKind kind,
                                                  PolynomialId polynomial) {
  if (std::optional<RecordId> known = lookUpSign(kind, polynomial))
    return known;
  auto missing = missingSigns.find(key(kind, polynomial));
  if (missing != missingSigns.end() && missing->second == signVersion)
    return std::nullopt;
  missingSigns[key(kind, polynomial)] = signVersion;
  if (signDepth > 64 || hasFailed())
    return std::nullopt;
  ++signDepth;
  std::optional<RecordId> found = deriveSign(kind, polynomial);
  --signDepth;
  if (found)
    signs.try_emplace(key(kind, polynomial), *found);
  return found;
}

void NormalizerState::needSign(ClaimKind kind, PolynomialId polynomial) {
  if (std::optional<RecordId> sign = findSign(kind, polynomial))
    need(*sign);
  else
    fail("a law was used whose condition is not known");
}

std::optional<RecordId> NormalizerState::deriveSign(ClaimKind kind,
                                                    PolynomialId polynomial) {
  if (std::optional<Rational> constant = polynomials.getConstant(polynomial)) {
    int sign = constant->sign();
    bool holds = kind == ClaimKind::NonZero       ? sign != 0
                 : kind == ClaimKind::NonNegative ? sign >= 0
                                                  : sign > 0;
    if (!holds)
      return std::nullopt;
    Scope scope(*this);
    current().claims.push_back({kind, termOf(polynomial), Scalar()});
    return scope.id;
  }
  if (auto found = deriveFromMonomials(kind, polynomial))
    return found;
  if (auto found = deriveFromScale(kind, polynomial))
    return found;
  auto nodes = nodesWithSign.find(polynomial);
  if (nodes != nodesWithSign.end() && kind != ClaimKind::NonZero) {
    llvm::SmallVector<Scalar, 2> candidates = nodes->second;
    for (Scalar node : candidates)
      if (auto found = deriveFromNode(kind, polynomial, node))
        return found;
  }
  if (auto found = deriveFromStronger(kind, polynomial))
    return found;
  return deriveFromFactors(kind, polynomial);
}

//===--- Other claims on the same polynomial ------------------------------===//

std::optional<RecordId>
NormalizerState::deriveFromStronger(ClaimKind kind, PolynomialId polynomial) {
  if (kind != ClaimKind::Positive) {
    if (auto found = findSign(ClaimKind::Positive, polynomial))
      return found;
    if (kind == ClaimKind::NonNegative)
      return std::nullopt;
    PolynomialId negated = polynomials.scale(polynomial, Rational(-1));
    std::optional<RecordId> found = findSign(ClaimKind::Positive, negated);
    if (!found)
      return std::nullopt;
    Scope scope(*this);
    need(*found);
    current().claims.push_back({kind, termOf(polynomial), Scalar()});
    return scope.id;
  }
  auto isNonZero = lookUpSign(ClaimKind::NonZero, polynomial);
  auto isNonNegative = lookUpSign(ClaimKind::NonNegative, polynomial);
  if (!isNonZero || !isNonNegative)
    return std::nullopt;
  Scope scope(*this);
  need(*isNonZero);
  need(*isNonNegative);
  current().claims.push_back({kind, termOf(polynomial), Scalar()});
  return scope.id;
}

std::optional<RecordId>
NormalizerState::deriveFromScale(ClaimKind kind, PolynomialId polynomial) {
  Rational content = polynomials.getContent(polynomial);
  if (kind == ClaimKind::NonZero &&
      polynomials.get(polynomial).front().coefficient.sign() < 0)
    content = -content;
  if (content.isOne())
    return std::nullopt;
  std::optional<RecordId> found =
      findSign(kind, polynomials.scale(polynomial, content.inverse()));
  if (!found)
    return std::nullopt;
  Scope scope(*this);
  need(*found);
  current().claims.push_back({kind, termOf(polynomial), Scalar()});
  return scope.id;
}

std::optional<RecordId>
NormalizerState::deriveFromFactors(ClaimKind kind, PolynomialId polynomial) {
  if (polynomials.get(polynomial).size() < 2)
    return std::nullopt;
  Factorization parts = factor(polynomial);
  if (parts.monomial == PolynomialStore::unit)
    return std::nullopt;
  PolynomialId outer = polynomials.monomial(parts.monomial, parts.constant);
  std::optional<RecordId> outerSign = findSign(kind, outer);
  std::optional<RecordId> restSign =
      outerSign ? findSign(kind, parts.rest) : std::nullopt;
  if (!restSign)
    return std::nullopt;
  Scope scope(*this);
  need(*outerSign);
  need(*restSign);
  emit(laws.productSign({termOf(outer), termOf(parts.rest)}, kind));
  if (!claimProduct(outer, parts.rest, polynomial))
    return std::nullopt;
  current().claims.push_back({kind, termOf(polynomial), Scalar()});
  return scope.id;
}

/// A positive product of something positive and `parts.rest`.
void NormalizerState::deducePositive(PolynomialId polynomial,
                                     const Factorization &parts) {
  if (parts.rest == PolynomialStore::one ||
      findSign(ClaimKind::Positive, parts.rest))
    return;
  std::optional<RecordId> whole = findSign(ClaimKind::Positive, polynomial);
  PolynomialId outer = polynomials.monomial(parts.monomial, parts.constant);
  std::optional<RecordId> positive =
      whole ? findSign(ClaimKind::Positive, outer) : std::nullopt;
  if (!positive)
    return;
  Scope scope(*this);
  need(*whole);
  need(*positive);
  if (!claimProduct(outer, parts.rest, polynomial))
    return;
  emit(laws.factorPositive(termOf(outer), termOf(parts.rest),
                           ClaimKind::Positive));
  current().claims.push_back(
      {ClaimKind::Positive, termOf(parts.rest), Scalar()});
  addSign(ClaimKind::Positive, parts.rest, scope.id);
}

//===--- Sums of monomials ------------------------------------------------===//

std::optional<RecordId>
NormalizerState::deriveFromMonomials(ClaimKind kind, PolynomialId polynomial) {
  const Polynomial &summands = polynomials.get(polynomial);
  if (summands.size() > 1 && kind == ClaimKind::NonZero)
    return std::nullopt;
  llvm::SmallVector<RecordId> found;
  bool isPositive = false;
  for (const WeightedMonomial &term : summands) {
    if (hasFailed() ||
        (kind != ClaimKind::NonZero && term.coefficient.sign() < 0))
      return std::nullopt;
    std::optional<RecordId> sign;
    if (kind == ClaimKind::Positive && !isPositive)
      sign = findMonomialSign(ClaimKind::Positive, term.monomial);
    isPositive |= sign.has_value();
    if (!sign)
      sign =
          findMonomialSign(kind == ClaimKind::NonZero ? ClaimKind::NonZero
                                                      : ClaimKind::NonNegative,
                           term.monomial);
    if (!sign)
      return std::nullopt;
    found.push_back(*sign);
  }
  if (kind == ClaimKind::Positive && !isPositive)
    return std::nullopt;
  Scope scope(*this);
  current().needs.append(found.begin(), found.end());
  current().claims.push_back({kind, termOf(polynomial), Scalar()});
  return scope.id;
}

std::optional<RecordId> NormalizerState::findMonomialSign(ClaimKind kind,
                                                          MonomialId monomial) {
  Monomial factorsOfMonomial = polynomials.getMonomial(monomial);
  Scope scope(*this);
  llvm::SmallVector<Scalar> groups;
  for (const GeneratorPower &power : factorsOfMonomial.powers) {
    std::optional<RecordId> sign = findPowerSign(kind, power);
    if (!sign)
      return std::nullopt;
    need(*sign);
    Monomial single;
    single.powers.push_back(power);
    groups.push_back(
        termOf(polynomials.monomial(polynomials.intern(single), Rational(1))));
  }
  if (factorsOfMonomial.exponent != PolynomialStore::zero) {
    Scalar argument = termOf(factorsOfMonomial.exponent);
    emit(laws.expPositive(argument));
    groups.push_back(terms.apply(Function::Exp, argument));
  }
  if (groups.size() > 1)
    emit(laws.productSign(groups, kind));
  current().claims.push_back(
      {kind, termOf(polynomials.monomial(monomial, Rational(1))), Scalar()});
  return scope.id;
}

std::optional<RecordId> NormalizerState::findGeneratorSign(ClaimKind kind,
                                                           GeneratorId number) {
  Generator generator = generators[number];
  if (auto known = lookUpSign(kind, polynomials.generator(number)))
    return known;
  Scope scope(*this);
  current().claims.push_back({kind, generator.term, Scalar()});
  switch (generator.kind) {
  case GeneratorKind::Factor:
    return findSign(kind, generator.argument);
  case GeneratorKind::Root: {
    ClaimKind wanted = kind == ClaimKind::NonNegative ? ClaimKind::NonNegative
                                                      : ClaimKind::Positive;
    std::optional<RecordId> sign = findSign(wanted, generator.argument);
    if (!sign)
      return std::nullopt;
    need(*sign);
    emit(laws.rootSign(termOf(generator.argument), generator.degree, wanted));
    return scope.id;
  }
  case GeneratorKind::Indicator:
  case GeneratorKind::Absolute:
    // By their definitions, which the solver knows.
    if (kind == ClaimKind::NonNegative)
      return scope.id;
    return std::nullopt;
  case GeneratorKind::Maximum:
    for (size_t which = 0; which < generator.arguments.size(); ++which)
      if (kind != ClaimKind::NonZero)
        if (auto sign = findSign(kind, generator.arguments[which])) {
          need(*sign);
          emit(laws.maximumBound(generator.term, static_cast<unsigned>(which)));
          return scope.id;
        }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<RecordId> NormalizerState::findPowerSign(ClaimKind kind,
                                                       GeneratorPower power) {
  Scope scope(*this);
  Scalar base = generators[power.generator].term;
  bool isInverse = power.exponent < 0;
  auto count = static_cast<size_t>(std::abs(power.exponent));
  Scalar factorTerm = isInverse ? inverseTerm(base) : base;
  llvm::SmallVector<Scalar> all(count, factorTerm);
  current().claims.push_back({kind, terms.product(all), Scalar()});
  bool isSquare = count % 2 == 0;
  if (isSquare && kind != ClaimKind::NonZero)
    emit(laws.square(terms.product(llvm::ArrayRef(all).take_front(count / 2))));
  if (isSquare && kind == ClaimKind::NonNegative)
    return scope.id;
  // A square is positive if it is not 0.
  ClaimKind ofBase =
      isSquare && kind == ClaimKind::Positive ? ClaimKind::NonZero : kind;
  if (isInverse && ofBase == ClaimKind::NonNegative)
    ofBase = ClaimKind::Positive;
  std::optional<RecordId> sign = findGeneratorSign(ofBase, power.generator);
  if (!sign)
    return std::nullopt;
  need(*sign);
  if (isInverse)
    emit(laws.inverseSign(base, ofBase));
  if (count > 1)
    emit(laws.productSign(all, ofBase));
  return scope.id;
}
