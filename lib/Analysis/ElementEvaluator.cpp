//===- ElementEvaluator.cpp - single elements of a stage ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/ElementEvaluator.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/ScopeExit.h"

#include <functional>

using namespace mlir;
using namespace verify;

ElementSource::~ElementSource() = default;

/// Deepest chain of ops that is evaluated by recursion.
static constexpr unsigned depthLimit = 3000;
/// Most elements of a small case: more take longer than they are worth.
static constexpr size_t elementLimit = size_t(16) << 20;

ScalarSort verify::getSort(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (isa<tv::ExtendedType>(element))
    return ScalarSort::Extended;
  if (element.isInteger(1))
    return ScalarSort::Boolean;
  return element.isInteger() ? ScalarSort::Integer : ScalarSort::Real;
}

ElementEvaluator::ElementEvaluator(const FactorAnalysis &factors,
                                   ScalarAlgebra &algebra,
                                   ElementSource &source)
    : factors(factors), algebra(algebra), source(source) {}

ElementEvaluator::ValueState &ElementEvaluator::getState(Value value) {
  auto [found, isNew] = numbers.try_emplace(value, values.size());
  if (!isNew)
    return values[found->second];
  // States do not move.
  ValueState &state = values.emplace_back();
  state.varyingAxes = factors.getVaryingAxes(value);
  state.op = dyn_cast_or_null<tv::SemanticsOpInterface>(value.getDefiningOp());
  if (!state.op)
    return state;
  const IndexRelation &relation = factors.getRelation(state.op);
  unsigned count = relation.extents.size();
  llvm::BitVector isBound = relation.getBoundFactors(), reduced(count);
  for (const auto &access : relation.accesses) {
    llvm::BitVector used(count);
    for (const DimensionExpr &expr : access.dimensions)
      expr.markFactors(used);
    llvm::BitVector needed = used;
    needed &= isBound;
    used.reset(isBound);
    reduced |= used;
    state.accesses.push_back({&access,
                              {needed.set_bits_begin(), needed.set_bits_end()},
                              std::move(used)});
  }
  state.reduced.assign(reduced.set_bits_begin(), reduced.set_bits_end());
  for (const auto &axis : relation.axisReads)
    if (std::optional<unsigned> number = factors.findAxis(axis.axis))
      state.axisReads.push_back({*number, axis.coordinate});
  for (const auto &axis : relation.axisFactors)
    if (std::optional<unsigned> number = factors.findAxis(axis.axis))
      (axis.isRead ? state.readFactors : state.ownFactors)
          .push_back({*number, axis.factor});
  for (const auto &sum : relation.axisSums)
    if (std::optional<unsigned> number = factors.findAxis(sum.axis)) {
      state.sumAxes.push_back(*number);
      state.sumRanges.push_back(sum.bounds);
    }
  return state;
}

LogicalResult ElementEvaluator::fail(const Twine &reason) {
  if (failureReason.empty())
    failureReason = reason.str();
  return failure();
}

FailureOr<int64_t> ElementEvaluator::getPlace(Value value,
                                              const Coordinates &coordinates,
                                              ArrayRef<int64_t> index) {
  // Row-major, after the coordinates; one more value for those that do not
  // matter.
  int64_t place = 0;
  bool fits = true, isInside = true;
  auto append = [&](int64_t position, int64_t size) {
    isInside &= position >= 0 && position < size;
    fits &= !llvm::MulOverflow(place, size, place) &&
            !llvm::AddOverflow(place, position, place);
  };
  for (auto [axis, coordinate] : llvm::enumerate(coordinates))
    append(coordinate + 1, factors.getAxisSize(axis) + 1);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [position, size] : llvm::zip_equal(index, shape))
    append(position, size);
  if (!fits)
    return fail("a tensor has more than 2^63 elements");
  // Two elements must never share a number.
  if (!isInside)
    return fail("an element outside of a tensor is read");
  return place;
}

