//===- ValueNumbering.cpp - values that are the same one ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueNumbering.h"

#include <numeric>

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

ValueNumbering::ValueNumbering(const llvm::BitVector &wanted,
                               const FactorAnalysis &factors,
                               const ElementSource &source)
    : factors(factors) {
  if (factors.getFailure())
    return;
  leaders.resize(wanted.size());
  std::iota(leaders.begin(), leaders.end(), 0);
  layouts.resize(wanted.size(), unknown);
  zeros.resize(wanted.size());
  covered = wanted;
  progress = std::make_unique<Progress>();
  for (unsigned value : wanted.set_bits())
    if (Operation *op = factors.getValue(value).getDefiningOp();
        op && op->getNumResults() == 1)
      add(value, source);
  // What is asked for afterwards needs no more.
  progress.reset();
}

ValueNumbering::OpClass &ValueNumbering::getClass(unsigned value,
                                                  tv::SemanticsOpInterface op) {
  auto [found, isNew] =
      progress->classOf.try_emplace(&factors.getRelation(value));
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
ValueNumbering::getZeroCase(unsigned value, tv::SemanticsOpInterface op,
                            OpClass &opClass) {
  OpClass::ZeroCase zeroCase;
  ArrayRef<unsigned> operands = factors.getOperands(value);
  zeroCase.zeros.resize(operands.size());
  for (auto [number, operand] : llvm::enumerate(operands))
    if (zeros.test(operand))
      zeroCase.zeros.set(number);
  for (const OpClass::ZeroCase &known : opClass.cases)
    if (known.zeros == zeroCase.zeros)
      return known;
  auto isZeroOperand = [&](Value operand) {
    return zeros.test(factors.getNumber(operand));
  };
  zeroCase.forwarded = findForwarded(op, factors, isZeroOperand);
  zeroCase.isZero = computesZero(op, factors, isZeroOperand);
  zeroCase.isTotalZero = computesTotalZero(op, factors, isZeroOperand);
  return opClass.cases.emplace_back(std::move(zeroCase));
}

void ValueNumbering::add(unsigned value, const ElementSource &source) {
  Operation *op = factors.getValue(value).getDefiningOp();
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  bool hasKey = true, isZeroHere = false;
  if (semantics && !factors.isOpaque(op)) {
    OpClass &opClass = getClass(value, semantics);
    const OpClass::ZeroCase &zeroCase = getZeroCase(value, semantics, opClass);
    if (std::optional<unsigned> same =
            findSame(value, semantics, opClass, zeroCase.forwarded)) {
      leaders[value] = *same;
      if (zeros.test(*same))
        zeros.set(value);
      return;
    }
    // All that is 0 at the same places is one.
    if (zeroCase.isTotalZero)
      key.assign(1, getLayout(value));
    else
      makeKey(value, opClass);
    isZeroHere = zeroCase.isZero;
  } else {
    hasKey = makeKey(value, op, source);
    if (isa<tv::InputOp>(op))
      isZeroHere = source.isZero(op->getResult(0));
    else if (isa<tv::DistributeOp>(op))
      isZeroHere = zeros.test(factors.getOperands(value).front());
  }
  if (hasKey) {
    std::vector<unsigned> &known = progress->leaderOfKey;
    uint64_t number = progress->keys.get(key);
    if (number == known.size())
      known.push_back(value);
    leaders[value] = known[number];
  }
  if (isZeroHere)
    zeros.set(value);
}

std::optional<unsigned>
ValueNumbering::findSame(unsigned value, tv::SemanticsOpInterface op,
                         const OpClass &opClass,
                         std::optional<unsigned> forwarded) {
  if (forwarded) {
    unsigned leader = getLeaderOfOperand(value, *forwarded);
    return getLayout(value) == getLayout(leader) ? std::optional(leader)
                                                 : std::nullopt;
  }
  if (const std::optional<TensorPart> &part = opClass.part) {
    progress->parts[value] = {getLeaderOfOperand(value, part->operand),
                              part->dimension, part->start};
    return {};
  }
  if (auto move = dyn_cast<tv::MoveOp>(op.getOperation()))
    return findMoved(value, move);
  if (std::optional<unsigned> whole = findWholeAlongAxis(value, op))
    return whole;
  if (!opClass.concatenation)
    return {};
  std::optional<unsigned> whole = findWhole(value, *opClass.concatenation);
  if (!whole)
    noteStack(value, op, *opClass.concatenation);
  return whole;
}

std::optional<unsigned> ValueNumbering::findMoved(unsigned value,
                                                  tv::MoveOp op) {
  unsigned from = getLeaderOfOperand(value, 0);
  uint64_t read = 0;
  for (tv::AxisSetAttr set : op.getSource().getSets())
    if (auto axis = factors.findAxis(set.getAxis().getValue()))
      read |= uint64_t(1) << *axis;
  // It is the same wherever it is read.
  if ((factors.getVaryingAxes(from) & read) == 0)
    return getLayout(value) == getLayout(from) ? std::optional(from)
                                               : std::nullopt;
  auto found = progress->axisParts.find(from);
  if (found == progress->axisParts.end())
    return {};
  const Progress::AxisPart &part = found->second;
  tv::AxisSetAttr set = op.getSource().getSet(part.axis);
  if (!set || (factors.getVaryingAxes(part.whole) & read) != 0)
    return {};
  int64_t size =
      cast<RankedTensorType>(getType(value)).getDimSize(part.dimension);
  progress->parts[value] = {part.whole, part.dimension,
                            set.getBounds().front() * size};
  return {};
}

std::optional<unsigned>
ValueNumbering::findWhole(unsigned value, const Concatenation &concatenation) {
  std::optional<unsigned> whole;
  for (auto [operand, start] :
       llvm::zip_equal(factors.getOperands(value), concatenation.starts)) {
    auto found = progress->parts.find(leaders[operand]);
    if (found == progress->parts.end())
      return {};
    const Progress::Part &part = found->second;
    if ((whole && part.whole != *whole) || part.start != start ||
        part.dimension != concatenation.dimension)
      return {};
    whole = part.whole;
  }
  bool isWhole = whole && getType(*whole) == getType(value) &&
                 getLayout(value) == getLayout(*whole);
  return isWhole ? whole : std::nullopt;
}

void ValueNumbering::noteStack(unsigned value, tv::SemanticsOpInterface op,
                               const Concatenation &concatenation) {
  auto type = cast<RankedTensorType>(op->getOperandTypes().front());
  Progress::Stack stack;
  stack.along = concatenation.dimension;
  stack.size = type.getDimSize(stack.along);
  for (auto [number, operand] : llvm::enumerate(factors.getOperands(value))) {
    auto found = progress->parts.find(leaders[operand]);
    if (found == progress->parts.end() || getType(operand) != type)
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
  progress->stacks[value] = stack;
}

ValueNumbering::Progress::AxisPart
ValueNumbering::getAxisPart(unsigned value, tv::AllSliceOp slice) {
  unsigned from = getLeaderOfOperand(value, 0);
  auto dimension = static_cast<unsigned>(slice.getDimension());
  auto found = progress->stacks.find(from);
  if (found != progress->stacks.end() && found->second.along == dimension &&
      found->second.size ==
          cast<RankedTensorType>(slice.getType()).getDimSize(dimension))
    return {found->second.whole, slice.getAxisAttr(), found->second.dimension};
  return {from, slice.getAxisAttr(), dimension};
}

std::optional<unsigned>
ValueNumbering::findWholeAlongAxis(unsigned value,
                                   tv::SemanticsOpInterface op) {
  if (auto slice = dyn_cast<tv::AllSliceOp>(op.getOperation())) {
    progress->axisParts[value] = getAxisPart(value, slice);
    return {};
  }
  auto gather = dyn_cast<tv::AllGatherOp>(op.getOperation());
  if (!gather || !gather.getAxisAttr() || op->getNumOperands() != 1)
    return {};
  auto found = progress->axisParts.find(getLeaderOfOperand(value, 0));
  if (found == progress->axisParts.end())
    return {};
  // Each coordinate has a part of one whole: the layout tells the axes that a
  // value varies with.
  const Progress::AxisPart &part = found->second;
  bool isWhole = part.axis == gather.getAxisAttr() &&
                 part.dimension == gather.getDimension() &&
                 getType(part.whole) == getType(value) &&
                 getLayout(value) == getLayout(part.whole);
  return isWhole ? std::optional(part.whole) : std::nullopt;
}

uint64_t ValueNumbering::getPositions(FactorAnalysis::Node node) {
  std::vector<uint64_t> &positions = progress->positionsOf;
  if (node >= positions.size())
    positions.resize(node + 1, unknown);
  if (positions[node] != unknown)
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

uint64_t ValueNumbering::getLayout(unsigned value) {
  uint64_t &layout = layouts[value];
  if (layout != unknown)
    return layout;
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  SmallVector<uint64_t, 12> list = {nodes.size()};
  for (FactorAnalysis::Node node : nodes)
    list.push_back(getPositions(node));
  list.push_back(factors.getVaryingAxes(value));
  // A value of the reference is none of the plan, whatever it is.
  Operation *op = factors.getValue(value).getDefiningOp();
  auto domain =
      op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
  list.push_back(static_cast<bool>(domain));
  if (domain)
    list.push_back(getNumber(domain, factors.getVaryingAxes(value)));
  return layout = progress->layouts.get(list);
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
    auto domain =
        op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
    key.push_back(static_cast<bool>(domain));
    if (domain)
      addDomain(domain, summed, key);
    unsigned number = factors.getNumber(operand);
    key.push_back(getLeader(number));
    // No layout is numbered like an address.
    bool isKnown = !layouts.empty() && layouts[number] != unknown;
    key.push_back(
        isKnown ? layouts[number]
                : reinterpret_cast<uintptr_t>(operand.getAsOpaquePointer()));
  }
  return key;
}

void ValueNumbering::makeKey(unsigned value, const OpClass &opClass) {
  // No class is numbered like the name of an op.
  key.assign({opClass.number, getLayout(value)});
  for (unsigned operand : factors.getOperands(value)) {
    key.push_back(leaders[operand]);
    key.push_back(getLayout(operand));
  }
  for (FactorAnalysis::Node node : factors.getFactors(value))
    key.push_back(getPositions(node));
}

bool ValueNumbering::makeKey(unsigned value, Operation *op,
                             const ElementSource &source) {
  Value result = op->getResult(0);
  key.clear();
  addToKey(op->getName().getAsOpaquePointer());
  addToKey(result.getType().getAsOpaquePointer());
  key.push_back(getLayout(value));
  if (auto distributed = dyn_cast<tv::DistributeOp>(op)) {
    addToKey(value, distributed, source);
    return true;
  }
  std::optional<uint64_t> number =
      isa<tv::InputOp>(op) ? source.getInputNumber(result) : std::nullopt;
  if (!number)
    return false;
  key.push_back(*number);
  for (unsigned i = 0; i < factors.getDimensions(value).size(); ++i)
    key.push_back(source.isConstantAlong(result, i));
  return true;
}

void ValueNumbering::addToKey(unsigned value, tv::DistributeOp op,
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
  unsigned reference = factors.getOperands(value).front();
  key.push_back(leaders[reference]);
  addToKey(getType(reference).getAsOpaquePointer());
  key.push_back(getLayout(reference));
}
