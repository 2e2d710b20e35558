//===- ElementPairs.cpp - both sides of an expect, by elements ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementPairs.h"

using namespace mlir;
using namespace verify;

ElementPairs::ElementPairs(ArrayRef<Summand> summands,
                           const DenseTensor &reference,
                           ArrayRef<ArrayRef<Representative>> kept,
                           const MeshPlace &place,
                           ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
                           bool isInRuns)
    : summands(summands), reference(reference), kept(kept), mapped(mapped),
      layout(getLayout(*summands.front().tensor)), isInRuns(isInRuns),
      index(kept.size()) {
  for (const Summand &summand : summands) {
    starts.push_back(summand.tensor->getOffset(place));
    cursors.append(summand.terms.size(), 0);
  }
  for (auto [i, positions] : llvm::enumerate(kept)) {
    count *= static_cast<int64_t>(positions.size());
    // What is left out of the layout stays there.
    index[i] = positions.empty() ? 0 : positions.front().position;
  }
  if (llvm::any_of(mapped, [](const auto &map) {
        return !map->unknown.empty() &&
               map->unknown.front() ==
                   static_cast<int64_t>(map->unknown.size());
      }))
    count = 0;
  if (!layout.empty() && reference.dimensionStrides[layout.back()] == 1)
    neighbours = mapped[layout.back()]->neighbours;
}

bool ElementPairs::find() {
  while (at < count) {
    if (at < stretchEnd)
      return true;
    int64_t known = locate();
    if (known == at) {
      stretchEnd = at + (neighbours.empty() ? 1 : neighbours[lastPlace]);
      return true;
    }
    at = known;
  }
  return false;
}

int64_t ElementPairs::locate() {
  int64_t rest = at, stride = 1, next = at;
  offset = 0;
  for (unsigned i : llvm::reverse(layout)) {
    const DimensionMap &map = *mapped[i];
    auto size = static_cast<int64_t>(kept[i].size());
    int64_t place = rest % size;
    if (i == layout.back())
      lastPlace = place;
    if (map.unknown[place] > 0)
      next = (at / stride + map.unknown[place]) * stride;
    offset += map.ordinals[place] * reference.dimensionStrides[i];
    index[i] = kept[i][place].position;
    rest /= size;
    stride *= size;
  }
  return next;
}

int64_t ElementPairs::countEqual() {
  if (!isInRuns)
    return 1;
  // Elements that follow in the same runs have the same enclosures.
  int64_t end = stretchEnd;
  size_t *cursor = cursors.begin();
  for (auto [start, summand] : llvm::zip_equal(starts, summands))
    for (AxisTerm term : summand.terms) {
      int64_t place = start + term.offset;
      const DenseTensor &tensor = *summand.tensor;
      end = std::min(end, tensor.getEnd(tensor.findRun(place + at, *cursor++)) -
                              place);
    }
  size_t run = reference.findRun(offset, referenceCursor);
  return std::min(end - at, reference.getEnd(run) - offset);
}
