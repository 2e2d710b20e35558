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
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    out << llvm::format("%g", number.getValueAsDouble());
  } else if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    out << '[';
    llvm::interleaveComma(numbers.asArrayRef(), out);
    out << ']';
  } else if (auto kind = dyn_cast<tv::ReductionKindAttr>(attribute)) {
    out << tv::stringifyReductionKind(kind.getValue());
  } else if (auto kind = dyn_cast<tv::ComparisonKindAttr>(attribute)) {
    out << tv::stringifyComparisonKind(kind.getValue());
  } else {
    attribute.print(out, /*elideType=*/true);
  }
  return text;
}

/// What an op reads a constant for: the names of its users and which operand it
/// is of each.
static std::vector<std::pair<StringRef, unsigned>>
listUses(tv::ConstantOp constant) {
  std::vector<std::pair<StringRef, unsigned>> uses;
  for (OpOperand &use : constant.getResult().getUses())
    if (!isa<tv::ExpectOp>(use.getOwner()))
      uses.emplace_back(use.getOwner()->getName().getStringRef(),
                        use.getOperandNumber());
  llvm::sort(uses);
  // Once for each device that executes it.
  uses.erase(llvm::unique(uses), uses.end());
  return uses;
}

/// Those of an op of the model that it reads for the same, in order.
static SmallVector<tv::ConstantOp>
listAlike(const llvm::SetVector<Operation *> &ops, tv::ConstantOp like) {
  auto uses = listUses(like);
  SmallVector<tv::ConstantOp> alike;
  for (Operation *op : ops)
    if (auto constant = dyn_cast<tv::ConstantOp>(op);
        constant && constant.getLoc() == like.getLoc() &&
        listUses(constant) == uses)
      alike.push_back(constant);
  llvm::sort(alike, [](tv::ConstantOp left, tv::ConstantOp right) {
    return left->isBeforeInBlock(right);
  });
  return alike;
}

tv::ConstantOp Diagnosis::findSimilarConstant(tv::ConstantOp constant) {
  auto uses = listUses(constant);
  SmallVector<tv::ConstantOp> own = listAlike(region, constant);
  auto number = llvm::find(own, constant) - own.begin();
  tv::ConstantOp similar;
  bool isKnown = true;
  for (Operation *op : referenceRegion) {
    auto candidate = dyn_cast<tv::ConstantOp>(op);
    // Minus infinity may be there for a number.
    if (!candidate ||
        getRealType(candidate.getType()) != getRealType(constant.getType()) ||
        getPlaceKey(op->getLoc()) != getPlaceKey(constant.getLoc()) ||
        listUses(candidate) != uses)
      continue;
    SmallVector<tv::ConstantOp> others = listAlike(referenceRegion, candidate);
    if (others.size() == own.size() && others[number] != candidate)
      continue;
    // One that is equal will do; of several others none is that of this op.
    if (candidate.getValue() == constant.getValue())
      return candidate;
    isKnown &= !similar || similar.getValue() == candidate.getValue();
    similar = candidate;
  }
  return isKnown ? similar : tv::ConstantOp();
}

std::string Diagnosis::findWrongConstant(tv::ConstantOp constant) {
  tv::ConstantOp expected = findSimilarConstant(constant);
  if (!expected || expected.getValue() == constant.getValue())
    return "";
  return "the number in " + describe(constant) + " is " +
         printLiteral(constant.getValue()) + ", in the reference " +
         printLiteral(expected.getValue());
}

/// `1/2`, `2`.
static std::string describeExponent(tv::PowerOp power) {
  std::string text = std::to_string(power.getNumerator());
  return power.getDenominator() == 1
             ? text
             : text + "/" + std::to_string(power.getDenominator());
}

