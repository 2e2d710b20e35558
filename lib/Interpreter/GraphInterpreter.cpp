//===- GraphInterpreter.cpp - executes a graph on numbers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphInterpreter.h"

#include <set>

using namespace mlir;
using namespace verify;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::optional<unsigned> GraphInterpreter::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(mesh.getAxes()))
    if (axis.getName().getValue() == name)
      return i;
  return std::nullopt;
}

std::vector<GraphInterpreter::Place>
GraphInterpreter::listPlaces(ArrayRef<unsigned> axes,
                             tv::DomainAttr domain) const {
  std::vector<Place> places = {Place(mesh.getAxes().size(), -1)};
  for (unsigned axis : axes) {
    tv::AxisAttr attribute = mesh.getAxes()[axis];
    tv::AxisSetAttr set = domain ? domain.getSet(attribute.getName().getValue())
                                 : tv::AxisSetAttr();
    std::vector<Place> longer;
    for (Place &place : places)
      for (int64_t at = 0; at < attribute.getSize(); ++at)
        if (!set || set.contains(at)) {
          place[axis] = at;
          longer.push_back(place);
        }
    places = std::move(longer);
  }
  return places;
}

TensorRef GraphInterpreter::read(Value value, const Place &place,
                                 Operation *op) {
  const Values &known = values[value];
  Place own(place.size(), -1);
  for (unsigned axis : known.axes)
    own[axis] = place[axis];
  auto found = known.tensors.find(own);
  if (found != known.tensors.end())
    return found->second;
  op->emitOpError("reads a value at ")
      << print(own) << ", where it does not exist";
  return nullptr;
}

std::string GraphInterpreter::print(const Place &place) const {
  std::string text;
  for (auto [axis, coordinate] : llvm::zip(mesh.getAxes(), place))
    if (coordinate >= 0)
      text += (text.empty() ? "" : ", ") + axis.getName().getValue().str() +
              " = " + std::to_string(coordinate);
  return text.empty() ? "every place" : text;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<unsigned, 2>>
GraphInterpreter::findVaryingAxes(Operation *op) {
  std::set<unsigned> axes;
  auto add = [&](StringAttr name) -> LogicalResult {
    std::optional<unsigned> axis = findAxis(name.getValue());
    if (!axis)
      return op->emitOpError("names axis ") << name << ", which is not there";
    axes.insert(*axis);
    return success();
  };
  if (isa<tv::InputOp>(op))
    return SmallVector<unsigned, 2>();
  if (isa<tv::UndefinedOp>(op)) {
    for (unsigned axis = 0; axis < mesh.getAxes().size(); ++axis)
      axes.insert(axis);
  } else if (auto distribute = dyn_cast<tv::DistributeOp>(op)) {
    for (ArrayAttr dimension : distribute.getLineage().getDimensions())
      for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
        if (factor.getAxis() && failed(add(factor.getAxis())))
          return failure();
  } else {
    for (Value operand : op->getOperands())
      axes.insert(values[operand].axes.begin(), values[operand].axes.end());
    const IndexRelation *relation = executor.getRelation(op);
    if (!relation)
      return failure();
    for (const auto &sum : relation->axisSums)
      if (std::optional<unsigned> axis = findAxis(sum.axis))
        axes.erase(*axis);
    for (const auto &fixed : relation->axisReads)
      if (std::optional<unsigned> axis = findAxis(fixed.axis))
        axes.erase(*axis);
    for (const auto &factor : relation->axisFactors) {
      if (failed(add(StringAttr::get(op->getContext(), factor.axis))))
        return failure();
      if (factor.isRead)
        axes.erase(*findAxis(factor.axis));
    }
  }
  return SmallVector<unsigned, 2>(axes.begin(), axes.end());
}

TensorRef GraphInterpreter::sumOverAxes(Value value,
                                        const IndexRelation &relation,
                                        const Place &place, Operation *op) {
  Place at = place;
  for (const auto &fixed : relation.axisReads) {
    std::optional<unsigned> axis = findAxis(fixed.axis);
    if (!axis) {
      op->emitOpError("reads along axis '") << fixed.axis << "', which is not "
                                            << "there";
      return nullptr;
    }
    at[*axis] = fixed.coordinate;
  }
  std::vector<Place> places = {at};
  for (const IndexRelation::AxisRange &range : relation.axisSums) {
    std::optional<unsigned> axis = findAxis(range.axis);
    if (!axis) {
      op->emitOpError("sums over axis '") << range.axis << "', which is not "
                                          << "there";
      return nullptr;
    }
    std::vector<Place> longer;
    for (Place &each : places)
      for (int64_t i = 0; i < mesh.getAxes()[*axis].getSize(); ++i) {
        bool isInside = range.bounds.empty();
        for (size_t k = 0; k + 1 < range.bounds.size(); k += 2)
          isInside |= range.bounds[k] <= i && i < range.bounds[k + 1];
        each[*axis] = i;
        if (isInside)
          longer.push_back(each);
      }
    places = std::move(longer);
  }
  if (relation.axisSums.empty())
    return read(value, at, op);
  SmallVector<TensorRef> terms;
  for (const Place &each : places) {
    terms.push_back(read(value, each, op));
    if (!terms.back())
      return nullptr;
  }
  return workspace.add(terms, op->getLoc());
}

TensorRef GraphInterpreter::takePart(const Tensor &reference,
                                     tv::LineageAttr lineage,
                                     const Place &place, Operation *op) {
  SmallVector<int64_t> shape = lineage.getLocalShape();
  std::shared_ptr<Tensor> result = workspace.allocate(shape, op->getLoc());
  if (!result)
    return nullptr;
  size_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t offset = 0;
    for (auto [i, dimension] : llvm::enumerate(lineage.getDimensions())) {
      // Minor factors first.
      int64_t position = 0, unit = 1, rest = index[i];
      for (Attribute attribute : llvm::reverse(dimension.getValue())) {
        auto factor = cast<tv::DimensionFactorAttr>(attribute);
        if (factor.getAxis()) {
          unsigned axis = *findAxis(factor.getAxis().getValue());
          position += place[axis] * unit;
          unit *= mesh.getAxes()[axis].getSize();
        } else {
          int64_t kept = factor.getEnd() - factor.getStart();
          position += (factor.getStart() + rest % kept) * unit;
          rest /= kept;
          unit *= factor.getExtent();
        }
      }
      offset = offset * reference.shape[i] + position;
    }
    NumericAlgebra &algebra = workspace.algebra;
    result->elements[next++] =
        algebra.keep(reference.elements[offset], algebra.mark());
  });
  return result;
}

