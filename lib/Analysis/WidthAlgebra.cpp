//===- WidthAlgebra.cpp - how many indices a product mentions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidthAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace verify;

int64_t verify::addWidths(int64_t left, int64_t right) {
  return std::min(left + right, Width::unbounded);
}

/// `width * numerator / denominator`, rounded up.
static int64_t scale(int64_t width, int64_t numerator, int64_t denominator) {
  int64_t product;
  if (llvm::MulOverflow(width, numerator, product))
    return width == 0 ? 0 : Width::unbounded;
  return std::min<int64_t>(llvm::divideCeilSigned(product, denominator),
                           Width::unbounded);
}

int64_t Width::getDenominator() const {
  int64_t total = 0;
  for (const auto &[key, width] : divisors)
    total = addWidths(total, width);
  return total;
}

int64_t Width::getWhole() const {
  return addWidths(numerator, getDenominator());
}

void Width::addDivisors(const Width &other, bool isProduct) {
  for (const auto &entry : other.divisors) {
    auto *place =
        llvm::lower_bound(divisors, entry, [](const auto &a, const auto &b) {
          return a.first < b.first;
        });
    if (place == divisors.end() || place->first != entry.first)
      divisors.insert(place, entry);
    else
      place->second = isProduct ? addWidths(place->second, entry.second)
                                : std::max(place->second, entry.second);
  }
}

/// More than any sum of logarithms: no law is known to undo them.
static int64_t spoil(int64_t logarithms) {
  return logarithms == 0 ? 0 : Width::unbounded;
}

void Width::addSums(int64_t ofSort, int64_t ofAny) {
  if (ofAny == 0)
    return;
  numerator = addWidths(numerator, 2 * ofSort);
  if (exponents)
    exponents = addWidths(exponents, 2 * ofSort);
  logarithms = spoil(logarithms);
  // One term at most is not 0 where data name it.
  bool isChoice = isExclusive && ofSort == 1 && ofAny == 1;
  countsSteps |= isDiscrete && ofSort > 0 && !isChoice;
  isExclusive = false;
}

/// What holds of every combination of two scalars.
static Width combine(const Width &left, const Width &right, bool isProduct) {
  Width result = left;
  result.addDivisors(right, isProduct);
  result.exponents = std::max(left.exponents, right.exponents);
  result.isDiscrete |= right.isDiscrete;
  result.countsSteps |= right.countsSteps;
  result.isExclusive = false;
  return result;
}

WidthAlgebra::WidthAlgebra(const void *op) : op(op) {}

Scalar WidthAlgebra::of(Width width) { return operand(std::move(width), {}); }

Scalar WidthAlgebra::operand(Width width, const void *key) {
  widths.push_back(std::move(width));
  keys.push_back(key);
  isZero.push_back(false);
  isPosition.push_back(false);
  isUniquePosition.push_back(false);
  return {widths.size() - 1};
}

Scalar WidthAlgebra::position(bool isUnique) {
  Scalar result = of({});
  isPosition[result.bits] = true;
  isUniquePosition[result.bits] = isUnique;
  return result;
}

Width::DivisorKey WidthAlgebra::getKey(Scalar scalar) {
  if (const void *key = keys[scalar.bits])
    return {key, 0};
  return {op, ++divisions};
}

void WidthAlgebra::addArguments(llvm::ArrayRef<Scalar> values) {
  for (Scalar value : values) {
    const Width &width = get(value);
    arguments.exist = true;
    arguments.numerator = std::max(arguments.numerator, width.numerator);
    arguments.denominator =
        std::max(arguments.denominator, width.getDenominator());
    arguments.countSteps |= width.countsSteps;
  }
}

//===--- Numbers ----------------------------------------------------------===//

Scalar WidthAlgebra::rational(int64_t numerator, int64_t) {
  Scalar result = of({});
  isZero[result.bits] = numerator == 0;
  return result;
}

Scalar WidthAlgebra::literal(double, FloatFormat) { return of({}); }
Scalar WidthAlgebra::integer(int64_t value) { return rational(value, 1); }
Scalar WidthAlgebra::boolean(bool) { return of({}); }
Scalar WidthAlgebra::minusInfinity() { return of({}); }

//===--- Arithmetic -------------------------------------------------------===//

Scalar WidthAlgebra::add(Scalar left, Scalar right) {
  const Width &a = get(left), &b = get(right);
  Width result = combine(a, b, /*isProduct=*/false);
  result.numerator = std::max(a.numerator, b.numerator);
  result.logarithms = addWidths(a.logarithms, b.logarithms);
  return of(result);
}

Scalar WidthAlgebra::subtract(Scalar left, Scalar right) {
  return add(left, right);
}

Scalar WidthAlgebra::multiply(Scalar left, Scalar right) {
  const Width &a = get(left), &b = get(right);
  Width result = combine(a, b, /*isProduct=*/true);
  result.numerator = addWidths(a.numerator, b.numerator);
  result.logarithms = spoil(addWidths(a.logarithms, b.logarithms));
  result.isExclusive = a.isExclusive || b.isExclusive;
  return of(result);
}

