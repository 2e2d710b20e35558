//===- DenseDimensions.cpp - dimensions with the same elements ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is equal for all heads, say, is kept and computed once, as what is equal
// for devices is (DenseClasses.cpp). Only long values are kept so.
//
//===----------------------------------------------------------------------===//

#include "DenseParts.h"
#include "DenseRuns.h"

using namespace mlir;
using namespace verify;

/// Most runs of a value all of whose positions are there.
static constexpr size_t runLimit = size_t(1) << 22;
/// Most of these that are held for later, and most of their runs in all.
static constexpr size_t wholeLimit = 32, heldRunLimit = size_t(1) << 20;

/// The factors along which an operand of an op varies, or whose position it
/// uses.
static llvm::BitVector findVarying(Operation *op, const IndexRelation &relation,
                                   const DenseTensors &tensors) {
  llvm::BitVector varies(relation.extents.size());
  for (const auto &access : relation.accesses) {
    const DenseTensor &operand = *tensors.find(op->getOperand(access.operand));
    for (auto [dimension, stride] :
         llvm::zip_equal(access.dimensions, operand.dimensionStrides))
      if (stride != 0)
        dimension.markFactors(varies);
  }
  for (const auto &position : relation.positions)
    varies.set(position.factor);
  for (const auto &axis : relation.axisFactors)
    varies.set(axis.factor);
  return varies;
}

llvm::BitVector DenseEvaluator::findUniform(Operation *op) const {
  if (!usesRuns || !op || !isLong(factors, op->getResult(0)))
    return {};
  ArrayRef<FactorAnalysis::Node> nodes =
      factors.getDimensions(op->getResult(0));
  llvm::BitVector uniform(nodes.size());
  // The one position of a dimension may be any one of the reference.
  auto hasSeveral = [&](size_t number) {
    return factors.getRepresentatives(nodes[number]).size() > 1;
  };
  if (auto distributed = dyn_cast<tv::DistributeOp>(op)) {
    // Each dimension is part of one of the reference.
    const DenseTensor &reference = *tensors.find(distributed.getReference());
    for (auto [number, stride] : llvm::enumerate(reference.dimensionStrides))
      uniform[number] = stride == 0 && hasSeveral(number);
    return uniform;
  }
  if (!isa<tv::SemanticsOpInterface>(op) || factors.isOpaque(op))
    return {};
  const IndexRelation &relation = factors.getRelation(op);
  llvm::BitVector varies = findVarying(op, relation, tensors);
  for (auto [number, dimension] : llvm::enumerate(relation.result)) {
    // Parts of a concatenation are of different operands.
    if (dimension.getKind() == DimensionExpr::Kind::Concat ||
        dimension.getKind() == DimensionExpr::Kind::Hole)
      continue;
    llvm::BitVector used(varies.size());
    dimension.markFactors(used);
    uniform[number] = hasSeveral(number) && !used.anyCommon(varies);
  }
  return uniform;
}

/// Whether all parts of a layout stand for what the first of them does.
static bool areSame(NumericAlgebra &algebra, const DenseTensor &tensor,
                    PartLayout parts) {
  for (int64_t start = 0; start < tensor.size;
       start += parts.stride * parts.count) {
    int64_t end = start + parts.stride * parts.count;
    size_t first = tensor.findRun(start);
    if (tensor.getEnd(first) >= end)
      continue;
    // One run against one after the other.
    bool isOneRun = tensor.getEnd(first) >= start + parts.stride;
    for (int64_t at = start + parts.stride; at < end;) {
      int64_t count =
          isOneRun ? std::min(tensor.getEnd(tensor.findRun(at)), end) - at
                   : parts.stride;
      if (isOneRun
              ? !coversSame(algebra, tensor.elements[first], tensor.get(at))
              : !coversSame(algebra, tensor, start, at, count))
        return false;
      at += count;
    }
  }
  return true;
}

