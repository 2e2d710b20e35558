//===- DenseMovement.cpp - values that are given or handed on -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"
#include "DimensionMaps.h"

using namespace mlir;
using namespace verify;

/// Most runs of one value that is given.
static constexpr size_t runLimit = size_t(1) << 22;

//===--- Values without an index relation ---------------------------------===//

FailureOr<Scalar> DenseEvaluator::getSourceElement(Value value,
                                                   ArrayRef<int64_t> index) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<tv::InputOp>(op))
    return source.input(value, index);
  if (isa<tv::UndefinedOp>(op)) {
    SmallVector<int64_t> place(factors.getAxisCount(), -1);
    place.append(index.begin(), index.end());
    return source.undefined(op, place);
  }
  if (std::optional<unsigned> number = factors.getOpaque(op))
    return source.opaque(*number, value.getType(), index);
  return fail("'" + op->getName().getStringRef() + "' is not a graph-level op");
}

LogicalResult DenseEvaluator::fill(Value value, DenseTensor &tensor) {
  if (usesRuns && isLong(factors, value))
    return fillRuns(value, tensor);
  SmallVector<ArrayRef<Representative>> kept;
  for (FactorAnalysis::Node node : factors.getDimensions(value))
    kept.push_back(factors.getRepresentatives(node));
  SmallVector<int64_t> index(kept.size());
  for (int64_t offset = 0; offset < tensor.size; ++offset) {
    for (size_t i = 0; i < kept.size(); ++i) {
      int64_t ordinal = offset / tensor.dimensionStrides[i];
      index[i] =
          kept[i][ordinal % static_cast<int64_t>(kept[i].size())].position;
    }
    FailureOr<Scalar> scalar = getSourceElement(value, index);
    if (failed(scalar))
      return failure();
    tensor.elements[offset] = *scalar;
  }
  return success();
}

int64_t DenseEvaluator::getInputPosition(FactorAnalysis::Node node,
                                         int64_t position) const {
  if (!isLong(factors, node))
    return position;
  bool tellsLast = source.getLongPositions() == LongPositions::Last;
  auto [start, end] =
      factors.getBlock(node, position, /*mergesBlocks=*/tellsLast);
  if (tellsLast)
    return position == end - 1 ? position : start;
  // The first position of a block, or its second one for all others.
  return position == start ? start : start + 1;
}

LogicalResult DenseEvaluator::fillRuns(Value value, DenseTensor &tensor) {
  SmallVector<unsigned, 4> layout = getLayout(tensor);
  SmallVector<std::vector<int64_t>, 4> positions;
  for (FactorAnalysis::Node node : factors.getDimensions(value)) {
    positions.emplace_back();
    for (Representative entry : factors.getRepresentatives(node))
      positions.back().push_back(getInputPosition(node, entry.position));
  }
  RunBuilder builder(algebra, runLimit, /*joins=*/true);
  const std::vector<int64_t> &row = positions[layout.back()];
  auto rowSize = static_cast<int64_t>(row.size());
  // Where equal positions of a row end, which all rows have alike.
  std::vector<int64_t> ends(rowSize);
  for (int64_t i = rowSize; i-- > 0;)
    ends[i] = i + 1 < rowSize && row[i] == row[i + 1] ? ends[i + 1] : i + 1;
  SmallVector<int64_t> index(positions.size());
  for (int64_t offset = 0; offset < tensor.size;) {
    for (unsigned i : layout) {
      int64_t ordinal = offset / tensor.dimensionStrides[i];
      index[i] =
          positions[i][ordinal % static_cast<int64_t>(positions[i].size())];
    }
    FailureOr<Scalar> scalar = getSourceElement(value, index);
    if (failed(scalar))
      return failure();
    int64_t first = offset % rowSize, next = ends[first];
    builder.add(offset, next - first, algebra.keep(*scalar, algebra.mark()));
    offset += next - first;
    if (builder.isFull())
      return failTooCostly();
  }
  return builder.finish(tensor, /*allowsGaps=*/false);
}

