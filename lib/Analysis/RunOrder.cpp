//===- RunOrder.cpp - sums that depend on the order of a row --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many elements of a row are greater than each of them takes as many
// comparisons as there are pairs, or an order of the row. A router has hundreds
// of elements, for each token.
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace verify;

/// Fewer elements are compared in pairs.
static constexpr size_t orderLimit = 16;
/// Runs of a row whose elements are held before they are given on.
static constexpr size_t runsHeld = 256;
/// Steps that it takes to put an element in order and add up its terms, about.
static constexpr int64_t orderedSteps = 8;

//===--- Terms in order ---------------------------------------------------===//

bool OrderedTerms::holds(Comparison comparison, Scalar left, Scalar right) {
  NumericStatus before = algebra.status();
  algebra.clearStatus();
  size_t mark = algebra.mark();
  // One scalar may enclose two numbers, which need not be equal.
  if (left == right)
    right = algebra.add(right, algebra.rational(0));
  Scalar kept = algebra.keep(algebra.compare(comparison, left, right), mark);
  bool isTrue = algebra.toDouble(kept) != 0;
  algebra.release(kept);
  const NumericStatus &status = algebra.status();
  bool isKnown = !status.isUndecided && !status.isUndefined;
  algebra.clearStatus();
  algebra.addStatus(before);
  return isKnown && isTrue;
}

