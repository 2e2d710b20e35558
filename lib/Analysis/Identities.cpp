//===- Identities.cpp - ops whose result is no new value ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/Identities.h"

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
  /// Whether everything so far is defined wherever the accesses are.
  bool isTotal() const { return !isPartial; }

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
  Scalar divide(Scalar left, Scalar) override {
    isPartial = true;
    return zeroIf(left == zero);
  }
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
    isPartial = true;
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

  bool isPartial = false;
};
} // namespace

Scalar ZeroAlgebra::apply(Function function, Scalar value) {
  switch (function) {
  case Function::Sqrt:
    isPartial = true;
    [[fallthrough]];
  case Function::Sin:
  case Function::Tanh:
  case Function::Erf:
  case Function::Abs:
  case Function::Sign:
    return zeroIf(value == zero);
  case Function::Log:
  case Function::Rsqrt:
    isPartial = true;
    [[fallthrough]];
  case Function::Exp:
  case Function::Cos:
  case Function::ErfDerivative:
    return other;
  }
  return other;
}

/// The scalar body; `present` tells which accesses there are.
static Scalar combine(ZeroAlgebra &algebra, tv::SemanticsOpInterface op,
                      const IndexRelation &relation, ZeroTest isZero,
                      const llvm::BitVector &present) {
  SmallVector<Scalar> scalars;
  for (unsigned number : present.set_bits()) {
    bool isZeroHere = isZero(op->getOperand(relation.accesses[number].operand));
    scalars.push_back(isZeroHere ? ZeroAlgebra::zero
                                 : ZeroAlgebra::access(number));
  }
  scalars.append(relation.positions.size(), ZeroAlgebra::other);
  return op.combine(algebra, scalars);
}

/// The parts of a dimension, one after the other.
static ArrayRef<DimensionExpr> getParts(const DimensionExpr &expr) {
  return expr.getKind() == DimensionExpr::Kind::Concat ? expr.getChildren()
                                                       : ArrayRef(expr);
}

//===--- Tensors ----------------------------------------------------------===//

bool verify::forEachPresence(
    const IndexRelation &relation,
    llvm::function_ref<bool(const llvm::BitVector &present)> visit) {
  llvm::BitVector inResult = relation.getResultFactors();
  SmallVector<unsigned> choice(relation.result.size(), 0);
  while (true) {
    llvm::BitVector bound(relation.extents.size());
    for (auto [expr, number] : llvm::zip_equal(relation.result, choice))
      getParts(expr)[number].markFactors(bound);
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
    if (!visit(present))
      return false;
    size_t i = choice.size();
    while (i > 0 && ++choice[i - 1] == getParts(relation.result[i - 1]).size())
      choice[--i] = 0;
    if (i == 0)
      return true;
  }
}

static bool computesZero(ZeroAlgebra &algebra, tv::SemanticsOpInterface op,
                         const FactorAnalysis &factors, ZeroTest isZero) {
  if (llvm::none_of(op->getOperands(), isZero) ||
      getSort(op->getResult(0).getType()) != ScalarSort::Real)
    return false;
  const IndexRelation &relation = factors.getRelation(op);
  return forEachPresence(relation, [&](const llvm::BitVector &present) {
    return combine(algebra, op, relation, isZero, present) == ZeroAlgebra::zero;
  });
}

bool verify::computesZero(tv::SemanticsOpInterface op,
                          const FactorAnalysis &factors, ZeroTest isZero) {
  ZeroAlgebra algebra;
  return ::computesZero(algebra, op, factors, isZero);
}

bool verify::computesTotalZero(tv::SemanticsOpInterface op,
                               const FactorAnalysis &factors, ZeroTest isZero) {
  // There is no 0 times minus infinity.
  auto isFinite = [](Value operand) {
    return getSort(operand.getType()) != ScalarSort::Extended;
  };
  ZeroAlgebra algebra;
  return ::computesZero(algebra, op, factors, isZero) && algebra.isTotal() &&
         llvm::all_of(op->getOperands(), isFinite);
}

/// Whether an op passes elements on as they are, apart from where they go:
/// without sums or coordinates of the mesh, and without reduced factors.
static bool isPlain(tv::SemanticsOpInterface op, const IndexRelation &relation,
                    const FactorAnalysis &factors) {
  auto isAxis = [&](const auto &entry) {
    return factors.findAxis(entry.axis).has_value();
  };
  llvm::BitVector reduced(relation.extents.size());
  for (const auto &access : relation.accesses)
    for (const DimensionExpr &expr : access.dimensions)
      expr.markFactors(reduced);
  reduced.reset(relation.getResultFactors());
  return relation.axisSums.empty() && relation.axisFactors.empty() &&
         llvm::none_of(relation.axisReads, isAxis) && relation.divisor == 1 &&
         relation.positions.empty() && reduced.none() &&
         llvm::all_of(relation.accesses, [&](const auto &access) {
           return getSort(op->getOperand(access.operand).getType()) ==
                  getSort(op->getResult(0).getType());
         });
}

