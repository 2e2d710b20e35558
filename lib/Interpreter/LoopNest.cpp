//===- LoopNest.cpp - executes one op on whole tensors --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/LoopNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

/// Most terms of a sum that are kept before they are added up.
static constexpr size_t termLimit = 1 << 16;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::vector<LoopNest::Block> LoopNest::listBlocks(const DimensionExpr &expr) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return {Block()};
  case DimensionExpr::Kind::Factor:
    return {{0, false, {{expr.getFactor(), 1}}}};
  case DimensionExpr::Kind::Hole:
    // A factor of its own, which no access mentions.
    extents.push_back(expr.getHoleSize());
    return {{0, true, {{static_cast<unsigned>(extents.size() - 1), 1}}}};
  case DimensionExpr::Kind::Concat: {
    std::vector<Block> blocks;
    int64_t start = 0;
    for (const DimensionExpr &child : expr.getChildren()) {
      for (Block &block : listBlocks(child)) {
        block.start += start;
        blocks.push_back(std::move(block));
      }
      start += child.getSize(relation.extents);
    }
    return blocks;
  }
  case DimensionExpr::Kind::Product: {
    std::vector<Block> blocks = {Block()};
    for (const DimensionExpr &child : expr.getChildren()) {
      int64_t size = child.getSize(relation.extents);
      std::vector<Block> minors = listBlocks(child), combined;
      for (const Block &major : blocks)
        for (const Block &minor : minors) {
          Block block = minor;
          block.start += major.start * size;
          block.isHole |= major.isHole;
          for (auto [factor, stride] : major.factors)
            block.factors.emplace_back(factor, stride * size);
          combined.push_back(std::move(block));
        }
      blocks = std::move(combined);
    }
    return blocks;
  }
  }
  llvm_unreachable("a dimension of no kind");
}

FailureOr<LoopNest> LoopNest::build(tv::SemanticsOpInterface op) {
  LoopNest nest(op);
  FailureOr<IndexRelation> relation = op.getIndexRelation();
  if (failed(relation))
    return failure();
  nest.relation = std::move(*relation);
  nest.extents.assign(nest.relation.extents.begin(),
                      nest.relation.extents.end());
  for (const DimensionExpr &expr : nest.relation.result)
    nest.resultBlocks.push_back(nest.listBlocks(expr));
  for (const IndexRelation::Access &access : nest.relation.accesses) {
    auto &dimensions = nest.accessBlocks.emplace_back();
    for (const DimensionExpr &expr : access.dimensions)
      dimensions.push_back(nest.listBlocks(expr));
  }
  // One part for each choice of a block in each dimension.
  SmallVector<unsigned> choice(nest.resultBlocks.size(), 0);
  while (true) {
    if (llvm::all_of(llvm::zip_equal(nest.resultBlocks, choice),
                     [](const auto &pair) {
                       return std::get<1>(pair) < std::get<0>(pair).size();
                     }) &&
        failed(nest.addPart(choice)))
      return failure();
    size_t i = choice.size();
    while (i > 0 && ++choice[i - 1] >= nest.resultBlocks[i - 1].size())
      choice[--i] = 0;
    if (i == 0)
      return nest;
  }
}

/// Strides of a row-major tensor.
static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

LogicalResult LoopNest::addAccess(Part &part, size_t slot,
                                  ArrayRef<Loop *> loopOf) const {
  size_t number = part.present[slot];
  const IndexRelation::Access &access = relation.accesses[number];
  SmallVector<int64_t> strides =
      getStrides(getShape(op->getOperand(access.operand)));
  int64_t &base = part.bases.emplace_back(0);
  for (auto [i, blocks] : llvm::enumerate(accessBlocks[number])) {
    auto block = llvm::find_if(blocks, [&](const Block &candidate) {
      return !candidate.isHole &&
             llvm::all_of(candidate.factors, [&](const auto &factor) {
               return loopOf[factor.first];
             });
    });
    if (block == blocks.end())
      return op->emitOpError("reads operand #")
             << access.operand << " through a hole";
    base += block->start * strides[i];
    for (auto [factor, stride] : block->factors)
      loopOf[factor]->strides[slot] += stride * strides[i];
  }
  return success();
}

