//===- DenseMovement.cpp - values that are given or handed on -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRelation.h"

using namespace mlir;
using namespace verify;

//===--- Values without an index relation ---------------------------------===//

LogicalResult DenseEvaluator::fill(Value value, DenseTensor &tensor) {
  Operation *op = value.getDefiningOp();
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
    Scalar &scalar = tensor.elements[offset];
    if (!op || isa<tv::InputOp>(op)) {
      scalar = source.input(value, index);
    } else if (isa<tv::UndefinedOp>(op)) {
      SmallVector<int64_t> place(factors.getAxisCount(), -1);
      place.append(index.begin(), index.end());
      scalar = source.undefined(op, place);
    } else if (std::optional<unsigned> number = factors.getOpaque(op)) {
      scalar = source.opaque(*number, value.getType(), index);
    } else {
      return fail("'" + op->getName().getStringRef() +
                  "' is not a graph-level op");
    }
  }
  return success();
}

FailureOr<SmallVector<std::vector<int64_t>>>
DenseEvaluator::getReferenceOffsets(tv::LineageAttr lineage,
                                    const Coordinates &coordinates,
                                    Value reference, Value local,
                                    bool skipsUnknown) {
  const DenseTensor &tensor = *tensors.find(reference);
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(local);
  SmallVector<std::vector<int64_t>> offsets(nodes.size());
  SmallVector<int64_t> index(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    ArrayRef<Representative> kept =
        factors.getRepresentatives(factors.getDimensions(reference)[i]);
    for (Representative entry : factors.getRepresentatives(nodes[i])) {
      index[i] = entry.position;
      std::optional<int64_t> ordinal = findOrdinal(
          kept, elements.getReferenceIndex(lineage, coordinates, index)[i]);
      if (!ordinal && !skipsUnknown)
        return fail("a position outside the small case is read");
      offsets[i].push_back(ordinal ? *ordinal * tensor.dimensionStrides[i]
                                   : -1);
    }
    index[i] = 0;
  }
  return offsets;
}

/// The sum of one offset for each dimension, at place `rest` of a tensor.
static int64_t addOffsets(ArrayRef<std::vector<int64_t>> offsets,
                          int64_t rest) {
  int64_t sum = 0;
  for (const std::vector<int64_t> &dimension : llvm::reverse(offsets)) {
    auto count = static_cast<int64_t>(dimension.size());
    sum += dimension[rest % count];
    rest /= count;
  }
  return sum;
}

LogicalResult DenseEvaluator::distribute(tv::DistributeOp op,
                                         DenseTensor &tensor) {
  const DenseTensor &reference = *tensors.find(op.getReference());
  uint64_t axes = elements.getVaryingAxes(op.getResult());
  std::vector<MeshPlace> places = listPlaces(factors, axes, {});
  int64_t count = tensor.size / static_cast<int64_t>(places.size());
  for (const MeshPlace &place : places) {
    auto offsets = getReferenceOffsets(op.getLineage(), place.coordinates,
                                       op.getReference(), op.getResult());
    if (failed(offsets))
      return failure();
    int64_t start = tensor.getOffset(place);
    for (int64_t i = 0; i < count; ++i)
      tensor.elements[start + i] = algebra.keep(
          reference.elements[addOffsets(*offsets, i)], algebra.mark());
  }
  tensor.isOwned = true;
  return success();
}
