//===- FactorWidths.cpp - how many values of a sort suffice ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The width of a value is the number of different indices of a sort that one of
// its monomials can mention: docs/Soundness.md says why as many values of the
// sort decide all sizes.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

#include "WidthAlgebra.h"

using namespace mlir;
using namespace verify;

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

void FactorAnalysis::setFixedWidth(int64_t width) {
  options.fixedWidth = width;
  representatives.clear(nodes.size());
  for (NodeData &data : nodes)
    data.width = width;
  // Data have something to choose from.
  for (Operation *op : comparing)
    for (const auto &position : getRelation(op).positions)
      if (position.use == PositionUse::Equality) {
        Counts counts;
        count(getFactors(op)[position.factor], counts);
        for (auto [sort, number] : counts)
          nodes[sort].width = width + 2;
      }
}

/// Widths of all values, and what they raise.
class FactorAnalysis::WidthComputation {
public:
  explicit WidthComputation(FactorAnalysis &analysis) : analysis(analysis) {
    for (Node axis : analysis.axes)
      analysis.count(axis, axisDimensions);
  }
  void run(Block &body);

private:
  using Widths = llvm::DenseMap<Node, Width>;
  /// Arguments of functions, of which any two may have to be told apart.
  struct Arguments {
    int64_t dimensions = 0, numerator = 0, denominator = 0;
  };
  /// The iteration space of an op, and the parts of it that are reduced.
  struct Iteration {
    Counts space, reduced, summedAxes;
    unsigned reductions = 0;
  };

  /// Only values of the plan differ between coordinates of the mesh.
  Counts axesOf(Operation *op) const {
    return op && op->hasAttr("domain") ? axisDimensions : Counts();
  }
  Counts dimensionsOf(Value value) const {
    Counts counts = axesOf(value.getDefiningOp());
    for (Node node : analysis.getDimensions(value))
      analysis.count(node, counts);
    return counts;
  }
  Widths widthsOf(Value value) const {
    auto found = widths.find(value);
    return found == widths.end() ? Widths() : found->second;
  }
  /// Widths are counted in halves.
  void raiseBy(Counts counts, const Widths &more) {
    for (const auto &[sort, width] : more)
      counts[sort] += (width.getWhole() + 1) / 2;
    analysis.raise(counts);
  }
  void visit(tv::ExpectOp expect);
  Iteration getIteration(Operation *op) const;
  Widths compute(tv::SemanticsOpInterface op);
  /// The same for one sort.
  Width compute(tv::SemanticsOpInterface op, Node sort,
                const Iteration &iteration, ArrayRef<Widths> operands);

  FactorAnalysis &analysis;
  DenseValueMap<Widths> widths;
  Counts axisDimensions;
  llvm::SmallDenseMap<Node, Arguments> arguments;
};

void FactorAnalysis::WidthComputation::visit(tv::ExpectOp expect) {
  // Both sides over one denominator.
  Widths sides = widthsOf(expect.getReference());
  for (Value value : expect.getValues())
    for (const auto &[sort, width] : widthsOf(value)) {
      Width &side = sides[sort];
      side.numerator = std::max(side.numerator, width.numerator);
      side.addDivisors(width, /*isProduct=*/false);
    }
  Counts counts = dimensionsOf(expect.getReference());
  for (auto [sort, number] : axisDimensions) // sums over axes
    counts[sort] += number;
  raiseBy(std::move(counts), sides);
}

FactorAnalysis::WidthComputation::Iteration
FactorAnalysis::WidthComputation::getIteration(Operation *op) const {
  const IndexRelation &relation = analysis.getRelation(op);
  Iteration iteration;
  iteration.space = axesOf(op);
  iteration.reductions = relation.axisSums.size();
  llvm::BitVector bound = relation.getBoundFactors();
  for (auto [number, node] : llvm::enumerate(analysis.getFactors(op))) {
    analysis.count(node, iteration.space);
    if (bound.test(number))
      continue;
    analysis.count(node, iteration.reduced);
    ++iteration.reductions;
  }
  for (const auto &sum : relation.axisSums)
    if (std::optional<unsigned> axis = analysis.findAxis(sum.axis))
      analysis.count(analysis.axes[*axis], iteration.summedAxes);
  return iteration;
}

