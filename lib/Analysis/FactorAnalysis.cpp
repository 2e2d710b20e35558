//===- FactorAnalysis.cpp - sorts of dimensions and their small case ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Relates dimensions through index relations and lineages.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

using namespace mlir;
using namespace verify;

/// Ops on positions up to this size are always evaluated exactly.
static constexpr int64_t smallTable = 8;

/// Sorts of fewer positions are not looked at in groups. As many as these have
/// more groups than a short dimension has positions.
static constexpr int64_t leastGrouped = 1024;

FactorAnalysis::FactorAnalysis(Block &body, tv::MeshAttr mesh, Options options)
    : mesh(mesh), options(options) {
  unit = newAtom(1);
  for (tv::AxisAttr axis : mesh.getAxes()) {
    if (axis.getName().getValue() == "device")
      continue;
    axes.push_back(newAtom(axis.getSize()));
    axisNames.push_back(axis.getName().getValue().str());
  }
  size_t count = body.getNumArguments() + body.getOperations().size();
  values->numbers.reserve(count);
  values->data.reserve(count);
  for (BlockArgument argument : body.getArguments())
    addValue(argument);
  for (Operation &op : body) {
    if (failure)
      break;
    relate(op);
  }
  relateData();
  if (!failure)
    computeWidths(body);
  findSelected();
  if (options.isFullSize)
    for (Node node = 0; node < nodes.size(); ++node)
      makeRigid(node);
  findGrouped();
  settle();
}

void FactorAnalysis::settle() {
  for (Node node = 0; node < nodes.size(); ++node)
    if (nodes[node].kind == Kind::Forward)
      nodes[node].children.front() = find(node);
  representatives.clear(nodes.size());
}

void FactorAnalysis::findSelected() {
  if (failure)
    return;
  SmallVector<Node> worklist;
  for (Operation *op : selecting)
    worklist.push_back(getDimensions(op->getOperand(0)).back());
  selected = findBelow(std::move(worklist));
}

llvm::DenseSet<FactorAnalysis::Node>
FactorAnalysis::findBelow(SmallVector<Node> worklist) const {
  llvm::DenseSet<Node> below;
  while (!worklist.empty()) {
    Node node = find(worklist.pop_back_val());
    if (below.insert(node).second)
      llvm::append_range(worklist, nodes[node].children);
  }
  return below;
}

void FactorAnalysis::findGrouped() {
  if (failure)
    return;
  // Coordinates have places of their own, and data name single positions.
  SmallVector<Node> single = axes;
  for (Operation *op : comparing)
    for (const auto &position : getRelation(op).positions)
      single.push_back(getFactors(op)[position.factor]);
  llvm::DenseSet<Node> excluded = findBelow(std::move(single));
  grouped.resize(nodes.size());
  for (Node node = 0; node < nodes.size(); ++node)
    grouped[node] = nodes[node].kind == Kind::Atom &&
                    nodes[node].rigidity == Rigidity::Ordered &&
                    nodes[node].size >= leastGrouped &&
                    !selected.contains(node) && !excluded.contains(node);
}

uint64_t FactorAnalysis::findVaryingAxes(Operation &op,
                                         const IndexRelation *relation) const {
  auto bit = [&](StringRef name) -> uint64_t {
    std::optional<unsigned> axis = findAxis(name);
    return axis ? uint64_t(1) << *axis : 0;
  };
  uint64_t axes = 0;
  for (unsigned operand : operands)
    axes |= getVaryingAxes(operand);
  if (auto distribute = dyn_cast<tv::DistributeOp>(op))
    for (ArrayAttr dimension : distribute.getLineage().getDimensions())
      for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
        if (factor.getAxis())
          axes |= bit(factor.getAxis().getValue());
  if (!relation)
    return axes;
  for (const auto &sum : relation->axisSums)
    axes &= ~bit(sum.axis);
  for (const auto &read : relation->axisReads)
    axes &= ~bit(read.axis);
  for (const auto &factor : relation->axisFactors)
    axes = factor.isRead ? axes & ~bit(factor.axis) : axes | bit(factor.axis);
  return axes;
}

