//===- Boxes.cpp - parts of tensors in all dimensions ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Semantics/Boxes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace verify;

using Cuts = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// Where the boxes, and the tensor, begin or end.
static Cuts getCuts(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Box> boxes) {
  Cuts cuts;
  for (auto [dimension, size] : llvm::enumerate(shape)) {
    llvm::SmallVector<int64_t> &cut = cuts.emplace_back();
    cut = {0, size};
    for (const Box &box : boxes)
      cut.append({box[dimension].first, box[dimension].second});
    llvm::sort(cut);
    cut.erase(llvm::unique(cut), cut.end());
  }
  return cuts;
}

uint64_t verify::countCells(llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<Box> boxes) {
  uint64_t cells = 1;
  for (const auto &cut : getCuts(shape, boxes))
    cells = llvm::SaturatingMultiply<uint64_t>(cells, cut.size() - 1);
  return cells;
}

/// Whether `inner` lies in `outer`.
static bool isInside(const Box &inner, const Box &outer) {
  return llvm::all_of(llvm::zip_equal(inner, outer), [](const auto &pair) {
    const auto &[own, other] = pair;
    return other.first <= own.first && own.second <= other.second;
  });
}

std::optional<Box> verify::findUncovered(llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<Box> boxes) {
  Cuts cuts = getCuts(shape, boxes);
  llvm::SmallVector<size_t> places(shape.size(), 0);
  while (true) {
    Box cell;
    for (auto [place, cut] : llvm::zip_equal(places, cuts))
      cell.push_back({cut[place], cut[place + 1]});
    if (llvm::none_of(boxes,
                      [&](const Box &box) { return isInside(cell, box); }))
      return cell;
    size_t i = 0;
    while (i < places.size() && ++places[i] + 1 >= cuts[i].size())
      places[i++] = 0;
    if (i == places.size())
      return std::nullopt;
  }
}
