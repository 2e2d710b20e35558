//===- IntervalAlgebra.cpp - scalars as outward-rounded intervals ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic by MPFI, which rounds outward; functions it lacks by directed
// rounding of MPFR's, which are correctly rounded, at the ends of the interval.
//
//===----------------------------------------------------------------------===//

#include "MPFRCaches.h"
#include "Verify/Scalar/NumericAlgebras.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mpfi.h>

#include <algorithm>

using namespace verify;
using llvm::ArrayRef;

struct IntervalAlgebra::Interval {
  mpfi_t value;
  /// The same for intervals of one number, as of what is chosen and what it is
  /// chosen from.
  uint64_t origin = 0;
  explicit Interval(unsigned precision) {
    freeMPFRCachesWithThread();
    mpfi_init2(value, precision);
  }
  Interval(const Interval &) = delete;
  Interval &operator=(const Interval &) = delete;
  ~Interval() { mpfi_clear(value); }

  mpfr_ptr lower() { return &value->left; }
  mpfr_ptr upper() { return &value->right; }
};

//===--- Storage ----------------------------------------------------------===//

IntervalAlgebra::IntervalAlgebra(unsigned precision)
    : bits(std::max(precision, 64U)) {}

IntervalAlgebra::~IntervalAlgebra() = default;

void IntervalAlgebra::reset() {
  NumericAlgebra::reset();
  hasJoined = false;
  used = 0;
  released.clear();
}

Scalar IntervalAlgebra::keep(Scalar value, size_t mark) {
  bool isNew = value.bits >= mark;
  size_t place = mark;
  if (!released.empty()) {
    place = released.back();
    released.pop_back();
  }
  if (isNew) {
    std::swap(intervals[place], intervals[value.bits]);
    used = std::max(place + 1, mark);
    return {place};
  }
  used = mark;
  Scalar result = {place};
  if (place == mark)
    result = allocate();
  mpfi_set(get(result).value, get(value).value);
  get(result).origin = get(value).origin;
  return result;
}

Scalar IntervalAlgebra::allocate() {
  if (used == intervals.size())
    intervals.push_back(std::make_unique<Interval>(bits));
  intervals[used]->origin = ++lastOrigin;
  return {used++};
}

bool IntervalAlgebra::isSame(Scalar left, Scalar right) const {
  return left == right || (get(left).origin == get(right).origin && !hasJoined);
}

IntervalAlgebra::Interval &IntervalAlgebra::get(Scalar value) const {
  return *intervals[value.bits];
}

Scalar IntervalAlgebra::checked(Scalar value) {
  return mpfi_nan_p(get(value).value) ? wholeLine() : value;
}

std::optional<Scalar> IntervalAlgebra::join(Scalar left, Scalar right) {
  Interval &a = get(left), &b = get(right);
  if (mpfr_equal_p(a.lower(), b.lower()) &&
      mpfr_equal_p(a.upper(), b.upper())) {
    hasJoined |= !isPoint(left);
    return left;
  }
  if (!mpfi_bounded_p(a.value) || !mpfi_bounded_p(b.value))
    return std::nullopt;
  // Not much wider than they are, or than rounding makes them.
  Interval both(bits), first(bits), second(bits);
  mpfi_union(both.value, a.value, b.value);
  mpfi_diam_abs(first.lower(), a.value);
  mpfi_diam_abs(first.upper(), b.value);
  mpfr_min(first.lower(), first.lower(), first.upper(), MPFR_RNDD);
  mpfr_mul_ui(first.lower(), first.lower(), 3, MPFR_RNDD);
  mpfi_mig(second.lower(), both.value);
  mpfr_div_2ui(second.lower(), second.lower(), bits - 13, MPFR_RNDD);
  mpfi_diam_abs(second.upper(), both.value);
  if (mpfr_greater_p(second.upper(), first.lower()) &&
      mpfr_greater_p(second.upper(), second.lower()))
    return std::nullopt;
  hasJoined = true;
  Scalar result = allocate();
  mpfi_set(get(result).value, both.value);
  return result;
}

Scalar IntervalAlgebra::constant(const Rational &value) {
  Scalar result = allocate();
  mpq_t exact;
  mpq_init(exact);
  value.copyTo(exact);
  mpfi_set_q(get(result).value, exact);
  mpq_clear(exact);
  return result;
}

Scalar IntervalAlgebra::minusInfinity() {
  Scalar result = allocate();
  mpfr_set_inf(get(result).lower(), -1);
  mpfr_set_inf(get(result).upper(), -1);
  return result;
}

Scalar IntervalAlgebra::wholeLine() {
  Scalar result = allocate();
  mpfr_set_inf(get(result).lower(), -1);
  mpfr_set_inf(get(result).upper(), 1);
  return result;
}

//===--- Observation ------------------------------------------------------===//

bool IntervalAlgebra::isLess(Scalar left, Scalar right) const {
  return mpfr_less_p(get(left).upper(), get(right).lower());
}