void FactorAnalysis::fail(const Twine &reason) {
  if (!failure)
    failure = reason.str();
}

void FactorAnalysis::add(Value value, ArrayRef<Node> dimensions,
                         ArrayRef<Node> factors,
                         const IndexRelation *relation) {
  values->numbers[value] = values->data.size();
  ValueData &data = values->data.emplace_back();
  data.value = value;
  data.isData = getElementKind(value.getType()) == ElementKind::Integer;
  data.dimensions = Range::append(values->nodes, dimensions);
  data.factors = Range::append(values->nodes, factors);
  data.relation = relation;
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  data.operands = Range::append<unsigned>(values->operands, operands);
  data.varyingAxes = findVaryingAxes(*op, relation);
}

void FactorAnalysis::addValue(Value value) {
  SmallVector<Node, 4> list;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    list.push_back(newAtom(size));
  add(value, list);
}

llvm::BitVector FactorAnalysis::findCone(
    std::vector<unsigned> worklist,
    llvm::function_ref<std::optional<unsigned>(unsigned operand)> follow)
    const {
  llvm::BitVector cone(getValueCount());
  while (!worklist.empty()) {
    unsigned value = worklist.back();
    worklist.pop_back();
    if (cone.test(value))
      continue;
    cone.set(value);
    for (unsigned operand : getOperands(value))
      if (std::optional<unsigned> next = follow(operand))
        worklist.push_back(*next);
  }
  return cone;
}

std::optional<unsigned> FactorAnalysis::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axisNames))
    if (axis == name)
      return i;
  return std::nullopt;
}

FactorAnalysis::Node FactorAnalysis::build(const DimensionExpr &expr,
                                           ArrayRef<int64_t> extents,
                                           MutableArrayRef<Node> factorNodes) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return unit;
  case DimensionExpr::Kind::Factor: {
    Node &factor = factorNodes[expr.getFactor()];
    if (factor == noNode)
      factor = newAtom(extents[expr.getFactor()]);
    return factor;
  }
  case DimensionExpr::Kind::Hole:
    return newAtom(expr.getHoleSize());
  case DimensionExpr::Kind::Product:
  case DimensionExpr::Kind::Concat: {
    SmallVector<Node> children;
    for (const DimensionExpr &child : expr.getChildren())
      children.push_back(build(child, extents, factorNodes));
    return newNode(expr.getKind() == DimensionExpr::Kind::Product
                       ? Kind::Product
                       : Kind::Concat,
                   children);
  }
  }
  return unit;
}

void FactorAnalysis::cutAxis(tv::AxisSetAttr set) {
  if (std::optional<unsigned> axis = findAxis(set.getAxis().getValue()))
    for (int64_t bound : set.getBounds())
      cut(axes[*axis], bound);
}

void FactorAnalysis::cutAxes(tv::DomainAttr domain) {
  for (tv::AxisSetAttr set : domain.getSets())
    cutAxis(set);
}

void FactorAnalysis::cutAxes(Operation &op) {
  auto cutAttribute = [&](Attribute attribute) {
    if (auto domain = dyn_cast_if_present<tv::DomainAttr>(attribute))
      cutAxes(domain);
    if (auto set = dyn_cast_if_present<tv::AxisSetAttr>(attribute))
      cutAxis(set);
  };
  for (NamedAttribute attribute : op.getDiscardableAttrs())
    cutAttribute(attribute.getValue());
  // All at once would be made a dictionary.
  for (StringAttr name : op.getName().getAttributeNames())
    if (std::optional<Attribute> attribute = op.getInherentAttr(name))
      cutAttribute(*attribute);
}