FailureOr<Scalar> ElementEvaluator::evaluate(Value value,
                                             const Coordinates &coordinates,
                                             ArrayRef<int64_t> index) {
  ValueState &state = getState(value);
  Coordinates relevant = coordinates;
  for (unsigned axis = 0; axis < relevant.size(); ++axis)
    if (!(state.varyingAxes >> axis & 1))
      relevant[axis] = -1;
  FailureOr<int64_t> place = getPlace(value, relevant, index);
  if (failed(place))
    return failure();
  if (auto found = state.known.find(*place); found != state.known.end())
    return found->second;
  // Only positions the analysis keeps may ever be read: anything else would
  // mean that dimensions are related which it did not relate.
  for (auto [node, position] :
       llvm::zip_equal(factors.getDimensions(value), index))
    if (factors.getWeight(node, position) == 0)
      return fail("a position outside the small case is read");
  if (depth >= depthLimit)
    return fail("the chain of ops is too long");
  if (++elementCount > elementLimit)
    return fail("the small case has more than " + Twine(elementLimit) +
                " elements");
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  FailureOr<Scalar> result;
  if (Operation *op = value.getDefiningOp(); op && !isa<tv::InputOp>(op))
    result = compute(op, state, relevant, index);
  else
    result = source.input(value, index);
  if (failed(result))
    return result;
  if (std::optional<std::string> reason =
          checkElement ? checkElement() : std::nullopt)
    return fail(*reason);
  state.known[*place] = *result;
  return result;
}

int64_t ElementEvaluator::getReferencePosition(ArrayAttr dimension,
                                               const Coordinates &coordinates,
                                               int64_t at) const {
  // Minor factors first, then put together major to minor.
  int64_t place = 1, position = 0;
  for (Attribute attribute : llvm::reverse(dimension.getValue())) {
    auto factor = cast<tv::DimensionFactorAttr>(attribute);
    if (factor.getAxis()) {
      unsigned axis = *factors.findAxis(factor.getAxis().getValue());
      position += coordinates[axis] * place;
      place *= factors.getAxisSize(axis);
      continue;
    }
    int64_t range = factor.getEnd() - factor.getStart();
    position += (factor.getStart() + at % range) * place;
    at /= range;
    place *= factor.getExtent();
  }
  return position;
}

SmallVector<int64_t>
ElementEvaluator::getReferenceIndex(tv::LineageAttr lineage,
                                    const Coordinates &coordinates,
                                    ArrayRef<int64_t> index) const {
  SmallVector<int64_t> result;
  for (auto [dimension, at] : llvm::zip_equal(lineage.getDimensions(), index))
    result.push_back(getReferencePosition(dimension, coordinates, at));
  return result;
}

FailureOr<Scalar> ElementEvaluator::compute(Operation *op,
                                            const ValueState &state,
                                            const Coordinates &coordinates,
                                            ArrayRef<int64_t> index) {
  if (auto distribute = dyn_cast<tv::DistributeOp>(op))
    return evaluate(
        distribute.getReference(), Coordinates(coordinates.size(), -1),
        getReferenceIndex(distribute.getLineage(), coordinates, index));
  if (isa<tv::UndefinedOp>(op)) {
    SmallVector<int64_t> place(coordinates.begin(), coordinates.end());
    place.append(index.begin(), index.end());
    return source.undefined(op, place);
  }
  if (std::optional<unsigned> number = factors.getOpaque(op))
    return source.opaque(*number, op->getResult(0).getType(), index);
  return computeRelation(state, coordinates, index);
}

/// Binds the factors of `expr` so that it gives `position`. False in a hole.
static bool bind(const DimensionExpr &expr, int64_t position,
                 ArrayRef<int64_t> extents, MutableArrayRef<int64_t> bound) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return true;
  case DimensionExpr::Kind::Hole:
    return false;
  case DimensionExpr::Kind::Factor:
    bound[expr.getFactor()] = position;
    return true;
  case DimensionExpr::Kind::Product:
    for (const DimensionExpr &child : llvm::reverse(expr.getChildren())) {
      int64_t size = child.getSize(extents);
      if (!bind(child, position % size, extents, bound))
        return false;
      position /= size;
    }
    return true;
  case DimensionExpr::Kind::Concat:
    for (const DimensionExpr &child : expr.getChildren()) {
      int64_t size = child.getSize(extents);
      if (position < size)
        return bind(child, position, extents, bound);
      position -= size;
    }
    return false;
  }
  return false;
}