bool OrderedTerms::order(ArrayRef<Scalar> elements) {
  std::vector<double> numbers;
  for (Scalar element : elements)
    numbers.push_back(algebra.toDouble(element));
  if (llvm::any_of(numbers, [](double number) { return std::isnan(number); }))
    return false;
  sorted.resize(elements.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  llvm::stable_sort(sorted, [&](size_t left, size_t right) {
    return numbers[left] < numbers[right];
  });
  // What is known of neighbours is known of all.
  groups.assign(1, 0);
  for (size_t i = 1; i < sorted.size(); ++i) {
    Scalar left = elements[sorted[i - 1]], right = elements[sorted[i]];
    // Only what holds says something: what does not may be not known.
    if (holds(Comparison::Less, left, right))
      groups.push_back(i);
    else if (!holds(Comparison::LessEqual, left, right) ||
             !holds(Comparison::LessEqual, right, left))
      return false;
  }
  groups.push_back(sorted.size());
  return true;
}

Scalar OrderedTerms::add(Scalar sum, WeightedScalar term) {
  size_t mark = algebra.mark();
  Scalar more = algebra.keep(algebra.sum({{sum, 1}, term}), mark);
  algebra.release(sum);
  algebra.release(term.value);
  return more;
}

void OrderedTerms::sum(ArrayRef<Scalar> elements, ArrayRef<int64_t> weights,
                       Body body, std::vector<Scalar> &results) {
  results.resize(elements.size());
  size_t count = groups.size() - 1;
  auto makeZero = [&] {
    size_t mark = algebra.mark();
    return algebra.keep(algebra.integer(0), mark);
  };
  auto copy = [&](Scalar value) { return algebra.keep(value, algebra.mark()); };
  // The terms of a group, for elements of which one is `own`.
  auto addGroup = [&](Scalar sum, size_t group, std::optional<Scalar> own) {
    for (size_t i = groups[group]; i < groups[group + 1]; ++i) {
      size_t element = sorted[i], mark = algebra.mark();
      Scalar term =
          algebra.keep(body(element, own.value_or(elements[element])), mark);
      sum = add(sum, {term, weights[element]});
    }
    return sum;
  };
  // Of the groups after each, whose elements are greater.
  std::vector<Scalar> greater(count);
  greater.back() = makeZero();
  for (size_t group = count - 1; group-- > 0;)
    greater[group] = addGroup(copy(greater[group + 1]), group + 1,
                              elements[sorted[groups[group]]]);
  Scalar others = makeZero();
  for (size_t group = 0; group < count; ++group) {
    others = addGroup(others, group, std::nullopt);
    for (size_t i = groups[group]; i < groups[group + 1]; ++i)
      results[sorted[i]] = add(copy(others), {copy(greater[group]), 1});
  }
  for (Scalar sum : greater)
    algebra.release(sum);
  algebra.release(others);
}

//===--- Rows -------------------------------------------------------------===//

void RunRelation::findOrderedLoop() {
  orderedLoop = nullptr;
  if (!op->hasTrait<tv::ComparesOperands>() || !sumAxes.empty() ||
      !ownLoops.empty() || allReduced.size() != 1 ||
      present.size() != relation.accesses.size() ||
      relation.combination != Combination::Sum || relation.divisor != 1 ||
      present.size() < 2 || !haveOneTensor(*present[0], *present[1]) ||
      bases[0] != bases[1] || termLoop->representatives.size() < orderLimit)
    return;
  auto isAlike = [](Representative left, Representative right) {
    return left.position == right.position;
  };
  // What is compared, and what it is compared with, are the same elements.
  for (Loop &loop : resultLoops) {
    bool isOwn =
        loop.strides[0] != 0 && termLoop->strides[0] == 0 &&
        loop.strides[0] == termLoop->strides[1] &&
        llvm::all_of(ArrayRef(loop.strides).drop_front(),
                     [](int64_t stride) { return stride == 0; }) &&
        llvm::equal(loop.representatives, termLoop->representatives, isAlike);
    bool isShared = loop.strides[0] == loop.strides[1];
    if (isOwn && !orderedLoop)
      orderedLoop = &loop;
    else if (!isShared) {
      orderedLoop = nullptr;
      return;
    }
  }
  if (!orderedLoop)
    return;
  llvm::erase(outerLoops, orderedLoop);
  walksRows = false;
  repeatedLoop = nullptr;
}

void RunRelation::findOrderedEnds(const Loop &row) {
  auto count = static_cast<int64_t>(row.representatives.size());
  rowEnds.clear();
  auto isDense = [&](size_t i) {
    return row.strides[i] > 1 ||
           (row.strides[i] == 1 && present[i]->tensor->starts.empty());
  };
  if (llvm::any_of(llvm::seq<size_t>(0, present.size()), isDense)) {
    rowEnds.resize(count);
    std::iota(rowEnds.begin(), rowEnds.end(), 1);
    return;
  }
  forEachPlace({termLoop}, [&] {
    for (size_t i = 1; i < present.size(); ++i) {
      if (row.strides[i] == 0)
        continue;
      const DenseTensor &tensor = *present[i]->tensor;
      int64_t end = 0;
      for (size_t run = tensor.findRun(offsets[i], cursors[i]);
           (end = tensor.getEnd(run) - offsets[i]) < count; ++run)
        rowEnds.push_back(end);
    }
  });
  rowEnds.push_back(count);
  llvm::sort(rowEnds);
  rowEnds.erase(llvm::unique(rowEnds), rowEnds.end());
}

bool RunRelation::computeOrdered(std::vector<Scalar> &results) {
  size_t count = termLoop->representatives.size(), arity = present.size();
  // What the body reads of each element, the others after the first one.
  std::vector<Scalar> elements(count), read(count * arity);
  std::vector<int64_t> weights(count);
  for (size_t k = 0; k < count; ++k) {
    moveTo(*termLoop, static_cast<int64_t>(k));
    for (size_t i = 1; i < arity; ++i)
      read[k * arity + i] = present[i]->tensor->get(offsets[i], cursors[i]);
    elements[k] = read[k * arity + 1];
    weights[k] = termLoop->representatives[k].weight;
  }
  moveTo(*termLoop, 0);
  OrderedTerms terms(algebra);
  if (!terms.order(elements))
    return false;
  for (size_t i = 0; i < positions.size(); ++i)
    scalars[arity + i] = positions[i].scalars[positions[i].loop->ordinal];
  auto body = [&](size_t k, Scalar own) {
    scalars[0] = own;
    for (size_t i = 1; i < arity; ++i)
      scalars[i] = read[k * arity + i];
    return op.combine(algebra, scalars);
  };
  terms.sum(elements, weights, body, results);
  stepCount += orderedSteps * static_cast<int64_t>(count);
  return true;
}

void RunRelation::computeColumn(std::vector<Scalar> &results) {
  if (computeOrdered(results))
    return;
  results.clear();
  for (size_t k = 0; k < orderedLoop->representatives.size(); ++k) {
    moveTo(*orderedLoop, static_cast<int64_t>(k));
    results.push_back(computeElement());
  }
  moveTo(*orderedLoop, 0);
}

void RunRelation::computeOrderedRows(int64_t offset, int64_t number,
                                     int64_t count) {
  Loop *row = rowLoop == orderedLoop ? nullptr : rowLoop;
  if (row)
    findOrderedEnds(*row);
  else
    rowEnds.assign(1, 1);
  stepCount += static_cast<int64_t>(rowEnds.size());
  auto getStart = [&](size_t run) { return run == 0 ? 0 : rowEnds[run - 1]; };
  size_t size = rowEnds.size() / count, first = number * size;
  size_t last = number + 1 < count ? first + size : rowEnds.size();
  for (size_t next = first; next < last && !isTooCostly;) {
    size_t held = std::min(last - next, runsHeld);
    std::vector<std::vector<Scalar>> columns(held);
    for (size_t i = 0; i < held; ++i) {
      rowCount = rowEnds[next + i] - getStart(next + i);
      if (row)
        moveTo(*row, getStart(next + i));
      computeColumn(columns[i]);
    }
    for (size_t k = 0; k < orderedLoop->representatives.size(); ++k) {
      int64_t base =
          offset + static_cast<int64_t>(k) * orderedLoop->resultStride;
      for (size_t i = 0; i < held; ++i)
        store(base + getStart(next + i), rowEnds[next + i] - getStart(next + i),
              columns[i][k]);
    }
    next += held;
    checkCost();
  }
  if (row)
    moveTo(*row, 0);
}
