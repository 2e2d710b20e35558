//===- NodeMeanings.cpp - what nodes mean, for the replay -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of each kind of node over real terms. An extended scalar is a
// pair of a real and the indicator that it is finite; booleans are 0 or 1.
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

//===--- Arithmetic -------------------------------------------------------===//

Replay::Pair Replay::claimedForm(Scalar node) {
  return {normalizer.getNormalForm(node), normalizer.getFiniteness(node)};
}

Replay::Pair Replay::operand(Scalar node) {
  return isLiteral ? translated.lookup(node.bits) : claimedForm(node);
}

Replay::Pair Replay::meaningOfLeaf(Scalar node) const {
  Scalar one = terms.rational(1), zero = terms.rational(0);
  switch (terms.getKind(node)) {
  case TermKind::Constant:
  case TermKind::Integer:
    return {terms.constant(terms.getConstant(node)), one};
  case TermKind::Boolean:
    return {terms.getBoolean(node) ? one : zero, one};
  case TermKind::MinusInfinity:
    return {zero, zero};
  default:
    break;
  }
  // Unknown elements.
  if (terms.getSort(node) == ScalarSort::Extended)
    return {terms.finitePart(node), terms.toReal(terms.isFinite(node))};
  return {terms.toReal(node), one};
}

Replay::Pair Replay::meaningOfSum(Scalar node) {
  Pair result{{}, terms.rational(1)};
  llvm::SmallVector<WeightedScalar> summands;
  llvm::SmallVector<Scalar> masks;
  for (auto [term, weight] :
       llvm::zip(terms.getOperands(node), terms.getWeights(node))) {
    Pair pair = operand(term);
    summands.push_back({pair.value, weight});
    // No copies of minus infinity are no minus infinity.
    if (weight != 0 && !isConstant(pair.mask, 1))
      masks.push_back(pair.mask);
  }
  result.value = sum(summands);
  if (isLiteral)
    result.mask = terms.product(masks);
  else
    for (Scalar mask : masks)
      result.mask = times(result.mask, mask);
  return result;
}

Replay::Pair Replay::meaningOfSelect(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  Scalar condition = operand(operands[0]).value;
  Pair ifTrue = operand(operands[1]), ifFalse = operand(operands[2]);
  Pair result;
  bool isFinite = isConstant(ifTrue.mask, 1) && isConstant(ifFalse.mask, 1);
  result.mask =
      isFinite ? ifTrue.mask : select(condition, ifTrue.mask, ifFalse.mask);
  // The value of what is never finite does not matter.
  if (isConstant(ifFalse.mask, 0))
    result.value = ifTrue.value;
  else if (isConstant(ifTrue.mask, 0))
    result.value = ifFalse.value;
  else
    result.value = select(condition, ifTrue.value, ifFalse.value);
  return result;
}

Replay::Pair Replay::meaningOfPower(Scalar node) {
  Scalar base = operand(terms.getOperands(node)[0]).value;
  auto [numerator, denominator] = terms.getExponent(node);
  Scalar one = terms.rational(1);
  if (denominator != 1 || numerator < 0)
    return {terms.power(base, numerator, denominator), one};
  llvm::SmallVector<Scalar> factors(static_cast<size_t>(numerator), base);
  if (isLiteral)
    return {terms.product(factors), one};
  Scalar result = one;
  for (Scalar factor : factors)
    result = times(result, factor);
  return {result, one};
}

//===--- Choice -----------------------------------------------------------===//

Scalar Replay::meaningOfExtendedCompare(Comparison comparison, const Pair &left,
                                        const Pair &right) {
  if (comparison == Comparison::NotEqual)
    return complement(meaningOfExtendedCompare(Comparison::Equal, left, right));
  Scalar finite =
      terms.toReal(terms.compare(comparison, left.value, right.value));
  Scalar both = times(times(left.mask, right.mask), finite);
  // Minus infinity equals itself and is less than all that is finite.
  Scalar other = complement(left.mask);
  if (comparison == Comparison::Less)
    other = times(other, right.mask);
  if (comparison == Comparison::Equal)
    other = times(other, complement(right.mask));
  return sum({{both, 1}, {other, 1}});
}

Scalar Replay::meaningOfCompare(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  Comparison comparison = terms.getComparison(node);
  Pair left = operand(operands[0]), right = operand(operands[1]);
  if (terms.getSort(operands[0]) == ScalarSort::Boolean) {
    Scalar both = times(left.value, right.value);
    Scalar differ = sum({{left.value, 1}, {right.value, 1}, {both, -2}});
    return comparison == Comparison::Equal ? complement(differ) : differ;
  }
  if (isConstant(left.mask, 1) && isConstant(right.mask, 1))
    return terms.toReal(terms.compare(comparison, left.value, right.value));
  return meaningOfExtendedCompare(comparison, left, right);
}

