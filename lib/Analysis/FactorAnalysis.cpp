//===- FactorAnalysis.cpp - sorts of dimensions and their small case ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Relates dimensions through index relations and lineages, and answers which
// positions are looked at.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

#include <functional>

using namespace mlir;
using namespace verify;

/// Ops on positions up to this size are always evaluated exactly.
static constexpr int64_t smallTable = 8;

FactorAnalysis::FactorAnalysis(Block &body, tv::MeshAttr mesh, Options options)
    : mesh(mesh), options(options) {
  size_t opCount = body.getOperations().size();
  dimensions.reserve(opCount);
  factors.reserve(opCount);
  relations.reserve(opCount);
  unit = newAtom(1);
  for (tv::AxisAttr axis : mesh.getAxes()) {
    if (axis.getName().getValue() == "device")
      continue;
    axes.push_back(newAtom(axis.getSize()));
    axisNames.push_back(axis.getName().getValue().str());
  }
  for (BlockArgument argument : body.getArguments())
    addValue(argument);
  for (Operation &op : body) {
    for (Value result : op.getResults())
      addValue(result);
    if (failure)
      return;
    relate(op);
  }
  relateData(body);
  if (!failure)
    computeWidths(body);
  findSelected(body);
  if (options.isFullSize)
    for (Node node = 0; node < nodes.size(); ++node)
      makeRigid(node);
}

void FactorAnalysis::findSelected(Block &body) {
  if (failure)
    return;
  SmallVector<Node> worklist;
  for (Operation &op : body)
    if (op.hasTrait<tv::AssumesNoTies>())
      worklist.push_back(getDimensions(op.getOperand(0)).back());
  while (!worklist.empty()) {
    Node node = find(worklist.pop_back_val());
    if (selected.insert(node).second)
      llvm::append_range(worklist, nodes[node].children);
  }
}

void FactorAnalysis::fail(const Twine &reason) {
  if (!failure)
    failure = reason.str();
}

void FactorAnalysis::addValue(Value value) {
  SmallVector<Node, 4> &list = dimensions[value];
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    list.push_back(newAtom(size));
}

ArrayRef<FactorAnalysis::Node>
FactorAnalysis::getDimensions(Value value) const {
  return dimensions.find(value)->second;
}

std::optional<unsigned> FactorAnalysis::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axisNames))
    if (axis == name)
      return i;
  return std::nullopt;
}

ArrayRef<FactorAnalysis::Node> FactorAnalysis::getFactors(Operation *op) const {
  return factors.find(op)->second;
}

const IndexRelation &FactorAnalysis::getRelation(Operation *op) const {
  return *relations.find(op)->second;
}

FactorAnalysis::Node FactorAnalysis::build(const DimensionExpr &expr,
                                           ArrayRef<Node> factorNodes) {
  switch (expr.getKind()) {
  case DimensionExpr::Kind::Unit:
    return unit;
  case DimensionExpr::Kind::Factor:
    return factorNodes[expr.getFactor()];
  case DimensionExpr::Kind::Hole:
    return newAtom(expr.getHoleSize());
  case DimensionExpr::Kind::Product:
  case DimensionExpr::Kind::Concat: {
    SmallVector<Node> children;
    for (const DimensionExpr &child : expr.getChildren())
      children.push_back(build(child, factorNodes));
    return newNode(expr.getKind() == DimensionExpr::Kind::Product
                       ? Kind::Product
                       : Kind::Concat,
                   children);
  }
  }
  return unit;
}

void FactorAnalysis::relateDomain(Operation &op) {
  auto cutSet = [&](tv::AxisSetAttr set) {
    std::optional<unsigned> axis = findAxis(set.getAxis().getValue());
    if (axis)
      for (int64_t bound : set.getBounds())
        cut(axes[*axis], bound);
  };
  for (NamedAttribute attribute : op.getAttrs()) {
    if (auto domain = dyn_cast<tv::DomainAttr>(attribute.getValue()))
      llvm::for_each(domain.getSets(), cutSet);
    if (auto set = dyn_cast<tv::AxisSetAttr>(attribute.getValue()))
      cutSet(set);
  }
}

void FactorAnalysis::relateLineage(tv::LineageAttr lineage, Value reference,
                                   ValueRange locals) {
  for (auto [i, dimension] : llvm::enumerate(lineage.getDimensions())) {
    SmallVector<Node> whole, kept;
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>()) {
      if (factor.getAxis()) {
        std::optional<unsigned> axis = findAxis(factor.getAxis().getValue());
        if (!axis)
          return fail("a lineage is indexed by devices that are spelled out");
        whole.push_back(axes[*axis]);
        continue;
      }
      Node range = newAtom(factor.getEnd() - factor.getStart());
      kept.push_back(range);
      SmallVector<Node> blocks;
      if (factor.getStart() > 0)
        blocks.push_back(newAtom(factor.getStart()));
      blocks.push_back(range);
      if (factor.getEnd() < factor.getExtent())
        blocks.push_back(newAtom(factor.getExtent() - factor.getEnd()));
      whole.push_back(newNode(Kind::Concat, blocks));
    }
    unify(dimensions[reference][i], newNode(Kind::Product, whole));
    for (Value local : locals)
      unify(dimensions[local][i], newNode(Kind::Product, kept));
  }
}

