//===- RunBodies.cpp - scalar bodies of many runs at once -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A body that is called for each run costs more in calls than in arithmetic.
// What bodies read is collected for many runs, and they are computed as a row.
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

using namespace mlir;
using namespace verify;

void RunRelation::collectBody() {
  for (size_t i = 0; i < present.size(); ++i) {
    const DenseTensor &tensor = *present[i]->tensor;
    bodies.operands[i].push_back(
        tensor.elements[areCursorsRight
                            ? cursors[i]
                            : tensor.findRun(offsets[i], cursors[i])]);
  }
  for (size_t i = 0; i < positions.size(); ++i)
    bodies.operands[present.size() + i].push_back(
        positions[i].scalars[positions[i].loop->ordinal]);
  ++stepCount;
}

void RunRelation::collectElement() {
  if (!termLoop)
    return collectBody();
  forEachPlace(outerReduced, [&] {
    if (stepCount > maximumSteps)
      return;
    int64_t weight = getWeight(outerReduced);
    auto collectTerms = [&](int64_t start, int64_t end) {
      collectBody();
      bodies.weights.push_back(weight *
                               (termWeights[end] - termWeights[start]));
    };
    auto count = static_cast<int64_t>(termLoop->representatives.size());
    if (walksTerms)
      return walk(*termLoop, 0, count, collectTerms);
    for (int64_t place = 0; place < count; ++place) {
      moveTo(*termLoop, place);
      collectTerms(place, place + 1);
    }
    moveTo(*termLoop, 0);
  });
  bodies.lasts.push_back(bodies.weights.size());
}

void RunRelation::collectRun(int64_t start, int64_t end) {
  if (!bodies.ends.empty() && bodies.ends.back() != start)
    flushBodies();
  if (bodies.ends.empty()) {
    bodies.start = start;
    bodies.operands.resize(present.size() + positions.size());
  }
  collectElement();
  bodies.ends.push_back(end);
  if (bodies.operands.empty() || bodies.operands.front().size() >= termLimit)
    flushBodies();
}

void RunRelation::flushBodies() {
  if (bodies.ends.empty())
    return;
  size_t count = bodies.ends.size();
  rows->reset(bodies.operands.empty() ? count : bodies.operands.front().size());
  SmallVector<Scalar, 4> operands;
  for (const std::vector<Scalar> &operand : bodies.operands)
    operands.push_back(rows->makeRow(operand.data(), 1));
  Scalar row = op.combine(*rows, operands);
  if (termLoop) {
    sums.resize(count);
    rows->sumParts(row, bodies.weights, bodies.lasts, sums);
    rows->reset(count);
    row = rows->makeRow(sums.data(), 1);
  }
  if (relation.divisor != 1)
    row = rows->divide(row, rows->makeRow(&divisor, 0));
  RowAlgebra::Elements results = rows->get(row);
  if (results.stride == 1 && isResultLong) {
    builder.addRuns(bodies.start, bodies.ends, ArrayRef(results.first, count));
  } else {
    int64_t start = bodies.start;
    for (size_t i = 0; i < count; ++i) {
      store(start, bodies.ends[i] - start, results[i]);
      start = bodies.ends[i];
    }
  }
  for (std::vector<Scalar> &operand : bodies.operands)
    operand.clear();
  bodies.weights.clear();
  bodies.lasts.clear();
  bodies.ends.clear();
  isTooCostly |= builder.isFull() || stepCount > maximumSteps;
}

void RunRelation::walkRow(int64_t offset, int64_t number, int64_t count) {
  int64_t size = rowLength / count, first = number * size;
  int64_t last = number + 1 < count ? first + size : rowLength;
  walk(*rowLoop, first, last, [&](int64_t start, int64_t end) {
    if (collectsBodies)
      return collectRun(offset + start, offset + end);
    rowCount = end - start;
    store(offset + start, rowCount, computeElement());
    isTooCostly |= builder.isFull() || stepCount > maximumSteps;
  });
}

void RunRelation::computeRepeatedRows(int64_t offset, int64_t first,
                                      int64_t last) {
  Loop &loop = *repeatedLoop;
  auto size = static_cast<int64_t>(rowLoop->representatives.size());
  first = std::max<int64_t>(first, 0);
  last = std::min(last, static_cast<int64_t>(loop.representatives.size()));
  if (first >= last)
    return;
  findEnds(loop, allReduced, repeatedEnds);
  int64_t start = 0;
  for (int64_t end : repeatedEnds) {
    int64_t from = std::max(start, first), to = std::min(end, last);
    start = end;
    if (from >= to || isTooCostly)
      continue;
    moveTo(loop, from);
    repeatCount = to - from;
    // The row that is repeated has to be the last one.
    if (repeatCount > 1)
      flushBodies();
    int64_t rowOffset = offset + from * loop.resultStride;
    computeRow(rowOffset);
    if (to > from + 1) {
      flushBodies();
      stepCount +=
          builder.repeat(rowOffset, size, loop.resultStride, to - from - 1);
    }
    isTooCostly |= builder.isFull() || stepCount > maximumSteps;
  }
  repeatCount = 1;
  moveTo(loop, 0);
}