TensorRef GraphInterpreter::moveAlongAxis(Operation *op, const Place &place) {
  auto gather = dyn_cast<tv::AllGatherOp>(op);
  unsigned axis = *findAxis(gather ? *gather.getAxis()
                                   : cast<tv::AllSliceOp>(op).getAxis());
  int64_t dimension =
      gather ? gather.getDimension() : cast<tv::AllSliceOp>(op).getDimension();
  SmallVector<TensorRef> parts;
  for (int64_t at = 0; at < mesh.getAxes()[axis].getSize(); ++at) {
    Place where = place;
    where[axis] = gather ? at : place[axis];
    parts.push_back(read(op->getOperand(0), where, op));
    if (!parts.back())
      return nullptr;
  }
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  std::shared_ptr<Tensor> result = workspace.allocate(shape, op->getLoc());
  if (!result)
    return nullptr;
  int64_t size = gather ? parts.front()->shape[dimension] : shape[dimension];
  size_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    const Tensor &part = *parts[gather ? index[dimension] / size : 0];
    from[dimension] = gather ? index[dimension] % size
                             : index[dimension] + place[axis] * size;
    int64_t offset = 0;
    for (auto [at, extent] : llvm::zip_equal(from, part.shape))
      offset = offset * extent + at;
    NumericAlgebra &algebra = workspace.algebra;
    result->elements[next++] =
        algebra.keep(part.elements[offset], algebra.mark());
  });
  return result;
}

TensorRef GraphInterpreter::compute(Operation *op, const Place &place) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto input = dyn_cast<tv::InputOp>(op))
    return inputs.get(input.getContract().getRole(),
                      input.getContract().getName().getValue(), type,
                      op->getLoc());
  if (auto undefined = dyn_cast<tv::UndefinedOp>(op))
    return inputs.makeUndefined(undefined.getName(), place, type, op->getLoc());
  if (auto distribute = dyn_cast<tv::DistributeOp>(op)) {
    TensorRef reference = read(distribute.getReference(), place, op);
    return reference ? takePart(*reference, distribute.getLineage(), place, op)
                     : nullptr;
  }
  const IndexRelation *relation = executor.getRelation(op);
  if (!relation)
    return nullptr;
  if (!relation->axisFactors.empty())
    return moveAlongAxis(op, place);
  SmallVector<TensorRef> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(sumOverAxes(operand, *relation, place, op));
    if (!operands.back())
      return nullptr;
  }
  return executor.execute(op, operands);
}

