//===- DenseRelation.cpp - all elements of one op -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRelation.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace verify;

DenseRelation::DenseRelation(tv::SemanticsOpInterface op, uint64_t axes,
                             const FactorAnalysis &factors,
                             NumericAlgebra &algebra, RowAlgebra *rows,
                             const DenseTensors &tensors)
    : op(op), axes(axes), factors(factors), algebra(algebra), rows(rows),
      tensors(tensors), relation(factors.getRelation(op)),
      nodes(factors.getFactors(op)) {}

LogicalResult DenseRelation::fail(const Twine &reason) {
  failureReason = reason.str();
  return failure();
}

//===--- Loops ------------------------------------------------------------===//

Scalar DenseRelation::combineTerms(ArrayRef<WeightedScalar> list) {
  if (relation.combination == Combination::Sum)
    return algebra.sum(list);
  values.clear();
  for (const WeightedScalar &term : list)
    values.push_back(term.value);
  return relation.combination == Combination::Maximum
             ? algebra.maximum(values)
             : minimum(algebra, values);
}

void DenseRelation::flush(size_t &mark) {
  if (partial)
    terms.push_back({*partial, 1});
  Scalar next = algebra.keep(combineTerms(terms), mark);
  if (partial)
    algebra.release(*partial);
  partial = next;
  mark = algebra.mark();
  terms.clear();
}

void DenseRelation::addTerm(int64_t inner, int64_t weight) {
  for (size_t i = 0; i < present.size(); ++i) {
    const Access &access = *present[i];
    int64_t stride = reducedLoops.empty() ? 0 : reducedLoops.back().strides[i];
    const Scalar *element =
        access.tensor->elements.data() + offsets[i] + inner * stride;
    if (sumAxes.empty()) {
      scalars[i] = *element;
      continue;
    }
    axisTerms.clear();
    for (AxisTerm term : access.terms)
      axisTerms.push_back({element[term.offset], term.weight});
    scalars[i] = algebra.sum(axisTerms);
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    const Loop *loop = positions[i].loop;
    bool isInner = !reducedLoops.empty() && loop == &reducedLoops.back();
    scalars[present.size() + i] =
        positions[i].scalars[isInner ? inner : loop->ordinal];
  }
  terms.push_back({op.combine(algebra, scalars), weight});
}

Scalar DenseRelation::makeRow(size_t access, const Loop &loop, int64_t first) {
  int64_t stride = loop.strides[access];
  return rows->makeRow(present[access]->tensor->elements.data() +
                           offsets[access] + first * stride,
                       stride);
}

Scalar DenseRelation::makeRow(const PositionTable &table, const Loop &loop,
                              int64_t first) {
  bool isAlong = table.loop == &loop;
  return rows->makeRow(
      table.scalars.data() + (isAlong ? first : table.loop->ordinal), isAlong);
}

RowAlgebra::Elements
DenseRelation::computeBodies(const Loop &loop, int64_t first, int64_t count) {
  rows->reset(count);
  for (size_t i = 0; i < present.size(); ++i)
    scalars[i] = makeRow(i, loop, first);
  for (size_t i = 0; i < positions.size(); ++i)
    scalars[present.size() + i] = makeRow(positions[i], loop, first);
  return rows->get(op.combine(*rows, scalars));
}

void DenseRelation::addTerms(int64_t weight, size_t &mark) {
  ArrayRef<Representative> places = reducedLoops.back().representatives;
  bool atOnce = rows && sumAxes.empty() && places.size() >= rowLimit;
  for (size_t first = 0; first < places.size();) {
    size_t count =
        atOnce ? std::min(places.size() - first, termLimit - terms.size()) : 1;
    if (atOnce) {
      RowAlgebra::Elements bodies =
          computeBodies(reducedLoops.back(), static_cast<int64_t>(first),
                        static_cast<int64_t>(count));
      size_t before = terms.size();
      terms.resize(before + count);
      for (size_t i = 0; i < count; ++i)
        terms[before + i] = {bodies[i], weight * places[first + i].weight};
    } else {
      addTerm(static_cast<int64_t>(first), weight * places[first].weight);
    }
    if (terms.size() == termLimit)
      flush(mark);
    first += count;
  }
}