/// The position `expr` has under `bound`; nullopt if a factor is not bound.
static std::optional<int64_t> locate(const DimensionExpr &expr,
                                     ArrayRef<int64_t> extents,
                                     ArrayRef<int64_t> bound) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return 0;
  case DimensionExpr::Kind::Hole:
    return std::nullopt;
  case DimensionExpr::Kind::Factor:
    if (bound[expr.getFactor()] < 0)
      return std::nullopt;
    return bound[expr.getFactor()];
  case DimensionExpr::Kind::Product: {
    int64_t position = 0;
    for (const DimensionExpr &child : expr.getChildren()) {
      std::optional<int64_t> minor = locate(child, extents, bound);
      if (!minor)
        return std::nullopt;
      position = position * child.getSize(extents) + *minor;
    }
    return position;
  }
  case DimensionExpr::Kind::Concat: {
    int64_t offset = 0;
    for (const DimensionExpr &child : expr.getChildren()) {
      if (std::optional<int64_t> position = locate(child, extents, bound))
        return offset + *position;
      offset += child.getSize(extents);
    }
    return std::nullopt;
  }
  }
  return std::nullopt;
}

FailureOr<Scalar> ElementEvaluator::sumOverAxes(
    Value value, Coordinates coordinates, ArrayRef<unsigned> axes,
    ArrayRef<SmallVector<int64_t, 2>> ranges, ArrayRef<int64_t> index) {
  if (axes.empty())
    return evaluate(value, coordinates, index);
  SmallVector<WeightedScalar> terms;
  ArrayRef<int64_t> bounds = ranges.front();
  for (Representative entry :
       factors.getRepresentatives(factors.getAxis(axes.front()))) {
    bool isInside = bounds.empty();
    for (size_t i = 0; i + 1 < bounds.size(); i += 2)
      isInside |= entry.position >= bounds[i] && entry.position < bounds[i + 1];
    if (!isInside)
      continue;
    coordinates[axes.front()] = entry.position;
    FailureOr<Scalar> term = sumOverAxes(value, coordinates, axes.drop_front(),
                                         ranges.drop_front(), index);
    if (failed(term))
      return failure();
    terms.push_back({*term, entry.weight});
  }
  return algebra.sum(terms);
}

LogicalResult ElementEvaluator::readElement(const ValueState &state,
                                            Reader &reader,
                                            const Coordinates &read,
                                            ArrayRef<int64_t> bound) {
  const IndexRelation::Access *access = reader.access->access;
  ArrayRef<int64_t> extents = factors.getRelation(state.op).extents;
  SmallVector<int64_t, 4> index;
  for (const DimensionExpr &expr : access->dimensions) {
    std::optional<int64_t> position = locate(expr, extents, bound);
    if (!position)
      return fail("an op reads through a hole");
    index.push_back(*position);
  }
  // Along what is summed up many read one element again and again.
  if (reader.element && reader.index == index)
    return success();
  FailureOr<Scalar> scalar =
      sumOverAxes(state.op->getOperand(access->operand), read, state.sumAxes,
                  state.sumRanges, index);
  if (failed(scalar))
    return failure();
  reader.index = std::move(index);
  reader.element = *scalar;
  return success();
}

FailureOr<Scalar> ElementEvaluator::computeBody(const ValueState &state,
                                                MutableArrayRef<Reader> present,
                                                const Coordinates &read,
                                                ArrayRef<int64_t> bound) {
  const IndexRelation &relation = factors.getRelation(state.op);
  ArrayRef<FactorAnalysis::Node> nodes = factors.getFactors(state.op);
  SmallVector<Scalar> scalars;
  for (Reader &reader : present) {
    if (failed(readElement(state, reader, read, bound)))
      return failure();
    scalars.push_back(*reader.element);
  }
  for (const auto &position : relation.positions) {
    // Data never equals a position that stands for others: it takes the values
    // that are kept.
    int64_t at = bound[position.factor];
    bool isBulk = factors.getWeight(nodes[position.factor], at) > 1;
    if (isBulk && position.use != PositionUse::Equality)
      return fail("a position that stands for others is compared");
    int64_t number = position.getNumber(at);
    if (isBulk &&
        llvm::SubOverflow(FactorAnalysis::greatestBulkNumber, number, number))
      return fail("the number of a position is too large");
    scalars.push_back(algebra.integer(number));
  }
  return tv::SemanticsOpInterface(state.op).combine(algebra, scalars);
}

Scalar ElementEvaluator::combineTerms(Combination combination,
                                      ArrayRef<WeightedScalar> terms) {
  if (combination == Combination::Sum)
    return algebra.sum(terms);
  SmallVector<Scalar> values;
  for (const WeightedScalar &term : terms)
    values.push_back(term.value);
  return combination == Combination::Maximum ? algebra.maximum(values)
                                             : minimum(algebra, values);
}