LogicalResult GraphInterpreter::execute(Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("cannot be executed");
  FailureOr<SmallVector<unsigned, 2>> axes = findVaryingAxes(op);
  if (failed(axes))
    return failure();
  auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
  Values result;
  result.axes = *axes;
  for (const Place &place : listPlaces(*axes, domain)) {
    TensorRef tensor = compute(op, place);
    if (!tensor)
      return failure();
    result.tensors[place] = tensor;
  }
  values[op->getResult(0)] = std::move(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult GraphInterpreter::addExpect(tv::ExpectOp op, ResultRow &row) {
  tv::LineageAttr lineage = op.getLineage();
  Place nowhere(mesh.getAxes().size(), -1);
  row.reference = read(op.getReference(), nowhere, op);
  if (!row.reference)
    return failure();
  std::set<unsigned> sums, axes;
  for (StringAttr name : lineage.getSumAxes())
    sums.insert(*findAxis(name.getValue()));
  for (ArrayAttr dimension : lineage.getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis())
        axes.insert(*findAxis(factor.getAxis().getValue()));
  for (Value value : op.getValues())
    axes.insert(values[value].axes.begin(), values[value].axes.end());
  for (unsigned axis : sums)
    axes.erase(axis);
  SmallVector<unsigned> free(axes.begin(), axes.end());
  SmallVector<unsigned> summed(sums.begin(), sums.end());
  for (const Place &place : listPlaces(free, op.getDomain())) {
    SmallVector<TensorRef> terms;
    for (Value value : op.getValues()) {
      // A value is summed over the places at which it exists.
      Operation *producer = value.getDefiningOp();
      auto domain = producer ? producer->getAttrOfType<tv::DomainAttr>("domain")
                             : tv::DomainAttr();
      for (Place term : listPlaces(summed, domain)) {
        for (unsigned axis : free)
          term[axis] = place[axis];
        terms.push_back(read(value, term, op));
        if (!terms.back())
          return failure();
      }
    }
    ResultPlace &result = row.places.emplace_back();
    result.place = print(place);
    result.plan =
        terms.size() == 1 ? terms.front() : workspace.add(terms, op.getLoc());
    result.reference = takePart(*row.reference, lineage, place, op);
    if (!result.plan || !result.reference)
      return failure();
  }
  return success();
}

LogicalResult GraphInterpreter::run(std::vector<ResultRow> &rows) {
  for (BlockArgument argument : body.getArguments()) {
    TensorRef tensor = inputs.get(
        tv::ContractRole::Input, getArgumentName(argument),
        cast<RankedTensorType>(argument.getType()), argument.getLoc());
    if (!tensor)
      return failure();
    values[argument].tensors[Place(mesh.getAxes().size(), -1)] = tensor;
  }
  // Values go after their last use.
  llvm::DenseMap<Operation *, SmallVector<Value, 2>> lastUses;
  llvm::DenseSet<Value> used;
  bool hasExpects = !body.getOps<tv::ExpectOp>().empty();
  for (Operation &op : llvm::reverse(body))
    for (Value operand : op.getOperands())
      if (used.insert(operand).second)
        lastUses[&op].push_back(operand);
  for (Operation &op : body) {
    if (auto expect = dyn_cast<tv::ExpectOp>(op)) {
      ResultRow &row = rows.emplace_back();
      std::optional<tv::ContractAttr> contract = expect.getContract();
      row.role = contract ? tv::stringifyContractRole(contract->getRole()).str()
                          : "lemma";
      row.name = contract ? contract->getName().getValue().str()
                          : std::to_string(expect.getNumber().value_or(0));
      if (failed(addExpect(expect, row)))
        return failure();
    } else if (failed(execute(&op))) {
      return failure();
    } else if (!hasExpects && op.use_empty()) {
      ResultRow &row = rows.emplace_back();
      row.role = "value";
      row.name = std::to_string(rows.size() - 1);
      for (auto &[place, tensor] : values[op.getResult(0)].tensors) {
        ResultPlace &result = row.places.emplace_back();
        result.place = print(place);
        result.plan = tensor;
      }
    }
    for (Value value : lastUses.lookup(&op))
      values.erase(value);
  }
  return success();
}