Scalar DenseRelation::computeElement() {
  size_t mark = algebra.mark();
  terms.clear();
  partial.reset();
  if (reducedLoops.empty()) {
    addTerm(0, 1);
    Scalar result = terms.front().value;
    if (relation.divisor != 1)
      result = algebra.divide(result, divisor);
    return algebra.keep(result, mark);
  }
  MutableArrayRef<Loop> outer = MutableArrayRef(reducedLoops).drop_back();
  bool isDone = false;
  while (!isDone) {
    int64_t weight = 1;
    for (const Loop &loop : outer)
      weight *= loop.representatives[loop.ordinal].weight;
    addTerms(weight, mark);
    isDone = true;
    for (Loop &loop : llvm::reverse(outer)) {
      auto [moved, isCarried] = loop.advance();
      for (size_t i = 0; i < present.size(); ++i)
        offsets[i] += moved * loop.strides[i];
      if (!isCarried) {
        isDone = false;
        break;
      }
    }
  }
  if (!terms.empty() || !partial)
    flush(mark);
  if (relation.divisor == 1)
    return *partial;
  size_t quotientMark = algebra.mark();
  Scalar result = algebra.keep(algebra.divide(*partial, divisor), quotientMark);
  algebra.release(*partial);
  return result;
}

void DenseRelation::moveToPlace(const MeshPlace &place) {
  // Axes that are read at one coordinate are part of the place.
  MeshPlace read = place;
  for (const auto &axisRead : relation.axisReads)
    if (std::optional<unsigned> axis = factors.findAxis(axisRead.axis))
      read.ordinals[*axis] =
          *findOrdinal(factors.getRepresentatives(factors.getAxis(*axis)),
                       axisRead.coordinate);
  // Axes that are summed are part of the terms.
  for (unsigned axis : sumAxes)
    read.ordinals[axis] = 0;
  // Loops run over those that are factors of the result.
  for (const auto &axisFactor : relation.axisFactors)
    if (std::optional<unsigned> axis = factors.findAxis(axisFactor.axis);
        axis && axisFactor.isRead)
      read.ordinals[*axis] = 0;
  offsets = bases;
  for (size_t i = 0; i < present.size(); ++i) {
    offsets[i] += present[i]->tensor->getOffset(read);
    for (const auto &[axis, loop] : ownLoops)
      offsets[i] += place.ordinals[axis] * loop.strides[i];
  }
  for (Loop &loop : resultLoops)
    loop.ordinal = 0;
  for (Loop &loop : reducedLoops)
    loop.ordinal = 0;
}

void DenseRelation::computeRow(int64_t offset, DenseTensor &result) {
  const Loop &row = resultLoops.back();
  auto size = static_cast<int64_t>(row.representatives.size());
  for (int64_t first = 0; first < size;) {
    int64_t count = std::min<int64_t>(size - first, termLimit);
    size_t mark = algebra.mark();
    RowAlgebra::Elements bodies = computeBodies(row, first, count);
    values.clear();
    for (int64_t i = 0; i < count; ++i)
      values.push_back(relation.divisor == 1
                           ? bodies[i]
                           : algebra.divide(bodies[i], divisor));
    rows->keepAll(values, mark);
    for (int64_t i = 0; i < count; ++i)
      result.elements[offset + (first + i) * row.resultStride] = values[i];
    first += count;
  }
}

void DenseRelation::runLoops(const MeshPlace &place, DenseTensor &result) {
  moveToPlace(place);
  int64_t offset = resultBase + result.getOffset(place);
  // Rows are computed at once where each element is one body.
  bool atOnce = rows && sumAxes.empty() && reducedLoops.empty() &&
                !resultLoops.empty() &&
                resultLoops.back().representatives.size() >= rowLimit;
  MutableArrayRef<Loop> loops = MutableArrayRef(resultLoops).drop_back(atOnce);
  while (true) {
    if (atOnce)
      computeRow(offset, result);
    else
      result.elements[offset] = computeElement();
    bool isDone = true;
    for (Loop &loop : llvm::reverse(loops)) {
      auto [moved, isCarried] = loop.advance();
      offset += moved * loop.resultStride;
      for (size_t i = 0; i < present.size(); ++i)
        offsets[i] += moved * loop.strides[i];
      if (!isCarried) {
        isDone = false;
        break;
      }
    }
    if (isDone)
      return;
  }
}

