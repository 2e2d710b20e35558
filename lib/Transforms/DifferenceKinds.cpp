//===- DifferenceKinds.cpp - in what way a value differs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

using namespace mlir;
using namespace verify;

//===----------------------------------------------------------------------===//
// The stated value
//===----------------------------------------------------------------------===//

void Diagnosis::noteOrigin(Finding &finding, Value term) {
  if (Operation *op = term.getDefiningOp())
    finding.related.push_back(
        {op->getLoc(), "the term on " + describeDevices(getDevices(term)) +
                           " is computed here, by " + describe(op)});
}

void Diagnosis::noteParameters(Finding &finding, Operation *op) {
  for (Value operand : op->getOperands())
    if (auto part = operand.getDefiningOp<tv::DistributeOp>()) {
      auto input = part.getReference().getDefiningOp<tv::InputOp>();
      if (input && input.getContract().getRole() == tv::ContractRole::Parameter)
        finding.related.push_back(
            {part.getLoc(), "it reads part " + describePart(part.getLineage()) +
                                " of parameter '" +
                                input.getContract().getName().str() + "'"});
    }
}

void Diagnosis::noteHolders(Finding &finding) {
  SmallVector<int64_t> holders;
  for (Operation *op : agreeing) {
    auto expect = cast<tv::ExpectOp>(op);
    tv::AxisSetAttr set = expect.getDomain().getSet("device");
    if (expect.getReference() != finding.expect.getReference() ||
        expect.getLineage() != finding.expect.getLineage() || !set)
      continue;
    for (size_t i = 0; i < set.getBounds().size(); i += 2)
      for (int64_t device = set.getBounds()[i]; device < set.getBounds()[i + 1];
           ++device)
        holders.push_back(device);
  }
  llvm::sort(holders);
  holders.erase(llvm::unique(holders), holders.end());
  if (!holders.empty())
    finding.explanation += "; " + describeDevices(holders) +
                           (holders.size() == 1 ? " holds" : " hold") +
                           " the part that is expected";
}

/// `a / b`, or `a`.
static std::string describeFactor(const Match &match) {
  std::string text = std::to_string(match.numerator);
  return match.denominator == 1
             ? text
             : text + "/" + std::to_string(match.denominator);
}

bool Diagnosis::classifyStated(Finding &finding) {
  tv::ExpectOp expect = finding.expect;
  if (expect.getValues().size() != 1)
    return false;
  Value value = expect.getValues().front(), reference = expect.getReference();
  auto reduction = value.getDefiningOp<tv::AllReduceOp>();
  if (reduction &&
      classifyReduction(finding, reduction, reference, expect.getLineage()))
    return true;
  if (auto part = matcher.matchPart(value, reference, expect.getLineage())) {
    if (part->isScaled()) {
      Operation *op = value.getDefiningOp();
      if (classifyDoubling(finding) ||
          (op && classifyOtherOperand(finding, op)))
        return true;
      finding.kind = DifferenceKind::ScaleFactor;
      finding.explanation = "the value is " + describeFactor(*part) +
                            " times that of the reference";
      for (Operation *op : region)
        if (auto constant = dyn_cast<tv::ConstantOp>(op))
          if (std::string text = findWrongConstant(constant); !text.empty())
            finding.explanation += "; " + text;
      return true;
    }
    finding.kind = DifferenceKind::WrongSlice;
    finding.op = value.getDefiningOp();
    finding.explanation = "on " + describeDevices(getDevices(value)) +
                          " the value is part " + describePart(part->lineage) +
                          " of the reference tensor, part " +
                          describePart(expect.getLineage()) + " is expected";
    if (auto move = value.getDefiningOp<tv::MoveOp>())
      finding.explanation +=
          "; it was sent by " + describeDevices(getDevices(move.getOperand()));
    noteHolders(finding);
    return true;
  }
  if (auto sum = matcher.matchSum(value, reference)) {
    finding.kind = DifferenceKind::MissingSum;
    bool isGradient = expect.getContract() && expect.getContract()->getRole() ==
                                                  tv::ContractRole::Gradient;
    finding.explanation =
        "the value is one term of a sum over " +
        describeSum(*sum, finding.expect.getLineage(), graph.getMesh()) +
        (isGradient
             ? ", and no weight reducer adds the terms up: one is missing"
             : ", and nothing adds the terms up") +
        "; their sum is the value of the reference";
    noteOrigin(finding, value);
    return true;
  }
  return classifyOtherTensor(finding);
}