/// Values of an extended maximum that may be finite, and of those inside.
void Replay::listExtended(Scalar node, llvm::SmallVectorImpl<Pair> &values) {
  for (Scalar value : terms.getOperands(node)) {
    Pair pair = operand(value);
    if (terms.getKind(value) == TermKind::Maximum && terms.isExtended(value))
      listExtended(value, values);
    else if (!isConstant(pair.mask, 0))
      values.push_back(pair);
  }
}

Replay::Pair Replay::meaningOfMaximum(Scalar node) {
  llvm::SmallVector<Pair> pairs;
  Scalar one = terms.rational(1);
  if (terms.isExtended(node))
    listExtended(node, pairs);
  else
    for (Scalar value : terms.getOperands(node))
      pairs.push_back(operand(value));
  if (pairs.empty())
    return {terms.rational(0), terms.rational(0)};
  llvm::SmallVector<Scalar> values;
  bool haveSameMask = llvm::all_of(
      pairs, [&](const Pair &pair) { return pair.mask == pairs[0].mask; });
  if (haveSameMask) {
    for (const Pair &pair : pairs)
      values.push_back(pair.value);
    return {terms.maximum(values), pairs[0].mask};
  }
  // Finite if one of them is; the value is that of the unknown function
  // `maximum` of a set of extended scalars.
  Scalar none = one;
  for (const Pair &pair : pairs) {
    none = times(none, complement(pair.mask));
    if (isConstant(pair.mask, 1)) {
      values.push_back(pair.value);
      continue;
    }
    values.push_back(terms.select(
        terms.compare(Comparison::Equal, pair.mask, one),
        versions(times(pair.mask, pair.value)).back(), terms.minusInfinity()));
  }
  llvm::sort(values,
             [](Scalar left, Scalar right) { return left.bits < right.bits; });
  values.erase(llvm::unique(values), values.end());
  return {terms.finitePart(terms.maximum(values)), complement(none)};
}

Replay::Pair Replay::meaningOfUninterpreted(Scalar node) {
  std::string name = terms.getFunctionName(node).str() + "/";
  llvm::SmallVector<Scalar> arguments;
  for (Scalar argument : terms.getOperands(node)) {
    Pair pair = operand(argument);
    name += "RIEB"[static_cast<unsigned>(terms.getSort(argument))];
    if (!terms.isExtended(argument)) {
      arguments.push_back(pair.value);
      continue;
    }
    arguments.push_back(pair.mask);
    arguments.push_back(versions(times(pair.mask, pair.value)).back());
  }
  ScalarSort sort = terms.getSort(node);
  Scalar call = terms.uninterpreted(name, arguments, sort);
  Scalar one = terms.rational(1);
  if (sort == ScalarSort::Extended)
    return {terms.finitePart(call), terms.toReal(terms.isFinite(call))};
  return {terms.toReal(call), one};
}

Replay::Pair Replay::meaningOf(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  Scalar one = terms.rational(1);
  switch (terms.getKind(node)) {
  case TermKind::Sum:
    return meaningOfSum(node);
  case TermKind::Product: {
    llvm::SmallVector<Scalar> factors;
    for (Scalar factor : operands)
      factors.push_back(operand(factor).value);
    if (isLiteral)
      return {terms.product(factors), one};
    Scalar result = factors[0];
    for (Scalar factor : llvm::drop_begin(factors))
      result = times(result, factor);
    return {result, one};
  }
  case TermKind::Quotient: {
    Scalar dividend = operand(operands[0]).value;
    Scalar divisor = operand(operands[1]).value;
    if (isLiteral)
      return {terms.divide(dividend, divisor), one};
    return {times(dividend, inverse(divisor)), one};
  }
  case TermKind::Power:
    return meaningOfPower(node);
  case TermKind::Apply: {
    Pair argument = operand(operands[0]);
    Scalar call = terms.apply(terms.getFunction(node), argument.value);
    if (isConstant(argument.mask, 1))
      return {call, one};
    // Only exp has a value for minus infinity, which is 0.
    if (terms.getFunction(node) != Function::Exp)
      return {node, one};
    return {times(argument.mask, call), one};
  }
  case TermKind::Maximum:
    return meaningOfMaximum(node);
  case TermKind::Compare:
    return {meaningOfCompare(node), one};
  case TermKind::Select:
    return meaningOfSelect(node);
  case TermKind::Uninterpreted:
    return meaningOfUninterpreted(node);
  case TermKind::ToReal:
    return {operand(operands[0]).value, one};
  case TermKind::IsFinite:
    return {operand(operands[0]).mask, one};
  case TermKind::FinitePart: {
    Pair argument = operand(operands[0]);
    return {times(argument.mask, argument.value), one};
  }
  default:
    return meaningOfLeaf(node);
  }
}