/// In what an op and one of the reference differ beside their operands, for
/// people; empty if in nothing.
static std::string describeAttributes(Operation *op, Operation *similar) {
  if (auto power = dyn_cast<tv::PowerOp>(op)) {
    std::string own = describeExponent(power),
                other = describeExponent(cast<tv::PowerOp>(similar));
    return own == other ? ""
                        : "the exponent of " + describe(op) + " is " + own +
                              ", in the reference " + other;
  }
  if (auto compare = dyn_cast<tv::CompareOp>(op)) {
    auto getName = [](tv::CompareOp each) {
      return tv::stringifyComparisonKind(each.getKind()).str();
    };
    std::string own = getName(compare),
                other = getName(cast<tv::CompareOp>(similar));
    return own == other ? ""
                        : describe(op) + " compares by '" + own +
                              "', in the reference by '" + other + "'";
  }
  // Of a dimension that is not divided.
  if (auto slice = dyn_cast<tv::SliceOp>(op)) {
    auto other = cast<tv::SliceOp>(similar);
    auto size = [](tv::SliceOp each) {
      return cast<RankedTensorType>(each.getOperand().getType())
          .getDimSize(each.getDimension());
    };
    auto range = [](tv::SliceOp each) {
      return std::to_string(each.getStart()) + ":" +
             std::to_string(each.getEnd());
    };
    if (slice.getDimension() == other.getDimension() &&
        size(slice) == size(other) && range(slice) != range(other))
      return describe(op) + " takes " + range(slice) + " of dimension " +
             std::to_string(slice.getDimension()) + ", the reference " +
             range(other);
  }
  for (NamedAttribute attribute : similar->getAttrs()) {
    Attribute own = op->getAttr(attribute.getName());
    // Where something starts goes by rank.
    StringRef name = attribute.getName().getValue();
    if (own == attribute.getValue() || !own || name == "domain" ||
        name == "start" || name == "end")
      continue;
    bool isNumber = isa<IntegerAttr, FloatAttr>(own);
    return (isNumber ? "the number in "
                     : "'" + attribute.getName().str() + "' of ") +
           describe(op) + " is " + printLiteral(own) + ", in the reference " +
           printLiteral(attribute.getValue());
  }
  return "";
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
  if (std::string text = describeAttributes(op, similar); !text.empty()) {
    finding.kind = DifferenceKind::WrongConstant;
    finding.op = op;
    finding.explanation = text;
    return true;
  }
  return false;
}

Value Diagnosis::getReferenceOf(Value value) const {
  // What is stated of it, and holds; by its numbers it may be several.
  auto known = holding.find(value);
  tv::ExpectOp expect = known == holding.end() ? tv::ExpectOp() : known->second;
  if (expect && expect.getValues().size() == 1 &&
      expect.getLineage().getSumAxes().empty())
    return expect.getReference();
  auto found = matches.find(value);
  return found == matches.end() || found->second.isSum() ||
                 found->second.isScaled()
             ? Value()
             : found->second.reference;
}

/// What an op of the reference gives, for people.
static std::string describeResult(Value value) {
  if (auto input = value.getDefiningOp<tv::InputOp>())
    return "'" + input.getContract().getName().str() + "'";
  return "the result of " + describe(value.getDefiningOp());
}

static bool haveEqualShapes(Value left, Value right) {
  return cast<RankedTensorType>(left.getType()).getShape() ==
         cast<RankedTensorType>(right.getType()).getShape();
}

/// The ops like one among those that one op of the model is made of, which
/// gives `value`.
static SmallVector<Operation *> listParts(Value value, Operation *like) {
  Operation *result = value.getDefiningOp();
  SmallVector<Operation *> found;
  llvm::SmallSetVector<Operation *, 16> parts;
  parts.insert(result);
  for (size_t i = 0; i != parts.size(); ++i) {
    Operation *part = parts[i];
    if (part->getName() == like->getName() &&
        part->getNumOperands() == like->getNumOperands())
      found.push_back(part);
    for (Value operand : part->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && producer->getLoc() == result->getLoc())
        parts.insert(producer);
  }
  return found;
}

