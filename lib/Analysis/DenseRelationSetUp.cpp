//===- DenseRelationSetUp.cpp - strides of an index relation --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension's representatives are those of its factors in row-major order,
// block after block, so places are affine in the factors' places. That this
// holds is checked and not taken on trust.
//
//===----------------------------------------------------------------------===//

#include "DenseRelation.h"

using namespace mlir;
using namespace verify;

/// Appends the factors of `expr`, major to minor; false if it is not a product.
static bool listFactors(const DimensionExpr &expr,
                        SmallVectorImpl<unsigned> &list) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return true;
  case DimensionExpr::Kind::Factor:
    list.push_back(expr.getFactor());
    return true;
  case DimensionExpr::Kind::Product:
    return llvm::all_of(expr.getChildren(), [&](const DimensionExpr &child) {
      return listFactors(child, list);
    });
  case DimensionExpr::Kind::Concat:
  case DimensionExpr::Kind::Hole:
    return false;
  }
  return false;
}

FailureOr<DenseRelation::Dimension>
DenseRelation::resolve(const DimensionExpr &expr, FactorAnalysis::Node node) {
  ArrayRef<Representative> representatives = factors.getRepresentatives(node);
  auto findStart = [&](int64_t position) {
    return llvm::lower_bound(representatives, position,
                             [](Representative entry, int64_t wanted) {
                               return entry.position < wanted;
                             }) -
           representatives.begin();
  };
  bool isConcat = expr.getKind() == DimensionExpr::Kind::Concat;
  Dimension dimension;
  int64_t first = 0;
  for (const DimensionExpr &child :
       isConcat ? expr.getChildren() : ArrayRef(expr)) {
    int64_t size = child.getSize(relation.extents);
    Block block;
    block.isHole = child.getKind() == DimensionExpr::Kind::Hole;
    block.start = findStart(first);
    block.count = findStart(first + size) - block.start;
    SmallVector<unsigned> list;
    if (!block.isHole && !listFactors(child, list))
      return fail("a dimension is not a concatenation of products");
    // The same positions.
    if (list.size() == 1 && !isConcat &&
        block.count == static_cast<int64_t>(representatives.size()) &&
        factors.getRepresentatives(nodes[list.front()]).data() ==
            representatives.data()) {
      block.factors.push_back({list.front(), 1});
      dimension.push_back(std::move(block));
      continue;
    }
    // The positions that the factors imply, in order.
    std::vector<Representative> implied = {{0, 1}};
    int64_t stride = 1;
    for (unsigned factor : list) {
      std::vector<Representative> next;
      for (Representative major : implied)
        for (Representative minor : factors.getRepresentatives(nodes[factor]))
          next.push_back(
              {major.position * relation.extents[factor] + minor.position,
               major.weight * minor.weight});
      implied = std::move(next);
    }
    for (unsigned factor : llvm::reverse(list)) {
      block.factors.insert(block.factors.begin(), {factor, stride});
      stride *= factors.getRepresentatives(nodes[factor]).size();
    }
    auto isSame = [&](Representative left, Representative right) {
      return left.position + first == right.position &&
             left.weight == right.weight;
    };
    if (!block.isHole &&
        !llvm::equal(implied, representatives.slice(block.start, block.count),
                     isSame))
      return fail("the positions kept of a dimension are not those of its "
                  "factors");
    dimension.push_back(std::move(block));
    first += size;
  }
  return dimension;
}

LogicalResult DenseRelation::setUp(const DenseTensor &result) {
  isBound = relation.getBoundFactors();
  for (auto [expr, node] : llvm::zip_equal(
           relation.result, factors.getDimensions(op->getResult(0)))) {
    FailureOr<Dimension> dimension = resolve(expr, node);
    if (failed(dimension))
      return failure();
    dimensions.push_back(std::move(*dimension));
  }
  SmallVector<SmallVector<int64_t, 2>> bounds;
  for (const auto &sum : relation.axisSums)
    if (std::optional<unsigned> axis = factors.findAxis(sum.axis)) {
      sumAxes.push_back(*axis);
      bounds.push_back(sum.bounds);
    }
  for (const auto &read : relation.axisReads)
    if (std::optional<unsigned> axis = factors.findAxis(read.axis))
      if (!findOrdinal(factors.getRepresentatives(factors.getAxis(*axis)),
                       read.coordinate))
        return fail("a coordinate outside the small case is read");
  for (const auto &from : relation.accesses) {
    Value operand = op->getOperand(from.operand);
    Access access;
    access.tensor = tensors.find(operand);
    // Loops over coordinates have one stride.
    for (const auto &read : relation.axisFactors)
      if (std::optional<unsigned> axis = factors.findAxis(read.axis);
          axis && read.isRead && !access.tensor->axisClasses[*axis].empty())
        access.tensor =
            &expanded.emplace_back(expandAxis(*access.tensor, *axis));
    access.factors.resize(relation.extents.size());
    for (auto [expr, node] :
         llvm::zip_equal(from.dimensions, factors.getDimensions(operand))) {
      FailureOr<Dimension> dimension = resolve(expr, node);
      if (failed(dimension))
        return failure();
      access.dimensions.push_back(std::move(*dimension));
      expr.markFactors(access.factors);
    }
    auto axisSum = listAxisTerms(factors, *access.tensor, sumAxes, bounds);
    if (failed(axisSum))
      return fail("a sum has more than 2^63 terms");
    access.terms = std::move(*axisSum);
    accesses.push_back(std::move(access));
  }
  return setUpPositions();
}

