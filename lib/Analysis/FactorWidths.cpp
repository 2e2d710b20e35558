//===- FactorWidths.cpp - how many values of a sort suffice ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The width of a value is the number of different indices of a sort that one of
// its monomials can mention. It is computed by running the scalar bodies under
// an algebra of widths, so an op states nothing for it (docs/Soundness.md).
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

using namespace mlir;
using namespace verify;

namespace {
/// Scalars are the bound of one sort; `need` collects what arguments of
/// functions require.
class WidthAlgebra : public ScalarAlgebra {
public:
  /// Dimensions of the sort in the iteration space of the body.
  int64_t dimensions = 0;
  int64_t need = 0;

  static Scalar of(int64_t bound) { return {static_cast<uint64_t>(bound)}; }
  static int64_t get(Scalar scalar) {
    return static_cast<int64_t>(scalar.bits);
  }
  /// What the argument of a function, or of an order, requires.
  Scalar argument(ArrayRef<Scalar> values, int64_t more = 0) {
    for (Scalar value : values)
      need = std::max(need, 2 * dimensions + get(value) + more);
    return of(0);
  }

  Scalar rational(int64_t, int64_t) override { return of(0); }
  Scalar literal(double, FloatFormat) override { return of(0); }
  Scalar integer(int64_t) override { return of(0); }
  Scalar boolean(bool) override { return of(0); }
  Scalar minusInfinity() override { return of(0); }
  Scalar add(Scalar left, Scalar right) override {
    return of(std::max(get(left), get(right)));
  }
  Scalar subtract(Scalar left, Scalar right) override {
    return add(left, right);
  }
  Scalar multiply(Scalar left, Scalar right) override {
    return of(get(left) + get(right));
  }
  Scalar divide(Scalar left, Scalar right) override {
    return multiply(left, right);
  }
  Scalar negate(Scalar value) override { return value; }
  Scalar sum(ArrayRef<WeightedScalar> terms) override {
    int64_t bound = 0;
    for (const WeightedScalar &term : terms)
      bound = std::max(bound, get(term.value));
    return of(bound);
  }
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    if (denominator != 1)
      return argument(base);
    int64_t bound;
    if (llvm::MulOverflow(get(base), std::abs(numerator), bound) ||
        bound > INT32_MAX)
      bound = INT32_MAX;
    return of(bound);
  }
  Scalar apply(Function, Scalar value) override { return argument(value); }
  Scalar maximum(ArrayRef<Scalar> values) override { return argument(values); }
  Scalar compare(Comparison, Scalar left, Scalar right) override {
    return argument({left, right}, /*more=*/1);
  }
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override {
    return of(get(condition) + std::max(get(ifTrue), get(ifFalse)));
  }
  Scalar uninterpreted(StringRef, ArrayRef<Scalar> values,
                       ScalarSort) override {
    return argument(values);
  }
  Scalar toReal(Scalar value) override { return value; }
};
} // namespace

void FactorAnalysis::count(Node node, Counts &counts) const {
  node = find(node);
  const NodeData &data = nodes[node];
  if (data.kind == Kind::Atom) {
    if (data.size > 1)
      ++counts[node];
    return;
  }
  if (data.kind == Kind::Product) {
    for (Node child : data.children)
      count(child, counts);
    return;
  }
  // An index lies in one block.
  Counts most;
  for (Node child : data.children) {
    Counts own;
    count(child, own);
    for (auto [sort, number] : own)
      most[sort] = std::max(most[sort], number);
  }
  for (auto [sort, number] : most)
    counts[sort] += number;
}

void FactorAnalysis::raise(const Counts &width) {
  for (auto [sort, number] : width)
    nodes[sort].width = std::max(nodes[sort].width, number);
}