Operation *Diagnosis::chooseByOperands(ArrayRef<Operation *> ops,
                                       Operation *like) {
  if (ops.size() == 1)
    return ops.front();
  Operation *best = nullptr;
  size_t most = 0;
  for (Operation *op : ops) {
    size_t count = 0;
    for (auto [own, other] :
         llvm::zip_equal(like->getOperands(), op->getOperands())) {
      Value reference = getReferenceOf(own);
      count += reference &&
               (reference == other || matcher.areEqual(reference, other));
    }
    if (count == most)
      best = nullptr;
    if (count <= most)
      continue;
    most = count;
    best = op;
  }
  return best;
}

Operation *Diagnosis::findCounterpart(const Finding &finding, Operation *op) {
  // Other layers have the same line: the nearest to what is expected.
  llvm::SetVector<Operation *> before;
  tv::ExpectOp expect = finding.expect;
  if (Operation *expected = expect.getReference().getDefiningOp())
    before.insert(expected);
  for (size_t i = 0; i != before.size(); ++i) {
    if (getPlaceKey(before[i]->getLoc()) == getPlaceKey(op->getLoc()))
      return chooseByOperands(listParts(before[i]->getResult(0), op), op);
    for (Value operand : before[i]->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && referenceRegion.contains(producer))
        before.insert(producer);
  }
  return nullptr;
}

static bool isOfSameOp(Operation *op, Operation *other) {
  return other && !isa<tv::ExpectOp>(other) && other->getLoc() == op->getLoc();
}

bool verify::isInner(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [op](Operation *user) { return isOfSameOp(op, user); });
}

/// Whether an op of the model is this one alone.
static bool isWhole(Operation *op) {
  return !isInner(op) && llvm::none_of(op->getOperands(), [op](Value operand) {
    return isOfSameOp(op, operand.getDefiningOp());
  });
}

bool Diagnosis::classifyOtherOperand(Finding &finding, Operation *op) {
  Value expected = finding.expect.getReference();
  bool isStated =
      llvm::is_contained(finding.expect.getValues(), op->getResult(0));
  auto explain = [&](const std::string &what, Value read, Value wanted) {
    finding.kind = DifferenceKind::WrongOperand;
    finding.op = op;
    std::string own = describeResult(read), other = describeResult(wanted);
    // Of an op with several results none has a name.
    finding.explanation = what + " " + own + " of the reference, which has " +
                          (own == other ? "another one" : other) + " there";
    return true;
  };
  auto isOther = [&](Value read, Value wanted) {
    return read && wanted && read.getDefiningOp() && wanted.getDefiningOp() &&
           haveEqualShapes(read, wanted) && !matcher.areEqual(read, wanted);
  };
  // What is sent is received.
  if (auto move = dyn_cast<tv::MoveOp>(op)) {
    Value read = getReferenceOf(move.getOperand());
    return isStated && isOther(read, expected) &&
           explain("what " + describe(op) + " receives from " +
                       describeDevices(getDevices(move.getOperand())) + " is",
                   read, expected);
  }
  Operation *similar = findCounterpart(finding, op);
  if (!similar || !describeAttributes(op, similar).empty())
    return false;
  std::optional<unsigned> wrong;
  Value read;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Value own = getReferenceOf(operand), wanted = similar->getOperand(number);
    if (own && (own == wanted || matcher.areEqual(own, wanted)))
      continue;
    if (wrong || !isOther(own, wanted))
      return false;
    wrong = number;
    read = own;
  }
  if (!wrong)
    return false;
  // What has no name is within an op of the model.
  Value wanted = similar->getOperand(*wrong);
  if (read.getDefiningOp()->getLoc() == similar->getLoc() ||
      wanted.getDefiningOp()->getLoc() == similar->getLoc())
    return false;
  return explain((isWhole(op) ? "operand " + std::to_string(*wrong + 1)
                              : std::string("an operand")) +
                     " of " + describe(op) + " is",
                 read, wanted);
}