void DenseEvaluator::mergeDimensions(Value value, DenseTensor &tensor) {
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  // Outer ones first: then there is less to look at.
  for (unsigned number : getLayout(tensor)) {
    PartLayout parts = {
        tensor.dimensionStrides[number],
        static_cast<int64_t>(factors.getRepresentatives(nodes[number]).size())};
    if (parts.stride == 0 || parts.count < 2 ||
        !areSame(algebra, tensor, parts))
      continue;
    keepParts(tensor, parts, {0}, algebra);
    for (auto *strides : {&tensor.axisStrides, &tensor.dimensionStrides})
      for (int64_t &stride : *strides)
        if (stride > parts.stride)
          stride /= parts.count;
    tensor.dimensionStrides[number] = 0;
  }
}

/// Repeats each part of `size` elements `count` times; false if there would be
/// too many runs.
static bool repeatParts(DenseTensor &tensor, int64_t size, int64_t count) {
  std::vector<Scalar> elements;
  std::vector<int64_t> starts;
  int64_t offset = 0;
  std::optional<size_t> last;
  auto add = [&](size_t run, int64_t length) {
    if (last != run) {
      elements.push_back(tensor.elements[run]);
      starts.push_back(offset);
    }
    last = run;
    offset += length;
  };
  for (int64_t part = 0; part < tensor.size && elements.size() <= runLimit;
       part += size) {
    size_t first = tensor.findRun(part);
    if (tensor.getEnd(first) >= part + size) {
      add(first, size * count);
      continue;
    }
    for (int64_t copy = 0; copy < count && elements.size() <= runLimit;
         ++copy) {
      size_t run = first;
      for (int64_t at = part; at < part + size; ++run) {
        int64_t next = std::min(tensor.getEnd(run), part + size);
        add(run, next - at);
        at = next;
      }
    }
  }
  if (elements.size() > runLimit)
    return false;
  tensor.elements = std::move(elements);
  tensor.starts = std::move(starts);
  tensor.size = offset;
  if (static_cast<int64_t>(tensor.elements.size()) == tensor.size)
    tensor.starts.clear();
  return true;
}

const DenseTensor *
DenseEvaluator::getWhole(Value value, std::deque<DenseTensor> &storage,
                         const llvm::BitVector &uniform) const {
  const DenseTensor &tensor = *tensors.find(value);
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  auto count = [&](unsigned number) {
    return static_cast<int64_t>(
        factors.getRepresentatives(nodes[number]).size());
  };
  auto isMissing = [&](unsigned number) {
    return tensor.dimensionStrides[number] == 0 && count(number) > 1 &&
           (uniform.empty() || !uniform[number]);
  };
  if (llvm::none_of(llvm::seq<unsigned>(nodes.size()), isMissing))
    return &tensor;
  DenseTensor layout;
  layout.axisClasses = tensor.axisClasses;
  layOut(value, layout, uniform);
  DenseTensor &whole = storage.emplace_back(tensor);
  whole.isOwned = false;
  // Inner ones first: their parts are as they will be.
  SmallVector<unsigned, 4> order = getLayout(layout);
  for (unsigned number : llvm::reverse(order))
    if (isMissing(number) &&
        !repeatParts(whole, layout.dimensionStrides[number], count(number)))
      return nullptr;
  whole.dimensionStrides = layout.dimensionStrides;
  whole.axisStrides = layout.axisStrides;
  return &whole;
}

const DenseTensor *
DenseEvaluator::getWholeOnce(Value value, const llvm::BitVector &uniform) {
  for (const Whole &whole : wholes)
    if (whole.value == value && whole.uniform == uniform)
      return &whole.made.front();
  std::deque<DenseTensor> made;
  const DenseTensor *tensor = getWhole(value, made, uniform);
  if (!tensor || made.empty())
    return tensor;
  wholes.push_back({value, uniform, std::move(made)});
  return &wholes.back().made.front();
}

void DenseEvaluator::limitWholes() {
  if (wholesDropCount != tensors.getDropCount())
    wholes.clear();
  wholesDropCount = tensors.getDropCount();
  size_t runs = 0;
  for (const Whole &whole : wholes)
    runs += whole.made.front().elements.size();
  while (wholes.size() > wholeLimit || runs > heldRunLimit) {
    runs -= wholes.front().made.front().elements.size();
    wholes.pop_front();
  }
}
