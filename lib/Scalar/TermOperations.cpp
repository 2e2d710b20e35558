//===- TermOperations.cpp - the operations of the term algebra ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creation of terms. The sorts of all operands are checked here: what has no
// meaning (the product of a scalar that may be minus infinity, the quotient of
// integers) sets the error of the algebra, after which nothing is proved.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Terms.h"

#include "llvm/ADT/Twine.h"

#include <cmath>
#include <numeric>

using namespace verify;
using llvm::ArrayRef;

//===--- Sorts ------------------------------------------------------------===//

std::optional<ScalarSort> TermAlgebra::join(ScalarSort left, ScalarSort right) {
  if (left == right)
    return left;
  auto isReal = [](ScalarSort sort) {
    return sort == ScalarSort::Real || sort == ScalarSort::Extended;
  };
  if (isReal(left) && isReal(right))
    return ScalarSort::Extended;
  return std::nullopt;
}

bool TermAlgebra::isNumber(Scalar term) const {
  return getSort(term) == ScalarSort::Real ||
         getSort(term) == ScalarSort::Integer;
}

Scalar TermAlgebra::fail(std::string message, ScalarSort sort) {
  if (!firstError)
    firstError = std::move(message);
  switch (sort) {
  case ScalarSort::Real:
    return constant(Rational());
  case ScalarSort::Integer:
    return integer(0);
  case ScalarSort::Extended:
    return minusInfinity();
  case ScalarSort::Boolean:
    return boolean(false);
  }
  return {};
}

static std::string describe(llvm::StringRef operation, ScalarSort sort) {
  llvm::StringRef name = getName(sort);
  const char *article =
      name.starts_with("e") || name.starts_with("i") ? " of an " : " of a ";
  return (llvm::Twine(operation) + article + name + " scalar").str();
}

static std::string describe(llvm::StringRef operation, ScalarSort left,
                            ScalarSort right) {
  return (llvm::Twine(operation) + " of " + getName(left) + " and " +
          getName(right) + " scalars")
      .str();
}

//===--- Leaves -----------------------------------------------------------===//

Scalar TermAlgebra::atom(uint32_t tensor, ArrayRef<int64_t> index,
                         ScalarSort sort) {
  return intern(TermKind::Atom, sort, tensor, {}, index);
}

Scalar TermAlgebra::constant(const Rational &value) {
  auto [place, isNew] = constantNumbers.try_emplace(
      value, static_cast<uint32_t>(constants.size()));
  if (isNew)
    constants.push_back(value);
  return intern(TermKind::Constant, ScalarSort::Real, place->second, {});
}

Scalar TermAlgebra::rational(int64_t numerator, int64_t denominator) {
  return constant(Rational(numerator, denominator));
}

Scalar TermAlgebra::literal(double value, FloatFormat format) {
  if (std::isfinite(value))
    return constant(simplestRational(value, format));
  if (std::isinf(value) && value < 0)
    return minusInfinity();
  return fail("a literal that is not a number or plus infinity",
              ScalarSort::Real);
}

Scalar TermAlgebra::integer(int64_t value) {
  return intern(TermKind::Integer, ScalarSort::Integer,
                static_cast<uint64_t>(value), {});
}

Scalar TermAlgebra::boolean(bool value) {
  return intern(TermKind::Boolean, ScalarSort::Boolean, value, {});
}

Scalar TermAlgebra::minusInfinity() {
  return intern(TermKind::MinusInfinity, ScalarSort::Extended, 0, {});
}

//===--- Sums -------------------------------------------------------------===//

Scalar TermAlgebra::add(Scalar left, Scalar right) {
  return sum({{left, 1}, {right, 1}});
}

Scalar TermAlgebra::subtract(Scalar left, Scalar right) {
  return sum({{left, 1}, {right, -1}});
}

Scalar TermAlgebra::negate(Scalar value) { return sum({{value, -1}}); }

Scalar TermAlgebra::sum(ArrayRef<WeightedScalar> terms) {
  if (terms.empty())
    return constant(Rational());
  llvm::SmallVector<Scalar> operands;
  llvm::SmallVector<int64_t> weights;
  ScalarSort sort = getSort(terms[0].value);
  for (const WeightedScalar &term : terms) {
    ScalarSort operandSort = getSort(term.value);
    std::optional<ScalarSort> joined = join(sort, operandSort);
    if (!joined)
      return fail(describe("sum", sort, operandSort), ScalarSort::Real);
    if (operandSort == ScalarSort::Boolean)
      return fail(describe("sum", operandSort), ScalarSort::Real);
    if (operandSort == ScalarSort::Extended && term.weight < 0)
      return fail(describe("negation", operandSort), ScalarSort::Extended);
    sort = *joined;
    operands.push_back(term.value);
    weights.push_back(term.weight);
  }
  if (operands.size() == 1 && weights[0] == 1)
    return operands[0];
  if (std::optional<int64_t> value = addIntegers(operands, weights))
    return integer(*value);
  return intern(TermKind::Sum, sort, 0, operands, weights);
}

/// Nothing where one is not known, or the sum is too large.
std::optional<int64_t>
TermAlgebra::addIntegers(ArrayRef<Scalar> operands,
                         ArrayRef<int64_t> weights) const {
  int64_t result = 0;
  for (auto [operand, weight] : llvm::zip_equal(operands, weights)) {
    if (getKind(operand) != TermKind::Integer)
      return std::nullopt;
    auto value = static_cast<int64_t>(node(operand).payload);
    if (llvm::MulOverflow(value, weight, value) ||
        llvm::AddOverflow(result, value, result))
      return std::nullopt;
  }
  return result;
}

