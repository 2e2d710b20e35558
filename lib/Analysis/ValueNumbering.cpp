//===- ValueNumbering.cpp - values that are the same one ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueNumbering.h"

using namespace mlir;
using namespace verify;

ValueNumbering::ValueNumbering(Block &body, const llvm::DenseSet<Value> &wanted,
                               const FactorAnalysis &factors,
                               const ElementSource &source)
    : factors(factors) {
  if (factors.getFailure())
    return;
  leaders.reserve(wanted.size());
  layouts.reserve(wanted.size());
  for (Operation &op : body)
    if (op.getNumResults() == 1 && wanted.contains(op.getResult(0)))
      add(op.getResult(0), source);
  // What is asked for afterwards needs no more.
  known.clear();
  knownPositions.clear();
  knownLayouts.clear();
  parts.clear();
  axisParts.clear();
}

void ValueNumbering::add(Value value, const ElementSource &source) {
  Operation *op = value.getDefiningOp();
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  bool isComputed = semantics && !factors.isOpaque(op);
  if (isComputed)
    if (Value same = findSame(semantics)) {
      leaders[value] = same;
      if (isZero(same))
        zeros.insert(value);
      return;
    }
  // All that is 0 at the same places is one.
  auto isZeroOperand = [&](Value operand) { return isZero(operand); };
  Key key;
  if (isComputed && computesTotalZero(semantics, factors, isZeroOperand))
    key.push_back(getLayout(value));
  else
    key = getKey(op, source);
  if (!key.empty()) {
    auto [found, isNew] = known.try_emplace(std::move(key), value);
    leaders[value] = found->second;
  }
  bool isZeroHere = false;
  if (isa<tv::InputOp>(op))
    isZeroHere = source.isZero(value);
  else if (isa<tv::DistributeOp>(op))
    isZeroHere = isZero(op->getOperand(0));
  else if (isComputed)
    isZeroHere = computesZero(semantics, factors, isZeroOperand);
  if (isZeroHere)
    zeros.insert(value);
}

Value ValueNumbering::findSame(tv::SemanticsOpInterface op) {
  Value result = op->getResult(0);
  auto isZeroOperand = [&](Value operand) { return isZero(operand); };
  if (auto operand = findForwarded(op, factors, isZeroOperand)) {
    Value leader = getLeader(op->getOperand(*operand));
    return getLayout(result) == getLayout(leader) ? leader : Value();
  }
  if (auto part = findPart(op, factors)) {
    part->whole = getLeader(part->whole);
    parts[result] = *part;
    return {};
  }
  if (Value whole = findWholeAlongAxis(op))
    return whole;
  // Parts that are put together again.
  auto concatenation = findConcatenation(op, factors);
  if (!concatenation)
    return {};
  Value whole;
  for (auto [operand, start] :
       llvm::zip_equal(op->getOperands(), concatenation->starts)) {
    auto found = parts.find(getLeader(operand));
    if (found == parts.end())
      return {};
    const TensorPart &part = found->second;
    if ((whole && part.whole != whole) || part.start != start ||
        part.dimension != concatenation->dimension)
      return {};
    whole = part.whole;
  }
  return whole.getType() == result.getType() &&
                 getLayout(result) == getLayout(whole)
             ? whole
             : Value();
}

Value ValueNumbering::findWholeAlongAxis(tv::SemanticsOpInterface op) {
  auto slice = dyn_cast<tv::AllSliceOp>(op.getOperation());
  auto gather = dyn_cast<tv::AllGatherOp>(op.getOperation());
  Value result = op->getResult(0);
  if (slice) {
    axisParts[result] = {getLeader(slice.getOperand()), slice.getAxisAttr()};
    return {};
  }
  if (!gather || !gather.getAxisAttr() || op->getNumOperands() != 1)
    return {};
  auto found = axisParts.find(getLeader(op->getOperand(0)));
  if (found == axisParts.end())
    return {};
  // Each coordinate has a part of one whole: the layout tells the axes that a
  // value varies with. Another dimension gives another type.
  const AxisPart &part = found->second;
  return part.axis == gather.getAxisAttr() &&
                 part.whole.getType() == result.getType() &&
                 getLayout(result) == getLayout(part.whole)
             ? part.whole
             : Value();
}