bool IntervalAlgebra::isLessOrEqual(Scalar left, Scalar right) const {
  return mpfr_lessequal_p(get(left).upper(), get(right).lower());
}

bool IntervalAlgebra::isEqual(Scalar left, Scalar right) const {
  return isSame(left, right) ||
         (isPoint(left) && isPoint(right) &&
          mpfr_equal_p(get(left).lower(), get(right).lower()));
}

bool IntervalAlgebra::isPoint(Scalar value) const {
  return mpfr_equal_p(get(value).lower(), get(value).upper());
}

double IntervalAlgebra::getLower(Scalar value) const {
  return mpfr_get_d(get(value).lower(), MPFR_RNDD);
}

double IntervalAlgebra::getUpper(Scalar value) const {
  return mpfr_get_d(get(value).upper(), MPFR_RNDU);
}

double IntervalAlgebra::toDouble(Scalar value) const {
  return mpfi_get_d(get(value).value);
}

std::string IntervalAlgebra::toString(Scalar value) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[' << getLower(value) << ", " << getUpper(value) << ']';
  return text;
}

//===--- Conditions -------------------------------------------------------===//

bool IntervalAlgebra::requirePositive(Scalar value, bool allowsZero) {
  int lower = mpfr_sgn(get(value).lower());
  int upper = mpfr_sgn(get(value).upper());
  if (lower > 0 || (allowsZero && lower == 0))
    return true;
  if (upper < 0 || (!allowsZero && upper == 0))
    state.isUndefined = true;
  else
    state.isUndecided = true;
  return false;
}

bool IntervalAlgebra::requireNonZero(Scalar value) {
  if (!mpfi_has_zero(get(value).value))
    return true;
  if (isPoint(value))
    state.isUndefined = true;
  else
    state.isUndecided = true;
  return false;
}

Scalar IntervalAlgebra::truth(bool isSurelyTrue, bool isSurelyFalse) {
  Scalar result = allocate();
  if (!isSurelyTrue && !isSurelyFalse)
    state.isUndecided = true;
  mpfi_interv_si(get(result).value, isSurelyTrue, !isSurelyFalse);
  return result;
}

//===--- Arithmetic -------------------------------------------------------===//

Scalar IntervalAlgebra::add(Scalar left, Scalar right) {
  Scalar result = allocate();
  mpfi_add(get(result).value, get(left).value, get(right).value);
  return checked(result);
}

Scalar IntervalAlgebra::multiply(Scalar left, Scalar right) {
  // What a mask chooses.
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)})
    if (isPoint(one) && mpfr_cmp_si(get(one).lower(), 1) == 0)
      return other;
  Scalar result = allocate();
  if (isSame(left, right))
    mpfi_sqr(get(result).value, get(left).value);
  else
    mpfi_mul(get(result).value, get(left).value, get(right).value);
  return checked(result);
}

Scalar IntervalAlgebra::divide(Scalar left, Scalar right) {
  if (!requireNonZero(right))
    return wholeLine();
  Scalar result = allocate();
  mpfi_div(get(result).value, get(left).value, get(right).value);
  return checked(result);
}

Scalar IntervalAlgebra::negate(Scalar value) {
  Scalar result = allocate();
  mpfi_neg(get(result).value, get(value).value);
  return checked(result);
}

Scalar IntervalAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  Scalar result = allocate();
  Scalar product = allocate();
  mpfi_set_si(get(result).value, 0);
  std::optional<WeightedScalar> single;
  bool hasSeveral = false;
  for (const WeightedScalar &term : terms) {
    if (term.weight == 0 || mpfi_is_zero(get(term.value).value))
      continue;
    hasSeveral = single.has_value();
    single = term;
    Scalar part = term.value;
    if (term.weight != 1) {
      mpfi_mul_si(get(product).value, get(term.value).value, term.weight);
      part = product;
    }
    mpfi_add(get(result).value, get(result).value, get(part).value);
  }
  // What a mask leaves.
  if (single && !hasSeveral && single->weight == 1)
    return single->value;
  return checked(result);
}

Scalar IntervalAlgebra::power(Scalar base, int64_t numerator,
                              int64_t denominator) {
  Rational exponent(numerator, denominator);
  std::optional<int64_t> top = exponent.getNumerator().getInteger();
  std::optional<int64_t> bottom = exponent.getDenominator().getInteger();
  if (!top || !bottom || *bottom > UINT32_MAX)
    return wholeLine();
  Scalar value = base;
  if (*bottom != 1) {
    if (!requirePositive(base, *top > 0))
      return wholeLine();
    value = allocate();
    Interval &from = get(base), &to = get(value);
    auto degree = static_cast<unsigned long>(*bottom);
    mpfr_rootn_ui(to.lower(), from.lower(), degree, MPFR_RNDD);
    mpfr_rootn_ui(to.upper(), from.upper(), degree, MPFR_RNDU);
  } else if (*top < 0 && !requireNonZero(base)) {
    return wholeLine();
  }
  // Square and multiply; squares of intervals are not negative.
  Scalar result = constant(1);
  Scalar square = value;
  for (uint64_t rest = static_cast<uint64_t>(*top < 0 ? -*top : *top);
       rest != 0; rest >>= 1) {
    if (rest & 1)
      result = multiply(result, square);
    if (rest > 1)
      square = multiply(square, square);
  }
  return *top < 0 ? divide(constant(1), result) : result;
}

