//===- Domains.cpp - where ops are defined --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Domains.h"

#include "Verify/Analysis/Identities.h"
#include "Verify/Scalar/SignAlgebra.h"

#include <cmath>

using namespace mlir;
using namespace verify;

namespace {
/// Scalars as the sets of operands that they are computed from, a bit for each,
/// or as numbers that are not 0.
class ConditionAlgebra : public ScalarAlgebra {
public:
  static constexpr unsigned operandLimit = 63;
  static constexpr Scalar unknown{0}, nonZero{uint64_t(1) << operandLimit};
  static Scalar operand(unsigned number) { return {uint64_t(1) << number}; }

  /// Whether some operation has a domain, and what decides about it.
  bool hasCondition() const { return isPartial; }
  uint64_t getDecisive() const { return decisive; }

  Scalar rational(int64_t numerator, int64_t) override {
    return numerator == 0 ? unknown : nonZero;
  }
  Scalar literal(double value, FloatFormat) override {
    isPartial |= std::isnan(value) || (std::isinf(value) && value > 0);
    return std::isfinite(value) && value != 0 ? nonZero : unknown;
  }
  Scalar integer(int64_t value) override { return rational(value, 1); }
  Scalar boolean(bool) override { return unknown; }
  Scalar minusInfinity() override { return unknown; }
  Scalar add(Scalar left, Scalar right) override { return join(left, right); }
  Scalar subtract(Scalar left, Scalar right) override {
    return join(left, right);
  }
  Scalar multiply(Scalar left, Scalar right) override {
    return join(left, right);
  }
  Scalar divide(Scalar left, Scalar right) override {
    if (right != nonZero)
      require(right);
    return join(left, right);
  }
  Scalar negate(Scalar value) override { return value; }
  Scalar sum(ArrayRef<WeightedScalar> terms) override {
    Scalar result = unknown;
    for (const WeightedScalar &term : terms)
      result = join(result, term.value);
    return result;
  }
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    if (numerator < 0 || denominator != 1)
      require(base);
    return join(base, unknown);
  }
  Scalar apply(Function function, Scalar argument) override {
    switch (function) {
    case Function::Exp:
    case Function::Sin:
    case Function::Cos:
    case Function::Tanh:
    case Function::Erf:
    case Function::ErfDerivative:
    case Function::Abs:
    case Function::Sign:
      break;
    case Function::Log:
    case Function::Sqrt:
    case Function::Rsqrt:
      require(argument);
      break;
    }
    return join(argument, unknown);
  }
  Scalar maximum(ArrayRef<Scalar> values) override { return join(values); }
  Scalar compare(Comparison, Scalar left, Scalar right) override {
    return join(left, right);
  }
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override {
    return join({condition, ifTrue, ifFalse});
  }
  Scalar uninterpreted(StringRef, ArrayRef<Scalar> arguments,
                       ScalarSort) override {
    return join(arguments);
  }
  Scalar toReal(Scalar value) override { return join(value, unknown); }

protected:
  static Scalar join(ArrayRef<Scalar> values) {
    uint64_t operands = 0;
    for (Scalar value : values)
      operands |= value.bits & ~nonZero.bits;
    return {operands};
  }
  static Scalar join(Scalar left, Scalar right) { return join({left, right}); }

private:
  void require(Scalar value) {
    isPartial = true;
    decisive |= value.bits & ~nonZero.bits;
  }

  bool isPartial = false;
  uint64_t decisive = 0;
};

/// Scalars as the sets of accesses that they are always computed from.
class StrictAlgebra final : public ConditionAlgebra {
public:
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    return numerator == 0
               ? unknown
               : ConditionAlgebra::power(base, numerator, denominator);
  }
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override {
    return join(condition, {ifTrue.bits & ifFalse.bits});
  }
  Scalar uninterpreted(StringRef, ArrayRef<Scalar>, ScalarSort) override {
    return unknown;
  }
};
} // namespace

/// The scalar body at positions where there are the accesses of `present`.
static void combine(ScalarAlgebra &algebra, tv::SemanticsOpInterface op,
                    const IndexRelation &relation,
                    const llvm::BitVector &present,
                    llvm::function_ref<Scalar(unsigned operand)> getOperand,
                    Scalar position) {
  SmallVector<Scalar> scalars;
  for (unsigned number : present.set_bits())
    scalars.push_back(getOperand(relation.accesses[number].operand));
  scalars.append(relation.positions.size(), position);
  (void)op.combine(algebra, scalars);
}

llvm::BitVector verify::findStrictAccesses(tv::SemanticsOpInterface op,
                                           const IndexRelation &relation) {
  llvm::BitVector strict(relation.accesses.size());
  if (strict.size() > ConditionAlgebra::operandLimit)
    return strict;
  strict.set();
  (void)forEachPresence(relation, [&](const llvm::BitVector &present) {
    StrictAlgebra algebra;
    SmallVector<Scalar> scalars;
    for (unsigned number : present.set_bits())
      scalars.push_back(ConditionAlgebra::operand(number));
    scalars.append(relation.positions.size(), ConditionAlgebra::unknown);
    uint64_t used = op.combine(algebra, scalars).bits;
    for (unsigned number : present.set_bits())
      if (!(used >> number & 1))
        strict.reset(number);
    return true;
  });
  return strict;
}

DomainCondition verify::getDomainCondition(tv::SemanticsOpInterface op,
                                           const IndexRelation &relation) {
  DomainCondition condition;
  condition.operands.resize(op->getNumOperands());
  if (op->getNumOperands() > ConditionAlgebra::operandLimit) {
    condition.isMet = false;
    condition.operands.set();
    return condition;
  }
  (void)forEachPresence(relation, [&](const llvm::BitVector &present) {
    ConditionAlgebra algebra;
    combine(algebra, op, relation, present, ConditionAlgebra::operand,
            ConditionAlgebra::unknown);
    condition.isMet &= !algebra.hasCondition();
    for (unsigned number = 0; number < op->getNumOperands(); ++number)
      if (algebra.getDecisive() >> number & 1)
        condition.operands.set(number);
    return true;
  });
  return condition;
}

bool verify::isDefinedFor(
    tv::SemanticsOpInterface op, const FactorAnalysis &factors,
    const DomainCondition &condition,
    llvm::function_ref<uint8_t(unsigned operand)> getSigns) {
  Scalar any =
      SignAlgebra::fromSigns(SignAlgebra::MinusInfinity | SignAlgebra::anyReal);
  const IndexRelation &relation = factors.getRelation(op);
  return forEachPresence(relation, [&](const llvm::BitVector &present) {
    SignAlgebra algebra;
    auto getOperand = [&](unsigned number) {
      return condition.operands.test(number)
                 ? SignAlgebra::fromSigns(getSigns(number))
                 : any;
    };
    combine(algebra, op, relation, present, getOperand, any);
    return !algebra.status().isUndefined && !algebra.status().isUndecided;
  });
}