const IndexRelation *FactorAnalysis::findRelation(tv::SemanticsOpInterface op) {
  // It is a function of the op's attributes and types.
  std::shared_ptr<const IndexRelation> relation;
  if (Operation *equal = equalOps.find(op)) {
    relation = relations.find(equal)->second;
  } else {
    FailureOr<IndexRelation> found = op.getIndexRelation();
    if (failed(found)) {
      fail("'" + op->getName().getStringRef() + "' has no index relation");
      return nullptr;
    }
    relation = std::make_shared<const IndexRelation>(std::move(*found));
    equalOps.insert(op);
  }
  return (relations[op] = std::move(relation)).get();
}

void FactorAnalysis::relate(Operation &op) {
  relateDomain(op);
  if (auto distribute = dyn_cast<tv::DistributeOp>(op))
    return relateLineage(distribute.getLineage(), distribute.getReference(),
                         distribute.getResult());
  if (auto expect = dyn_cast<tv::ExpectOp>(op))
    return relateLineage(expect.getLineage(), expect.getReference(),
                         expect.getValues());
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  if (!semantics) {
    if (!isa<tv::InputOp, tv::UndefinedOp>(op))
      fail("'" + op.getName().getStringRef() + "' is not a graph-level op");
    return;
  }
  const IndexRelation *kept = findRelation(semantics);
  if (!kept)
    return;
  const IndexRelation &relation = *kept;
  SmallVector<Node, 6> &factorNodes = factors[&op];
  for (int64_t extent : relation.extents)
    factorNodes.push_back(newAtom(extent));
  for (const auto &access : relation.accesses)
    for (auto [node, expr] : llvm::zip_equal(
             dimensions[op.getOperand(access.operand)], access.dimensions))
      unify(node, build(expr, factorNodes));
  for (auto [node, expr] :
       llvm::zip_equal(dimensions[op.getResult(0)], relation.result))
    unify(node, build(expr, factorNodes));
  for (const auto &read : relation.axisReads)
    if (std::optional<unsigned> axis = findAxis(read.axis)) {
      cut(axes[*axis], read.coordinate);
      cut(axes[*axis], read.coordinate + 1);
    }
  relatePositions(op, relation);
}

