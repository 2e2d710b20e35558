//===- Laws.cpp - ground instances of the laws of real functions ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per law, in the order of the declarations. Each builds both
// sides from the arguments of the law, so an instance cannot say anything else.
// Every instance is true for all real values of its atoms under any total
// extension of the partial functions.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Laws.h"

#include "llvm/Support/ErrorHandling.h"

using namespace verify;
using llvm::ArrayRef;

Claim verify::toClaim(const Condition &condition) {
  switch (condition.kind) {
  case ConditionKind::NonZero:
    return {ClaimKind::NonZero, condition.term};
  case ConditionKind::NonNegative:
    return {ClaimKind::NonNegative, condition.term};
  case ConditionKind::Positive:
    return {ClaimKind::Positive, condition.term};
  }
  llvm_unreachable("a condition without a claim");
}

llvm::StringRef verify::getName(Law law) {
  static constexpr const char *names[] = {"hypothesis",
                                          "exp-of-sum",
                                          "exp-of-zero",
                                          "exp-positive",
                                          "exp-of-logs",
                                          "log-of-exp",
                                          "log-of-product",
                                          "log-of-inverse",
                                          "maximum-of-exp",
                                          "cancellation",
                                          "unique-inverse",
                                          "inverse-sign",
                                          "zero-product",
                                          "factor-nonzero",
                                          "factor-positive",
                                          "product-sign",
                                          "square",
                                          "power-of-root",
                                          "root-sign",
                                          "unique-root",
                                          "inverse-root",
                                          "negative-power",
                                          "broken-power",
                                          "absolute-value",
                                          "maximum-bound",
                                          "maximum-attained",
                                          "maximum-scale",
                                          "indicator-implies",
                                          "indicator-excludes",
                                          "indicator-case"};
  static_assert(std::size(names) == static_cast<size_t>(Law::IndicatorCase) + 1,
                "every law has a name");
  return names[static_cast<size_t>(law)];
}

//===--- Keeping ----------------------------------------------------------===//

InstanceId LawBook::keep(LawInstance instance) {
  llvm::hash_code hash = llvm::hash_value(static_cast<uint8_t>(instance.law));
  for (const auto *claims : {&instance.premises, &instance.conclusions})
    for (const Claim &claim : *claims)
      hash = llvm::hash_combine(hash, static_cast<uint8_t>(claim.kind),
                                claim.left.bits, claim.right.bits);
  auto [first, last] = numbers.equal_range(hash);
  for (; first != last; ++first) {
    const LawInstance &existing = instances[first->second];
    if (existing.law == instance.law &&
        existing.premises == instance.premises &&
        existing.conclusions == instance.conclusions)
      return first->second;
  }
  auto number = static_cast<InstanceId>(instances.size());
  instances.push_back(std::move(instance));
  numbers.emplace(hash, number);
  return number;
}

Scalar LawBook::times(ArrayRef<Scalar> factors, ArrayRef<Scalar> rest) {
  llvm::SmallVector<Scalar> all(factors);
  all.append(rest.begin(), rest.end());
  return terms.product(all);
}

Scalar LawBook::inverse(Scalar value) {
  return terms.divide(terms.rational(1, 1), value);
}

bool LawBook::isZero(Scalar term) const {
  return terms.getKind(term) == TermKind::Constant &&
         terms.getConstant(term).isZero();
}

static Claim equal(Scalar left, Scalar right) {
  return {ClaimKind::Equal, left, right};
}

//===--- Exponential and logarithm ----------------------------------------===//

InstanceId LawBook::hypothesis(const Claim &claim) {
  return keep({Law::Hypothesis, {}, {claim}});
}

InstanceId LawBook::expOfSum(Scalar left, Scalar right, Scalar sum,
                             ArrayRef<Scalar> rest) {
  // exp(0) is 1, and left out.
  Scalar result = isZero(sum) ? terms.product(rest) : times({exp(sum)}, rest);
  return keep({Law::ExpOfSum,
               {equal(terms.add(left, right), sum)},
               {equal(times({exp(left), exp(right)}, rest), result)}});
}