LogicalResult DenseRelation::setUpPositions() {
  // Groups compare as their last positions do.
  bool isNear = factors.isGrouped() && op->hasTrait<tv::ComparesPositions>();
  for (const auto &position : relation.positions) {
    PositionTable table;
    for (Representative entry :
         factors.getRepresentatives(nodes[position.factor])) {
      // Data never equals a position that stands for others.
      bool isBulk = entry.weight > 1 && !isNear;
      if (isBulk && position.use != PositionUse::Equality)
        return fail("a position that stands for others is compared");
      int64_t number = position.getNumber(entry.position);
      table.scalars.push_back(algebra.integer(isBulk ? -1 - number : number));
    }
    positions.push_back(std::move(table));
  }
  return success();
}

DenseRelation::Loop DenseRelation::makeLoop(unsigned factor) const {
  Loop loop;
  loop.factor = factor;
  loop.representatives = factors.getRepresentatives(nodes[factor]);
  for (const Access *access : present) {
    int64_t total = 0;
    for (auto [dimension, stride] :
         llvm::zip_equal(access->dimensions, access->tensor->dimensionStrides))
      for (const Block &block : dimension)
        for (auto [number, inner] : block.factors)
          if (number == factor)
            total += inner * stride;
    for (const auto &read : relation.axisFactors)
      if (read.isRead && read.factor == factor)
        if (std::optional<unsigned> axis = factors.findAxis(read.axis))
          total += access->tensor->axisStrides[*axis];
    loop.strides.push_back(total);
  }
  return loop;
}

LogicalResult DenseRelation::findPresent(const llvm::BitVector &bound,
                                         llvm::BitVector &reduced) {
  present.clear();
  bases.clear();
  for (const Access &access : accesses) {
    llvm::BitVector used = access.factors;
    used &= isBound;
    used.reset(bound);
    if (used.any())
      continue;
    present.push_back(&access);
    used = access.factors;
    used.reset(isBound);
    reduced |= used;
    int64_t base = 0;
    for (auto [dimension, stride] :
         llvm::zip_equal(access.dimensions, access.tensor->dimensionStrides)) {
      unsigned blocks = llvm::count_if(
          dimension, [](const Block &block) { return !block.isHole; });
      if (blocks != 1)
        return fail("an operand is read through a hole or at several places");
      const Block *block = llvm::find_if(
          dimension, [](const Block &candidate) { return !candidate.isHole; });
      base += block->start * stride;
    }
    bases.push_back(base);
  }
  return success();
}

void DenseRelation::makeResultLoops(ArrayRef<unsigned> choice,
                                    const DenseTensor &result) {
  resultBase = 0;
  resultLoops.clear();
  for (auto [i, dimension, number] : llvm::enumerate(dimensions, choice)) {
    int64_t stride = result.dimensionStrides[i];
    // One position stands for all.
    if (stride == 0)
      continue;
    resultBase += dimension[number].start * stride;
    for (auto [factor, inner] : dimension[number].factors) {
      resultLoops.push_back(makeLoop(factor));
      resultLoops.back().resultStride = inner * stride;
    }
    // A hole has positions, but no factor to loop over them.
    if (dimension[number].isHole) {
      Loop loop;
      loop.factor = relation.extents.size();
      loop.representatives =
          factors.getRepresentatives(factors.getDimensions(op->getResult(0))[i])
              .slice(dimension[number].start, dimension[number].count);
      loop.resultStride = stride;
      loop.strides.assign(present.size(), 0);
      resultLoops.push_back(std::move(loop));
    }
  }
}

LogicalResult DenseRelation::chooseBlocks(ArrayRef<unsigned> choice,
                                          const DenseTensor &result) {
  llvm::BitVector bound(relation.extents.size());
  for (auto [dimension, number] : llvm::zip_equal(dimensions, choice))
    for (auto [factor, stride] : dimension[number].factors) {
      if (bound.test(factor))
        return fail("two dimensions of a result have the same factor");
      bound.set(factor);
    }
  // Those that are coordinates of the result are part of the place.
  ownLoops.clear();
  for (const auto &own : relation.axisFactors)
    if (!own.isRead)
      bound.set(own.factor);
  llvm::BitVector reduced(relation.extents.size());
  if (failed(findPresent(bound, reduced)))
    return failure();
  makeResultLoops(choice, result);
  for (const auto &own : relation.axisFactors)
    if (std::optional<unsigned> axis = factors.findAxis(own.axis);
        axis && !own.isRead)
      ownLoops.push_back({*axis, makeLoop(own.factor)});
  reducedLoops.clear();
  for (unsigned factor : reduced.set_bits())
    reducedLoops.push_back(makeLoop(factor));
  for (const Loop &loop : reducedLoops)
    if (loop.representatives.empty())
      return fail("a sum has no terms");
  for (auto [table, position] :
       llvm::zip_equal(positions, relation.positions)) {
    table.loop = nullptr;
    for (const auto *loops : {&resultLoops, &reducedLoops})
      for (const Loop &loop : *loops)
        if (loop.factor == position.factor)
          table.loop = &loop;
    if (!table.loop)
      return fail("the position of a factor without a loop is used");
  }
  scalars.assign(present.size() + positions.size(), Scalar());
  return success();
}
