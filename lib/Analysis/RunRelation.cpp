//===- RunRelation.cpp - all elements of one op, run by run ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

/// Whether most places of a loop are the ends of runs.
template <typename Loop>
static bool isDense(ArrayRef<int64_t> ends, const Loop &loop) {
  return 2 * ends.size() > loop.representatives.size();
}

RunRelation::RunRelation(tv::SemanticsOpInterface op, uint64_t axes,
                         const FactorAnalysis &factors, NumericAlgebra &algebra,
                         RowAlgebra *rows, const DenseTensors &tensors,
                         size_t runLimit)
    : DenseRelation(op, axes, factors, algebra, rows, tensors),
      isResultLong(isLong(factors, op->getResult(0))),
      builder(algebra, runLimit, /*joins=*/isResultLong),
      comparesPositions(op->hasTrait<tv::ComparesPositions>()) {}

LogicalResult RunRelation::compute(DenseTensor &result, int64_t &steps,
                                   int64_t stepLimit) {
  return DenseRelation::run(result, steps, stepLimit);
}

LogicalResult RunRelation::take(RunRelation &later) {
  builder.take(later.builder);
  isTooCostly = builder.isFull();
  if (isTooCostly)
    return fail("the execution takes too many steps");
  return success();
}

LogicalResult RunRelation::finish(DenseTensor &result) {
  auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
  if (failed(builder.finish(result, domain && !domain.getSets().empty())))
    return fail("not every element is computed once");
  return success();
}

//===--- Loops ------------------------------------------------------------===//

void RunRelation::moveTo(Loop &loop, int64_t ordinal) {
  int64_t distance = ordinal - loop.ordinal;
  loop.ordinal = ordinal;
  for (size_t i = 0; i < present.size(); ++i)
    offsets[i] += distance * loop.strides[i];
}

void RunRelation::forEachPlace(ArrayRef<Loop *> loops,
                               llvm::function_ref<void()> visit) {
  while (true) {
    visit();
    bool isDone = true;
    for (Loop *loop : llvm::reverse(loops)) {
      int64_t next = loop->ordinal + 1;
      bool isCarried =
          next == static_cast<int64_t>(loop->representatives.size());
      moveTo(*loop, isCarried ? 0 : next);
      if (!isCarried) {
        isDone = false;
        break;
      }
    }
    if (isDone)
      return;
  }
}

LogicalResult RunRelation::execute(ArrayRef<MeshPlace> places,
                                   DenseTensor &result, int64_t &steps,
                                   int64_t stepLimit) {
  if (failed(plan()))
    return failure();
  stepCount = 0;
  auto total = static_cast<int64_t>(places.size());
  for (const Loop *loop : outerLoops)
    if (llvm::MulOverflow(
            total, static_cast<int64_t>(loop->representatives.size()), total))
      return fail("a tensor has more than 2^63 rows");
  // Of few rows each is cut.
  bool isCut = (walksRows || orderedLoop) && total < shareCount;
  int64_t parts = isCut ? shareCount : 1;
  total *= parts;
  // Rounded up, so that the first share is not empty.
  int64_t perShare = std::max<int64_t>(llvm::divideCeil(total, shareCount), 1);
  // Shares take about the same; one that takes twice as much is no reason yet.
  int64_t rest = stepLimit - steps, shares = llvm::divideCeil(total, perShare);
  maximumSteps = shares > 2 ? 2 * (rest / shares + 1) : rest;
  int64_t row = 0;
  if (repeatedLoop)
    outerLoops.pop_back();
  // All of it is of the first share.
  bool isShared = findSharedWeights(places);
  if (isShared)
    maximumSteps = rest;
  for (const MeshPlace &place : places) {
    moveToPlace(place);
    int64_t base = resultBase + result.getOffset(place);
    if (isShared) {
      if (share == 0)
        computeSharedRows(base);
      continue;
    }
    forEachPlace(outerLoops, [&] {
      int64_t offset = base;
      for (const Loop *loop : outerLoops)
        offset += loop->ordinal * loop->resultStride;
      if (repeatedLoop) {
        computeRepeatedRows(offset, share * perShare - row,
                            (share + 1) * perShare - row);
        row += static_cast<int64_t>(repeatedLoop->representatives.size());
        return;
      }
      for (int64_t part = 0; part < parts; ++part) {
        if (row++ / perShare != share || isTooCostly)
          continue;
        if (orderedLoop)
          computeOrderedRows(offset, part, parts);
        else if (walksRows)
          walkRow(offset, part, parts);
        else if (isTransposed)
          computeTransposedRow(offset);
        else
          computeRow(offset);
        checkCost();
      }
    });
  }
  flushBodies();
  steps += stepCount;
  if (isTooCostly)
    return fail("the execution takes too many steps");
  return success();
}

