//===- NodeSigns.cpp - signs that only the terms show ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variance is a sum of squares, but not once it is expanded. So the sign of a
// polynomial is also looked for in the terms it is the normal form of.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

/// Notes a node whose sign its normal form may hide.
void NormalizerState::noteSign(Scalar node) {
  hasHiddenSign.resize(std::max<size_t>(hasHiddenSign.size(), terms.size()));
  if (terms.getSort(node) != ScalarSort::Real)
    return;
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  auto isHidden = [&](Scalar operand) {
    return static_cast<bool>(hasHiddenSign[operand.bits]);
  };
  auto isSum = [&](Scalar operand) {
    return polynomials.get(getForm(operand).value).size() > 1;
  };
  bool result = false;
  switch (terms.getKind(node)) {
  case TermKind::Product: {
    result = llvm::any_of(operands, isHidden);
    for (size_t i = 0; i + 1 < operands.size(); ++i)
      result |= isSum(operands[i]) &&
                llvm::is_contained(operands.drop_front(i + 1), operands[i]);
    break;
  }
  case TermKind::Power:
    result = isSum(operands[0]) && terms.getExponent(node).second == 1 &&
             terms.getExponent(node).first % 2 == 0;
    break;
  case TermKind::Sum:
  case TermKind::Quotient:
  case TermKind::Maximum:
    result = llvm::any_of(operands, isHidden);
    break;
  default:
    break;
  }
  if (!result)
    return;
  hasHiddenSign[node.bits] = true;
  auto &nodes = nodesWithSign[getForm(node).value];
  if (nodes.size() < 4) {
    nodes.push_back(node);
    ++signVersion;
  }
}

/// Needs the signs of all summands: all must be >= 0, and one > 0 if wanted.
bool NormalizerState::addSignsOfSum(ClaimKind kind, Scalar node) {
  bool isPositive = kind == ClaimKind::NonNegative;
  // Sums of sums as one, because chains of additions are long.
  llvm::SmallVector<std::pair<Scalar, int64_t>> pending{{node, 1}};
  while (!pending.empty()) {
    auto [operand, weight] = pending.pop_back_val();
    if (terms.getKind(operand) == TermKind::Sum &&
        (operand == node || (weight > 0 && hasHiddenSign[operand.bits]))) {
      for (auto [inner, innerWeight] :
           llvm::zip(terms.getOperands(operand), terms.getWeights(operand)))
        pending.push_back({inner, innerWeight == 0  ? 0
                                  : innerWeight < 0 ? -1
                                                    : 1});
      continue;
    }
    PolynomialId value = getForm(operand).value;
    if (weight < 0)
      value = polynomials.scale(value, Rational(-1));
    std::optional<RecordId> sign;
    if (!isPositive && weight != 0)
      sign = findSign(ClaimKind::Positive, value);
    isPositive |= sign.has_value();
    if (!sign && weight != 0)
      sign = findSign(ClaimKind::NonNegative, value);
    if (sign)
      need(*sign);
    else if (weight != 0)
      return false;
  }
  return isPositive;
}

/// Needs the signs of all factors, of which pairs of equal ones are squares.
bool NormalizerState::addSignsOfProduct(ClaimKind kind, Scalar node) {
  llvm::SmallVector<Scalar> single, groups;
  llvm::SmallVector<Scalar> operands(terms.getOperands(node));
  if (terms.getKind(node) == TermKind::Power)
    operands.append(static_cast<size_t>(terms.getExponent(node).first - 1),
                    operands[0]);
  llvm::sort(operands,
             [](Scalar left, Scalar right) { return left.bits < right.bits; });
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isPair = i + 1 < operands.size() && operands[i] == operands[i + 1];
    PolynomialId value = getForm(operands[i]).value;
    std::optional<RecordId> sign = findSign(
        isPair && kind == ClaimKind::Positive ? ClaimKind::NonZero : kind,
        value);
    bool isSquare = isPair && kind == ClaimKind::NonNegative;
    if (!sign && !isSquare)
      return false;
    if (sign)
      need(*sign);
    if (!isPair) {
      groups.push_back(termOf(value));
      continue;
    }
    emit(laws.square(termOf(value)));
    if (sign && kind == ClaimKind::Positive)
      emit(
          laws.productSign({termOf(value), termOf(value)}, ClaimKind::NonZero));
    groups.push_back(terms.product({termOf(value), termOf(value)}));
    ++i;
  }
  emit(laws.productSign(groups, kind));
  return true;
}

std::optional<RecordId> NormalizerState::deriveFromNode(ClaimKind kind,
                                                        PolynomialId polynomial,
                                                        Scalar node) {
  Scope scope(*this);
  // Links the operation on the normal forms of its operands to its own.
  if (recordOfNode[node.bits] >= 0)
    need(static_cast<RecordId>(recordOfNode[node.bits]));
  current().claims.push_back({kind, termOf(polynomial), Scalar()});
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  switch (terms.getKind(node)) {
  case TermKind::Sum:
    return addSignsOfSum(kind, node) ? std::optional(scope.id) : std::nullopt;
  case TermKind::Product:
    return addSignsOfProduct(kind, node) ? std::optional(scope.id)
                                         : std::nullopt;
  case TermKind::Power:
    if (terms.getExponent(node).first < 2)
      return std::nullopt;
    return addSignsOfProduct(kind, node) ? std::optional(scope.id)
                                         : std::nullopt;
  case TermKind::Quotient: {
    PolynomialId dividend = getForm(operands[0]).value;
    PolynomialId divisor = inverse(getForm(operands[1]).value).result;
    auto first = findSign(kind, dividend), second = findSign(kind, divisor);
    if (!first || !second)
      return std::nullopt;
    need(*first);
    need(*second);
    emit(laws.productSign({termOf(dividend), termOf(divisor)}, kind));
    return scope.id;
  }
  case TermKind::Maximum: {
    llvm::SmallVector<Scalar> values;
    for (Scalar operand : operands)
      values.push_back(termOf(getForm(operand).value));
    Scalar greatest = terms.maximum(values);
    if (terms.getKind(greatest) != TermKind::Maximum)
      return std::nullopt;
    for (unsigned which = 0; which < operands.size(); ++which)
      if (auto sign = findSign(kind, getForm(operands[which]).value)) {
        need(*sign);
        emit(laws.maximumBound(greatest, which));
        return scope.id;
      }
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}
