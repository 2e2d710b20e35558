//===- DoubleIntervalChoice.cpp - comparisons of intervals ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What intervals between doubles say of an order, and which of several values
// is chosen by it.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/NumericAlgebras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace verify;
using llvm::ArrayRef;

bool DoubleIntervalAlgebra::isLess(Scalar left, Scalar right) const {
  return get(left).upper < get(right).lower;
}

bool DoubleIntervalAlgebra::isLessOrEqual(Scalar left, Scalar right) const {
  return get(left).upper <= get(right).lower;
}

bool DoubleIntervalAlgebra::isEqual(Scalar left, Scalar right) const {
  const Interval &first = get(left), &second = get(right);
  return left == right ||
         (first.isPoint() && second.isPoint() && first.lower == second.lower);
}

Scalar DoubleIntervalAlgebra::truth(bool isSurelyTrue, bool isSurelyFalse) {
  if (!isSurelyTrue && !isSurelyFalse)
    state.isUndecided = true;
  return isSurelyTrue == isSurelyFalse ? make(0, 1) : point(isSurelyTrue);
}

Scalar DoubleIntervalAlgebra::maximum(ArrayRef<Scalar> candidates) {
  for (Scalar operand : candidates)
    if (get(operand).isUndefined())
      return undefined();
  Scalar result = candidates[0];
  for (Scalar operand : candidates.drop_front()) {
    const Interval &first = get(result), &second = get(operand);
    result = make(std::max(first.lower, second.lower),
                  std::max(first.upper, second.upper),
                  /*mayBeMinusInfinity=*/true);
  }
  return result;
}

Scalar DoubleIntervalAlgebra::compare(Comparison comparison, Scalar left,
                                      Scalar right) {
  const Interval &first = get(left), &second = get(right);
  if (first.isUndefined() || second.isUndefined())
    return undefined();
  // Mostly one of them comes before the other.
  bool isBefore = first.upper < second.lower;
  if (!isBefore && !(second.upper < first.lower))
    return EnclosingAlgebra::compare(comparison, left, right);
  switch (comparison) {
  case Comparison::Equal:
    return point(false);
  case Comparison::NotEqual:
    return point(true);
  case Comparison::Less:
  case Comparison::LessEqual:
    return point(isBefore);
  }
  llvm_unreachable("a comparison without a value");
}

Scalar DoubleIntervalAlgebra::select(Scalar condition, Scalar ifTrue,
                                     Scalar ifFalse) {
  const Interval &choice = get(condition);
  if (choice.isUndefined())
    return undefined();
  if (choice.isPoint())
    return choice.lower == 0 ? ifFalse : ifTrue;
  state.isUndecided = true;
  const Interval &first = get(ifTrue), &second = get(ifFalse);
  if (first.isUndefined() || second.isUndefined())
    return wholeLine();
  return make(std::min(first.lower, second.lower),
              std::max(first.upper, second.upper),
              /*mayBeMinusInfinity=*/true);
}

Scalar DoubleIntervalAlgebra::uninterpreted(llvm::StringRef, ArrayRef<Scalar>,
                                            ScalarSort sort) {
  state.usesUninterpreted = true;
  return sort == ScalarSort::Boolean ? make(0, 1) : wholeLine();
}