LogicalResult LoopNest::addPart(ArrayRef<unsigned> choice) {
  Part &part = parts.emplace_back();
  SmallVector<int64_t> resultStrides = getStrides(getShape(op->getResult(0)));
  SmallVector<int64_t> strideOf(extents.size(), 0);
  llvm::SmallBitVector bound(extents.size()), inResult(extents.size());
  for (auto [i, blocks] : llvm::enumerate(resultBlocks)) {
    for (const Block &block : blocks)
      for (auto [factor, stride] : block.factors)
        inResult.set(factor);
    const Block &block = blocks[choice[i]];
    part.resultBase += block.start * resultStrides[i];
    for (auto [factor, stride] : block.factors) {
      if (bound.test(factor))
        return op->emitOpError("has a result with one factor twice");
      bound.set(factor);
      strideOf[factor] = stride * resultStrides[i];
    }
  }
  // An access is there if what it shares with the result is bound.
  llvm::SmallBitVector reduced(extents.size());
  for (auto [number, dimensions] : llvm::enumerate(accessBlocks)) {
    llvm::SmallBitVector used(extents.size());
    for (const std::vector<Block> &blocks : dimensions)
      for (const Block &block : blocks)
        if (!block.isHole)
          for (auto [factor, stride] : block.factors)
            used.set(factor);
    llvm::SmallBitVector shared = used;
    shared &= inResult;
    if (shared.test(bound))
      continue;
    part.present.push_back(number);
    used.reset(inResult);
    reduced |= used;
  }
  auto makeLoop = [&](unsigned factor) -> Loop {
    return {factor, extents[factor], strideOf[factor],
            SmallVector<int64_t, 4>(part.present.size(), 0)};
  };
  SmallVector<Loop *> loopOf(extents.size(), nullptr);
  for (unsigned factor : bound.set_bits())
    part.outer.push_back(makeLoop(factor));
  for (unsigned factor : reduced.set_bits())
    part.inner.push_back(makeLoop(factor));
  for (Loop &loop : part.outer)
    loopOf[loop.factor] = &loop;
  for (Loop &loop : part.inner)
    loopOf[loop.factor] = &loop;
  for (size_t slot = 0; slot < part.present.size(); ++slot)
    if (failed(addAccess(part, slot, loopOf)))
      return failure();
  for (const IndexRelation::Position &position : relation.positions)
    if (!loopOf[position.factor])
      return op->emitOpError("asks for a position that is not bound");
  return success();
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

int64_t LoopNest::countSteps(const Part &part) {
  int64_t steps = 1;
  for (const SmallVector<Loop, 4> *loops : {&part.outer, &part.inner})
    for (const Loop &loop : *loops)
      if (llvm::MulOverflow(steps, loop.extent, steps))
        return INT64_MAX;
  return steps;
}

int64_t LoopNest::countSteps() const {
  int64_t steps = 0;
  for (const Part &part : parts)
    if (llvm::AddOverflow(steps, countSteps(part), steps))
      return INT64_MAX;
  return steps;
}

TensorRef LoopNest::run(ArrayRef<TensorRef> operands, Workspace &workspace) {
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
    if (ArrayRef<int64_t>(operand->shape) !=
        cast<RankedTensorType>(value.getType()).getShape()) {
      op->emitOpError("is given an operand of another shape");
      return nullptr;
    }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::shared_ptr<Tensor> result =
      workspace.allocate(type.getShape(), op->getLoc());
  if (!result)
    return nullptr;
  current.assign(extents.size(), 0);
  for (const Part &part : parts)
    if (failed(runPart(part, operands, *result, workspace)))
      return nullptr;
  return result;
}

LogicalResult LoopNest::runPart(const Part &part, ArrayRef<TensorRef> operands,
                                Tensor &result, Workspace &workspace) {
  if (failed(workspace.countSteps(countSteps(part), op->getLoc())))
    return failure();
  bool isEmpty = llvm::any_of(
      part.outer, [](const Loop &loop) { return loop.extent == 0; });
  if (isEmpty)
    return success();
  bool hasTerms = llvm::all_of(
      part.inner, [](const Loop &loop) { return loop.extent != 0; });
  if (!hasTerms && relation.combination != Combination::Sum)
    return op->emitOpError("combines no elements");
  SmallVector<int64_t> offsets(part.bases);
  SmallVector<int64_t> index(part.outer.size(), 0);
  for (const Loop &loop : part.outer)
    current[loop.factor] = 0;
  NumericAlgebra &algebra = workspace.algebra;
  int64_t place = part.resultBase;
  while (true) {
    size_t mark = algebra.mark();
    result.elements[place] =
        algebra.keep(computeElement(part, operands, offsets, algebra), mark);
    size_t i = part.outer.size();
    for (; i > 0; --i) {
      const Loop &loop = part.outer[i - 1];
      bool isCarried = ++index[i - 1] == loop.extent;
      int64_t moved = isCarried ? 1 - loop.extent : 1;
      if (isCarried)
        index[i - 1] = 0;
      current[loop.factor] = index[i - 1];
      place += moved * loop.resultStride;
      for (auto [offset, stride] : llvm::zip_equal(offsets, loop.strides))
        offset += moved * stride;
      if (!isCarried)
        break;
    }
    if (i == 0)
      return success();
  }
}

Scalar LoopNest::combineTerms(NumericAlgebra &algebra) const {
  auto values = llvm::map_range(
      terms, [](const WeightedScalar &term) { return term.value; });
  switch (relation.combination) {
  case Combination::Maximum:
    return algebra.maximum(llvm::to_vector(values));
  case Combination::Minimum:
    return minimum(algebra, llvm::to_vector(values));
  case Combination::Sum:
    break;
  }
  return algebra.sum(terms);
}

Scalar LoopNest::computeElement(const Part &part, ArrayRef<TensorRef> operands,
                                SmallVectorImpl<int64_t> &offsets,
                                NumericAlgebra &algebra) {
  size_t count = part.present.size();
  scalars.resize(count + relation.positions.size());
  terms.clear();
  std::optional<Scalar> partial;
  auto addUp = [&]() {
    if (partial)
      terms.push_back({*partial, 1});
    partial = combineTerms(algebra);
    terms.clear();
  };
  auto combine = [&]() {
    for (size_t slot = 0; slot < count; ++slot)
      scalars[slot] = operands[relation.accesses[part.present[slot]].operand]
                          ->elements[offsets[slot]];
    for (auto [i, position] : llvm::enumerate(relation.positions))
      scalars[count + i] =
          algebra.integer(position.getNumber(current[position.factor]));
    return op.combine(algebra, scalars);
  };
  Scalar result;
  if (part.inner.empty()) {
    result = combine();
  } else {
    for (const Loop &loop : part.inner)
      current[loop.factor] = 0;
    bool isEmpty = llvm::any_of(
        part.inner, [](const Loop &loop) { return loop.extent == 0; });
    size_t i = isEmpty ? 0 : part.inner.size();
    while (i > 0) {
      terms.push_back({combine(), 1});
      if (terms.size() >= termLimit)
        addUp();
      // `current` and `offsets` are back at their start at the end.
      for (i = part.inner.size(); i > 0; --i) {
        const Loop &loop = part.inner[i - 1];
        bool isCarried = ++current[loop.factor] == loop.extent;
        int64_t moved = isCarried ? 1 - loop.extent : 1;
        if (isCarried)
          current[loop.factor] = 0;
        for (size_t slot = 0; slot < count; ++slot)
          offsets[slot] += moved * loop.strides[slot];
        if (!isCarried)
          break;
      }
    }
    if (!terms.empty() || !partial)
      addUp();
    result = *partial;
  }
  if (relation.divisor != 1)
    result = algebra.divide(result, algebra.rational(relation.divisor));
  return result;
}