Width FactorAnalysis::WidthComputation::compute(tv::SemanticsOpInterface op,
                                                Node sort,
                                                const Iteration &iteration,
                                                ArrayRef<Widths> operands) {
  const IndexRelation &relation = analysis.getRelation(op);
  WidthAlgebra algebra(op.getOperation());
  int64_t summed = iteration.summedAxes.lookup(sort);
  int64_t dimensionCount = iteration.space.lookup(sort) + summed;
  SmallVector<Scalar> scalars;
  for (auto [access, own] : llvm::zip_equal(relation.accesses, operands)) {
    Width width = own.lookup(sort);
    width.addSums(summed, relation.axisSums.size());
    // Whether it is finite is a step.
    Value value = op->getOperand(access.operand);
    width.isDiscrete |= isExtended(value.getType());
    const void *key = value.getAsOpaquePointer();
    scalars.push_back(algebra.operand(
        std::move(width), relation.axisSums.empty() ? key : nullptr));
  }
  for (const auto &position : relation.positions) {
    Counts counts;
    analysis.count(analysis.getFactors(op)[position.factor], counts);
    scalars.push_back(algebra.position(position.use == PositionUse::Equality &&
                                       counts.lookup(sort) == 1 &&
                                       dimensionCount == 1));
  }
  Width width = algebra.get(op.combine(algebra, scalars));
  // The one position is one of all only in its own dimension.
  width.isExclusive &= dimensionCount == 1;
  width.addSums(iteration.reduced.lookup(sort), iteration.reductions);
  if (relation.combination != Combination::Sum) {
    Scalar greatest = algebra.of(width);
    width = algebra.get(algebra.maximum(greatest));
  }
  if (algebra.getArguments().exist) {
    const WidthAlgebra::Arguments &own = algebra.getArguments();
    Arguments &all = arguments[sort];
    all.dimensions = std::max(all.dimensions, dimensionCount);
    all.numerator = std::max(all.numerator, own.numerator);
    all.denominator = std::max(all.denominator, own.denominator);
    analysis.nodes[sort].countsSteps |= own.countSteps;
  }
  return width;
}

FactorAnalysis::WidthComputation::Widths
FactorAnalysis::WidthComputation::compute(tv::SemanticsOpInterface op) {
  Iteration iteration = getIteration(op);
  llvm::SmallDenseSet<Node, 16> sorts;
  for (auto [sort, number] : iteration.space)
    sorts.insert(sort);
  SmallVector<Widths> operands;
  for (const auto &access : analysis.getRelation(op).accesses) {
    operands.push_back(widthsOf(op->getOperand(access.operand)));
    for (const auto &[sort, width] : operands.back())
      sorts.insert(sort);
  }
  Widths results;
  for (Node sort : sorts)
    if (Width width = compute(op, sort, iteration, operands); width != Width())
      results[sort] = std::move(width);
  return results;
}

void FactorAnalysis::WidthComputation::run(Block &body) {
  for (BlockArgument argument : body.getArguments())
    analysis.raise(dimensionsOf(argument));
  for (Operation &op : body) {
    if (auto expect = dyn_cast<tv::ExpectOp>(op)) {
      visit(expect);
      continue;
    }
    Value result = op.getResult(0);
    if (isa<tv::DistributeOp>(op)) {
      Widths same = widthsOf(op.getOperand(0));
      widths[result] = std::move(same);
    } else if (auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
               semantics && !analysis.isOpaque(&op)) {
      Widths computed = compute(semantics);
      widths[result] = std::move(computed);
    }
    raiseBy(dimensionsOf(result), widthsOf(result));
  }
  for (const auto &[sort, most] : arguments)
    analysis.raise({{sort, 2 * most.dimensions +
                               (most.numerator + most.denominator + 1) / 2}});
}

void FactorAnalysis::computeWidths(Block &body) {
  if (options.fixedWidth)
    setFixedWidth(*options.fixedWidth);
  else
    WidthComputation(*this).run(body);
}