void FactorAnalysis::relatePositions(Operation &op,
                                     const IndexRelation &relation) {
  bool usesOrder = false, isSmall = true;
  for (const auto &position : relation.positions) {
    usesOrder |= position.use == PositionUse::Order;
    isSmall &= relation.extents[position.factor] <= smallTable;
  }
  if (!usesOrder)
    return;
  if (isSmall || options.positions == Positions::Exact ||
      op.getNumOperands() != 0) {
    for (const auto &position : relation.positions)
      makeRigid(factors[&op][position.factor]);
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
  for (auto [left, right] :
       llvm::zip_equal(dimensions[op.getResult(0)], dimensions[tensor->second]))
    unify(left, right);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Positions of an atom that are looked at: the first ones, and the last one
/// for all others.
static std::vector<Representative> representAtom(int64_t size, int64_t width,
                                                 bool isRigid) {
  std::vector<Representative> list;
  bool isWhole = isRigid || size <= width + 1;
  int64_t kept = isWhole ? size : width;
  list.reserve(kept + 1);
  for (int64_t i = 0; i < kept; ++i)
    list.push_back({i, 1});
  if (!isWhole)
    list.push_back({size - 1, size - kept});
  return list;
}

ArrayRef<Representative> FactorAnalysis::getRepresentatives(Node node) const {
  node = find(node);
  auto found = representatives.find(node);
  if (found != representatives.end())
    return found->second;
  const NodeData &data = nodes[node];
  std::vector<Representative> list;
  if (data.kind == Kind::Atom) {
    list = representAtom(data.size, data.width, data.isRigid);
  } else if (data.kind == Kind::Concat) {
    int64_t offset = 0;
    for (Node child : data.children) {
      std::vector<Representative> part = getRepresentatives(child);
      for (Representative entry : part)
        list.push_back({entry.position + offset, entry.weight});
      offset += nodes[find(child)].size;
    }
  } else {
    list.push_back({0, 1});
    for (Node child : data.children) {
      std::vector<Representative> part = getRepresentatives(child), next;
      for (Representative major : list)
        for (Representative minor : part)
          next.push_back(
              {major.position * nodes[find(child)].size + minor.position,
               major.weight * minor.weight});
      list = std::move(next);
    }
  }
  return representatives[node] = std::move(list);
}

int64_t FactorAnalysis::getWeight(Node node, int64_t position) const {
  node = find(node);
  const NodeData &data = nodes[node];
  if (position < 0 || position >= data.size)
    return 0;
  switch (data.kind) {
  case Kind::Atom: {
    bool isWhole = data.isRigid || data.size <= data.width + 1;
    if (isWhole || position < data.width)
      return 1;
    return position == data.size - 1 ? data.size - data.width : 0;
  }
  case Kind::Concat:
    for (Node child : data.children) {
      int64_t size = nodes[find(child)].size;
      if (position < size)
        return getWeight(child, position);
      position -= size;
    }
    return 0;
  case Kind::Product: {
    int64_t weight = 1;
    for (Node child : llvm::reverse(data.children)) {
      int64_t size = nodes[find(child)].size;
      weight *= getWeight(child, position % size);
      position /= size;
    }
    return weight;
  }
  case Kind::Forward:
    break;
  }
  return 0;
}

std::pair<int64_t, int64_t>
FactorAnalysis::getBlock(Node node, int64_t position, bool mergesBlocks) const {
  node = find(node);
  const NodeData &data = nodes[node];
  auto isRigid = [&](Node child) { return nodes[find(child)].isRigid; };
  auto getWithin = [&](Node child, int64_t start) {
    auto [first, end] = getBlock(child, position - start, mergesBlocks);
    return std::pair(start + first, start + end);
  };
  if (data.kind == Kind::Concat) {
    if (mergesBlocks && llvm::all_of(data.children, isRigid))
      return {0, data.size};
    int64_t start = 0;
    for (Node child : data.children) {
      int64_t size = nodes[find(child)].size;
      if (position - start < size)
        return getWithin(child, start);
      start += size;
    }
  }
  if (data.kind == Kind::Product) {
    // One row after the other.
    Node minor = data.children.back();
    return getWithin(minor, position - position % nodes[find(minor)].size);
  }
  if (data.isRigid)
    return {0, data.size};
  return {position, position + 1};
}

bool FactorAnalysis::chooseOfAtom(Node node, PatternState &state,
                                  GoOn next) const {
  const NodeData &data = nodes[node];
  if (data.size == 1)
    return next(state, 0);
  bool isWhole = data.isRigid || data.size <= data.width + 1;
  int64_t available = isWhole ? data.size : data.width;
  int64_t before = state.used.lookup(node);
  int64_t choices = data.isRigid ? data.size : std::min(available, before + 1);
  for (int64_t choice = 0; choice < choices; ++choice) {
    state.used[node] = std::max(before, choice + 1);
    if (!next(state, choice))
      return false;
  }
  state.used[node] = before;
  return choices > 0;
}

bool FactorAnalysis::choose(Node node, PatternState &state, GoOn next) const {
  node = find(node);
  const NodeData &data = nodes[node];
  if (data.kind == Kind::Atom)
    return chooseOfAtom(node, state, next);
  if (data.kind == Kind::Concat) {
    int64_t offset = 0;
    for (Node child : data.children) {
      if (!choose(child, state, [&](PatternState &inner, int64_t position) {
            return next(inner, offset + position);
          }))
        return false;
      offset += nodes[find(child)].size;
    }
    return true;
  }
  std::function<bool(size_t, PatternState &, int64_t)> factor =
      [&](size_t i, PatternState &inner, int64_t position) -> bool {
    if (i == data.children.size())
      return next(inner, position);
    int64_t size = nodes[find(data.children[i])].size;
    return choose(data.children[i], inner,
                  [&](PatternState &deeper, int64_t minor) {
                    return factor(i + 1, deeper, position * size + minor);
                  });
  };
  return factor(0, state, 0);
}

std::optional<std::vector<SmallVector<int64_t>>>
FactorAnalysis::getPatterns(ArrayRef<Node> list, size_t limit) const {
  std::vector<SmallVector<int64_t>> patterns;
  std::function<bool(size_t, PatternState &)> dimension =
      [&](size_t i, PatternState &state) -> bool {
    if (i == list.size()) {
      patterns.push_back(state.index);
      return patterns.size() <= limit;
    }
    return choose(list[i], state, [&](PatternState &inner, int64_t position) {
      inner.index.push_back(position);
      bool goesOn = dimension(i + 1, inner);
      inner.index.pop_back();
      return goesOn;
    });
  };
  PatternState state;
  if (!dimension(0, state))
    return std::nullopt;
  return patterns;
}

SmallVector<SortInfo> FactorAnalysis::getSorts() const {
  SmallVector<SortInfo> sorts;
  for (Node node = 0; node < nodes.size(); ++node) {
    const NodeData &data = nodes[node];
    if (data.kind != Kind::Atom || data.size <= 1)
      continue;
    SortInfo sort{data.size, data.width, 0, 0, data.isRigid, data.countsSteps};
    for (const Representative &position : getRepresentatives(node)) {
      if (position.weight == 1)
        ++sort.kept;
      else
        sort.bulk = position.weight;
    }
    sorts.push_back(sort);
  }
  return sorts;
}

SmallCase FactorAnalysis::getSmallCase() const {
  SmallCase result = SmallCase::None;
  for (const NodeData &data : nodes) {
    if (data.kind != Kind::Atom || data.isRigid || data.size <= data.width + 1)
      continue;
    if (data.countsSteps)
      return SmallCase::CountsSteps;
    result = SmallCase::Smooth;
  }
  return result;
}