/// The same factor, or size 1.
static bool isSame(const DimensionExpr &left, const DimensionExpr &right) {
  return left.getKind() == right.getKind() &&
         (left.getKind() == DimensionExpr::Kind::Unit ||
          (left.getKind() == DimensionExpr::Kind::Factor &&
           left.getFactor() == right.getFactor()));
}

/// Whether each dimension of a result is a factor of its own.
static bool hasPlainResult(const IndexRelation &relation) {
  llvm::BitVector seen(relation.extents.size());
  for (const DimensionExpr &expr : relation.result) {
    if (expr.getKind() == DimensionExpr::Kind::Unit)
      continue;
    if (expr.getKind() != DimensionExpr::Kind::Factor ||
        seen.test(expr.getFactor()))
      return false;
    seen.set(expr.getFactor());
  }
  return true;
}

static bool isNoZero(Value) { return false; }

std::optional<unsigned> verify::findForwarded(tv::SemanticsOpInterface op,
                                              const FactorAnalysis &factors,
                                              ZeroTest isZero) {
  const IndexRelation &relation = factors.getRelation(op);
  if (!isPlain(op, relation, factors) || !hasPlainResult(relation))
    return std::nullopt;
  ZeroAlgebra algebra;
  Scalar result = combine(algebra, op, relation, isZero,
                          llvm::BitVector(relation.accesses.size(), true));
  for (auto [number, access] : llvm::enumerate(relation.accesses))
    if (result == ZeroAlgebra::access(number) &&
        llvm::equal(access.dimensions, relation.result, isSame))
      return access.operand;
  return std::nullopt;
}

/// The only dimension in which `parts` and `whole` differ, where they do and
/// the rest is plain.
static std::optional<unsigned> findDifferent(ArrayRef<DimensionExpr> parts,
                                             ArrayRef<DimensionExpr> whole) {
  if (parts.size() != whole.size())
    return std::nullopt;
  std::optional<unsigned> different;
  for (unsigned i = 0; i < parts.size(); ++i) {
    if (isSame(parts[i], whole[i]))
      continue;
    if (different)
      return std::nullopt;
    different = i;
  }
  return different;
}

/// Where `part` starts in a concatenation that has it once.
static std::optional<int64_t> findStart(const DimensionExpr &part,
                                        const DimensionExpr &whole,
                                        const IndexRelation &relation) {
  if (whole.getKind() != DimensionExpr::Kind::Concat)
    return std::nullopt;
  std::optional<int64_t> found;
  int64_t start = 0;
  for (const DimensionExpr &child : whole.getChildren()) {
    if (isSame(child, part)) {
      if (found)
        return std::nullopt;
      found = start;
    }
    start += child.getSize(relation.extents);
  }
  return found;
}

std::optional<TensorPart> verify::findPart(tv::SemanticsOpInterface op,
                                           const FactorAnalysis &factors) {
  const IndexRelation &relation = factors.getRelation(op);
  ZeroAlgebra algebra;
  if (relation.accesses.size() != 1 || !isPlain(op, relation, factors) ||
      !hasPlainResult(relation) ||
      combine(algebra, op, relation, isNoZero, llvm::BitVector(1, true)) !=
          ZeroAlgebra::access(0))
    return std::nullopt;
  const IndexRelation::Access &access = relation.accesses[0];
  std::optional<unsigned> dimension =
      findDifferent(relation.result, access.dimensions);
  if (!dimension)
    return std::nullopt;
  std::optional<int64_t> start = findStart(
      relation.result[*dimension], access.dimensions[*dimension], relation);
  if (!start)
    return std::nullopt;
  return TensorPart{access.operand, *dimension, *start};
}

std::optional<Concatenation>
verify::findConcatenation(tv::SemanticsOpInterface op,
                          const FactorAnalysis &factors) {
  const IndexRelation &relation = factors.getRelation(op);
  if (relation.accesses.size() < 2 ||
      relation.accesses.size() != op->getNumOperands() ||
      !isPlain(op, relation, factors))
    return std::nullopt;
  Concatenation result;
  for (auto [number, access] : llvm::enumerate(relation.accesses)) {
    std::optional<unsigned> dimension =
        findDifferent(access.dimensions, relation.result);
    if (!dimension || access.operand != number ||
        (number > 0 && *dimension != result.dimension))
      return std::nullopt;
    std::optional<int64_t> start = findStart(
        access.dimensions[*dimension], relation.result[*dimension], relation);
    if (!start)
      return std::nullopt;
    result.dimension = *dimension;
    result.starts.push_back(*start);
  }
  // There is nothing but the operands.
  if (relation.result[result.dimension].getChildren().size() !=
      relation.accesses.size())
    return std::nullopt;
  // Only now is it known that a body takes the scalar of one access alone.
  ZeroAlgebra algebra;
  bool passesOn =
      forEachPresence(relation, [&](const llvm::BitVector &present) {
        return present.count() == 1 &&
               combine(algebra, op, relation, isNoZero, present) ==
                   ZeroAlgebra::access(present.find_first());
      });
  return passesOn ? std::optional(result) : std::nullopt;
}
