//===- Evaluation.cpp - terms under another algebra -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One call of the target algebra for each node, operands first.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Evaluation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace verify;

Scalar TermEvaluator::evaluateLeaf(Scalar node) {
  switch (terms.getKind(node)) {
  case TermKind::Constant: {
    Rational value = terms.getConstant(node);
    std::optional<int64_t> top = value.getNumerator().getInteger();
    std::optional<int64_t> bottom = value.getDenominator().getInteger();
    return top && bottom ? target.rational(*top, *bottom) : constant(value);
  }
  case TermKind::Integer:
    return target.integer(*terms.getConstant(node).getInteger());
  case TermKind::Boolean:
    return target.boolean(terms.getBoolean(node));
  case TermKind::MinusInfinity:
    return target.minusInfinity();
  case TermKind::Atom:
    return valueOfAtom(node);
  default:
    llvm::report_fatal_error("a term without operands and without a value");
  }
}

Scalar TermEvaluator::evaluateNode(Scalar node) {
  llvm::SmallVector<Scalar> operands;
  for (Scalar operand : terms.getOperands(node))
    operands.push_back(values[operand.bits]);
  switch (terms.getKind(node)) {
  case TermKind::Sum: {
    llvm::SmallVector<WeightedScalar> summands;
    for (auto [operand, weight] : llvm::zip(operands, terms.getWeights(node)))
      summands.push_back({operand, weight});
    return target.sum(summands);
  }
  case TermKind::Product: {
    Scalar result = operands[0];
    for (Scalar operand : llvm::drop_begin(operands))
      result = target.multiply(result, operand);
    return result;
  }
  case TermKind::Quotient:
    return target.divide(operands[0], operands[1]);
  case TermKind::Power: {
    auto [numerator, denominator] = terms.getExponent(node);
    return target.power(operands[0], numerator, denominator);
  }
  case TermKind::Apply:
    return target.apply(terms.getFunction(node), operands[0]);
  case TermKind::Maximum:
    return target.maximum(operands);
  case TermKind::Compare:
    return target.compare(terms.getComparison(node), operands[0], operands[1]);
  case TermKind::Select:
    return target.select(operands[0], operands[1], operands[2]);
  case TermKind::Uninterpreted:
    return target.uninterpreted(terms.getFunctionName(node), operands,
                                terms.getSort(node));
  case TermKind::ToReal:
    return target.toReal(operands[0]);
  case TermKind::IsFinite:
    return target.compare(Comparison::NotEqual, operands[0],
                          target.minusInfinity());
  case TermKind::FinitePart:
    return target.select(target.compare(Comparison::NotEqual, operands[0],
                                        target.minusInfinity()),
                         operands[0], target.rational(0, 1));
  default:
    return evaluateLeaf(node);
  }
}

/// A constant beyond machine words, by Horner's rule in base 2^31.
Scalar TermEvaluator::constant(const Rational &value) {
  auto evaluateInteger = [&](Rational rest) {
    bool isNegative = rest.sign() < 0;
    rest = rest.abs();
    Rational base(int64_t(1) << 31);
    llvm::SmallVector<int64_t> digits;
    while (!rest.isZero()) {
      Rational quotient = (rest / base).floor();
      digits.push_back(*(rest - quotient * base).getInteger());
      rest = quotient;
    }
    Scalar result = target.rational(0, 1);
    for (int64_t digit : llvm::reverse(digits))
      result = target.add(
          target.multiply(result, target.rational(int64_t(1) << 31, 1)),
          target.rational(digit, 1));
    return isNegative ? target.negate(result) : result;
  };
  return target.divide(evaluateInteger(value.getNumerator()),
                       evaluateInteger(value.getDenominator()));
}

Scalar TermEvaluator::evaluate(Scalar root) {
  if (values.size() < terms.size())
    values.resize(terms.size());
  isKnown.resize(values.size());
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [node, isReady] = stack.pop_back_val();
    if (isKnown[node.bits])
      continue;
    if (isReady) {
      values[node.bits] = evaluateNode(node);
      isKnown[node.bits] = true;
      continue;
    }
    stack.push_back({node, true});
    for (Scalar operand : terms.getOperands(node))
      if (!isKnown[operand.bits])
        stack.push_back({operand, false});
  }
  return values[root.bits];
}
