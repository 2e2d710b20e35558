//===- DimensionMaps.cpp - where claims find their elements ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimensionMaps.h"

#include "DenseRelation.h"

using namespace mlir;
using namespace verify;

/// Most places that are kept.
static constexpr size_t sizeLimit = size_t(1) << 22;

/// The places of a dimension, and which runs of them are unknown or follow each
/// other.
static DimensionMap makeMap(ArrayAttr dimension, const Coordinates &coordinates,
                            ArrayRef<Representative> reference,
                            ArrayRef<Representative> local,
                            const ElementEvaluator &elements) {
  DimensionMap map;
  std::optional<int64_t> ordinal;
  for (Representative entry : local) {
    int64_t wanted =
        elements.getReferencePosition(dimension, coordinates, entry.position);
    // Mostly the one after the last.
    auto next = static_cast<size_t>(ordinal.value_or(-1) + 1);
    if (next < reference.size() && reference[next].position == wanted)
      ordinal = static_cast<int64_t>(next);
    else
      ordinal = findOrdinal(reference, wanted);
    map.isComplete &= ordinal.has_value();
    map.ordinals.push_back(ordinal.value_or(-1));
  }
  map.unknown.resize(local.size());
  map.neighbours.assign(local.size(), 1);
  for (size_t i = local.size(); i-- > 0;) {
    bool hasNext = i + 1 < local.size();
    if (map.ordinals[i] < 0)
      map.unknown[i] = 1 + (hasNext ? map.unknown[i + 1] : 0);
    else if (hasNext && map.ordinals[i + 1] == map.ordinals[i] + 1)
      map.neighbours[i] = map.neighbours[i + 1] + 1;
  }
  return map;
}

std::shared_ptr<const DimensionMap> DimensionMaps::get(
    ArrayAttr dimension, const Coordinates &coordinates,
    ArrayRef<Representative> reference, ArrayRef<Representative> local,
    const ElementEvaluator &elements, const FactorAnalysis &factors) {
  auto getKey = [](const void *pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
  };
  // The lists of the analysis stay where they are.
  std::vector<uintptr_t> key = {getKey(dimension.getAsOpaquePointer()),
                                getKey(reference.data()), getKey(local.data())};
  for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
    if (factor.getAxis())
      key.push_back(static_cast<uintptr_t>(
          coordinates[*factors.findAxis(factor.getAxis().getValue())]));
  auto [found, isNew] = maps.try_emplace(std::move(key));
  if (isNew) {
    found->second = std::make_shared<DimensionMap>(
        makeMap(dimension, coordinates, reference, local, elements));
    size += local.size();
  }
  return found->second;
}

void DimensionMaps::trim() {
  if (size <= sizeLimit)
    return;
  maps.clear();
  size = 0;
}
