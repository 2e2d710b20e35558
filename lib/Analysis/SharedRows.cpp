//===- SharedRows.cpp - rows with weights in common -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights of attention are those of all features of a head, and often of
// all heads. Where what they are multiplied by is a few runs, rows of the
// result are made of as many sums of weights.
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

#include "Verify/Scalar/Terms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

/// Most runs of terms, and most rows in which they are looked for.
static constexpr size_t mostTermRuns = 16;
static constexpr int64_t mostRows = 4096;

/// The places of some loops together; INT64_MAX if they are more.
template <typename Loops> static int64_t countPlaces(const Loops &loops) {
  int64_t count = 1;
  for (const auto *loop : loops)
    if (llvm::MulOverflow(
            count, static_cast<int64_t>(loop->representatives.size()), count))
      return INT64_MAX;
  return count;
}

/// Whether the body of an op on two scalars is their product.
static bool isProduct(tv::SemanticsOpInterface op) {
  TermAlgebra terms;
  Scalar operands[] = {terms.atom(0, {}, ScalarSort::Real),
                       terms.atom(1, {}, ScalarSort::Real)};
  return op.combine(terms, operands) == product(terms, operands);
}

bool RunRelation::findSharedWeights(ArrayRef<MeshPlace> places) {
  shared.reset();
  // A repeated loop is none of the outer ones.
  if (relation.combination != Combination::Sum || !sumAxes.empty() ||
      !positions.empty() || relation.accesses.size() != 2 ||
      present.size() != 2 || !rowLoop || !isLongLoop(*rowLoop) ||
      allReduced.size() != 1 || !isLongLoop(*termLoop) || repeatedLoop ||
      !isProduct(op))
    return false;
  for (size_t weights : {0, 1}) {
    size_t values = 1 - weights;
    int64_t alongRow = rowLoop->strides[weights];
    int64_t alongTerms = termLoop->strides[weights];
    if (alongRow == 0 || alongTerms == 0 ||
        (alongRow == 1) == (alongTerms == 1) || rowLoop->strides[values] != 0 ||
        termLoop->strides[values] != 1 ||
        present[weights]->tensor->starts.empty() ||
        present[values]->tensor->starts.empty())
      continue;
    shared = {weights, values, {}, {}, {}, {}};
    for (Loop *loop : outerLoops)
      (loop->strides[weights] == 0 ? shared->inside : shared->outside)
          .push_back(loop);
    auto isNonNegative = [&](Scalar weight) {
      return algebra.isNonNegative(weight);
    };
    if (countPlaces(shared->inside) > 1 && findTermRuns(places) &&
        countPlaces(shared->inside) >
            static_cast<int64_t>(shared->ends.size()) &&
        llvm::all_of(present[weights]->tensor->elements, isNonNegative))
      return true;
    shared.reset();
  }
  return false;
}

bool RunRelation::findTermRuns(ArrayRef<MeshPlace> places) {
  auto count = static_cast<int64_t>(termLoop->representatives.size());
  SmallVector<Loop *, 4> relevant;
  for (Loop *loop : outerLoops)
    if (loop->strides[shared->values] != 0)
      relevant.push_back(loop);
  int64_t rowCount = countPlaces(relevant);
  if (rowCount > mostRows ||
      static_cast<int64_t>(places.size()) > mostRows / rowCount)
    return false;
  const DenseTensor &tensor = *present[shared->values]->tensor;
  std::vector<int64_t> &ends = shared->ends = {count};
  bool areFew = true;
  for (const MeshPlace &place : places) {
    moveToPlace(place);
    forEachPlace(relevant, [&] {
      int64_t start = offsets[shared->values], end = 0;
      for (size_t run = tensor.findRun(start);
           areFew && (end = tensor.getEnd(run) - start) < count; ++run) {
        auto next = llvm::lower_bound(ends, end);
        if (*next != end)
          ends.insert(next, end);
        areFew = ends.size() <= mostTermRuns;
      }
    });
  }
  return areFew;
}

void RunRelation::sumWeightsAlongTerms(Scalar zero) {
  const DenseTensor &tensor = *present[shared->weights]->tensor;
  auto rowPlaces = static_cast<int64_t>(rowLoop->representatives.size());
  for (int64_t number = 0; number < rowPlaces && !isTooCostly; ++number) {
    int64_t start =
        offsets[shared->weights] + number * rowLoop->strides[shared->weights];
    size_t run = tensor.findRun(start, cursors[shared->weights]);
    int64_t place = 0;
    for (auto [ofRun, end] : llvm::zip_equal(shared->sums, shared->ends)) {
      terms.clear();
      while (place < end) {
        int64_t runEnd = tensor.getEnd(run) - start;
        int64_t next = std::min(runEnd, end);
        if (tensor.elements[run] != zero)
          terms.push_back(
              {tensor.elements[run], termWeights[next] - termWeights[place]});
        place = next;
        run += runEnd == next;
        ++stepCount;
      }
      size_t mark = algebra.mark();
      ofRun.push_back(algebra.keep(algebra.sum(terms), mark));
    }
    checkCost();
  }
}