void FactorAnalysis::computeWidths(Block &body) {
  if (options.fixedWidth) {
    for (NodeData &data : nodes)
      data.width = *options.fixedWidth;
    // Data have something to choose from.
    for (auto &[op, relation] : relations)
      for (const auto &position : relation.positions)
        if (position.use == PositionUse::Equality) {
          Counts counts;
          count(factors[op][position.factor], counts);
          for (auto [sort, number] : counts)
            nodes[sort].width = *options.fixedWidth + 2;
        }
    return;
  }
  llvm::DenseMap<Value, Counts> bounds;
  Counts axisDimensions;
  for (Node axis : axes)
    count(axis, axisDimensions);
  auto addCounts = [](Counts &to, const Counts &from) {
    for (auto [sort, number] : from)
      to[sort] += number;
  };
  auto dimensionsOf = [&](Value value) {
    Counts counts = axisDimensions;
    for (Node node : dimensions[value])
      count(node, counts);
    return counts;
  };
  auto raiseValue = [&](Value value) {
    Counts width = dimensionsOf(value);
    addCounts(width, bounds.lookup(value));
    raise(width);
  };
  for (BlockArgument argument : body.getArguments())
    raiseValue(argument);

  for (Operation &op : body) {
    if (auto expect = dyn_cast<tv::ExpectOp>(op)) {
      Counts width = dimensionsOf(expect.getReference());
      addCounts(width, bounds.lookup(expect.getReference()));
      Counts values;
      for (Value value : expect.getValues())
        for (auto [sort, number] : bounds.lookup(value))
          values[sort] = std::max(values[sort], number);
      addCounts(width, values);
      addCounts(width, axisDimensions); // sums over axes
      raise(width);
      continue;
    }
    if (isa<tv::DistributeOp>(op)) {
      bounds.insert({op.getResult(0), bounds.lookup(op.getOperand(0))});
      raiseValue(op.getResult(0));
      continue;
    }
    auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
    if (!semantics || isOpaque(&op)) {
      raiseValue(op.getResult(0));
      continue;
    }
    const IndexRelation &relation = relations.find(&op)->second;
    // The iteration space, and the part of it that is reduced.
    Counts space = axisDimensions, reduced;
    llvm::SmallDenseSet<unsigned> inResult;
    std::function<void(const DimensionExpr &)> mark =
        [&](const DimensionExpr &expr) {
          if (expr.getKind() == DimensionExpr::Kind::Factor)
            inResult.insert(expr.getFactor());
          for (const DimensionExpr &child : expr.getChildren())
            mark(child);
        };
    for (const DimensionExpr &expr : relation.result)
      mark(expr);
    for (auto [number, node] : llvm::enumerate(factors[&op])) {
      count(node, space);
      if (!inResult.contains(number))
        count(node, reduced);
    }
    Counts summedAxes;
    for (const auto &sum : relation.axisSums)
      if (std::optional<unsigned> axis = findAxis(sum.axis))
        count(axes[*axis], summedAxes);

    llvm::SmallDenseSet<Node, 16> sorts;
    for (auto [sort, number] : space)
      sorts.insert(sort);
    SmallVector<Counts> operandBounds;
    for (const auto &access : relation.accesses) {
      operandBounds.push_back(bounds.lookup(op.getOperand(access.operand)));
      for (auto [sort, number] : operandBounds.back())
        sorts.insert(sort);
    }
    Counts result, needs;
    for (Node sort : sorts) {
      WidthAlgebra algebra;
      algebra.dimensions = space.lookup(sort) + summedAxes.lookup(sort);
      SmallVector<Scalar> scalars;
      for (const Counts &operand : operandBounds)
        scalars.push_back(
            WidthAlgebra::of(operand.lookup(sort) + summedAxes.lookup(sort)));
      for (size_t i = 0; i < relation.positions.size(); ++i)
        scalars.push_back(WidthAlgebra::of(0));
      int64_t bound = WidthAlgebra::get(semantics.combine(algebra, scalars)) +
                      reduced.lookup(sort);
      if (relation.combination != Combination::Sum) {
        algebra.argument(WidthAlgebra::of(bound));
        bound = 0;
      }
      if (bound)
        result[sort] = bound;
      if (algebra.need)
        needs[sort] = algebra.need;
    }
    raise(needs);
    bounds.insert({op.getResult(0), std::move(result)});
    raiseValue(op.getResult(0));
  }
}
