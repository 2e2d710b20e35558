//===- Nodes.cpp - normal forms of terms ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The normal form of each node from those of its operands. A node that uses a
// law gets a record: that its operands, which are polynomials over nodes with
// records, have their normal forms, and that the operation on these normal
// forms has the normal form of the node.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

//===--- Nodes without laws -----------------------------------------------===//

Form NormalizerState::normalizeLeaf(Scalar node) {
  switch (terms.getKind(node)) {
  case TermKind::Constant:
  case TermKind::Integer:
    return {polynomials.constant(terms.getConstant(node))};
  case TermKind::Boolean:
    return {terms.getBoolean(node) ? PolynomialStore::one
                                   : PolynomialStore::zero};
  case TermKind::MinusInfinity:
    return {PolynomialStore::zero, PolynomialStore::zero};
  default:
    break;
  }
  switch (terms.getSort(node)) {
  case ScalarSort::Real:
    return {opaque(node)};
  case ScalarSort::Integer:
    return {opaque(terms.toReal(node), true)};
  case ScalarSort::Boolean:
    return {indicator(node)};
  case ScalarSort::Extended:
    return {opaque(terms.finitePart(node)), indicator(terms.isFinite(node))};
  }
  return {};
}

/// A sum in terms of the normal forms or literals that `valueOf` gives.
Scalar NormalizerState::sumOf(Scalar node,
                              llvm::function_ref<Scalar(Scalar)> valueOf) {
  llvm::SmallVector<WeightedScalar> summands;
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(node), terms.getWeights(node)))
    summands.push_back({valueOf(operand), weight});
  return terms.sum(summands);
}

/// `ifFalse + condition (ifTrue - ifFalse)`.
static Scalar selectTerm(TermAlgebra &terms, Scalar condition, Scalar ifTrue,
                         Scalar ifFalse) {
  return terms.add(ifFalse,
                   terms.multiply(condition, terms.subtract(ifTrue, ifFalse)));
}

NormalizerState::Literal NormalizerState::literalOfSelect(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  Scalar condition = literals[operands[0].bits].value;
  const Literal &ifTrue = literals[operands[1].bits];
  const Literal &ifFalse = literals[operands[2].bits];
  PolynomialId trueMask = getForm(operands[1]).mask;
  PolynomialId falseMask = getForm(operands[2]).mask;
  Literal result;
  if (falseMask == PolynomialStore::zero)
    result.value = ifTrue.value;
  else if (trueMask == PolynomialStore::zero)
    result.value = ifFalse.value;
  else
    result.value = selectTerm(terms, condition, ifTrue.value, ifFalse.value);
  bool isFinite =
      trueMask == PolynomialStore::one && falseMask == PolynomialStore::one;
  result.mask = isFinite
                    ? terms.rational(1, 1)
                    : selectTerm(terms, condition, ifTrue.mask, ifFalse.mask);
  return result;
}

/// Whether the node is polynomial in its operands.
static bool isPolynomialKind(TermKind kind) {
  switch (kind) {
  case TermKind::Sum:
  case TermKind::Product:
  case TermKind::Power:
  case TermKind::Quotient:
  case TermKind::Select:
  case TermKind::ToReal:
  case TermKind::IsFinite:
    return true;
  default:
    return false;
  }
}

NormalizerState::Literal NormalizerState::literalOfPureNode(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  auto valueOf = [&](Scalar operand) { return literals[operand.bits].value; };
  auto maskOf = [&](Scalar operand) { return literals[operand.bits].mask; };
  Scalar one = terms.rational(1, 1);
  switch (terms.getKind(node)) {
  case TermKind::Sum: {
    llvm::SmallVector<Scalar> masks;
    for (auto [operand, weight] : llvm::zip(operands, terms.getWeights(node)))
      if (weight != 0 && getForm(operand).mask != PolynomialStore::one)
        masks.push_back(maskOf(operand));
    return {sumOf(node, valueOf), terms.product(masks)};
  }
  case TermKind::Product: {
    llvm::SmallVector<Scalar> values;
    for (Scalar operand : operands)
      values.push_back(valueOf(operand));
    return {terms.product(values), one};
  }
  case TermKind::Power: {
    llvm::SmallVector<Scalar> values(terms.getExponent(node).first,
                                     valueOf(operands[0]));
    return {terms.product(values), one};
  }
  case TermKind::Quotient:
    return {terms.divide(valueOf(operands[0]), valueOf(operands[1])), one};
  case TermKind::Select:
    return literalOfSelect(node);
  case TermKind::ToReal:
    return {valueOf(operands[0]), one};
  case TermKind::IsFinite:
    return {maskOf(operands[0]), one};
  default:
    return {termOf(getForm(node).value), termOf(getForm(node).mask)};
  }
}

