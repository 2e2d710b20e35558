//===- ContractionOps.cpp - sums of products ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Builds a relation from one label for each dimension of each tensor. The
/// extent of a label is the size of its first dimension.
static IndexRelation labelledRelation(ArrayRef<std::string> operands,
                                      StringRef result, ValueRange values) {
  IndexRelation relation;
  llvm::SmallDenseMap<char, DimensionExpr> factors;
  for (auto [number, labels] : llvm::enumerate(operands)) {
    IndexRelation::Access access;
    access.operand = number;
    for (auto [i, label] : llvm::enumerate(labels)) {
      auto found = factors.find(label);
      if (found == factors.end()) {
        int64_t size =
            i < shapeOf(values[number]).size() ? shapeOf(values[number])[i] : 1;
        found = factors
                    .try_emplace(label, size == 1 ? DimensionExpr::unit()
                                                  : relation.addFactor(size))
                    .first;
      }
      access.dimensions.push_back(found->second);
    }
    relation.accesses.push_back(std::move(access));
  }
  for (char label : result) {
    auto found = factors.find(label);
    relation.result.push_back(found == factors.end() ? DimensionExpr::unit()
                                                     : found->second);
  }
  return relation;
}

/// `count` labels from 'A' on, for leading dimensions.
static std::string leading(int64_t count) {
  std::string labels;
  for (int64_t i = 0; i < count; ++i)
    labels.push_back('A' + i);
  return labels;
}

static Value buildEinsum(OpBuilder &builder, Location location,
                         ValueRange operands, const Twine &equation,
                         RankedTensorType type) {
  return EinsumOp::create(builder, location, type, operands,
                          builder.getStringAttr(equation), DomainAttr());
}

//===--- LinearOp ---------------------------------------------------------===//

FailureOr<IndexRelation> LinearOp::getIndexRelation() {
  if (shapeOf(getInput()).empty() || shapeOf(getInput()).size() > 20)
    return emitOpError("input has rank ") << shapeOf(getInput()).size();
  std::string batch = leading(shapeOf(getInput()).size() - 1);
  return labelledRelation({batch + "k", "nk"}, batch + "n", getOperands());
}

LogicalResult LinearOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  std::string batch = leading(shapeOf(getInput()).size() - 1);
  gradients.append({buildEinsum(builder, getLoc(), {gradient, getWeight()},
                                batch + "n,nk->" + batch + "k",
                                getRealType(getInput().getType())),
                    buildEinsum(builder, getLoc(), {gradient, getInput()},
                                batch + "n," + batch + "k->nk",
                                getRealType(getWeight().getType()))});
  return success();
}

//===--- MatmulOp ---------------------------------------------------------===//

FailureOr<IndexRelation> MatmulOp::getIndexRelation() {
  size_t rank = shapeOf(getLeft()).size();
  if (rank < 2 || rank > 20)
    return emitOpError("operands have rank ") << rank;
  std::string batch = leading(rank - 2);
  return labelledRelation({batch + "mk", batch + "kn"}, batch + "mn",
                          getOperands());
}

LogicalResult MatmulOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  std::string batch = leading(shapeOf(getLeft()).size() - 2);
  gradients.append({buildEinsum(builder, getLoc(), {gradient, getRight()},
                                batch + "mn," + batch + "kn->" + batch + "mk",
                                getRealType(getLeft().getType())),
                    buildEinsum(builder, getLoc(), {gradient, getLeft()},
                                batch + "mn," + batch + "mk->" + batch + "kn",
                                getRealType(getRight().getType()))});
  return success();
}

//===--- EinsumOp ---------------------------------------------------------===//

namespace {
struct Equation {
  SmallVector<std::string> operands;
  std::string result;
};
} // namespace

/// Splits "ab,bc->ac"; failure if it is not of that form.
static FailureOr<Equation> parseEquation(StringRef text, size_t operands) {
  Equation equation;
  auto [left, right] = text.split("->");
  if (left.size() + 2 > text.size())
    return failure();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts)
    equation.operands.push_back(part.str());
  equation.result = right.str();
  for (char letter : left)
    if (letter != ',' && !llvm::isAlnum(letter))
      return failure();
  llvm::SmallDenseSet<char> seen;
  for (char letter : right)
    if (left.find(letter) == StringRef::npos || letter == ',' ||
        !seen.insert(letter).second)
      return failure();
  if (equation.operands.size() != operands)
    return failure();
  return equation;
}

FailureOr<IndexRelation> EinsumOp::getIndexRelation() {
  FailureOr<Equation> equation =
      parseEquation(getEquation(), getOperands().size());
  if (failed(equation))
    return emitOpError("malformed equation \"") << getEquation() << "\"";
  return labelledRelation(equation->operands, equation->result, getOperands());
}

LogicalResult EinsumOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  FailureOr<Equation> equation =
      parseEquation(getEquation(), getOperands().size());
  if (failed(equation))
    return failure();
  for (size_t number = 0; number < getOperands().size(); ++number) {
    std::string others = equation->result;
    SmallVector<Value> values = {gradient};
    for (size_t other = 0; other < getOperands().size(); ++other) {
      if (other == number)
        continue;
      others += "," + equation->operands[other];
      values.push_back(getOperands()[other]);
    }
    // A label of this operand alone is summed: its gradient is repeated.
    std::string known, wanted = equation->operands[number];
    SmallVector<int64_t> shape, dimensions;
    for (auto [i, label] : llvm::enumerate(wanted)) {
      if (StringRef(wanted).count(label) > 1)
        return emitOpError("has no derivative: operand #")
               << number << " repeats label '" << label << "'";
      if (others.find(label) == std::string::npos)
        continue;
      known.push_back(label);
      shape.push_back(shapeOf(getOperands()[number])[i]);
      dimensions.push_back(i);
    }
    RankedTensorType type = getRealType(getOperands()[number].getType());
    Value result =
        buildEinsum(builder, getLoc(), values, others + "->" + known,
                    RankedTensorType::get(shape, type.getElementType()));
    if (known != wanted)
      result = BroadcastOp::create(builder, getLoc(), type, result, dimensions,
                                   DomainAttr());
    gradients.push_back(result);
  }
  return success();
}
