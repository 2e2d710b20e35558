//===- ValueNumbering.cpp - values that are the same one ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueNumbering.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace verify;

ValueNumbering::ValueNumbering(
    Block &body, const FactorAnalysis &factors,
    const llvm::DenseMap<Value, uint64_t> &varyingAxes,
    const ElementSource &source)
    : factors(factors), varyingAxes(varyingAxes) {
  if (factors.getFailure())
    return;
  for (Operation &op : body)
    if (op.getNumResults() == 1)
      add(op.getResult(0), source);
}

void ValueNumbering::add(Value value, const ElementSource &source) {
  Operation *op = value.getDefiningOp();
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  bool isComputed = semantics && !factors.isOpaque(op);
  if (isComputed)
    if (std::optional<unsigned> operand = findForwarded(semantics)) {
      Value leader = getLeader(op->getOperand(*operand));
      Key own, other;
      addLayout(value, own);
      addLayout(leader, other);
      if (own == other) {
        leaders[value] = leader;
        if (isZero(leader))
          zeros.insert(value);
        return;
      }
    }
  Key key = getKey(op, source);
  if (!key.empty()) {
    auto [found, isNew] = known.try_emplace(std::move(key), value);
    leaders[value] = found->second;
  }
  if (isa<tv::InputOp>(op) ? source.isZero(value)
      : isa<tv::DistributeOp>(op)
          ? isZero(op->getOperand(0))
          : isComputed &&
                getElementKind(value.getType()) == ElementKind::Real &&
                computesZero(semantics))
    zeros.insert(value);
}

uint64_t ValueNumbering::getPositions(FactorAnalysis::Node node) {
  auto [found, isNew] = positions.try_emplace(node);
  if (!isNew)
    return found->second;
  Key key;
  for (Representative entry : factors.getRepresentatives(node)) {
    key.push_back(entry.position);
    key.push_back(entry.weight);
  }
  uint64_t number =
      knownPositions.try_emplace(std::move(key), knownPositions.size())
          .first->second;
  return positions[node] = number;
}

void ValueNumbering::addLayout(Value value, Key &key) {
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  key.push_back(nodes.size());
  for (FactorAnalysis::Node node : nodes)
    key.push_back(getPositions(node));
  key.push_back(varyingAxes.lookup(value));
  // A value of the reference is none of the plan, whatever it is.
  Operation *op = value.getDefiningOp();
  auto domain =
      op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
  key.push_back(static_cast<bool>(domain));
  if (!domain)
    return;
  // On which device it lies does not matter, as devices are spelled out.
  for (tv::AxisSetAttr set : domain.getSets())
    if (factors.findAxis(set.getAxis().getValue()))
      key.push_back(reinterpret_cast<uintptr_t>(set.getAsOpaquePointer()));
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
  addLayout(result, key);
  if (isa<tv::InputOp>(op)) {
    std::optional<uint64_t> number = source.getInputNumber(result);
    if (!number)
      return {};
    key.push_back(*number);
    return key;
  }
  bool isDistributed = isa<tv::DistributeOp>(op);
  if (!isDistributed &&
      (!isa<tv::SemanticsOpInterface>(op) || factors.isOpaque(op)))
    return {};
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == "domain")
      continue;
    add(attribute.getName().getAsOpaquePointer());
    add(attribute.getValue().getAsOpaquePointer());
  }
  for (Value operand : op->getOperands()) {
    add(getLeader(operand).getAsOpaquePointer());
    add(operand.getType().getAsOpaquePointer());
    addLayout(operand, key);
  }
  if (!isDistributed)
    for (FactorAnalysis::Node node : factors.getFactors(op))
      key.push_back(getPositions(node));
  return key;
}

Scalar ValueNumbering::combine(tv::SemanticsOpInterface op,
                               const llvm::BitVector &present) {
  const IndexRelation &relation = factors.getRelation(op);
  SmallVector<Scalar> scalars;
  for (unsigned number : present.set_bits()) {
    Value operand = op->getOperand(relation.accesses[number].operand);
    scalars.push_back(isZero(operand)
                          ? terms.rational(0)
                          : terms.atom(number, {}, getSort(operand.getType())));
  }
  for (size_t i = 0; i < relation.positions.size(); ++i)
    scalars.push_back(
        terms.atom(relation.accesses.size() + i, {}, ScalarSort::Integer));
  return op.combine(terms, scalars);
}

bool ValueNumbering::computesZero(tv::SemanticsOpInterface op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return isZero(operand); }))
    return false;
  const IndexRelation &relation = factors.getRelation(op);
  // Every choice of one part for each dimension of the result.
  llvm::BitVector inResult = relation.getResultFactors();
  SmallVector<unsigned> choice(relation.result.size(), 0);
  auto getParts = [&](size_t dimension) {
    const DimensionExpr &expr = relation.result[dimension];
    return expr.getKind() == DimensionExpr::Kind::Concat ? expr.getChildren()
                                                         : ArrayRef(expr);
  };
  while (true) {
    llvm::BitVector bound(relation.extents.size());
    for (auto [dimension, number] : llvm::enumerate(choice))
      getParts(dimension)[number].markFactors(bound);
    llvm::BitVector present(relation.accesses.size());
    for (auto [number, access] : llvm::enumerate(relation.accesses)) {
      llvm::BitVector used(relation.extents.size());
      for (const DimensionExpr &expr : access.dimensions)
        expr.markFactors(used);
      used &= inResult;
      used.reset(bound);
      if (used.none())
        present.set(number);
    }
    if (combine(op, present) != terms.rational(0) || terms.error())
      return false;
    size_t i = choice.size();
    while (i > 0 && ++choice[i - 1] == getParts(i - 1).size())
      choice[--i] = 0;
    if (i == 0)
      return true;
  }
}

std::optional<unsigned>
ValueNumbering::findForwarded(tv::SemanticsOpInterface op) {
  const IndexRelation &relation = factors.getRelation(op);
  if (!relation.axisSums.empty() || !relation.axisReads.empty() ||
      relation.divisor != 1 || relation.accesses.empty())
    return std::nullopt;
  // Element by element.
  llvm::BitVector seen(relation.extents.size());
  for (const DimensionExpr &expr : relation.result) {
    if (expr.getKind() == DimensionExpr::Kind::Unit)
      continue;
    if (expr.getKind() != DimensionExpr::Kind::Factor ||
        seen.test(expr.getFactor()))
      return std::nullopt;
    seen.set(expr.getFactor());
  }
  if (!seen.all())
    return std::nullopt;
  auto isElementwise = [&](const IndexRelation::Access &access) {
    return access.dimensions.size() == relation.result.size() &&
           llvm::all_of(llvm::zip_equal(access.dimensions, relation.result),
                        [](auto pair) {
                          auto &[from, to] = pair;
                          return from.getKind() == to.getKind() &&
                                 from.getFactor() == to.getFactor();
                        });
  };
  llvm::BitVector present(relation.accesses.size(), true);
  Scalar result = combine(op, present);
  if (terms.error())
    return std::nullopt;
  for (auto [number, access] : llvm::enumerate(relation.accesses)) {
    Value operand = op->getOperand(access.operand);
    if (isElementwise(access) && !isZero(operand) &&
        getSort(operand.getType()) == getSort(op->getResult(0).getType()) &&
        result == terms.atom(number, {}, getSort(operand.getType())))
      return access.operand;
  }
  return std::nullopt;
}