uint64_t ValueNumbering::getPositions(FactorAnalysis::Node node) {
  node = factors.getRoot(node);
  auto [found, isNew] = positions.try_emplace(node);
  if (!isNew)
    return found->second;
  Key key = {factors.isSelected(node)};
  for (Representative entry : factors.getRepresentatives(node)) {
    key.push_back(entry.position);
    key.push_back(entry.weight);
  }
  uint64_t number =
      knownPositions.try_emplace(std::move(key), knownPositions.size())
          .first->second;
  return positions[node] = number;
}

uint64_t ValueNumbering::getLayout(Value value) {
  auto [found, isNew] = layouts.try_emplace(value);
  if (!isNew)
    return found->second;
  Key key;
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  key.push_back(nodes.size());
  for (FactorAnalysis::Node node : nodes)
    key.push_back(getPositions(node));
  key.push_back(factors.getVaryingAxes(value));
  // A value of the reference is none of the plan, whatever it is.
  Operation *op = value.getDefiningOp();
  auto domain =
      op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
  key.push_back(static_cast<bool>(domain));
  if (domain)
    addDomain(domain, key);
  return found->second =
             knownLayouts.try_emplace(std::move(key), knownLayouts.size())
                 .first->second;
}

void ValueNumbering::addDomain(tv::DomainAttr domain, Key &key) const {
  size_t count = key.size();
  key.push_back(0);
  for (tv::AxisSetAttr set : domain.getSets())
    if (factors.findAxis(set.getAxis().getValue())) {
      key.push_back(reinterpret_cast<uintptr_t>(set.getAsOpaquePointer()));
      ++key[count];
    }
}

ValueNumbering::Key ValueNumbering::getKey(tv::ExpectOp expect) const {
  Key key = {
      reinterpret_cast<uintptr_t>(expect.getLineage().getAsOpaquePointer())};
  addDomain(expect.getDomain(), key);
  for (Value operand : expect->getOperands()) {
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

ValueNumbering::Key ValueNumbering::getKey(Operation *op,
                                           const ElementSource &source) {
  Key key;
  auto add = [&](const void *pointer) {
    key.push_back(reinterpret_cast<uintptr_t>(pointer));
  };
  Value result = op->getResult(0);
  add(op->getName().getAsOpaquePointer());
  add(result.getType().getAsOpaquePointer());
  key.push_back(getLayout(result));
  if (isa<tv::InputOp>(op)) {
    std::optional<uint64_t> number = source.getInputNumber(result);
    if (!number)
      return {};
    key.push_back(*number);
    for (unsigned i = 0; i < factors.getDimensions(result).size(); ++i)
      key.push_back(source.isConstantAlong(result, i));
    return key;
  }
  auto distributed = dyn_cast<tv::DistributeOp>(op);
  if (!distributed &&
      (!isa<tv::SemanticsOpInterface>(op) || factors.isOpaque(op)))
    return {};
  auto input = distributed
                   ? distributed.getReference().getDefiningOp<tv::InputOp>()
                   : tv::InputOp();
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == "domain")
      continue;
    // Which positions of a dimension a part has does not matter where they are
    // all equal.
    if (input && attribute.getName() == distributed.getLineageAttrName()) {
      tv::LineageAttr lineage = distributed.getLineage();
      for (auto [i, dimension] : llvm::enumerate(lineage.getDimensions()))
        add(source.isConstantAlong(input, i) ? nullptr
                                             : dimension.getAsOpaquePointer());
      for (StringAttr axis : lineage.getSumAxes())
        add(axis.getAsOpaquePointer());
      continue;
    }
    add(attribute.getName().getAsOpaquePointer());
    add(attribute.getValue().getAsOpaquePointer());
  }
  for (Value operand : op->getOperands()) {
    add(getLeader(operand).getAsOpaquePointer());
    add(operand.getType().getAsOpaquePointer());
    key.push_back(getLayout(operand));
  }
  if (!distributed)
    for (FactorAnalysis::Node node : factors.getFactors(op))
      key.push_back(getPositions(node));
  return key;
}