//===--- Functions --------------------------------------------------------===//

Scalar IntervalAlgebra::apply(Function function, Scalar argument) {
  bool needsSign = function == Function::Log || function == Function::Sqrt ||
                   function == Function::Rsqrt;
  if (needsSign && !requirePositive(argument, function == Function::Sqrt))
    return wholeLine();
  Scalar result = allocate();
  Interval &to = get(result), &from = get(argument);
  switch (function) {
  case Function::Exp:
    mpfi_exp(to.value, from.value);
    return checked(result);
  case Function::Log:
    mpfi_log(to.value, from.value);
    return checked(result);
  case Function::Sqrt:
    mpfi_sqrt(to.value, from.value);
    return checked(result);
  case Function::Rsqrt:
    // Decreasing.
    mpfr_rec_sqrt(to.lower(), from.upper(), MPFR_RNDD);
    mpfr_rec_sqrt(to.upper(), from.lower(), MPFR_RNDU);
    return checked(result);
  case Function::Sin:
    mpfi_sin(to.value, from.value);
    return checked(result);
  case Function::Cos:
    mpfi_cos(to.value, from.value);
    return checked(result);
  case Function::Tanh:
    mpfr_tanh(to.lower(), from.lower(), MPFR_RNDD);
    mpfr_tanh(to.upper(), from.upper(), MPFR_RNDU);
    return checked(result);
  case Function::Erf:
    mpfr_erf(to.lower(), from.lower(), MPFR_RNDD);
    mpfr_erf(to.upper(), from.upper(), MPFR_RNDU);
    return checked(result);
  case Function::ErfDerivative: {
    Scalar square = power(argument, 2);
    Scalar decay = apply(Function::Exp, negate(square));
    Scalar pi = allocate();
    mpfi_const_pi(get(pi).value);
    return divide(multiply(rational(2), decay), apply(Function::Sqrt, pi));
  }
  case Function::Abs:
    mpfi_abs(to.value, from.value);
    return checked(result);
  case Function::Sign: {
    int lower = mpfr_sgn(from.lower()), upper = mpfr_sgn(from.upper());
    if (lower != upper)
      state.isUndecided = true;
    mpfi_interv_si(to.value, (lower > 0) - (lower < 0),
                   (upper > 0) - (upper < 0));
    return checked(result);
  }
  }
  llvm_unreachable("a function without a value");
}

//===--- Choice -----------------------------------------------------------===//

Scalar IntervalAlgebra::maximum(ArrayRef<Scalar> candidates) {
  Scalar result = candidates[0];
  for (Scalar operand : candidates.drop_front()) {
    if (operand == result || isLessOrEqual(operand, result))
      continue;
    if (isLessOrEqual(result, operand)) {
      result = operand;
      continue;
    }
    Scalar greater = allocate();
    Interval &to = get(greater), &left = get(result), &right = get(operand);
    mpfr_max(to.lower(), left.lower(), right.lower(), MPFR_RNDD);
    mpfr_max(to.upper(), left.upper(), right.upper(), MPFR_RNDU);
    result = greater;
  }
  return result;
}

Scalar EnclosingAlgebra::compare(Comparison comparison, Scalar left,
                                 Scalar right) {
  switch (comparison) {
  case Comparison::Equal:
    return truth(isEqual(left, right), areDisjoint(left, right));
  case Comparison::NotEqual:
    return truth(areDisjoint(left, right), isEqual(left, right));
  case Comparison::Less:
    return truth(isLess(left, right),
                 isEqual(left, right) || isLessOrEqual(right, left));
  case Comparison::LessEqual:
    return truth(isEqual(left, right) || isLessOrEqual(left, right),
                 isLess(right, left));
  }
  llvm_unreachable("a comparison without a value");
}

Scalar IntervalAlgebra::select(Scalar condition, Scalar ifTrue,
                               Scalar ifFalse) {
  if (isPoint(condition))
    return mpfi_is_zero(get(condition).value) ? ifFalse : ifTrue;
  state.isUndecided = true;
  Scalar result = allocate();
  mpfi_union(get(result).value, get(ifTrue).value, get(ifFalse).value);
  return result;
}

Scalar IntervalAlgebra::uninterpreted(llvm::StringRef, ArrayRef<Scalar>,
                                      ScalarSort sort) {
  state.usesUninterpreted = true;
  if (sort != ScalarSort::Boolean)
    return wholeLine();
  Scalar result = allocate();
  mpfi_interv_si(get(result).value, 0, 1);
  return result;
}
