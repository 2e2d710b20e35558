//===- RunPlan.cpp - how the loops of one op are run ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which loops are rows and terms, and where many elements are computed at once.
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

/// A loop over more places is long.
static constexpr size_t longLoop = 32;
/// Runs that are shorter on average are no reason to look for their ends.
static constexpr size_t shortRun = 4;
/// Most terms of each element of a row that is computed at once.
static constexpr int64_t rowTerms = 64;

bool RunRelation::isLongLoop(const Loop &loop) {
  return loop.representatives.size() > longLoop;
}

LogicalResult RunRelation::plan() {
  rowLoop = termLoop = nullptr;
  outerLoops.clear();
  outerReduced.clear();
  allReduced.clear();
  for (Loop &loop : resultLoops)
    if (!rowLoop && loop.resultStride == 1 && loop.representatives.size() > 1)
      rowLoop = &loop;
    else
      outerLoops.push_back(&loop);
  // Runs are found where elements are next to each other.
  auto getStride = [](const Loop &loop) {
    return loop.strides.empty() ? 0 : *llvm::max_element(loop.strides);
  };
  int64_t terms = 1;
  for (Loop &loop : reducedLoops) {
    allReduced.push_back(&loop);
    if (!termLoop ||
        (isLongLoop(loop) &&
         (!isLongLoop(*termLoop) || getStride(loop) < getStride(*termLoop))))
      termLoop = &loop;
    int64_t total = 0;
    for (Representative entry : loop.representatives)
      if (llvm::AddOverflow(total, entry.weight, total))
        return fail("a sum has more than 2^63 terms");
    if (llvm::MulOverflow(terms, total, terms))
      return fail("a sum has more than 2^63 terms");
  }
  for (Loop *loop : allReduced)
    if (loop != termLoop)
      outerReduced.push_back(loop);
  termWeights.assign(1, 0);
  if (termLoop)
    for (Representative entry : termLoop->representatives)
      termWeights.push_back(termWeights.back() + entry.weight);
  chooseWays();
  return success();
}

void RunRelation::chooseWays() {
  rowEnds.clear();
  isTransposed = false;
  if (rowLoop && isLongLoop(*rowLoop))
    for (Loop *loop : allReduced)
      for (size_t i = 0; i < present.size(); ++i)
        isTransposed |= isLongLoop(*loop) && loop->strides[i] != 0 &&
                        rowLoop->strides[i] == 1;
  cursors.assign(present.size(), 0);
  bool hasRows = rows && sumAxes.empty() && !comparesPositions;
  int64_t termPlaces = 1;
  for (const Loop *loop : allReduced)
    if (llvm::MulOverflow(termPlaces,
                          static_cast<int64_t>(loop->representatives.size()),
                          termPlaces))
      termPlaces = INT64_MAX;
  mayRowsBeDense =
      hasRows && rowLoop && isLongLoop(*rowLoop) && termPlaces <= rowTerms;
  mayTermsBeDense = hasRows && termLoop && isLongLoop(*termLoop);
  areTermsDense = mayTermsBeDense && endsEverywhere(*termLoop);
  walksRows = rowLoop && !termLoop && canWalk(*rowLoop);
  if (walksRows)
    extendRow();
  walksTerms = termLoop && canWalk(*termLoop);
  findRepeatedLoop(termPlaces);
  // Where terms may be long rows, these are computed at once.
  collectsBodies =
      rows && sumAxes.empty() && rowLoop &&
      (!termLoop ||
       (relation.combination == Combination::Sum &&
        (walksTerms || (!isLongLoop(*termLoop) && !comparesPositions))));
  findOrderedLoop();
  findPairs();
}

bool RunRelation::hasPosition(const Loop &loop) const {
  return llvm::any_of(positions,
                      [&](const auto &table) { return table.loop == &loop; });
}

void RunRelation::extendRow() {
  rowLength = static_cast<int64_t>(rowLoop->representatives.size());
  auto goesOn = [&](const Loop *loop) {
    return !hasPosition(*loop) && loop->resultStride == rowLength &&
           llvm::all_of(llvm::zip_equal(loop->strides, rowLoop->strides),
                        [&](auto strides) {
                          auto [outer, inner] = strides;
                          return outer == inner * rowLength;
                        });
  };
  for (Loop **found = nullptr;
       (found = llvm::find_if(outerLoops, goesOn)) != outerLoops.end();) {
    rowLength *= static_cast<int64_t>((*found)->representatives.size());
    outerLoops.erase(found);
  }
}

void RunRelation::findRepeatedLoop(int64_t termPlaces) {
  repeatedLoop = nullptr;
  if (!rowLoop || walksRows || isTransposed || outerLoops.empty() ||
      termPlaces > rowTerms)
    return;
  const Loop *loop = outerLoops.back();
  if (!isLongLoop(*loop) || hasPosition(*loop))
    return;
  for (size_t i = 0; i < present.size(); ++i)
    if (loop->strides[i] != 0 &&
        (loop->strides[i] != 1 || rowLoop->strides[i] != 0 ||
         present[i]->tensor->starts.empty()))
      return;
  repeatedLoop = outerLoops.back();
}

bool RunRelation::haveOneTensor(const Access &first,
                                const Access &second) const {
  if (first.tensor != second.tensor)
    return false;
  // What stands for all positions need not be equal at them.
  auto getDimensions = [&](const Access &access) {
    return ArrayRef(relation.accesses[&access - accesses.data()].dimensions);
  };
  return llvm::all_of(llvm::zip_equal(first.tensor->dimensionStrides,
                                      getDimensions(first),
                                      getDimensions(second)),
                      [](const auto &one) {
                        auto [stride, left, right] = one;
                        return stride != 0 || left == right;
                      });
}

void RunRelation::findPairs() {
  pairs.clear();
  auto moveAlike = [](const Loop *loop, size_t i, size_t k) {
    return loop && loop->strides[i] == loop->strides[k];
  };
  for (size_t i = 0; i < present.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      pairs.push_back({k, i, haveOneTensor(*present[i], *present[k]),
                       moveAlike(rowLoop, i, k), moveAlike(termLoop, i, k),
                       moveAlike(repeatedLoop, i, k)});
}

bool RunRelation::endsEverywhere(const Loop &loop) const {
  if (!comparesPositions && hasPosition(loop))
    return true;
  for (size_t i = 0; i < present.size(); ++i)
    if (loop.strides[i] != 0 &&
        (loop.strides[i] != 1 || present[i]->tensor->starts.empty()))
      return true;
  return false;
}

bool RunRelation::canWalk(const Loop &loop) const {
  if (hasPosition(loop))
    return false;
  for (size_t i = 0; i < present.size(); ++i) {
    const DenseTensor &tensor = *present[i]->tensor;
    bool isInOrder =
        loop.strides[i] == 1 && present[i]->terms.size() == 1 &&
        shortRun * tensor.starts.size() <= static_cast<size_t>(tensor.size) &&
        !tensor.starts.empty();
    if (loop.strides[i] != 0 && !isInOrder)
      return false;
  }
  return true;
}
