//===- ValueNumbering.cpp - values that are the same one ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueNumbering.h"

using namespace mlir;
using namespace verify;

uint64_t ValueNumbering::Numbers::get(ArrayRef<uint64_t> list) {
  auto found = known.find(list);
  if (found != known.end())
    return found->second;
  uint64_t number = known.size();
  known[list.copy(storage)] = number;
  return number;
}

ValueNumbering::ValueNumbering(Block &body, const DenseValueSet &wanted,
                               const FactorAnalysis &factors,
                               const ElementSource &source)
    : factors(factors) {
  if (factors.getFailure())
    return;
  leaders.reserve(wanted.size());
  layouts.reserve(wanted.size());
  progress = std::make_unique<Progress>();
  for (Operation &op : body)
    if (op.getNumResults() == 1 && wanted.contains(op.getResult(0)))
      add(op.getResult(0), source);
  // What is asked for afterwards needs no more.
  progress.reset();
}

ValueNumbering::OpClass &ValueNumbering::getClass(tv::SemanticsOpInterface op) {
  auto [found, isNew] = progress->classOf.try_emplace(&factors.getRelation(op));
  OpClass &opClass = found->second;
  if (!isNew)
    return opClass;
  opClass.part = findPart(op, factors);
  opClass.concatenation = findConcatenation(op, factors);
  key.clear();
  addToKey(op->getName().getAsOpaquePointer());
  addToKey(op->getResult(0).getType().getAsOpaquePointer());
  key.push_back(op->getNumOperands());
  for (Type type : op->getOperandTypes())
    addToKey(type.getAsOpaquePointer());
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == "domain")
      continue;
    addToKey(attribute.getName().getAsOpaquePointer());
    addToKey(attribute.getValue().getAsOpaquePointer());
  }
  opClass.number = progress->classes.get(key);
  return opClass;
}

const ValueNumbering::OpClass::ZeroCase &
ValueNumbering::getZeroCase(tv::SemanticsOpInterface op, OpClass &opClass) {
  OpClass::ZeroCase zeroCase;
  zeroCase.zeros.resize(op->getNumOperands());
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (isZero(operand))
      zeroCase.zeros.set(number);
  for (const OpClass::ZeroCase &known : opClass.cases)
    if (known.zeros == zeroCase.zeros)
      return known;
  auto isZeroOperand = [&](Value operand) { return isZero(operand); };
  zeroCase.forwarded = findForwarded(op, factors, isZeroOperand);
  zeroCase.isZero = computesZero(op, factors, isZeroOperand);
  zeroCase.isTotalZero = computesTotalZero(op, factors, isZeroOperand);
  return opClass.cases.emplace_back(std::move(zeroCase));
}

void ValueNumbering::add(Value value, const ElementSource &source) {
  Operation *op = value.getDefiningOp();
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  bool hasKey = true, isZeroHere = false;
  if (semantics && !factors.isOpaque(op)) {
    OpClass &opClass = getClass(semantics);
    const OpClass::ZeroCase &zeroCase = getZeroCase(semantics, opClass);
    if (Value same = findSame(semantics, opClass, zeroCase.forwarded)) {
      leaders[value] = same;
      if (isZero(same))
        zeros.insert(value);
      return;
    }
    // All that is 0 at the same places is one.
    if (zeroCase.isTotalZero)
      key.assign(1, getLayout(value));
    else
      makeKey(semantics, opClass);
    isZeroHere = zeroCase.isZero;
  } else {
    hasKey = makeKey(op, source);
    if (isa<tv::InputOp>(op))
      isZeroHere = source.isZero(value);
    else if (isa<tv::DistributeOp>(op))
      isZeroHere = isZero(op->getOperand(0));
  }
  if (hasKey) {
    std::vector<Value> &known = progress->leaders;
    uint64_t number = progress->keys.get(key);
    if (number == known.size())
      known.push_back(value);
    leaders[value] = known[number];
  }
  if (isZeroHere)
    zeros.insert(value);
}

Value ValueNumbering::findSame(tv::SemanticsOpInterface op,
                               const OpClass &opClass,
                               std::optional<unsigned> forwarded) {
  Value result = op->getResult(0);
  if (forwarded) {
    Value leader = getLeader(op->getOperand(*forwarded));
    return getLayout(result) == getLayout(leader) ? leader : Value();
  }
  if (const std::optional<TensorPart> &part = opClass.part) {
    progress->parts[result] = {getLeader(op->getOperand(part->operand)),
                               part->dimension, part->start};
    return {};
  }
  if (auto move = dyn_cast<tv::MoveOp>(op.getOperation()))
    return findMoved(move);
  if (Value whole = findWholeAlongAxis(op))
    return whole;
  if (!opClass.concatenation)
    return {};
  Value whole = findWhole(op, *opClass.concatenation);
  if (!whole)
    noteStack(op, *opClass.concatenation);
  return whole;
}