void RunRelation::findEnds(const Loop &loop, ArrayRef<Loop *> over,
                           std::vector<int64_t> &ends) {
  auto count = static_cast<int64_t>(loop.representatives.size());
  ends.clear();
  auto listAll = [&] {
    stepCount += count;
    ends.resize(count);
    for (int64_t i = 0; i < count; ++i)
      ends[i] = i + 1;
  };
  for (const PositionTable &table : positions) {
    if (table.loop != &loop)
      continue;
    if (!comparesPositions)
      return listAll();
    // Where the position passes another one.
    for (const PositionTable &other : positions) {
      if (other.loop == &loop)
        continue;
      int64_t position =
          other.loop->representatives[other.loop->ordinal].position;
      for (int64_t from : {position, position + 1}) {
        int64_t place = llvm::lower_bound(loop.representatives, from,
                                          [](Representative entry, int64_t to) {
                                            return entry.position < to;
                                          }) -
                        loop.representatives.begin();
        if (place > 0)
          ends.push_back(place);
      }
    }
  }
  for (size_t i = 0; i < present.size(); ++i) {
    if (loop.strides[i] == 0)
      continue;
    if (loop.strides[i] != 1)
      return listAll();
    const DenseTensor &tensor = *present[i]->tensor;
    if (tensor.starts.empty())
      return listAll();
    SmallVector<Loop *> relevant;
    for (Loop *each : over)
      if (each->strides[i] != 0)
        relevant.push_back(each);
    forEachPlace(relevant, [&] {
      for (AxisTerm term : present[i]->terms) {
        int64_t start = offsets[i] + term.offset, end = 0;
        auto before = static_cast<std::ptrdiff_t>(ends.size());
        for (size_t run = tensor.findRun(start);
             (end = tensor.getEnd(run)) < start + count; ++run)
          ends.push_back(end - start);
        std::inplace_merge(ends.begin(), ends.begin() + before, ends.end());
      }
    });
  }
  ends.push_back(count);
  ends.erase(llvm::unique(ends), ends.end());
  stepCount += static_cast<int64_t>(ends.size());
}

void RunRelation::walk(Loop &loop, int64_t first, int64_t last,
                       llvm::function_ref<void(int64_t, int64_t)> visit) {
  moveTo(loop, first);
  /// An access that moves, the end of the run it is in, and of those after it.
  struct Reader {
    size_t *cursor;
    int64_t end, base, size;
    ArrayRef<int64_t> rest;
  };
  SmallVector<Reader, 4> readers;
  areCursorsRight = sumAxes.empty();
  for (size_t i = 0; i < present.size(); ++i) {
    const Access &access = *present[i];
    // Several terms, of a sum over axes, are looked up, and stay the same.
    if (access.terms.size() != 1)
      continue;
    const DenseTensor &tensor = *access.tensor;
    int64_t offset = offsets[i] + access.terms.front().offset;
    size_t run = tensor.findRun(offset, cursors[i]);
    if (loop.strides[i] == 0)
      continue;
    int64_t base = offset - first;
    readers.push_back({&cursors[i], tensor.getEnd(run) - base, base,
                       tensor.size,
                       ArrayRef(tensor.starts).drop_front(run + 1)});
  }
  for (int64_t start = first, end = last; start < last && !isTooCostly;
       start = end) {
    end = last;
    for (const Reader &reader : readers)
      end = std::min(end, reader.end);
    // Else only equal scalars of two accesses ask where they are.
    if (!areCursorsRight || !pairs.empty())
      moveTo(loop, start);
    ++stepCount;
    visit(start, end);
    if (end == last)
      break;
    for (Reader &reader : readers) {
      if (reader.end != end)
        continue;
      ++*reader.cursor;
      reader.rest = reader.rest.drop_front();
      reader.end = (reader.rest.empty() ? reader.size : reader.rest.front()) -
                   reader.base;
    }
  }
  areCursorsRight = false;
  moveTo(loop, 0);
}

//===--- Elements ---------------------------------------------------------===//

bool RunRelation::isOneElement(const Pair &pair) const {
  return pair.haveOneTensor && offsets[pair.first] == offsets[pair.second] &&
         (rowCount == 1 || pair.moveAlikeInRow) &&
         (termCount == 1 || pair.moveAlikeInTerms) &&
         (repeatCount == 1 || pair.moveAlikeInRepeats);
}