InstanceId LawBook::expOfZero(Scalar argument) {
  return keep({Law::ExpOfZero,
               {equal(argument, terms.rational(0, 1))},
               {equal(exp(argument), terms.rational(1, 1))}});
}

InstanceId LawBook::expPositive(Scalar argument) {
  return keep({Law::ExpPositive, {}, {{ClaimKind::Positive, exp(argument)}}});
}

InstanceId LawBook::expOfLogs(Scalar argument, ArrayRef<WeightedScalar> powers,
                              Scalar remainder) {
  LawInstance instance{Law::ExpOfLogs, {}, {}};
  llvm::SmallVector<WeightedScalar> summands{{remainder, 1}};
  llvm::SmallVector<Scalar> factors;
  if (!isZero(remainder))
    factors.push_back(exp(remainder));
  for (const WeightedScalar &power : powers) {
    instance.premises.push_back({ClaimKind::Positive, power.value});
    summands.push_back({log(power.value), power.weight});
    bool isInverse = power.weight < 0;
    factors.append(isInverse ? -power.weight : power.weight,
                   isInverse ? inverse(power.value) : power.value);
  }
  instance.premises.push_back(equal(argument, terms.sum(summands)));
  instance.conclusions.push_back(equal(exp(argument), terms.product(factors)));
  return keep(std::move(instance));
}

InstanceId LawBook::logOfExp(Scalar argument) {
  return keep({Law::LogOfExp, {}, {equal(log(exp(argument)), argument)}});
}

InstanceId LawBook::logOfProduct(Scalar value, ArrayRef<Scalar> factors) {
  LawInstance instance{Law::LogOfProduct, {}, {}};
  llvm::SmallVector<WeightedScalar> summands;
  for (Scalar factor : factors) {
    instance.premises.push_back({ClaimKind::Positive, factor});
    summands.push_back({log(factor), 1});
  }
  instance.premises.push_back(equal(terms.product(factors), value));
  instance.conclusions.push_back(equal(log(value), terms.sum(summands)));
  return keep(std::move(instance));
}

InstanceId LawBook::logOfInverse(Scalar value) {
  return keep({Law::LogOfInverse,
               {{ClaimKind::Positive, value}},
               {equal(log(inverse(value)), terms.negate(log(value)))}});
}

InstanceId LawBook::maximumOfExp(ArrayRef<Scalar> arguments) {
  llvm::SmallVector<Scalar> values;
  for (Scalar argument : arguments)
    values.push_back(exp(argument));
  return keep({Law::MaximumOfExp,
               {},
               {equal(terms.maximum(values), exp(terms.maximum(arguments)))}});
}

//===--- Inverses ---------------------------------------------------------===//

InstanceId LawBook::cancellation(Scalar factor, unsigned count,
                                 ArrayRef<Scalar> rest) {
  llvm::SmallVector<Scalar> factors(count, factor);
  factors.append(count, inverse(factor));
  return keep({Law::Cancellation,
               {{ClaimKind::NonZero, factor}},
               {equal(times(factors, rest), terms.product(rest))}});
}

InstanceId LawBook::uniqueInverse(Scalar value, Scalar result) {
  return keep({Law::UniqueInverse,
               {{ClaimKind::NonZero, value},
                equal(terms.product({result, value}), terms.rational(1, 1))},
               {equal(inverse(value), result)}});
}

InstanceId LawBook::inverseSign(Scalar value, ClaimKind kind) {
  if (kind != ClaimKind::Positive)
    kind = ClaimKind::NonZero;
  return keep({Law::InverseSign, {{kind, value}}, {{kind, inverse(value)}}});
}

InstanceId LawBook::zeroProduct(Scalar factor, Scalar value) {
  Scalar zero = terms.rational(0, 1);
  return keep({Law::ZeroProduct,
               {{ClaimKind::NonZero, factor},
                equal(terms.product({factor, value}), zero)},
               {equal(value, zero)}});
}