Value ValueNumbering::findMoved(tv::MoveOp op) {
  Value result = op.getResult(), from = getLeader(op.getOperand());
  uint64_t read = 0;
  for (tv::AxisSetAttr set : op.getSource().getSets())
    if (auto axis = factors.findAxis(set.getAxis().getValue()))
      read |= uint64_t(1) << *axis;
  // It is the same wherever it is read.
  if ((factors.getVaryingAxes(from) & read) == 0)
    return getLayout(result) == getLayout(from) ? from : Value();
  auto found = progress->axisParts.find(from);
  if (found == progress->axisParts.end())
    return {};
  const Progress::AxisPart &part = found->second;
  tv::AxisSetAttr set = op.getSource().getSet(part.axis);
  if (!set || (factors.getVaryingAxes(part.whole) & read) != 0)
    return {};
  int64_t size =
      cast<RankedTensorType>(result.getType()).getDimSize(part.dimension);
  progress->parts[result] = {part.whole, part.dimension,
                             set.getBounds().front() * size};
  return {};
}

Value ValueNumbering::findWhole(tv::SemanticsOpInterface op,
                                const Concatenation &concatenation) {
  Value result = op->getResult(0), whole;
  for (auto [operand, start] :
       llvm::zip_equal(op->getOperands(), concatenation.starts)) {
    auto found = progress->parts.find(getLeader(operand));
    if (found == progress->parts.end())
      return {};
    const Progress::Part &part = found->second;
    if ((whole && part.whole != whole) || part.start != start ||
        part.dimension != concatenation.dimension)
      return {};
    whole = part.whole;
  }
  return whole.getType() == result.getType() &&
                 getLayout(result) == getLayout(whole)
             ? whole
             : Value();
}

void ValueNumbering::noteStack(tv::SemanticsOpInterface op,
                               const Concatenation &concatenation) {
  auto type = cast<RankedTensorType>(op->getOperandTypes().front());
  Progress::Stack stack;
  stack.along = concatenation.dimension;
  stack.size = type.getDimSize(stack.along);
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto found = progress->parts.find(getLeader(operand));
    if (found == progress->parts.end() || operand.getType() != type)
      return;
    const Progress::Part &part = found->second;
    if (number == 0) {
      stack.whole = part.whole;
      stack.dimension = part.dimension;
    }
    if (part.whole != stack.whole || part.dimension != stack.dimension ||
        part.dimension == stack.along ||
        part.start !=
            static_cast<int64_t>(number) * type.getDimSize(part.dimension))
      return;
  }
  progress->stacks[op->getResult(0)] = stack;
}

ValueNumbering::Progress::AxisPart
ValueNumbering::getAxisPart(tv::AllSliceOp slice) {
  Value from = getLeader(slice.getOperand());
  auto dimension = static_cast<unsigned>(slice.getDimension());
  auto found = progress->stacks.find(from);
  if (found != progress->stacks.end() && found->second.along == dimension &&
      found->second.size ==
          cast<RankedTensorType>(slice.getType()).getDimSize(dimension))
    return {found->second.whole, slice.getAxisAttr(), found->second.dimension};
  return {from, slice.getAxisAttr(), dimension};
}

Value ValueNumbering::findWholeAlongAxis(tv::SemanticsOpInterface op) {
  auto slice = dyn_cast<tv::AllSliceOp>(op.getOperation());
  auto gather = dyn_cast<tv::AllGatherOp>(op.getOperation());
  Value result = op->getResult(0);
  if (slice) {
    progress->axisParts[result] = getAxisPart(slice);
    return {};
  }
  if (!gather || !gather.getAxisAttr() || op->getNumOperands() != 1)
    return {};
  auto found = progress->axisParts.find(getLeader(op->getOperand(0)));
  if (found == progress->axisParts.end())
    return {};
  // Each coordinate has a part of one whole: the layout tells the axes that a
  // value varies with.
  const Progress::AxisPart &part = found->second;
  return part.axis == gather.getAxisAttr() &&
                 part.dimension == gather.getDimension() &&
                 part.whole.getType() == result.getType() &&
                 getLayout(result) == getLayout(part.whole)
             ? part.whole
             : Value();
}

uint64_t ValueNumbering::getPositions(FactorAnalysis::Node node) {
  std::vector<uint64_t> &positions = progress->positionsOf;
  if (node >= positions.size())
    positions.resize(node + 1, Progress::unknown);
  if (positions[node] != Progress::unknown)
    return positions[node];
  FactorAnalysis::Node root = factors.getRoot(node);
  if (root != node)
    return positions[node] = getPositions(root);
  SmallVector<uint64_t> list = {factors.isSelected(node)};
  for (Representative entry : factors.getRepresentatives(node)) {
    list.push_back(entry.position);
    list.push_back(entry.weight);
  }
  return positions[node] = progress->positions.get(list);
}