//===--- Products, quotients, powers --------------------------------------===//

Scalar TermAlgebra::multiply(Scalar left, Scalar right) {
  return product({left, right});
}

Scalar TermAlgebra::product(ArrayRef<Scalar> factors) {
  if (factors.empty())
    return constant(Rational(1));
  ScalarSort sort = getSort(factors[0]);
  for (Scalar factor : factors) {
    if (!isNumber(factor))
      return fail(describe("multiply", getSort(factor)), ScalarSort::Real);
    if (getSort(factor) != sort)
      return fail(describe("multiply", sort, getSort(factor)),
                  ScalarSort::Real);
  }
  if (factors.size() == 1)
    return factors[0];
  return intern(TermKind::Product, sort, 0, factors);
}

Scalar TermAlgebra::divide(Scalar left, Scalar right) {
  for (Scalar operand : {left, right})
    if (getSort(operand) != ScalarSort::Real)
      return fail(describe("divide", getSort(operand)), ScalarSort::Real);
  return intern(TermKind::Quotient, ScalarSort::Real, 0, {left, right});
}

Scalar TermAlgebra::power(Scalar base, int64_t numerator, int64_t denominator) {
  if (denominator == 0 || numerator == INT64_MIN || denominator == INT64_MIN)
    return fail("power with an exponent that is not a number",
                ScalarSort::Real);
  if (!isNumber(base))
    return fail(describe("power", getSort(base)), ScalarSort::Real);
  int64_t divisor = std::gcd(numerator, denominator);
  if (denominator < 0)
    divisor = -divisor;
  numerator /= divisor;
  denominator /= divisor;
  bool isNatural = denominator == 1 && numerator >= 0;
  if (!isNatural && getSort(base) != ScalarSort::Real)
    return fail(
        describe("power with a negative or broken exponent", getSort(base)),
        ScalarSort::Real);
  return intern(TermKind::Power, getSort(base), 0, {base},
                {numerator, denominator});
}

//===--- Functions --------------------------------------------------------===//

Scalar TermAlgebra::apply(Function function, Scalar argument) {
  ScalarSort sort = getSort(argument);
  bool isAllowed = sort == ScalarSort::Real ||
                   (sort == ScalarSort::Extended && function == Function::Exp);
  if (!isAllowed)
    return fail(describe(getName(function), sort), ScalarSort::Real);
  return intern(TermKind::Apply, ScalarSort::Real,
                static_cast<uint64_t>(function), {argument});
}

Scalar TermAlgebra::maximum(ArrayRef<Scalar> values) {
  if (values.empty())
    return fail("maximum of nothing", ScalarSort::Real);
  ScalarSort sort = getSort(values[0]);
  for (Scalar value : values) {
    if (getSort(value) == ScalarSort::Boolean)
      return fail(describe("maximum", getSort(value)), ScalarSort::Real);
    std::optional<ScalarSort> joined = join(sort, getSort(value));
    if (!joined)
      return fail(describe("maximum", sort, getSort(value)), sort);
    sort = *joined;
  }
  if (values.size() == 1)
    return values[0];
  return intern(TermKind::Maximum, sort, 0, values);
}

Scalar TermAlgebra::compare(Comparison comparison, Scalar left, Scalar right) {
  if (!join(getSort(left), getSort(right)))
    return fail(describe("comparison", getSort(left), getSort(right)),
                ScalarSort::Boolean);
  bool isOrder =
      comparison == Comparison::Less || comparison == Comparison::LessEqual;
  if (isOrder && getSort(left) == ScalarSort::Boolean)
    return fail(describe("order", getSort(left)), ScalarSort::Boolean);
  return intern(TermKind::Compare, ScalarSort::Boolean,
                static_cast<uint64_t>(comparison), {left, right});
}

Scalar TermAlgebra::select(Scalar condition, Scalar ifTrue, Scalar ifFalse) {
  std::optional<ScalarSort> sort = join(getSort(ifTrue), getSort(ifFalse));
  if (!sort)
    return fail(describe("selection", getSort(ifTrue), getSort(ifFalse)),
                getSort(ifTrue));
  if (getSort(condition) != ScalarSort::Boolean)
    return fail(describe("selection by the value", getSort(condition)), *sort);
  return intern(TermKind::Select, *sort, 0, {condition, ifTrue, ifFalse});
}

Scalar TermAlgebra::uninterpreted(llvm::StringRef name,
                                  ArrayRef<Scalar> arguments, ScalarSort sort) {
  auto [place, isNew] =
      nameNumbers.try_emplace(name, static_cast<uint32_t>(names.size()));
  if (isNew)
    names.push_back(place->first());
  return intern(TermKind::Uninterpreted, sort, place->second, arguments);
}

Scalar TermAlgebra::toReal(Scalar value) {
  if (getSort(value) == ScalarSort::Extended)
    return fail(describe("conversion to real", getSort(value)),
                ScalarSort::Real);
  if (getSort(value) == ScalarSort::Real)
    return value;
  return intern(TermKind::ToReal, ScalarSort::Real, 0, {value});
}

Scalar TermAlgebra::isFinite(Scalar extended) {
  if (getSort(extended) != ScalarSort::Extended)
    return boolean(true);
  return intern(TermKind::IsFinite, ScalarSort::Boolean, 0, {extended});
}

Scalar TermAlgebra::finitePart(Scalar extended) {
  if (getSort(extended) != ScalarSort::Extended)
    return extended;
  return intern(TermKind::FinitePart, ScalarSort::Real, 0, {extended});
}