void RunRelation::visitWeightsAlongRow(
    int64_t first, int64_t end,
    llvm::function_ref<void(int64_t, int64_t, WeightedScalar)> visit) {
  const DenseTensor &tensor = *present[shared->weights]->tensor;
  auto rowPlaces = static_cast<int64_t>(rowLoop->representatives.size());
  for (int64_t place = first; place < end && !isTooCostly; ++place) {
    int64_t weight = termWeights[place + 1] - termWeights[place];
    int64_t offset =
        offsets[shared->weights] + place * termLoop->strides[shared->weights];
    size_t run = tensor.findRun(offset, cursors[shared->weights]);
    for (int64_t start = 0; start < rowPlaces; ++run) {
      int64_t next = std::min(tensor.getEnd(run) - offset, rowPlaces);
      visit(start, next, {tensor.elements[run], weight});
      start = next;
      ++stepCount;
    }
    checkCost();
  }
}

void RunRelation::sumWeightsAlongRow(Scalar zero) {
  auto rowPlaces = static_cast<int64_t>(rowLoop->representatives.size());
  int64_t first = 0;
  for (auto [ofRun, end] : llvm::zip_equal(shared->sums, shared->ends)) {
    if (rows && rows->mayKeepElements()) {
      RangeSums ranges(rowPlaces);
      visitWeightsAlongRow(
          first, end, [&](int64_t start, int64_t next, WeightedScalar term) {
            ranges.add(start, next,
                       static_cast<double>(term.weight) *
                           DoubleAlgebra::getDouble(term.value));
          });
      ofRun = ranges.getSums();
      first = end;
      continue;
    }
    RangeTerms ranges(rowPlaces);
    visitWeightsAlongRow(first, end,
                         [&](int64_t start, int64_t next, WeightedScalar term) {
                           if (term.value != zero)
                             ranges.add(start, next, term);
                         });
    first = end;
    sumRanges(ranges, zero, [&](int64_t, Scalar sum) { ofRun.push_back(sum); });
  }
}

void RunRelation::computeSharedRow(int64_t offset) {
  const DenseTensor &tensor = *present[shared->values]->tensor;
  SmallVector<Scalar, mostTermRuns> values;
  int64_t first = offsets[shared->values];
  for (int64_t end : shared->ends) {
    values.push_back(tensor.get(first, cursors[shared->values]));
    first = offsets[shared->values] + end;
  }
  size_t count = rowLoop->representatives.size();
  stepCount += static_cast<int64_t>(count * values.size());
  if (rows) {
    sums.assign(count, algebra.integer(0));
    SmallVector<Scalar, 2> operands(2);
    for (auto [value, weights] : llvm::zip_equal(values, shared->sums)) {
      rows->reset(count);
      operands[shared->weights] = rows->makeRow(weights.data(), 1);
      operands[shared->values] = rows->makeRow(&value, 0);
      rows->addTo(sums, op.combine(*rows, operands), 1);
    }
    rows->reset(count);
    return storeRow(offset, rows->makeRow(sums.data(), 1));
  }
  for (size_t number = 0; number < count; ++number) {
    size_t mark = algebra.mark();
    terms.clear();
    for (auto [value, weights] : llvm::zip_equal(values, shared->sums)) {
      scalars[shared->weights] = weights[number];
      scalars[shared->values] = value;
      terms.push_back({op.combine(algebra, scalars), 1});
    }
    store(offset + static_cast<int64_t>(number), 1,
          divide(algebra.keep(algebra.sum(terms), mark)));
  }
}

void RunRelation::sumWeights() {
  size_t mark = algebra.mark();
  Scalar zero = algebra.keep(algebra.integer(0), mark);
  shared->sums.assign(shared->ends.size(), {});
  if (termLoop->strides[shared->weights] == 1)
    sumWeightsAlongTerms(zero);
  else
    sumWeightsAlongRow(zero);
  algebra.release(zero);
}

void RunRelation::computeSharedRows(int64_t base) {
  forEachPlace(shared->outside, [&] {
    if (isTooCostly)
      return;
    sumWeights();
    forEachPlace(shared->inside, [&] {
      if (isTooCostly)
        return;
      int64_t offset = base;
      for (const Loop *loop : outerLoops)
        offset += loop->ordinal * loop->resultStride;
      computeSharedRow(offset);
      checkCost();
    });
    for (const std::vector<Scalar> &list : shared->sums)
      for (Scalar sum : list)
        algebra.release(sum);
  });
}
