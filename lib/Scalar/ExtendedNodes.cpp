//===- ExtendedNodes.cpp - terms with minus infinity, unknown functions ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extended scalar is a pair: the indicator that it is finite, and a real
// that is its value where it is. Sums, comparisons and selections are defined
// on the pairs; the value of a pair that is not finite never matters.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

Form NormalizerState::normalizeExtendedSum(Scalar node) {
  Form result = normalizeSum(node);
  llvm::SmallVector<PolynomialId> masks;
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(node), terms.getWeights(node)))
    if (weight != 0 && getForm(operand).mask != PolynomialStore::one)
      masks.push_back(getForm(operand).mask);
  result.mask = multiplyAll(masks);
  if (!current().isEmpty()) {
    Scalar total = sumOf(
        node, [&](Scalar operand) { return termOf(getForm(operand).value); });
    claimEqual(total, termOf(result.value));
  }
  return result;
}

/// An extended term with the given form.
Scalar NormalizerState::extendedTerm(const Form &form) {
  if (form.mask == PolynomialStore::one)
    return termOf(form.value);
  if (form.mask == PolynomialStore::zero)
    return terms.minusInfinity();
  Scalar isFinite =
      terms.compare(Comparison::Equal, termOf(form.mask), terms.rational(1, 1));
  PolynomialId value = multiplyClaimed(form.mask, form.value, true);
  return terms.select(isFinite, termOf(value), terms.minusInfinity());
}

/// The values of an extended maximum and of those directly inside.
void NormalizerState::listExtendedValues(Scalar node,
                                         llvm::SmallVectorImpl<Form> &values) {
  for (Scalar operand : terms.getOperands(node)) {
    const Form &form = getForm(operand);
    if (terms.getKind(operand) == TermKind::Maximum && isExtended(operand))
      listExtendedValues(operand, values);
    else if (form.mask != PolynomialStore::zero)
      values.push_back(form);
  }
}

Form NormalizerState::normalizeExtendedMaximum(Scalar node) {
  llvm::SmallVector<Form> operands;
  listExtendedValues(node, operands);
  Form result{PolynomialStore::zero, PolynomialStore::zero};
  if (operands.empty())
    return result;
  bool haveSameMask = llvm::all_of(operands, [&](const Form &form) {
    return form.mask == operands[0].mask;
  });
  if (haveSameMask) {
    llvm::SmallVector<PolynomialId> values;
    for (const Form &form : operands)
      values.push_back(form.value);
    Recorded greatest = maximum(values);
    use(greatest.record);
    return {greatest.result, operands[0].mask};
  }
  // Finite if one is: 1 - (1 - m) (1 - n) ...
  PolynomialId none = PolynomialStore::one;
  llvm::SmallVector<Scalar> values;
  for (const Form &form : operands) {
    none = multiplyClaimed(none, complementClaimed(form.mask), true);
    values.push_back(extendedTerm(form));
  }
  // The order and repetition of values do not matter.
  llvm::sort(values,
             [](Scalar left, Scalar right) { return left.bits < right.bits; });
  values.erase(llvm::unique(values), values.end());
  result.mask = complementClaimed(none);
  result.value = opaque(terms.finitePart(terms.maximum(values)));
  return result;
}

PolynomialId NormalizerState::addClaimed(
    llvm::ArrayRef<std::pair<PolynomialId, int64_t>> summands) {
  PolynomialId result = PolynomialStore::zero;
  llvm::SmallVector<WeightedScalar> summandTerms;
  for (auto [summand, weight] : summands) {
    result = polynomials.add(result, polynomials.scale(summand, weight));
    summandTerms.push_back({termOf(summand), weight});
  }
  claimEqual(terms.sum(summandTerms), termOf(result));
  return result;
}

PolynomialId NormalizerState::complementClaimed(PolynomialId polynomial) {
  return addClaimed({{PolynomialStore::one, 1}, {polynomial, -1}});
}

PolynomialId NormalizerState::compareBooleans(Comparison comparison,
                                              PolynomialId left,
                                              PolynomialId right) {
  // a != b is a + b - 2 a b.
  PolynomialId both = multiplyClaimed(left, right, true);
  PolynomialId differ = addClaimed({{left, 1}, {right, 1}, {both, -2}});
  return comparison == Comparison::Equal ? complementClaimed(differ) : differ;
}

PolynomialId NormalizerState::compareExtended(Comparison comparison,
                                              const Form &left,
                                              const Form &right) {
  bool isNegated = comparison == Comparison::NotEqual;
  if (isNegated)
    comparison = Comparison::Equal;
  Recorded finite = compare(comparison, left.value, right.value);
  use(finite.record);
  PolynomialId both = multiplyAll({left.mask, right.mask, finite.result}, true);
  // What is not finite is less than all that is, and equal to itself.
  PolynomialId notLeft = complementClaimed(left.mask);
  PolynomialId other = notLeft;
  if (comparison == Comparison::Less)
    other = multiplyClaimed(notLeft, right.mask, true);
  if (comparison == Comparison::Equal)
    other = multiplyClaimed(notLeft, complementClaimed(right.mask), true);
  PolynomialId result = addClaimed({{both, 1}, {other, 1}});
  return isNegated ? complementClaimed(result) : result;
}

//===--- Unknown functions ------------------------------------------------===//

Form NormalizerState::normalizeUninterpreted(Scalar node) {
  // Sorts of arguments are part of the name, as all arguments become real.
  std::string name = terms.getFunctionName(node).str() + "/";
  llvm::SmallVector<Scalar> arguments, originals;
  for (Scalar operand : terms.getOperands(node)) {
    const Form form = getForm(operand);
    ScalarSort sort = terms.getSort(operand);
    name += "RIEB"[static_cast<unsigned>(sort)];
    PolynomialId value = form.value;
    if (sort == ScalarSort::Extended) {
      arguments.push_back(termOf(form.mask));
      originals.push_back(arguments.back());
      value = multiplyClaimed(form.mask, form.value, true);
    }
    originals.push_back(termOf(value));
    arguments.push_back(termOf(representative(value)));
  }
  ScalarSort sort = terms.getSort(node);
  Scalar result = terms.uninterpreted(name, arguments, sort);
  Scalar original = terms.uninterpreted(name, originals, sort);
  Form form;
  switch (sort) {
  case ScalarSort::Real:
    form = {opaque(result)};
    claimEqual(original, result);
    break;
  case ScalarSort::Integer:
    form = {opaque(terms.toReal(result), true)};
    claimEqual(terms.toReal(original), terms.toReal(result));
    break;
  case ScalarSort::Boolean:
    form = {indicator(result)};
    claimEqual(terms.toReal(original), terms.toReal(result));
    break;
  case ScalarSort::Extended:
    form = {opaque(terms.finitePart(result)),
            indicator(terms.isFinite(result))};
    claimEqual(terms.finitePart(original), terms.finitePart(result));
    claimEqual(terms.toReal(terms.isFinite(original)),
               terms.toReal(terms.isFinite(result)));
    break;
  }
  return form;
}
