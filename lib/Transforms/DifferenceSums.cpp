//===- DifferenceSums.cpp - sums of too much or too little ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

using namespace mlir;
using namespace verify;

/// The devices that the operands of a reduction come from.
static SmallVector<int64_t> getMembers(tv::AllReduceOp reduction) {
  SmallVector<int64_t> members;
  for (Value operand : reduction.getOperands())
    llvm::append_range(members, getDevices(operand));
  llvm::sort(members);
  members.erase(llvm::unique(members), members.end());
  return members;
}

bool Diagnosis::addsCopies(tv::AllReduceOp reduction, Value reference,
                           tv::LineageAttr lineage) {
  for (ArrayAttr dimension : lineage.getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis() &&
          llvm::is_contained(reduction.getAxes(), factor.getAxis()))
        return false;
  return llvm::all_of(reduction.getOperands(), [&](Value operand) {
    auto part = matcher.matchPart(operand, reference);
    return part && !part->isScaled() && part->lineage == lineage;
  });
}

/// A sum of what is complete.
static void setExtraSum(Finding &finding, tv::AllReduceOp reduction,
                        const std::string &over) {
  finding.kind = DifferenceKind::ExtraSum;
  finding.op = reduction;
  finding.explanation = describe(reduction) + " adds up over " + over +
                        ", but the value is complete before it";
}

bool Diagnosis::classifyReduction(Finding &finding, tv::AllReduceOp reduction,
                                  Value reference, tv::LineageAttr expected) {
  if (reduction.getKind() != tv::ReductionKind::Sum)
    return false;
  std::string over = describeDevices(getMembers(reduction));
  MLIRContext *context = graph.getContext();
  int64_t replicas = graph.getMesh().getAxisSize("dp").value_or(1);
  if (replicas > 1 &&
      llvm::is_contained(reduction.getAxes(), StringAttr::get(context, "dp")))
    over += " of all " + std::to_string(replicas) + " replicas";
  for (Value operand : reduction.getOperands()) {
    auto whole = matcher.matchPart(operand, reference);
    if (!whole || whole->isScaled() || (expected && whole->lineage != expected))
      continue;
    // Without a statement, parts that differ may well be added up.
    if (!expected && !addsCopies(reduction, reference, whole->lineage))
      continue;
    setExtraSum(finding, reduction, over);
    return true;
  }
  for (Value operand : reduction.getOperands()) {
    auto sum = matcher.matchSum(operand, reference);
    if (!sum)
      continue;
    // The right members with a wrong term are another difference.
    bool hasAxes = llvm::all_of(sum->lineage.getSumAxes(), [&](Attribute axis) {
      return llvm::is_contained(reduction.getAxes(), axis) ||
             llvm::is_contained(finding.expect.getLineage().getSumAxes(), axis);
    });
    bool hasOthers = llvm::any_of(reduction.getAxes(), [&](Attribute axis) {
      return !llvm::is_contained(sum->lineage.getSumAxes(), axis) &&
             graph.getMesh().getAxisSize(cast<StringAttr>(axis)) != 1;
    });
    if (hasAxes && !hasOthers &&
        sum->terms.size() == reduction.getOperands().size())
      continue;
    std::string needed =
        describeSum(*sum, finding.expect.getLineage(), graph.getMesh());
    if (needed.empty()) {
      // What is missing of it, as micro-batches, is not added up by a plan.
      setExtraSum(finding, reduction, over);
      return true;
    }
    finding.kind = DifferenceKind::WrongGroup;
    finding.op = reduction;
    finding.explanation = describe(reduction) + " adds up over " + over +
                          "; the group has to be " + needed;
    noteOrigin(finding, operand);
    return true;
  }
  return false;
}

bool Diagnosis::classifyDoubling(Finding &finding) {
  for (Operation *op : region) {
    auto add = dyn_cast<tv::AddOp>(op);
    if (!add || !matcher.areEqual(add.getLeft(), add.getRight()))
      continue;
    // The reference may add a value to itself, too.
    bool isSame = llvm::any_of(referenceRegion, [&](Operation *candidate) {
      return isa<tv::AddOp>(candidate) &&
             getPlaceKey(candidate->getLoc()) == getPlaceKey(op->getLoc()) &&
             matcher.matchPart(op->getResult(0), candidate->getResult(0));
    });
    if (isSame)
      continue;
    finding.op = add;
    // Where the reference adds another value to this one, that was left out.
    auto sum = dyn_cast_or_null<tv::AddOp>(findCounterpart(finding, add));
    if (sum && !matcher.areEqual(sum.getLeft(), sum.getRight()))
      for (auto [term, other] : {std::pair(sum.getLeft(), sum.getRight()),
                                 std::pair(sum.getRight(), sum.getLeft())}) {
        auto part = matcher.matchPart(add.getLeft(), term);
        if (!part || part->isScaled() || !other.getDefiningOp())
          continue;
        finding.kind = DifferenceKind::WrongOperand;
        finding.explanation = "both operands of " + describe(add) +
                              " are one value, to which the reference adds the "
                              "result of " +
                              describe(other.getDefiningOp());
        return true;
      }
    finding.kind = DifferenceKind::ScaleFactor;
    finding.explanation = "the result of " + describe(add) +
                          " is added twice on " +
                          describeDevices(getDevices(add)) +
                          ", which makes it 2 times what it should be";
    return true;
  }
  return false;
}

bool Diagnosis::classifyLackingTerms(Finding &finding, Value term) {
  tv::ExpectOp expect = finding.expect;
  auto sum = expect.getReference().getDefiningOp<tv::AddOp>();
  if (!sum || !llvm::is_contained(listTerms(sum), term))
    return false;
  bool isGradient = expect.getContract() && expect.getContract()->getRole() ==
                                                tv::ContractRole::Gradient;
  finding.kind = DifferenceKind::MissingSum;
  finding.op = expect.getValues().front().getDefiningOp();
  finding.explanation =
      "the value is one term of a sum of the reference, what " +
      describe(term.getDefiningOp()) + " gives there, and " +
      (isGradient ? "no weight reducer adds" : "nothing adds") + " the others";
  return true;
}