void DenseRelation::fillWithConstant(ArrayRef<MeshPlace> places,
                                     DenseTensor &result) {
  Scalar constant = computeElement();
  for (const MeshPlace &place : places) {
    SmallVector<int64_t> list = {resultBase + result.getOffset(place)};
    for (const Loop &loop : resultLoops) {
      SmallVector<int64_t> next;
      for (int64_t offset : list)
        for (size_t i = 0; i < loop.representatives.size(); ++i)
          next.push_back(offset + static_cast<int64_t>(i) * loop.resultStride);
      list = std::move(next);
    }
    for (int64_t offset : list)
      result.elements[offset] = algebra.keep(constant, algebra.mark());
  }
  algebra.release(constant);
}

LogicalResult DenseRelation::countSteps(int64_t places, int64_t &steps,
                                        int64_t stepLimit) {
  int64_t count = places, weight = 1;
  auto multiply = [&](int64_t by) {
    if (llvm::MulOverflow(count, by, count))
      count = INT64_MAX;
  };
  for (const Loop &loop : resultLoops)
    multiply(loop.representatives.size());
  for (const Loop &loop : reducedLoops) {
    multiply(loop.representatives.size());
    int64_t largest = 1;
    for (Representative entry : loop.representatives)
      largest = std::max(largest, entry.weight);
    if (llvm::MulOverflow(weight, largest, weight))
      return fail("a sum has more than 2^63 terms");
  }
  // The terms of each operand are added up by themselves.
  int64_t added = 1;
  for (const Access *access : present)
    added += access->terms.size() + 1;
  if (!sumAxes.empty())
    multiply(added);
  if (llvm::AddOverflow(steps, count, steps) || steps > stepLimit)
    return fail("the execution takes more than " + Twine(stepLimit) + " steps");
  return success();
}

LogicalResult DenseRelation::execute(ArrayRef<MeshPlace> places,
                                     DenseTensor &result, int64_t &steps,
                                     int64_t stepLimit) {
  for (const Access *access : present)
    if (!access->tensor->starts.empty())
      return fail("an operand is kept in runs");
  if (failed(countSteps(places.size(), steps, stepLimit)))
    return failure();
  if (present.empty() && positions.empty())
    fillWithConstant(places, result);
  else
    for (const MeshPlace &place : places)
      runLoops(place, result);
  return success();
}

LogicalResult DenseRelation::run(DenseTensor &result, int64_t &steps,
                                 int64_t stepLimit) {
  llvm::scope_exit leave([&] {
    for (PositionTable &table : positions)
      for (Scalar scalar : table.scalars)
        algebra.release(scalar);
    if (relation.divisor != 1)
      algebra.release(divisor);
  });
  if (relation.divisor != 1)
    divisor = algebra.rational(relation.divisor);
  if (failed(setUp(result)))
    return failure();
  std::vector<MeshPlace> places = listPlaces(
      factors, axes, op->getAttrOfType<tv::DomainAttr>("domain"), &result);
  // Every choice of one block for each dimension of the result.
  SmallVector<unsigned> choice(dimensions.size(), 0);
  while (true) {
    bool isEmpty = false;
    for (auto [dimension, number] : llvm::zip_equal(dimensions, choice))
      isEmpty |= dimension[number].count == 0;
    if (!isEmpty) {
      if (failed(chooseBlocks(choice, result)) ||
          failed(execute(places, result, steps, stepLimit)))
        return failure();
    }
    size_t i = choice.size();
    while (i > 0 && ++choice[i - 1] == dimensions[i - 1].size())
      choice[--i] = 0;
    if (i == 0)
      break;
  }
  return success();
}