//===--- Signs ------------------------------------------------------------===//

InstanceId LawBook::factorNonZero(ArrayRef<Scalar> factors, unsigned which) {
  return keep({Law::FactorNonZero,
               {{ClaimKind::NonZero, terms.product(factors)}},
               {{ClaimKind::NonZero, factors[which]}}});
}

InstanceId LawBook::factorPositive(Scalar positive, Scalar other,
                                   ClaimKind kind) {
  if (kind != ClaimKind::NonNegative)
    kind = ClaimKind::Positive;
  return keep({Law::FactorPositive,
               {{ClaimKind::Positive, positive},
                {kind, terms.product({positive, other})}},
               {{kind, other}}});
}

InstanceId LawBook::productSign(ArrayRef<Scalar> factors, ClaimKind kind) {
  if (kind == ClaimKind::Equal)
    llvm::report_fatal_error("a product with the sign 'equal'");
  LawInstance instance{Law::ProductSign, {}, {{kind, terms.product(factors)}}};
  for (Scalar factor : factors)
    instance.premises.push_back({kind, factor});
  return keep(std::move(instance));
}

InstanceId LawBook::square(Scalar value) {
  return keep({Law::Square,
               {},
               {{ClaimKind::NonNegative, terms.product({value, value})}}});
}

//===--- Roots and powers -------------------------------------------------===//

Scalar LawBook::root(Scalar value, int64_t degree) {
  if (degree < 2)
    llvm::report_fatal_error("a root of degree less than 2");
  return degree == 2 ? terms.apply(Function::Sqrt, value)
                     : terms.power(value, 1, degree);
}

InstanceId LawBook::powerOfRoot(Scalar value, int64_t degree,
                                ArrayRef<Scalar> rest) {
  llvm::SmallVector<Scalar> roots(degree, root(value, degree));
  return keep({Law::PowerOfRoot,
               {{ClaimKind::NonNegative, value}},
               {equal(times(roots, rest), times({value}, rest))}});
}

InstanceId LawBook::rootSign(Scalar value, int64_t degree, ClaimKind kind) {
  if (kind != ClaimKind::Positive)
    kind = ClaimKind::NonNegative;
  return keep({Law::RootSign, {{kind, value}}, {{kind, root(value, degree)}}});
}

InstanceId LawBook::uniqueRoot(Scalar value, int64_t degree, Scalar result) {
  llvm::SmallVector<Scalar> factors(degree, result);
  return keep(
      {Law::UniqueRoot,
       {{ClaimKind::NonNegative, result}, equal(terms.product(factors), value)},
       {equal(root(value, degree), result)}});
}

InstanceId LawBook::inverseRoot(Scalar value) {
  return keep({Law::InverseRoot,
               {{ClaimKind::Positive, value}},
               {equal(terms.apply(Function::Rsqrt, value),
                      inverse(terms.apply(Function::Sqrt, value)))}});
}

InstanceId LawBook::negativePower(Scalar value, int64_t count) {
  if (count < 1)
    llvm::report_fatal_error("a negative power that is not negative");
  llvm::SmallVector<Scalar> factors(count, inverse(value));
  return keep({Law::NegativePower,
               {{ClaimKind::NonZero, value}},
               {equal(terms.power(value, -count, 1), terms.product(factors))}});
}

InstanceId LawBook::brokenPower(Scalar value, int64_t numerator,
                                int64_t denominator) {
  if (denominator < 2 || numerator == 0)
    llvm::report_fatal_error("a broken power with an integer exponent");
  Scalar base = root(value, denominator);
  bool isInverse = numerator < 0;
  llvm::SmallVector<Scalar> factors(isInverse ? -numerator : numerator,
                                    isInverse ? inverse(base) : base);
  ClaimKind kind = isInverse ? ClaimKind::Positive : ClaimKind::NonNegative;
  return keep({Law::BrokenPower,
               {{kind, value}},
               {equal(terms.power(value, numerator, denominator),
                      terms.product(factors))}});
}