bool Diagnosis::classifyOtherTensor(Finding &finding) {
  tv::ExpectOp expect = finding.expect;
  Value value = expect.getValues().front();
  Operation *op = value.getDefiningOp();
  for (Operation *other : referenceRegion) {
    if (other->getResult(0) == expect.getReference() ||
        getPlaceKey(other->getLoc()) != getPlaceKey(op->getLoc()))
      continue;
    auto part = matcher.matchPart(value, other->getResult(0));
    if (!part || part->isScaled())
      continue;
    if (classifyLackingTerms(finding, other->getResult(0)))
      return true;
    finding.kind = DifferenceKind::WrongOperand;
    Operation *expected = expect.getReference().getDefiningOp();
    if (expected &&
        getPlaceKey(expected->getLoc()) != getPlaceKey(op->getLoc())) {
      bool isRead =
          llvm::is_contained(expected->getOperands(), other->getResult(0));
      finding.explanation =
          "the value is the result of " + describe(other) +
          " of the reference, " +
          (isRead
               ? "of which " + describe(expected) + " makes another one there"
               : "that of " + describe(expected) + " is expected");
      return true;
    }
    finding.op = op;
    finding.explanation = "the value is that of another tensor of the "
                          "reference: " +
                          describe(op) + " has another operand there";
    // Where another result is the one that is expected here, they are swapped.
    for (tv::ExpectOp root : finding.roots)
      if (root != expect && root.getValues().size() == 1 &&
          getPlaceKey(root.getLoc()) == getPlaceKey(expect.getLoc()))
        if (auto swapped = matcher.matchPart(root.getValues().front(),
                                             expect.getReference());
            swapped && !swapped->isScaled()) {
          finding.kind = DifferenceKind::ExchangedOperands;
          finding.explanation = "the operands of " + describe(op) +
                                " are exchanged: each of its results is the "
                                "one that the reference has for another";
        }
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The ops before it
//===----------------------------------------------------------------------===//

std::optional<Match> Diagnosis::matchAny(Value value) {
  Operation *op = value.getDefiningOp();
  SmallVector<Value> same, others;
  // Layers with equal parameters have equal values.
  DenseValueSet known;
  for (bool isSame : {true, false})
    for (Operation *candidate : referenceRegion)
      if ((getPlaceKey(candidate->getLoc()) == getPlaceKey(op->getLoc())) ==
              isSame &&
          known.insert(matcher.getLeader(candidate->getResult(0))).second)
        (isSame ? same : others).push_back(candidate->getResult(0));
  std::optional<Match> multiple;
  for (ArrayRef<Value> list : {ArrayRef(same), ArrayRef(others)})
    for (Value reference : list)
      if (auto found = matcher.matchPart(value, reference)) {
        if (!found->isScaled())
          return found;
        if (!multiple && !same.empty() && list.data() == same.data())
          multiple = found;
      }
  for (ArrayRef<Value> list : {ArrayRef(same), ArrayRef(others)})
    for (Value reference : list)
      if (auto found = matcher.matchSum(value, reference))
        return found;
  return multiple;
}

bool Diagnosis::matchPositions(Finding &finding, tv::OneHotOp op) {
  auto whole = dyn_cast_or_null<tv::OneHotOp>(findSimilar(op));
  auto found = matches.find(op.getOperand());
  if (!whole || found == matches.end() || found->second.isSum() ||
      found->second.isScaled() ||
      !matcher.areEqual(found->second.reference, whole.getOperand()))
    return false;
  auto count = [](tv::OneHotOp each) {
    return cast<RankedTensorType>(each.getResult().getType()).getShape().back();
  };
  int64_t start, end, size = count(op);
  if (llvm::SubOverflow<int64_t>(op.getStart(), whole.getStart(), start) ||
      llvm::AddOverflow<int64_t>(op.getStart(), size, end))
    return false;
  if (start < 0 || start > count(whole) - size) {
    finding.kind = DifferenceKind::WrongSlice;
    finding.op = op;
    finding.explanation =
        "on " + describeDevices(getDevices(op.getResult())) + " " +
        describe(op) + " looks for the positions from " +
        std::to_string(op.getStart()) + " to " + std::to_string(end - 1) +
        ", which are not among those that the reference looks for";
    return true;
  }
  // By its values it may be another part: where no position is in either.
  SmallVector<ArrayAttr> dimensions(found->second.lineage.getDimensions());
  Attribute range = tv::DimensionFactorAttr::get(
      op.getContext(), nullptr, start, start + size, count(whole));
  dimensions.push_back(ArrayAttr::get(op.getContext(), range));
  matches[op.getResult()] = {
      whole.getResult(),
      tv::LineageAttr::get(op.getContext(), dimensions, ArrayRef<StringAttr>()),
      {op.getResult()}};
  return true;
}

bool Diagnosis::matchOp(Finding &finding, Operation *op) {
  Value value = op->getResult(0);
  // Its elements may be those of other parts as well.
  if (auto part = dyn_cast<tv::DistributeOp>(op)) {
    matches[value] = {part.getReference(), part.getLineage(), {value}};
    return true;
  }
  if (holding.contains(value)) {
    // It is right; which value it is helps those that read it.
    if (auto found = matchAny(value))
      matches[value] = *found;
    return true;
  }
  if (auto oneHot = dyn_cast<tv::OneHotOp>(op);
      oneHot && matchPositions(finding, oneHot))
    return true;
  if (auto constant = dyn_cast<tv::ConstantOp>(op)) {
    if (std::string text = findWrongConstant(constant); !text.empty()) {
      finding.kind = DifferenceKind::WrongConstant;
      finding.op = constant;
      finding.explanation = text;
    }
    return true;
  }
  auto found = matchAny(value);
  // Of what is within an op of the model nothing is said, but what it is not.
  if (found && found->isScaled() && isInner(op))
    return false;
  if (found && found->isScaled()) {
    finding.kind = DifferenceKind::ScaleFactor;
    finding.op = op;
    finding.explanation = describe(op) + " gives " + describeFactor(*found) +
                          " times the value of the reference";
    return false;
  }
  if (found)
    matches[value] = *found;
  return found.has_value();
}

void Diagnosis::classifyRegion(Finding &finding) {
  // Of several that may be wrong, as the terms of a sum, the first of which
  // more is known.
  std::optional<Finding> unclear;
  unsigned alike = 0;
  DenseValueSet following; // what may be wrong, and what is made of it
  for (Operation *op : region) {
    bool isFollowing = llvm::any_of(op->getOperands(), [&](Value operand) {
      return following.contains(operand);
    });
    if (isFollowing)
      following.insert(op->getResult(0));
    Finding candidate = finding;
    bool isMatched = matchOp(candidate, op);
    if (!isMatched && !isFollowing) {
      following.insert(op->getResult(0));
      classifyOp(candidate, op);
    }
    if (candidate.kind != DifferenceKind::Other &&
        (isMatched || !isFollowing)) {
      finding = candidate;
      return;
    }
    if (isMatched || isFollowing)
      continue;
    if (!unclear)
      unclear = candidate;
    else if (getPlaceKey(op->getLoc()) == getPlaceKey(unclear->op->getLoc()))
      ++alike;
  }
  if (!unclear) {
    // What is stated may be a value of the reference, but another one.
    Operation *op = finding.expect.getValues().front().getDefiningOp();
    if (op && !classifyOperands(finding, op))
      classifyOtherOperand(finding, op);
    return;
  }
  if (noteOddMicroBatch(finding))
    return;
  finding = *unclear;
  if (alike)
    finding.explanation += "; the same holds of " + std::to_string(alike) +
                           " more at this line, and whether one of them is "
                           "wrong or what is made of them does not show";
}

bool Diagnosis::classifySlices(Finding &finding, Operation *op) {
  if (!isa<tv::SemanticsOpInterface>(op))
    return false;
  const IndexRelation &relation = factors.getRelation(op);
  // For each factor, the first operand with it and the range it keeps.
  struct Range {
    Value operand;
    const Match *match;
    size_t dimension;
    tv::DimensionFactorAttr range;
  };
  // Equal elements of several parts do not tell which of them one is.
  auto mayHave = [&](const Range &one, const Range &other) {
    SmallVector<ArrayAttr> dimensions(one.match->lineage.getDimensions());
    SmallVector<Attribute> factors(dimensions[one.dimension].getValue());
    factors.back() = other.range;
    dimensions[one.dimension] = ArrayAttr::get(op->getContext(), factors);
    return matcher.isPart(
        one.operand, one.match->reference,
        tv::LineageAttr::get(op->getContext(), dimensions, {}));
  };
  llvm::DenseMap<unsigned, Range> known;
  for (const auto &access : relation.accesses) {
    Value operand = op->getOperand(access.operand);
    auto found = matches.find(operand);
    if (found == matches.end() || found->second.isSum())
      continue;
    tv::LineageAttr lineage = found->second.lineage;
    for (auto [number, expr, dimension] :
         llvm::enumerate(access.dimensions, lineage.getDimensions())) {
      if (expr.getKind() != DimensionExpr::Kind::Factor)
        continue;
      auto range = cast<tv::DimensionFactorAttr>(dimension.getValue().back());
      Range own{operand, &found->second, number, range};
      auto [entry, isNew] = known.try_emplace(expr.getFactor(), own);
      const Range &first = entry->second;
      if (isNew || first.range.getExtent() != range.getExtent() ||
          first.range.getStart() == range.getStart() || mayHave(own, first) ||
          mayHave(first, own))
        continue;
      finding.kind = DifferenceKind::WrongSlice;
      finding.op = op;
      finding.explanation = "on " +
                            describeDevices(getDevices(op->getResult(0))) +
                            " the operands of " + describe(op) +
                            " do not belong together: they are part " +
                            describePart(first.match->lineage) + " and part " +
                            describePart(lineage) + " of the reference tensors";
      return true;
    }
  }
  return false;
}

void Diagnosis::classifyOp(Finding &finding, Operation *op) {
  tv::MeshAttr mesh = graph.getMesh();
  finding.op = op;
  if (auto reduction = dyn_cast<tv::AllReduceOp>(op))
    for (Operation *candidate : referenceRegion)
      if (classifyReduction(finding, reduction, candidate->getResult(0), {}))
        return;
  if (classifyDoubling(finding))
    return;
  bool isLinear = isa<tv::AddOp>(op);
  for (Value operand : op->getOperands()) {
    auto found = matches.find(operand);
    isLinear &= found != matches.end() && found->second.isSum();
  }
  for (Value operand : op->getOperands()) {
    auto found = matches.find(operand);
    if (isLinear || found == matches.end() || !found->second.isSum())
      continue;
    std::string over =
        describeSum(found->second, finding.expect.getLineage(), mesh);
    // The result is such a term itself.
    if (over.empty())
      continue;
    finding.kind = DifferenceKind::MissingSum;
    finding.explanation =
        "an operand of " + describe(op) + " is one term of a sum over " + over +
        ", and nothing adds the terms up; their sum is the value of the "
        "reference";
    noteOrigin(finding, operand);
    return;
  }
  if (classifySlices(finding, op) || classifyOperands(finding, op) ||
      finding.kind != DifferenceKind::Other ||
      classifyOtherOperand(finding, op))
    return;
  if (auto add = dyn_cast<tv::AddOp>(op)) {
    // One operand has the other one in it.
    for (auto [operand, other] : {std::pair(add.getLeft(), add.getRight()),
                                  std::pair(add.getRight(), add.getLeft())}) {
      auto whole = matches.find(operand), part = matches.find(other);
      if (whole == matches.end() || part == matches.end())
        continue;
      auto sum = whole->second.reference.getDefiningOp<tv::AddOp>();
      if (!sum ||
          !llvm::is_contained(sum->getOperands(), part->second.reference))
        continue;
      finding.kind = DifferenceKind::ExtraSum;
      finding.explanation = describe(add) +
                            " adds a value that the other operand already has "
                            "in it: it counts twice";
      if (Operation *producer = other.getDefiningOp())
        finding.related.push_back(
            {producer->getLoc(),
             "the value that counts twice, given by " + describe(producer)});
      return;
    }
  }
  finding.explanation = "the operands of " + describe(op) +
                        " are values of the reference, its result is no part, "
                        "sum or multiple of a value there";
}