Scalar RunRelation::computeBody() {
  for (size_t i = 0; i < present.size(); ++i) {
    const Access &access = *present[i];
    if (areCursorsRight) {
      scalars[i] = access.tensor->elements[cursors[i]];
      continue;
    }
    if (sumAxes.empty()) {
      scalars[i] = access.tensor->get(offsets[i], cursors[i]);
      continue;
    }
    axisTerms.clear();
    for (AxisTerm term : access.terms)
      axisTerms.push_back(
          {access.tensor->get(offsets[i] + term.offset, cursors[i]),
           term.weight});
    scalars[i] = algebra.sum(axisTerms);
  }
  // One run holds many elements, which need not be equal: only where both are
  // the same element all along may an algebra take them for one value.
  for (const Pair &pair : pairs)
    if (scalars[pair.first] == scalars[pair.second] && !isOneElement(pair))
      scalars[pair.second] =
          algebra.add(scalars[pair.second], algebra.rational(0));
  for (size_t i = 0; i < positions.size(); ++i)
    scalars[present.size() + i] =
        positions[i].scalars[positions[i].loop->ordinal];
  ++stepCount;
  return op.combine(algebra, scalars);
}

int64_t RunRelation::getWeight(ArrayRef<Loop *> loops) {
  int64_t weight = 1;
  for (const Loop *loop : loops)
    weight *= loop->representatives[loop->ordinal].weight;
  return weight;
}

Scalar RunRelation::computeElement() {
  size_t mark = algebra.mark();
  termCount = 1;
  if (!termLoop)
    return divide(algebra.keep(computeBody(), mark));
  terms.clear();
  partial.reset();
  forEachPlace(outerReduced, [&] {
    if (stepCount > maximumSteps && partial)
      return;
    int64_t weight = getWeight(outerReduced), start = 0;
    if (walksTerms)
      return walk(*termLoop, 0, termLoop->representatives.size(),
                  [&](int64_t start, int64_t end) {
                    termCount = end - start;
                    terms.push_back(
                        {computeBody(),
                         weight * (termWeights[end] - termWeights[start])});
                    if (terms.size() == termLimit)
                      flush(mark);
                  });
    if (!areTermsDense)
      findEnds(*termLoop, {}, termEnds);
    if (areTermsDense || (mayTermsBeDense && isDense(termEnds, *termLoop)))
      return addTermsAtOnce(weight, mark);
    for (int64_t end : termEnds) {
      moveTo(*termLoop, start);
      termCount = end - start;
      terms.push_back(
          {computeBody(), weight * (termWeights[end] - termWeights[start])});
      if (terms.size() == termLimit)
        flush(mark);
      start = end;
    }
    moveTo(*termLoop, 0);
  });
  if (!terms.empty() || !partial)
    flush(mark);
  return divide(*partial);
}

Scalar RunRelation::divide(Scalar dividend) {
  if (relation.divisor == 1)
    return dividend;
  size_t mark = algebra.mark();
  Scalar quotient = algebra.keep(algebra.divide(dividend, divisor), mark);
  algebra.release(dividend);
  return quotient;
}

void RunRelation::store(int64_t offset, int64_t count, Scalar value) {
  if (isResultLong)
    return builder.add(offset, count, value);
  // Elements of short values are kept one by one.
  for (int64_t i = 0; i < count; ++i)
    builder.add(offset + i, 1,
                i + 1 < count ? algebra.keep(value, algebra.mark()) : value);
}

void RunRelation::computeRow(int64_t offset) {
  rowCount = 1;
  if (!rowLoop)
    return store(offset, 1, computeElement());
  // Rows that read the same places have the same runs.
  SmallVector<int64_t, 4> read;
  for (size_t i = 0; i < present.size(); ++i)
    if (rowLoop->strides[i] != 0)
      read.push_back(offsets[i]);
  if (comparesPositions || rowEnds.empty() || read != lastRead)
    findEnds(*rowLoop, allReduced, rowEnds);
  lastRead = std::move(read);
  if (mayRowsBeDense && isDense(rowEnds, *rowLoop))
    return computeRowAtOnce(offset);
  int64_t start = 0;
  for (int64_t end : rowEnds) {
    moveTo(*rowLoop, start);
    rowCount = end - start;
    if (collectsBodies)
      collectRun(offset + start, offset + end);
    else
      store(offset + start, end - start, computeElement());
    start = end;
  }
  moveTo(*rowLoop, 0);
}