//===--- Arithmetic -------------------------------------------------------===//

Form NormalizerState::normalizeSum(Scalar node) {
  Polynomial summands;
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(node), terms.getWeights(node)))
    for (const WeightedMonomial &term : polynomials.get(getForm(operand).value))
      summands.push_back({term.monomial, term.coefficient * weight});
  return {polynomials.intern(std::move(summands))};
}

Form NormalizerState::normalizeProduct(Scalar node) {
  llvm::SmallVector<PolynomialId> values;
  for (Scalar operand : terms.getOperands(node))
    values.push_back(getForm(operand).value);
  return {multiplyAll(values)};
}

Form NormalizerState::normalizeQuotient(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  PolynomialId dividend = getForm(operands[0]).value;
  PolynomialId divisor = getForm(operands[1]).value;
  std::optional<Rational> constant = polynomials.getConstant(divisor);
  // Division by a number that is written as one needs no law.
  if (constant && !constant->isZero() &&
      terms.getKind(literals[operands[1].bits].value) == TermKind::Constant)
    return {polynomials.scale(dividend, constant->inverse())};
  Recorded inverted = inverse(divisor);
  use(inverted.record);
  return {multiplyClaimed(dividend, inverted.result, true)};
}

Form NormalizerState::normalizePower(Scalar node) {
  PolynomialId base = getForm(terms.getOperands(node)[0]).value;
  auto [numerator, denominator] = terms.getExponent(node);
  if (denominator == 1 && numerator >= 0)
    return {raise(base, numerator, false)};
  Recorded result = power(base, numerator, denominator);
  use(result.record);
  return {result.result};
}

/// A function that is defined everywhere.
Recorded NormalizerState::applyTotal(Function function, PolynomialId argument) {
  Scope scope(*this);
  Scalar whole = terms.apply(function, termOf(argument));
  std::optional<PolynomialId> cases =
      applyByCases(argument, [&](PolynomialId part) {
        Recorded recorded = applyTotal(function, part);
        need(recorded.record);
        return recorded.result;
      });
  if (cases) {
    claimEqual(whole, termOf(*cases));
    return {*cases, scope.id};
  }
  if (function == Function::Exp)
    return exponential(argument);
  if (function == Function::Abs || function == Function::Sign)
    return absolute(argument, function);
  // Nothing is known of other functions.
  Scalar same = terms.apply(function, termOf(representative(argument)));
  claimEqual(whole, same);
  return {opaque(same), scope.id};
}

Form NormalizerState::normalizeApply(Scalar node) {
  const Form form = getForm(terms.getOperands(node)[0]);
  auto finish = [&](Recorded recorded) {
    use(recorded.record);
    return Form{recorded.result};
  };
  switch (terms.getFunction(node)) {
  case Function::Log:
    return finish(logarithm(form.value));
  case Function::Sqrt:
    return finish(root(form.value, 2));
  case Function::Rsqrt:
    return finish(inverseRoot(form.value));
  default:
    break;
  }
  Form result = finish(applyTotal(terms.getFunction(node), form.value));
  // Only exp applies to minus infinity, where it is 0.
  if (form.mask != PolynomialStore::one)
    result.value = multiplyClaimed(form.mask, result.value, true);
  return result;
}

//===--- Choice -----------------------------------------------------------===//

PolynomialId NormalizerState::selectByIndicator(PolynomialId condition,
                                                PolynomialId ifTrue,
                                                PolynomialId ifFalse,
                                                bool isForced) {
  PolynomialId change = polynomials.subtract(ifTrue, ifFalse);
  PolynomialId product = multiplyClaimed(condition, change, isForced);
  PolynomialId result = polynomials.add(ifFalse, product);
  if (!isForced)
    return result;
  claimEqual(terms.subtract(termOf(ifTrue), termOf(ifFalse)), termOf(change));
  claimEqual(terms.add(termOf(ifFalse), termOf(product)), termOf(result));
  return result;
}