FactorAnalysis::Node FactorAnalysis::relateLineage(ArrayAttr factors,
                                                   Node reference) {
  auto known = keptParts.find({find(reference), factors});
  if (known != keptParts.end())
    return known->second;
  SmallVector<Node> whole, kept;
  for (auto factor : factors.getAsRange<tv::DimensionFactorAttr>()) {
    if (factor.getAxis()) {
      std::optional<unsigned> axis = findAxis(factor.getAxis().getValue());
      if (!axis) {
        fail("a lineage is indexed by devices that are spelled out");
        return unit;
      }
      whole.push_back(axes[*axis]);
      continue;
    }
    int64_t start = factor.getStart(), end = factor.getEnd(),
            extent = factor.getExtent();
    // Most dimensions are kept whole.
    if (factors.size() == 1 && start == 0 && end == extent) {
      checkSize(reference, extent);
      return reference;
    }
    Node range = newAtom(end - start);
    kept.push_back(range);
    SmallVector<Node> blocks;
    if (start > 0)
      blocks.push_back(newAtom(start));
    blocks.push_back(range);
    if (end < extent)
      blocks.push_back(newAtom(extent - end));
    whole.push_back(newNode(Kind::Concat, blocks));
  }
  unify(reference, newNode(Kind::Product, whole));
  Node part = newNode(Kind::Product, kept);
  keptParts[{find(reference), factors}] = part;
  return part;
}

void FactorAnalysis::relateDistribute(tv::DistributeOp op) {
  cutAxes(op.getDomain());
  SmallVector<Node, 4> results;
  for (auto [factors, reference, size] :
       llvm::zip_equal(op.getLineage().getDimensions(), getOperandDimensions(0),
                       op.getResult().getType().getShape())) {
    results.push_back(relateLineage(factors, reference));
    checkSize(results.back(), size);
  }
  add(op.getResult(), results);
}

void FactorAnalysis::relateExpect(tv::ExpectOp op) {
  cutAxes(op.getDomain());
  ArrayRef<unsigned> stated = operands; // the reference is the last one
  ArrayRef<Node> reference = getDimensions(stated.back());
  for (auto [i, factors] : llvm::enumerate(op.getLineage().getDimensions())) {
    Node kept = relateLineage(factors, reference[i]);
    for (unsigned value : stated.drop_back())
      unify(getDimensions(value)[i], kept);
  }
}

const IndexRelation *FactorAnalysis::findRelation(tv::SemanticsOpInterface op) {
  // It is a function of the op's attributes and types, as are those cuts.
  if (Operation *equal = equalOps.find(op))
    return &getRelation(equal);
  cutAxes(*op);
  FailureOr<IndexRelation> found = op.getIndexRelation();
  if (failed(found)) {
    fail("'" + op->getName().getStringRef() + "' has no index relation");
    return nullptr;
  }
  equalOps.insert(op);
  return values->relations
      .emplace_back(std::make_unique<const IndexRelation>(std::move(*found)))
      .get();
}

void FactorAnalysis::relate(Operation &op) {
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  if (!semantics &&
      !isa<tv::DistributeOp, tv::ExpectOp, tv::InputOp, tv::UndefinedOp>(op))
    return fail("'" + op.getName().getStringRef() +
                "' is not a graph-level op");
  numberOperands(op);
  if (failure)
    return;
  if (op.hasTrait<tv::AssumesNoTies>())
    selecting.push_back(&op);
  noteData(op);
  if (auto distribute = dyn_cast<tv::DistributeOp>(op))
    return relateDistribute(distribute);
  if (auto expect = dyn_cast<tv::ExpectOp>(op))
    return relateExpect(expect);
  if (!semantics) {
    cutAxes(op);
    for (Value result : op.getResults())
      addValue(result);
    return;
  }
  const IndexRelation *kept = findRelation(semantics);
  if (!kept)
    return;
  const IndexRelation &relation = *kept;
  relateFactors(op, relation);
  if (failure)
    return;
  for (const auto &read : relation.axisReads)
    if (std::optional<unsigned> axis = findAxis(read.axis)) {
      cut(axes[*axis], read.coordinate);
      cut(axes[*axis], read.coordinate + 1);
    }
  relatePositions(op, relation);
}