InstanceId LawBook::absoluteSquare(Scalar value, ArrayRef<Scalar> rest) {
  Scalar absolute = terms.apply(Function::Abs, value);
  return keep({Law::AbsoluteValue,
               {},
               {equal(times({absolute, absolute}, rest),
                      times({value, value}, rest))}});
}

InstanceId LawBook::absoluteSign(Scalar value, ArrayRef<Scalar> rest) {
  Scalar absolute = terms.apply(Function::Abs, value);
  Scalar sign = terms.apply(Function::Sign, value);
  return keep({Law::AbsoluteValue,
               {},
               {equal(times({absolute, sign}, rest), times({value}, rest))}});
}

//===--- Maxima -----------------------------------------------------------===//

/// The values of a maximum of real terms.
static ArrayRef<Scalar> getValues(const TermAlgebra &terms, Scalar maximum) {
  if (terms.getKind(maximum) != TermKind::Maximum ||
      terms.getSort(maximum) != ScalarSort::Real)
    llvm::report_fatal_error("a law of maxima for another term");
  return terms.getOperands(maximum);
}

InstanceId LawBook::maximumBound(Scalar maximum, unsigned which) {
  Scalar value = getValues(terms, maximum)[which];
  return keep({Law::MaximumBound,
               {},
               {{ClaimKind::NonNegative, terms.subtract(maximum, value)}}});
}

InstanceId LawBook::maximumAttained(Scalar maximum) {
  LawInstance instance{Law::MaximumAttained, {}, {}};
  for (Scalar value : getValues(terms, maximum))
    instance.conclusions.push_back(equal(maximum, value));
  return keep(std::move(instance));
}

InstanceId LawBook::maximumScale(Scalar factor, ArrayRef<Scalar> scaled,
                                 ArrayRef<Scalar> values) {
  LawInstance instance{Law::MaximumScale, {}, {}};
  instance.premises.push_back({ClaimKind::NonNegative, factor});
  if (scaled.size() != values.size())
    llvm::report_fatal_error("maxima of different numbers of values");
  for (auto [product, value] : llvm::zip(scaled, values))
    instance.premises.push_back(equal(product, terms.product({factor, value})));
  instance.conclusions.push_back(equal(
      terms.maximum(scaled), terms.product({factor, terms.maximum(values)})));
  return keep(std::move(instance));
}

//===--- Indicators -------------------------------------------------------===//

/// Only the conversion of a boolean is known to be 0 or 1.
static void requireIndicator(const TermAlgebra &terms, Scalar term) {
  if (terms.getKind(term) != TermKind::ToReal ||
      terms.getSort(terms.getOperands(term)[0]) != ScalarSort::Boolean)
    llvm::report_fatal_error("an indicator that is not made of a boolean");
}

InstanceId LawBook::indicatorImplies(Scalar first, Scalar second,
                                     ArrayRef<Scalar> rest) {
  requireIndicator(terms, first);
  requireIndicator(terms, second);
  return keep({Law::IndicatorImplies,
               {{ClaimKind::NonNegative, terms.subtract(second, first)}},
               {equal(times({first, second}, rest), times({first}, rest))}});
}

InstanceId LawBook::indicatorExcludes(Scalar first, Scalar second,
                                      ArrayRef<Scalar> rest) {
  requireIndicator(terms, first);
  requireIndicator(terms, second);
  Scalar slack =
      terms.sum({{terms.rational(1, 1), 1}, {first, -1}, {second, -1}});
  return keep({Law::IndicatorExcludes,
               {{ClaimKind::NonNegative, slack}},
               {equal(times({first, second}, rest), terms.rational(0, 1))}});
}

InstanceId LawBook::indicatorCase(Scalar indicator, bool value,
                                  ArrayRef<Scalar> rest) {
  return keep({Law::IndicatorCase,
               {equal(indicator, terms.rational(value, 1))},
               {equal(times({indicator}, rest),
                      value ? terms.product(rest) : terms.rational(0, 1))}});
}