uint64_t ValueNumbering::getLayout(Value value) {
  auto [found, isNew] = layouts.try_emplace(value);
  if (!isNew)
    return found->second;
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  SmallVector<uint64_t, 12> list = {nodes.size()};
  for (FactorAnalysis::Node node : nodes)
    list.push_back(getPositions(node));
  list.push_back(factors.getVaryingAxes(value));
  // A value of the reference is none of the plan, whatever it is.
  Operation *op = value.getDefiningOp();
  auto domain =
      op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
  list.push_back(static_cast<bool>(domain));
  if (domain)
    list.push_back(getNumber(domain, factors.getVaryingAxes(value)));
  return found->second = progress->layouts.get(list);
}

uint64_t ValueNumbering::getNumber(tv::DomainAttr domain, uint64_t axes) {
  auto [found, isNew] = progress->domainOf.try_emplace({domain, axes});
  if (isNew) {
    Key list;
    addDomain(domain, axes, list);
    found->second = progress->domains.get(list);
  }
  return found->second;
}

void ValueNumbering::addDomain(tv::DomainAttr domain, uint64_t axes,
                               Key &key) const {
  size_t count = key.size();
  key.push_back(0);
  for (tv::AxisSetAttr set : domain.getSets())
    if (auto axis = factors.findAxis(set.getAxis().getValue());
        axis && (axes >> *axis & 1)) {
      key.push_back(reinterpret_cast<uintptr_t>(set.getAsOpaquePointer()));
      ++key[count];
    }
}

ValueNumbering::Key ValueNumbering::getKey(tv::ExpectOp expect) const {
  Key key = {
      reinterpret_cast<uintptr_t>(expect.getLineage().getAsOpaquePointer())};
  addDomain(expect.getDomain(), ~uint64_t(0), key);
  // A value is a term wherever it exists along an axis that is summed over.
  uint64_t summed = 0;
  for (StringAttr name : expect.getLineage().getSumAxes())
    if (auto axis = factors.findAxis(name.getValue()))
      summed |= uint64_t(1) << *axis;
  for (Value operand : expect->getOperands()) {
    Operation *op = operand.getDefiningOp();
    if (auto domain =
            op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr())
      addDomain(domain, summed, key);
    key.push_back(
        reinterpret_cast<uintptr_t>(getLeader(operand).getAsOpaquePointer()));
    // No layout is numbered like an address.
    auto layout = layouts.find(operand);
    key.push_back(layout == layouts.end() ? reinterpret_cast<uintptr_t>(
                                                operand.getAsOpaquePointer())
                                          : layout->second);
  }
  return key;
}

void ValueNumbering::makeKey(tv::SemanticsOpInterface op,
                             const OpClass &opClass) {
  // No class is numbered like the name of an op.
  key.assign({opClass.number, getLayout(op->getResult(0))});
  for (Value operand : op->getOperands()) {
    addToKey(getLeader(operand).getAsOpaquePointer());
    key.push_back(getLayout(operand));
  }
  for (FactorAnalysis::Node node : factors.getFactors(op))
    key.push_back(getPositions(node));
}

bool ValueNumbering::makeKey(Operation *op, const ElementSource &source) {
  Value result = op->getResult(0);
  key.clear();
  addToKey(op->getName().getAsOpaquePointer());
  addToKey(result.getType().getAsOpaquePointer());
  key.push_back(getLayout(result));
  if (auto distributed = dyn_cast<tv::DistributeOp>(op)) {
    addToKey(distributed, source);
    return true;
  }
  std::optional<uint64_t> number =
      isa<tv::InputOp>(op) ? source.getInputNumber(result) : std::nullopt;
  if (!number)
    return false;
  key.push_back(*number);
  for (unsigned i = 0; i < factors.getDimensions(result).size(); ++i)
    key.push_back(source.isConstantAlong(result, i));
  return true;
}

void ValueNumbering::addToKey(tv::DistributeOp op,
                              const ElementSource &source) {
  auto input = op.getReference().getDefiningOp<tv::InputOp>();
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == "domain")
      continue;
    // Which positions of a dimension a part has does not matter where they are
    // all equal.
    if (input && attribute.getName() == op.getLineageAttrName()) {
      tv::LineageAttr lineage = op.getLineage();
      for (auto [i, dimension] : llvm::enumerate(lineage.getDimensions()))
        addToKey(source.isConstantAlong(input, i)
                     ? nullptr
                     : dimension.getAsOpaquePointer());
      for (StringAttr axis : lineage.getSumAxes())
        addToKey(axis.getAsOpaquePointer());
      continue;
    }
    addToKey(attribute.getName().getAsOpaquePointer());
    addToKey(attribute.getValue().getAsOpaquePointer());
  }
  Value reference = op.getReference();
  addToKey(getLeader(reference).getAsOpaquePointer());
  addToKey(reference.getType().getAsOpaquePointer());
  key.push_back(getLayout(reference));
}
