//===- ZeroPropagation.cpp - what zeros make of an op ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/ZeroPropagation.h"

#include "Verify/Analysis/ElementEvaluator.h"

using namespace mlir;
using namespace verify;

//===--- Scalars ----------------------------------------------------------===//

namespace {
/// Scalars that are 0, that are read by one of the accesses, or of which
/// nothing is known. What is said of them holds wherever they are defined.
class ZeroAlgebra final : public ScalarAlgebra {
public:
  static constexpr Scalar zero{0}, other{1};
  static Scalar access(uint64_t number) { return {2 + number}; }

  Scalar rational(int64_t numerator, int64_t) override {
    return numerator == 0 ? zero : other;
  }
  Scalar literal(double value, FloatFormat) override {
    return value == 0 ? zero : other;
  }
  Scalar integer(int64_t value) override { return value == 0 ? zero : other; }
  Scalar boolean(bool) override { return other; }
  Scalar minusInfinity() override { return other; }
  Scalar add(Scalar left, Scalar right) override {
    return left == zero ? right : right == zero ? left : other;
  }
  Scalar subtract(Scalar left, Scalar right) override {
    return right == zero ? left : other;
  }
  Scalar multiply(Scalar left, Scalar right) override {
    return left == zero || right == zero ? zero : other;
  }
  Scalar divide(Scalar left, Scalar) override { return zeroIf(left == zero); }
  Scalar negate(Scalar value) override { return zeroIf(value == zero); }
  Scalar sum(ArrayRef<WeightedScalar> terms) override {
    std::optional<WeightedScalar> only;
    for (const WeightedScalar &term : terms) {
      if (term.value == zero || term.weight == 0)
        continue;
      if (only)
        return other;
      only = term;
    }
    if (!only)
      return zero;
    return only->weight == 1 ? only->value : other;
  }
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    return zeroIf(base == zero && numerator > 0 && denominator > 0);
  }
  Scalar apply(Function function, Scalar value) override;
  Scalar maximum(ArrayRef<Scalar> values) override {
    return llvm::all_equal(values) ? values.front() : other;
  }
  Scalar compare(Comparison, Scalar, Scalar) override { return other; }
  Scalar select(Scalar, Scalar ifTrue, Scalar ifFalse) override {
    return ifTrue == ifFalse ? ifTrue : other;
  }
  Scalar uninterpreted(StringRef, ArrayRef<Scalar>, ScalarSort) override {
    return other;
  }
  Scalar toReal(Scalar value) override { return zeroIf(value == zero); }

private:
  static Scalar zeroIf(bool isZero) { return isZero ? zero : other; }
};
} // namespace

Scalar ZeroAlgebra::apply(Function function, Scalar value) {
  switch (function) {
  case Function::Sqrt:
  case Function::Sin:
  case Function::Tanh:
  case Function::Erf:
  case Function::Abs:
  case Function::Sign:
    return zeroIf(value == zero);
  case Function::Exp:
  case Function::Log:
  case Function::Rsqrt:
  case Function::Cos:
  case Function::ErfDerivative:
    return other;
  }
  return other;
}

/// The scalar body; `present` tells which accesses there are.
static Scalar combine(tv::SemanticsOpInterface op,
                      const IndexRelation &relation,
                      llvm::function_ref<bool(Value)> isZero,
                      const llvm::BitVector &present) {
  SmallVector<Scalar> scalars;
  for (unsigned number : present.set_bits()) {
    bool isZeroHere = isZero(op->getOperand(relation.accesses[number].operand));
    scalars.push_back(isZeroHere ? ZeroAlgebra::zero
                                 : ZeroAlgebra::access(number));
  }
  scalars.append(relation.positions.size(), ZeroAlgebra::other);
  ZeroAlgebra algebra;
  return op.combine(algebra, scalars);
}

//===--- Tensors ----------------------------------------------------------===//

bool verify::computesZero(tv::SemanticsOpInterface op,
                          const IndexRelation &relation,
                          llvm::function_ref<bool(Value)> isZero) {
  if (llvm::none_of(op->getOperands(), isZero) ||
      getSort(op->getResult(0).getType()) != ScalarSort::Real)
    return false;
  // Every choice of one part for each dimension of the result.
  llvm::BitVector inResult = relation.getResultFactors();
  SmallVector<unsigned> choice(relation.result.size(), 0);
  auto getParts = [&](size_t dimension) {
    const DimensionExpr &expr = relation.result[dimension];
    return expr.getKind() == DimensionExpr::Kind::Concat ? expr.getChildren()
                                                         : ArrayRef(expr);
  };
  while (true) {
    llvm::BitVector bound(relation.extents.size());
    for (auto [dimension, number] : llvm::enumerate(choice))
      getParts(dimension)[number].markFactors(bound);
    llvm::BitVector present(relation.accesses.size());
    for (auto [number, access] : llvm::enumerate(relation.accesses)) {
      llvm::BitVector used(relation.extents.size());
      for (const DimensionExpr &expr : access.dimensions)
        expr.markFactors(used);
      used &= inResult;
      used.reset(bound);
      if (used.none())
        present.set(number);
    }
    if (combine(op, relation, isZero, present) != ZeroAlgebra::zero)
      return false;
    size_t i = choice.size();
    while (i > 0 && ++choice[i - 1] == getParts(i - 1).size())
      choice[--i] = 0;
    if (i == 0)
      return true;
  }
}

std::optional<unsigned>
verify::findForwarded(tv::SemanticsOpInterface op,
                      const IndexRelation &relation,
                      llvm::function_ref<bool(Value)> isZero) {
  if (!relation.axisSums.empty() || !relation.axisReads.empty() ||
      relation.divisor != 1)
    return std::nullopt;
  // Element by element.
  llvm::BitVector seen(relation.extents.size());
  for (const DimensionExpr &expr : relation.result) {
    if (expr.getKind() == DimensionExpr::Kind::Unit)
      continue;
    if (expr.getKind() != DimensionExpr::Kind::Factor ||
        seen.test(expr.getFactor()))
      return std::nullopt;
    seen.set(expr.getFactor());
  }
  if (!seen.all())
    return std::nullopt;
  auto isElementwise = [&](const IndexRelation::Access &access) {
    return access.dimensions.size() == relation.result.size() &&
           llvm::all_of(llvm::zip_equal(access.dimensions, relation.result),
                        [](auto pair) {
                          auto &[from, to] = pair;
                          return from.getKind() == to.getKind() &&
                                 from.getFactor() == to.getFactor();
                        });
  };
  Scalar result = combine(op, relation, isZero,
                          llvm::BitVector(relation.accesses.size(), true));
  for (auto [number, access] : llvm::enumerate(relation.accesses))
    if (isElementwise(access) && result == ZeroAlgebra::access(number) &&
        getSort(op->getOperand(access.operand).getType()) ==
            getSort(op->getResult(0).getType()))
      return access.operand;
  return std::nullopt;
}