Form NormalizerState::normalizeSelect(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  PolynomialId condition = getForm(operands[0]).value;
  const Form ifTrue = getForm(operands[1]), ifFalse = getForm(operands[2]);
  auto build = [&](bool isForced) {
    Form result;
    result.mask =
        selectByIndicator(condition, ifTrue.mask, ifFalse.mask, isForced);
    // The value of what is always minus infinity does not matter.
    if (ifFalse.mask == PolynomialStore::zero)
      result.value = ifTrue.value;
    else if (ifTrue.mask == PolynomialStore::zero)
      result.value = ifFalse.value;
    else
      result.value =
          selectByIndicator(condition, ifTrue.value, ifFalse.value, isForced);
    return result;
  };
  Form result = build(false);
  // With laws, both parts are claimed.
  return current().isEmpty() ? result : build(true);
}

Form NormalizerState::normalizeCompare(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  const Form left = getForm(operands[0]), right = getForm(operands[1]);
  Comparison comparison = terms.getComparison(node);
  if (terms.getSort(operands[0]) == ScalarSort::Boolean)
    return {compareBooleans(comparison, left.value, right.value)};
  if (left.mask == PolynomialStore::one && right.mask == PolynomialStore::one) {
    Recorded result = compare(comparison, left.value, right.value);
    use(result.record);
    return {result.result};
  }
  return {compareExtended(comparison, left, right)};
}

Form NormalizerState::normalizeMaximum(Scalar node) {
  if (isExtended(node))
    return normalizeExtendedMaximum(node);
  llvm::SmallVector<PolynomialId> values;
  for (Scalar operand : terms.getOperands(node))
    values.push_back(getForm(operand).value);
  Recorded result = maximum(values);
  use(result.record);
  return {result.result};
}

//===--- All nodes --------------------------------------------------------===//

/// Claims that each operand has its normal form.
void NormalizerState::connectOperands(Scalar node) {
  for (Scalar operand : terms.getOperands(node)) {
    const Literal &literal = literals[operand.bits];
    claimEqual(literal.value, termOf(getForm(operand).value));
    claimEqual(literal.mask, termOf(getForm(operand).mask));
  }
}

void NormalizerState::normalizeNode(Scalar node) {
  Form form;
  Scope scope(*this);
  switch (terms.getKind(node)) {
  case TermKind::Sum:
    form = isExtended(node) ? normalizeExtendedSum(node) : normalizeSum(node);
    break;
  case TermKind::Product:
    form = normalizeProduct(node);
    break;
  case TermKind::Quotient:
    form = normalizeQuotient(node);
    break;
  case TermKind::Power:
    form = normalizePower(node);
    break;
  case TermKind::Apply:
    form = normalizeApply(node);
    break;
  case TermKind::Maximum:
    form = normalizeMaximum(node);
    break;
  case TermKind::Compare:
    form = normalizeCompare(node);
    break;
  case TermKind::Select:
    form = normalizeSelect(node);
    break;
  case TermKind::Uninterpreted:
    form = normalizeUninterpreted(node);
    break;
  case TermKind::ToReal:
    form = {getForm(terms.getOperands(node)[0]).value};
    break;
  case TermKind::IsFinite:
    form = {getForm(terms.getOperands(node)[0]).mask};
    break;
  case TermKind::FinitePart: {
    const Form operand = getForm(terms.getOperands(node)[0]);
    form = {multiplyClaimed(operand.mask, operand.value, true)};
    break;
  }
  default:
    form = normalizeLeaf(node);
    break;
  }
  if (hasFailed())
    return;
  forms[node.bits] = form;
  if (current().isEmpty() && isPolynomialKind(terms.getKind(node))) {
    literals[node.bits] = literalOfPureNode(node);
  } else {
    literals[node.bits] = {termOf(form.value), termOf(form.mask)};
    connectOperands(node);
    if (!current().isEmpty())
      recordOfNode[node.bits] = scope.id;
  }
  isNormalized[node.bits] = true;
  noteSign(node);
}

bool NormalizerState::normalize(Scalar term) {
  if (hasFailed())
    return false;
  if (term.bits < isNormalized.size() && isNormalized[term.bits])
    return true;
  llvm::SmallVector<Scalar> nodes;
  collectUnnormalized(term, nodes);
  return llvm::all_of(nodes, [&](Scalar node) {
    normalizeNode(node);
    return !hasFailed();
  });
}