Scalar WidthAlgebra::divide(Scalar left, Scalar right) {
  return multiply(left, power(right, -1, 1));
}

Scalar WidthAlgebra::negate(Scalar value) { return of(get(value)); }

Scalar WidthAlgebra::sum(llvm::ArrayRef<WeightedScalar> terms) {
  Scalar result = of({});
  for (const WeightedScalar &term : terms) {
    Width width = get(term.value);
    if (term.weight != 1)
      width.logarithms = spoil(width.logarithms);
    result = add(result, of(width));
  }
  return result;
}

Scalar WidthAlgebra::power(Scalar base, int64_t numerator,
                           int64_t denominator) {
  if (denominator != 1)
    addArguments(base);
  const Width of = get(base);
  uint64_t magnitude = numerator < 0 ? -static_cast<uint64_t>(numerator)
                                     : static_cast<uint64_t>(numerator);
  auto exponent = static_cast<int64_t>(
      std::min<uint64_t>(magnitude, static_cast<uint64_t>(Width::unbounded)));
  Width result = of;
  result.isExclusive = false;
  if (numerator != 1 || denominator != 1)
    result.logarithms = spoil(of.logarithms);
  if (numerator >= 0) {
    result.numerator = scale(of.numerator, exponent, denominator);
    for (auto &[key, width] : result.divisors)
      width = scale(width, exponent, denominator);
    return this->of(result);
  }
  if (of.countsSteps)
    addArguments(base);
  // The inverse of a fraction is one.
  result.numerator = scale(of.getDenominator(), exponent, denominator);
  result.divisors.clear();
  // One more index than it mentions, for the divisors at other indices.
  if (int64_t whole = scale(of.getWhole(), exponent, denominator))
    result.divisors.push_back({getKey(base), addWidths(whole, 2)});
  return this->of(result);
}

//===--- Functions --------------------------------------------------------===//

Scalar WidthAlgebra::apply(Function function, Scalar value) {
  const Width argument = get(value);
  addArguments(value);
  Width result;
  result.isDiscrete = argument.isDiscrete || function == Function::Sign;
  result.countsSteps = argument.countsSteps;
  result.exponents = argument.exponents;
  switch (function) {
  case Function::Sqrt:
  case Function::Rsqrt:
    return power(value, function == Function::Sqrt ? 1 : -1, 2);
  case Function::Abs:
    result.numerator = argument.numerator;
    result.divisors = argument.divisors;
    break;
  case Function::Exp:
    // Logarithms may be subtracted.
    result.numerator = argument.logarithms;
    if (argument.logarithms)
      result.divisors.push_back({getKey(value), argument.logarithms});
    result.exponents = std::max(argument.exponents, argument.getWhole());
    break;
  case Function::Log:
    result.numerator = argument.exponents;
    result.logarithms = argument.getWhole();
    break;
  case Function::Sin:
  case Function::Cos:
  case Function::Tanh:
  case Function::Erf:
  case Function::ErfDerivative:
  case Function::Sign:
    // No law undoes them.
    break;
  }
  return of(result);
}

Scalar WidthAlgebra::maximum(llvm::ArrayRef<Scalar> values) {
  addArguments(values);
  Scalar result = values[0];
  for (Scalar value : values.drop_front())
    result = add(result, value);
  Width width = get(result);
  width.logarithms = spoil(width.logarithms);
  width.isExclusive = false;
  return of(width);
}

Scalar WidthAlgebra::compare(Comparison comparison, Scalar left, Scalar right) {
  addArguments({left, right});
  // Data that a position is compared with name one more.
  if (isPosition[left.bits] || isPosition[right.bits])
    arguments.numerator = std::max(
        arguments.numerator,
        addWidths(std::max(get(left).numerator, get(right).numerator), 2));
  Width result;
  result.isDiscrete = true;
  result.countsSteps = get(left).countsSteps || get(right).countsSteps;
  result.isExclusive =
      comparison == Comparison::Equal &&
      (isUniquePosition[left.bits] || isUniquePosition[right.bits]);
  return of(result);
}

Scalar WidthAlgebra::select(Scalar condition, Scalar ifTrue, Scalar ifFalse) {
  bool isExclusive = get(condition).isExclusive && isZero[ifFalse.bits];
  Width chosen = get(add(ifTrue, ifFalse));
  chosen.logarithms = spoil(chosen.logarithms);
  chosen.isDiscrete = true;
  Width result = get(multiply(condition, of(chosen)));
  result.isExclusive = isExclusive;
  return of(result);
}

Scalar WidthAlgebra::uninterpreted(llvm::StringRef,
                                   llvm::ArrayRef<Scalar> values, ScalarSort) {
  addArguments(values);
  Width result;
  for (Scalar value : values) {
    result.isDiscrete |= get(value).isDiscrete;
    result.countsSteps |= get(value).countsSteps;
  }
  return of(result);
}

Scalar WidthAlgebra::toReal(Scalar value) {
  Width result = get(value);
  result.isDiscrete = true;
  return of(result);
}