void FactorAnalysis::numberOperands(Operation &op) {
  operands.clear();
  for (Value operand : op.getOperands()) {
    auto found = values->numbers.find(operand);
    if (found == values->numbers.end())
      return fail("an operand of '" + op.getName().getStringRef() +
                  "' is defined elsewhere");
    operands.push_back(found->second);
  }
}

void FactorAnalysis::checkSize(Node node, int64_t size) {
  int64_t other = nodes[find(node)].size;
  if (other != size)
    fail("dimensions of size " + Twine(other) + " and " + Twine(size) +
         " are related");
}

void FactorAnalysis::relateFactors(Operation &op,
                                   const IndexRelation &relation) {
  ArrayRef<int64_t> extents = relation.extents;
  SmallVector<Node, 6> factorNodes(extents.size(), noNode);
  for (const auto &axis : relation.axisFactors) {
    std::optional<unsigned> number = findAxis(axis.axis);
    if (!number)
      return fail("a factor is an axis that is spelled out");
    checkSize(axes[*number], extents[axis.factor]);
    factorNodes[axis.factor] = axes[*number];
  }
  // A factor is the first dimension that it alone makes up, if there is one.
  for (const auto &access : relation.accesses)
    for (auto [node, expr] : llvm::zip_equal(
             getOperandDimensions(access.operand), access.dimensions)) {
      if (expr.getKind() == DimensionExpr::Kind::Factor &&
          factorNodes[expr.getFactor()] == noNode) {
        checkSize(node, extents[expr.getFactor()]);
        factorNodes[expr.getFactor()] = node;
        continue;
      }
      unify(node, build(expr, extents, factorNodes));
    }
  SmallVector<Node, 4> results;
  for (auto [size, expr] : llvm::zip_equal(
           cast<RankedTensorType>(op.getResult(0).getType()).getShape(),
           relation.result)) {
    results.push_back(build(expr, extents, factorNodes));
    checkSize(results.back(), size);
  }
  for (auto [node, extent] : llvm::zip_equal(factorNodes, extents))
    if (node == noNode)
      node = newAtom(extent);
  add(op.getResult(0), results, factorNodes, &relation);
}

void FactorAnalysis::relatePositions(Operation &op,
                                     const IndexRelation &relation) {
  bool usesOrder = false, isSmall = true, compares = false;
  for (const auto &position : relation.positions) {
    usesOrder |= position.use == PositionUse::Order;
    compares |= position.use == PositionUse::Equality;
    isSmall &= relation.extents[position.factor] <= smallTable;
  }
  if (compares)
    comparing.push_back(&op);
  if (!usesOrder)
    return;
  if (isSmall || options.positions == Positions::Exact ||
      op.getNumOperands() != 0) {
    Rigidity rigidity = op.hasTrait<tv::ComparesPositions>() ? Rigidity::Ordered
                                                             : Rigidity::Full;
    for (const auto &position : relation.positions)
      makeRigid(getFactors(&op)[position.factor], rigidity);
    return;
  }
  // One unknown tensor for every op of equal content.
  NamedAttrList attributes(op.getAttrs());
  attributes.erase("domain");
  attributes.set("op",
                 StringAttr::get(op.getContext(), op.getName().getStringRef()));
  attributes.set("type", TypeAttr::get(op.getResult(0).getType()));
  Attribute key = attributes.getDictionary(op.getContext());
  auto [tensor, isNew] = opaqueTensors.try_emplace(key, op.getResult(0));
  if (isNew) {
    opaque[&op] = opaqueCount++;
    return;
  }
  opaque[&op] = opaque[tensor->second.getDefiningOp()];
  for (auto [left, right] : llvm::zip_equal(getDimensions(op.getResult(0)),
                                            getDimensions(tensor->second)))
    unify(left, right);
}
