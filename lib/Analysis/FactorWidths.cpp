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
  representatives.clear();
  for (NodeData &data : nodes)
    data.width = width;
  // Data have something to choose from.
  for (auto &[op, relation] : relations)
    for (const auto &position : relation->positions)
      if (position.use == PositionUse::Equality) {
        Counts counts;
        count(factors[op][position.factor], counts);
        for (auto [sort, number] : counts)
          nodes[sort].width = width + 2;
      }
}

void FactorAnalysis::computeWidths(Block &body) {
  if (options.fixedWidth) {
    setFixedWidth(*options.fixedWidth);
    return;
  }
  using Widths = llvm::DenseMap<Node, Width>;
  llvm::DenseMap<Value, Widths> widths;
  Counts axisDimensions;
  for (Node axis : axes)
    count(axis, axisDimensions);
  /// Arguments of functions, of which any two may have to be told apart.
  struct Arguments {
    int64_t dimensions = 0, numerator = 0, denominator = 0;
  };
  llvm::SmallDenseMap<Node, Arguments> arguments;
  // Only values of the plan differ between coordinates of the mesh.
  auto axesOf = [&](Operation *op) {
    return op && op->hasAttr("domain") ? axisDimensions : Counts();
  };
  auto dimensionsOf = [&](Value value) {
    Counts counts = axesOf(value.getDefiningOp());
    for (Node node : dimensions[value])
      count(node, counts);
    return counts;
  };
  // Widths are counted in halves.
  auto raiseBy = [&](Counts counts, const Widths &more) {
    for (const auto &[sort, width] : more)
      counts[sort] += (width.getWhole() + 1) / 2;
    raise(counts);
  };
  auto widthsOf = [&](Value value) -> Widths {
    auto found = widths.find(value);
    return found == widths.end() ? Widths() : found->second;
  };
  for (BlockArgument argument : body.getArguments())
    raise(dimensionsOf(argument));

  for (Operation &op : body) {
    if (auto expect = dyn_cast<tv::ExpectOp>(op)) {
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
      continue;
    }
    if (isa<tv::DistributeOp>(op)) {
      Widths same = widthsOf(op.getOperand(0));
      widths[op.getResult(0)] = std::move(same);
    } else if (auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
               semantics && !isOpaque(&op)) {
      const IndexRelation &relation = *relations.find(&op)->second;
      // The iteration space, and the part of it that is reduced.
      Counts space = axesOf(&op), reduced;
      unsigned reductions = relation.axisSums.size();
      llvm::BitVector inResult = relation.getResultFactors();
      for (auto [number, node] : llvm::enumerate(factors[&op])) {
        count(node, space);
        if (inResult.test(number))
          continue;
        count(node, reduced);
        ++reductions;
      }
      Counts summedAxes;
      for (const auto &sum : relation.axisSums)
        if (std::optional<unsigned> axis = findAxis(sum.axis))
          count(axes[*axis], summedAxes);

      llvm::SmallDenseSet<Node, 16> sorts;
      for (auto [sort, number] : space)
        sorts.insert(sort);
      SmallVector<Widths> operands;
      for (const auto &access : relation.accesses) {
        operands.push_back(widthsOf(op.getOperand(access.operand)));
        for (const auto &[sort, width] : operands.back())
          sorts.insert(sort);
      }
      Widths results;
      for (Node sort : sorts) {
        WidthAlgebra algebra(&op);
        int64_t dimensionCount = space.lookup(sort) + summedAxes.lookup(sort);
        SmallVector<Scalar> scalars;
        for (auto [access, own] :
             llvm::zip_equal(relation.accesses, operands)) {
          Width width = own.lookup(sort);
          width.addSums(summedAxes.lookup(sort), relation.axisSums.size());
          // Whether it is finite is a step.
          Value value = op.getOperand(access.operand);
          width.isDiscrete |= isExtended(value.getType());
          const void *key = value.getAsOpaquePointer();
          scalars.push_back(algebra.operand(
              std::move(width), relation.axisSums.empty() ? key : nullptr));
        }
        for (const auto &position : relation.positions) {
          Counts counts;
          count(factors[&op][position.factor], counts);
          scalars.push_back(algebra.position(
              position.use == PositionUse::Equality &&
              counts.lookup(sort) == 1 && dimensionCount == 1));
        }
        Width width = algebra.get(semantics.combine(algebra, scalars));
        // The one position is one of all only in its own dimension.
        width.isExclusive &= dimensionCount == 1;
        width.addSums(reduced.lookup(sort), reductions);
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
          nodes[sort].countsSteps |= own.countSteps;
        }
        if (width != Width())
          results[sort] = std::move(width);
      }
      widths[op.getResult(0)] = std::move(results);
    }
    raiseBy(dimensionsOf(op.getResult(0)), widthsOf(op.getResult(0)));
  }
  for (const auto &[sort, most] : arguments)
    raise({{sort, 2 * most.dimensions +
                      (most.numerator + most.denominator + 1) / 2}});
}
