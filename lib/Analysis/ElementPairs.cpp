//===- ElementPairs.cpp - both sides of an expect, by elements ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementPairs.h"

using namespace mlir;
using namespace verify;

/// Most scalars of a row, which stay in the cache of a core.
static constexpr size_t rowLimit = 512;
/// Fewest pairs that are not copied.
static constexpr int64_t leastRow = 16;

ElementPairs::ElementPairs(ArrayRef<Summand> summands,
                           const DenseTensor &reference,
                           ArrayRef<ArrayRef<Representative>> kept,
                           const MeshPlace &place,
                           ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
                           bool isInRuns, int64_t referenceStart)
    : summands(summands), reference(reference), kept(kept), mapped(mapped),
      layout(getLayout(*summands.front().tensor)), isInRuns(isInRuns),
      offset(referenceStart), places(kept.size()), index(kept.size()) {
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
  if (count > 0)
    for (unsigned i : layout)
      offset += mapped[i]->ordinals.front() * reference.dimensionStrides[i];
  if (!layout.empty() && reference.dimensionStrides[layout.back()] == 1)
    neighbours = mapped[layout.back()]->neighbours;
  findRows();
}

void ElementPairs::findRows() {
  int64_t block = 1;
  for (unsigned i : llvm::reverse(layout)) {
    auto size = static_cast<int64_t>(kept[i].size());
    if (size == 1)
      continue;
    if (reference.dimensionStrides[i] != block)
      return;
    rowDimension = i;
    rowBlock = block;
    if (mapped[i]->neighbours.front() != size)
      return;
    block *= size;
  }
}

bool ElementPairs::find() {
  while (at < count) {
    if (at < stretchEnd)
      return true;
    int64_t known = locate();
    if (known == at) {
      stretchEnd =
          at + (neighbours.empty() ? 1 : neighbours[places[layout.back()]]);
      return true;
    }
    at = known;
  }
  return false;
}

int64_t ElementPairs::locate() {
  int64_t moved = at - located, stride = 1, next = at;
  for (unsigned i : llvm::reverse(layout)) {
    const DimensionMap &map = *mapped[i];
    auto size = static_cast<int64_t>(kept[i].size());
    int64_t before = places[i], place = before + moved;
    moved = 0;
    if (place >= size) {
      moved = place < 2 * size ? 1 : place / size;
      place -= moved * size;
    }
    if (map.unknown[place] > 0)
      next = (at / stride + map.unknown[place]) * stride;
    offset += (map.ordinals[place] - map.ordinals[before]) *
              reference.dimensionStrides[i];
    places[i] = place;
    index[i] = kept[i][place].position;
    stride *= size;
    // What is further out stays where it was known.
    if (moved == 0 && isLocated)
      break;
  }
  located = at;
  isLocated = true;
  return next;
}

SmallVector<int64_t> ElementPairs::getIndex(int64_t pair) const {
  SmallVector<int64_t> other = index;
  int64_t rest = at + pair;
  for (unsigned i : llvm::reverse(layout)) {
    auto size = static_cast<int64_t>(kept[i].size());
    other[i] = kept[i][rest % size].position;
    rest /= size;
  }
  return other;
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

int64_t ElementPairs::countRow() const {
  if (!rowDimension)
    return 1;
  const DimensionMap &map = *mapped[*rowDimension];
  return map.neighbours[places[*rowDimension]] * rowBlock - at % rowBlock;
}

ElementPairs::Row ElementPairs::getRow() {
  int64_t count = countRow();
  if (count < leastRow)
    return {};
  const DenseTensor &tensor = *summands.front().tensor;
  int64_t start = starts.front() + at;
  size_t run = tensor.findRun(start, firstCursor);
  size_t referenceRun = reference.findRun(offset, referenceCursor);
  // Up to the first run that does not end where the other one does.
  size_t size = 1;
  auto isSame = [&](auto getStart, auto getReferenceStart) {
    size_t most = std::min(tensor.elements.size() - run,
                           reference.elements.size() - referenceRun);
    for (; size < most; ++size) {
      int64_t place = getStart(run + size) - start;
      if (place >= count ||
          getReferenceStart(referenceRun + size) - offset != place)
        return;
    }
  };
  auto isOwn = [](size_t run) { return static_cast<int64_t>(run); };
  auto withReference = [&](auto getStart) {
    if (reference.starts.empty())
      isSame(getStart, isOwn);
    else
      isSame(getStart, [&](size_t run) { return reference.starts[run]; });
  };
  if (tensor.starts.empty())
    withReference(isOwn);
  else
    withReference([&](size_t run) { return tensor.starts[run]; });
  if (size < leastRow)
    return {};
  Row row;
  row.references = ArrayRef(reference.elements).slice(referenceRun, size);
  row.firsts = ArrayRef(tensor.elements).slice(run, size);
  row.count = std::min({count, tensor.getEnd(run + size - 1) - start,
                        reference.getEnd(referenceRun + size - 1) - offset});
  if (!tensor.starts.empty())
    row.starts = ArrayRef(tensor.starts).slice(run, size);
  row.start = start;
  return row;
}

int64_t ElementPairs::readRow(std::vector<Scalar> &references,
                              std::vector<Scalar> &firsts,
                              std::vector<int64_t> &pairs) {
  const DenseTensor &tensor = *summands.front().tensor;
  int64_t start = starts.front() + at, count = countRow();
  size_t run = tensor.findRun(start, firstCursor);
  size_t referenceRun = reference.findRun(offset, referenceCursor);
  int64_t pair = 0;
  while (pair < count && pairs.size() < rowLimit) {
    firstCursor = run;
    referenceCursor = referenceRun;
    references.push_back(reference.elements[referenceRun]);
    firsts.push_back(tensor.elements[run]);
    pairs.push_back(pair);
    int64_t end = tensor.getEnd(run) - start;
    int64_t referenceEnd = reference.getEnd(referenceRun) - offset;
    pair = std::min(end, referenceEnd);
    run += end == pair;
    referenceRun += referenceEnd == pair;
  }
  return std::min(pair, count);
}
