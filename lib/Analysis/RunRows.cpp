//===- RunRows.cpp - elements of one op that all differ, at once ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where neighbours differ all along, runs do not help, and the scalar body is
// computed for a whole row of elements or of terms; or the runs of a row are
// the terms.
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

using namespace mlir;
using namespace verify;

Scalar RunRelation::computeBodies(const Loop &loop) {
  size_t count = loop.representatives.size();
  SmallVector<Scalar, 4> operands;
  spread.resize(present.size());
  for (size_t i = 0; i < present.size(); ++i) {
    const DenseTensor &tensor = *present[i]->tensor;
    int64_t stride = loop.strides[i];
    if (tensor.starts.empty()) {
      operands.push_back(makeRow(i, loop, 0));
      continue;
    }
    if (stride == 0) {
      size_t run = tensor.findRun(offsets[i], cursors[i]);
      operands.push_back(rows->makeRow(tensor.elements.data() + run, 0));
      continue;
    }
    // Runs of one element each lie as they are read.
    size_t first = tensor.findRun(offsets[i], cursors[i]);
    if (stride == 1 && first + count <= tensor.starts.size() &&
        tensor.starts[first + count - 1] ==
            offsets[i] + static_cast<int64_t>(count) - 1) {
      operands.push_back(rows->makeRow(tensor.elements.data() + first, 1));
      continue;
    }
    std::vector<Scalar> &elements = spread[i];
    elements.resize(count);
    for (size_t k = 0; k < count;) {
      int64_t place = offsets[i] + static_cast<int64_t>(k) * stride;
      size_t run = tensor.findRun(place, cursors[i]);
      size_t end = stride == 1 ? k + tensor.getEnd(run) - place : k + 1;
      for (end = std::min(end, count); k < end; ++k)
        elements[k] = tensor.elements[run];
    }
    operands.push_back(rows->makeRow(elements.data(), 1));
  }
  for (const PositionTable &table : positions)
    operands.push_back(makeRow(table, loop, 0));
  stepCount += static_cast<int64_t>(count);
  return op.combine(*rows, operands);
}

void RunRelation::computeRowAtOnce(int64_t offset) {
  size_t count = rowLoop->representatives.size();
  rowCount = termCount = 1;
  rows->reset(count);
  if (!termLoop)
    return storeRow(offset, computeBodies(*rowLoop));
  if (relation.combination == Combination::Sum)
    return computeRowOfSums(offset);
  // Rows in `spread` are read before they are overwritten.
  std::vector<std::vector<Scalar>> termRows;
  terms.clear();
  SmallVector<Loop *, 4> loops = outerReduced;
  loops.push_back(termLoop);
  forEachPlace(loops, [&] {
    rows->reset(count);
    RowAlgebra::Elements row = rows->get(computeBodies(*rowLoop));
    std::vector<Scalar> &kept = termRows.emplace_back(count);
    for (size_t i = 0; i < count; ++i)
      kept[i] = row[i];
    terms.push_back({Scalar(), getWeight(loops)});
  });
  std::vector<Scalar> row(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t term = 0; term < terms.size(); ++term)
      terms[term].value = termRows[term][i];
    row[i] = combineTerms(terms);
  }
  storeRow(offset, rows->makeRow(row.data(), 1));
}

void RunRelation::computeRowOfSums(int64_t offset) {
  size_t count = rowLoop->representatives.size();
  SmallVector<Loop *, 4> loops = outerReduced;
  loops.push_back(termLoop);
  sums.assign(count, algebra.integer(0));
  forEachPlace(loops, [&] {
    rows->reset(count);
    rows->addTo(sums, computeBodies(*rowLoop), getWeight(loops));
  });
  rows->reset(count);
  storeRow(offset, rows->makeRow(sums.data(), 1));
}