FailureOr<Scalar>
ElementEvaluator::computeRelation(const ValueState &state,
                                  const Coordinates &coordinates,
                                  ArrayRef<int64_t> index) {
  const IndexRelation &relation = factors.getRelation(state.op);
  ArrayRef<FactorAnalysis::Node> nodes = factors.getFactors(state.op);
  SmallVector<int64_t> bound(relation.extents.size(), -1);
  for (auto [expr, position] : llvm::zip_equal(relation.result, index))
    std::ignore = bind(expr, position, relation.extents, bound); // no hole
  for (auto [axis, factor] : state.ownFactors) {
    if (coordinates[axis] < 0)
      return fail("a part is taken where there is no coordinate");
    bound[factor] = coordinates[axis];
  }
  // An access is present if all its factors are bound or reduced.
  SmallVector<Reader, 2> present;
  for (const AccessState &access : state.accesses)
    if (llvm::all_of(access.needed,
                     [&](unsigned factor) { return bound[factor] >= 0; }))
      present.push_back({&access});
  SmallVector<unsigned, 2> loop(state.reduced);
  if (present.size() != state.accesses.size())
    llvm::erase_if(loop, [&](unsigned factor) {
      return llvm::none_of(present, [&](const Reader &reader) {
        return reader.access->reduced.test(factor);
      });
    });
  Coordinates read = coordinates;
  for (auto [axis, coordinate] : state.axisReads)
    read[axis] = coordinate;
  for (auto [axis, factor] : state.readFactors)
    read[axis] = bound[factor];

  SmallVector<WeightedScalar> terms;
  std::function<LogicalResult(size_t, int64_t)> iterate =
      [&](size_t i, int64_t weight) -> LogicalResult {
    if (i == loop.size()) {
      FailureOr<Scalar> term = computeBody(state, present, read, bound);
      if (succeeded(term))
        terms.push_back({*term, weight});
      return term;
    }
    for (Representative entry : factors.getRepresentatives(nodes[loop[i]])) {
      bound[loop[i]] = entry.position;
      int64_t product;
      if (llvm::MulOverflow(weight, entry.weight, product))
        return fail("a sum has more than 2^63 terms");
      if (terms.size() > 1000000)
        return fail("a sum has too many terms in the small case");
      if (failed(iterate(i + 1, product)))
        return failure();
    }
    return success();
  };
  if (failed(iterate(0, 1)))
    return failure();
  Scalar result = loop.empty() && relation.combination == Combination::Sum
                      ? terms.front().value
                      : combineTerms(relation.combination, terms);
  if (relation.divisor != 1)
    result = algebra.divide(result, algebra.rational(relation.divisor));
  return result;
}

FailureOr<std::pair<Scalar, Scalar>>
ElementEvaluator::evaluate(tv::ExpectOp expect, const Coordinates &coordinates,
                           ArrayRef<int64_t> index) {
  FailureOr<Scalar> reference =
      evaluate(expect.getReference(), Coordinates(coordinates.size(), -1),
               getReferenceIndex(expect.getLineage(), coordinates, index));
  if (failed(reference))
    return failure();
  SmallVector<unsigned> axes;
  for (StringAttr axis : expect.getLineage().getSumAxes())
    axes.push_back(*factors.findAxis(axis.getValue()));
  SmallVector<WeightedScalar> terms;
  for (Value value : expect.getValues()) {
    // A value is summed over the coordinates at which it exists.
    Operation *producer = value.getDefiningOp();
    auto domain = producer ? producer->getAttrOfType<tv::DomainAttr>("domain")
                           : tv::DomainAttr();
    SmallVector<SmallVector<int64_t, 2>> ranges;
    for (StringAttr axis : expect.getLineage().getSumAxes()) {
      tv::AxisSetAttr set =
          domain ? domain.getSet(axis.getValue()) : tv::AxisSetAttr();
      ranges.emplace_back(set ? SmallVector<int64_t, 2>(set.getBounds())
                              : SmallVector<int64_t, 2>());
    }
    FailureOr<Scalar> term =
        sumOverAxes(value, coordinates, axes, ranges, index);
    if (failed(term))
      return failure();
    terms.push_back({*term, 1});
  }
  Scalar sum = terms.size() == 1 ? terms.front().value : algebra.sum(terms);
  return std::pair(*reference, sum);
}