FailureOr<SmallVector<std::shared_ptr<const DimensionMap>>>
DenseEvaluator::mapDimensions(tv::LineageAttr lineage,
                              const Coordinates &coordinates, Value reference,
                              Value local, bool skipsUnknown) {
  maps->trim();
  SmallVector<std::shared_ptr<const DimensionMap>> mapped;
  for (auto [dimension, from, to] : llvm::zip_equal(
           lineage.getDimensions(), factors.getDimensions(reference),
           factors.getDimensions(local))) {
    mapped.push_back(
        maps->get(dimension, coordinates, factors.getRepresentatives(from),
                  factors.getRepresentatives(to), elements, factors));
    if (!mapped.back()->isComplete && !skipsUnknown)
      return fail("a position outside the small case is read");
  }
  return mapped;
}

/// Where place `rest` of a value, whose dimensions have `layout`, is in a
/// reference with these strides.
static int64_t getOffset(ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
                         ArrayRef<int64_t> strides, ArrayRef<unsigned> layout,
                         int64_t rest) {
  int64_t offset = 0;
  for (unsigned dimension : llvm::reverse(layout)) {
    ArrayRef<int64_t> ordinals = mapped[dimension]->ordinals;
    auto count = static_cast<int64_t>(ordinals.size());
    offset += ordinals[rest % count] * strides[dimension];
    rest /= count;
  }
  return offset;
}

/// How many ordinals, from each one on, are each the next of the one before.
static std::vector<int64_t> countFollowing(ArrayRef<int64_t> ordinals) {
  std::vector<int64_t> following(ordinals.size(), 1);
  for (size_t i = ordinals.size(); i-- > 1;)
    if (ordinals[i - 1] + 1 == ordinals[i])
      following[i - 1] = following[i] + 1;
  return following;
}

LogicalResult DenseEvaluator::distributeRuns(
    const DenseTensor &reference,
    ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
    ArrayRef<unsigned> layout, int64_t start, int64_t count,
    RunBuilder &builder) {
  if (layout.empty()) {
    builder.add(start, count, algebra.keep(reference.get(0), algebra.mark()));
    return success();
  }
  ArrayRef<int64_t> ordinals = mapped[layout.back()]->ordinals;
  int64_t stride = reference.dimensionStrides[layout.back()];
  auto rowSize = static_cast<int64_t>(ordinals.size());
  std::vector<int64_t> following = countFollowing(ordinals);
  size_t cursor = 0;
  for (int64_t row = 0; row < count / rowSize; ++row) {
    int64_t base =
        getOffset(mapped, reference.dimensionStrides, layout.drop_back(), row);
    for (int64_t i = 0; i < rowSize;) {
      int64_t from = base + ordinals[i] * stride, length = 1;
      size_t run = reference.findRun(from, cursor);
      if (stride == 0)
        length = rowSize - i;
      else if (stride == 1)
        length = std::min(following[i], reference.getEnd(run) - from);
      builder.add(start + row * rowSize + i, length,
                  algebra.keep(reference.elements[run], algebra.mark()));
      if (builder.isFull())
        return failTooCostly();
      i += length;
    }
  }
  return success();
}

LogicalResult DenseEvaluator::distribute(tv::DistributeOp op,
                                         DenseTensor &tensor) {
  const DenseTensor &reference = *tensors.find(op.getReference());
  uint64_t axes = factors.getVaryingAxes(op.getResult());
  std::vector<MeshPlace> places = listPlaces(factors, axes, {});
  int64_t count = tensor.size / static_cast<int64_t>(places.size());
  bool isInRuns = usesRuns && isLong(factors, op.getResult());
  SmallVector<unsigned, 4> layout = getLayout(tensor);
  RunBuilder builder(algebra, runLimit, /*joins=*/true);
  for (const MeshPlace &place : places) {
    auto mapped = mapDimensions(op.getLineage(), place.coordinates,
                                op.getReference(), op.getResult());
    if (failed(mapped))
      return failure();
    int64_t start = tensor.getOffset(place);
    if (isInRuns) {
      if (failed(distributeRuns(reference, *mapped, layout, start, count,
                                builder)))
        return failure();
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      int64_t from = getOffset(*mapped, reference.dimensionStrides, layout, i);
      tensor.elements[start + i] =
          algebra.keep(reference.get(from), algebra.mark());
    }
  }
  tensor.isOwned = true;
  return isInRuns ? builder.finish(tensor, /*allowsGaps=*/false) : success();
}