void RunRelation::storeRow(int64_t offset, Scalar row) {
  size_t count = rowLoop->representatives.size();
  if (relation.divisor != 1)
    row = rows->divide(row, rows->makeRow(&divisor, 0));
  RowAlgebra::Elements elements = rows->get(row);
  if (elements.stride == 1)
    return builder.addRow(offset, ArrayRef(elements.first, count));
  std::vector<Scalar> copy(count);
  for (size_t i = 0; i < count; ++i)
    copy[i] = elements[i];
  builder.addRow(offset, copy);
}

void RunRelation::addTermsAtOnce(int64_t weight, size_t &mark) {
  rows->reset(termLoop->representatives.size());
  RowAlgebra::Elements bodies = rows->get(computeBodies(*termLoop));
  ArrayRef<Representative> places = termLoop->representatives;
  for (size_t first = 0; first < places.size();) {
    size_t before = terms.size();
    size_t count = std::min(places.size() - first, termLimit - before);
    terms.resize(before + count);
    for (size_t i = 0; i < count; ++i)
      terms[before + i] = {bodies[first + i],
                           weight * places[first + i].weight};
    if (terms.size() == termLimit)
      flush(mark);
    first += count;
  }
}

void RunRelation::visitRowRuns(
    llvm::function_ref<void(int64_t, int64_t)> visit) {
  auto count = static_cast<int64_t>(rowLoop->representatives.size());
  bool isWalked = canWalk(*rowLoop);
  forEachPlace(allReduced, [&] {
    if (stepCount > maximumSteps)
      return;
    if (isWalked)
      return walk(*rowLoop, 0, count, visit);
    int64_t start = 0;
    findEnds(*rowLoop, {}, rowEnds);
    for (int64_t end : rowEnds) {
      moveTo(*rowLoop, start);
      visit(start, end);
      start = end;
    }
    moveTo(*rowLoop, 0);
  });
}

void RunRelation::computeTransposedSums(int64_t offset) {
  termCount = 1;
  auto count = static_cast<int64_t>(rowLoop->representatives.size());
  RangeSums sums(count);
  auto add = [&](int64_t start, int64_t end) {
    sums.add(start, end,
             static_cast<double>(getWeight(allReduced)) *
                 DoubleAlgebra::getDouble(computeBody()));
  };
  visitRowRuns(add);
  std::vector<Scalar> row = sums.getSums();
  rows->reset(row.size());
  storeRow(offset, rows->makeRow(row.data(), 1));
}

void RunRelation::sumRanges(RangeTerms &ranges, Scalar zero,
                            llvm::function_ref<void(int64_t, Scalar)> visit) {
  std::vector<Scalar> made;
  auto combine = [&](std::vector<WeightedScalar> &list) {
    size_t mark = algebra.mark();
    made.push_back(algebra.keep(combineTerms(list), mark));
    return made.back();
  };
  ranges.visit(combine, [&](int64_t number, std::optional<Scalar> sum) {
    visit(number, algebra.keep(sum.value_or(zero), algebra.mark()));
  });
  for (Scalar scalar : made)
    algebra.release(scalar);
}

void RunRelation::computeTransposedRow(int64_t offset) {
  if (rows && rows->mayKeepElements() && sumAxes.empty() &&
      relation.combination == Combination::Sum)
    return computeTransposedSums(offset);
  termCount = 1;
  RangeTerms sums(static_cast<int64_t>(rowLoop->representatives.size()));
  std::vector<Scalar> made;
  // What a mask leaves out of a sum.
  size_t before = algebra.mark();
  Scalar zero = algebra.keep(algebra.integer(0), before);
  bool skipsZeros = relation.combination == Combination::Sum;
  visitRowRuns([&](int64_t start, int64_t end) {
    rowCount = end - start;
    size_t mark = algebra.mark();
    Scalar body = algebra.keep(computeBody(), mark);
    made.push_back(body);
    if (!skipsZeros || body != zero)
      sums.add(start, end, {body, getWeight(allReduced)});
  });
  sumRanges(sums, zero, [&](int64_t number, Scalar sum) {
    store(offset + number, 1, divide(sum));
  });
  algebra.release(zero);
  for (Scalar scalar : made)
    algebra.release(scalar);
}
