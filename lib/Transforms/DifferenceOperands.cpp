//===- DifferenceOperands.cpp - what an op reads, and its numbers ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace verify;

Operation *Diagnosis::findSimilar(Operation *op) {
  // Of several, the one with most operands in common.
  Operation *best = nullptr;
  size_t bestCount = 0;
  for (Operation *candidate : referenceRegion) {
    if (candidate->getName() != op->getName() ||
        candidate->getNumOperands() != op->getNumOperands() ||
        getPlaceKey(candidate->getLoc()) != getPlaceKey(op->getLoc()))
      continue;
    size_t count = 1;
    for (Value operand : op->getOperands())
      if (auto found = matches.find(operand); found != matches.end())
        count += llvm::is_contained(candidate->getOperands(),
                                    found->second.reference);
    if (count > bestCount) {
      best = candidate;
      bestCount = count;
    }
  }
  return best;
}

/// A literal for people.
static std::string printLiteral(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute);
      elements && elements.isSplat())
    attribute = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    out << llvm::format("%g", number.getValueAsDouble());
  else
    attribute.print(out, /*elideType=*/true);
  return text;
}

std::string Diagnosis::findWrongConstant(tv::ConstantOp constant) {
  tv::ConstantOp expected;
  for (Operation *op : referenceRegion)
    if (auto candidate = dyn_cast<tv::ConstantOp>(op)) {
      if (candidate.getValue() == constant.getValue())
        return "";
      // One of another shape is a part.
      if (getPlaceKey(candidate.getLoc()) == getPlaceKey(constant.getLoc()) &&
          candidate.getType() == constant.getType())
        expected = candidate;
    }
  if (!expected)
    return "";
  return "the number in " + describe(constant) + " is " +
         printLiteral(constant.getValue()) + ", in the reference " +
         printLiteral(expected.getValue());
}

bool Diagnosis::classifyOperands(Finding &finding, Operation *op) {
  Operation *similar = findSimilar(op);
  if (!similar)
    return false;
  // Each operand belongs to another place.
  bool isExchanged = op->getNumOperands() > 1;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto found = matches.find(operand);
    isExchanged &=
        found != matches.end() &&
        found->second.reference != similar->getOperand(i) &&
        llvm::is_contained(similar->getOperands(), found->second.reference);
  }
  if (isExchanged) {
    finding.kind = DifferenceKind::ExchangedOperands;
    finding.op = op;
    finding.explanation = "the operands of " + describe(op) +
                          " are those of the reference in another order";
    return true;
  }
  for (NamedAttribute attribute : similar->getAttrs()) {
    Attribute own = op->getAttr(attribute.getName());
    // Where something starts goes by rank.
    StringRef name = attribute.getName().getValue();
    if (own == attribute.getValue() || !own || name == "domain" ||
        name == "start" || name == "end")
      continue;
    bool isNumber = isa<IntegerAttr, FloatAttr>(own);
    std::string text = (isNumber ? "the number in "
                                 : "'" + attribute.getName().str() + "' of ") +
                       describe(op) + " is " + printLiteral(own) +
                       ", in the reference " +
                       printLiteral(attribute.getValue());
    finding.kind = DifferenceKind::WrongConstant;
    finding.op = op;
    finding.explanation = text;
    return true;
  }
  return false;
}
