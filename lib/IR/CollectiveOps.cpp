//===- CollectiveOps.cpp - communication as data flow ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

//===--- AllReduceOp ------------------------------------------------------===//

FailureOr<IndexRelation> AllReduceOp::getIndexRelation() {
  if (getOperands().empty())
    return emitOpError("has no operands");
  FailureOr<IndexRelation> relation = elementwiseRelation(*this);
  if (failed(relation))
    return failure();
  for (Value operand : getOperands())
    if (operand.getType() != getResult().getType())
      return emitOpError("operands and result differ in type");
  for (auto axis : getAxes().getAsValueRange<StringAttr>())
    relation->axisSums.push_back({axis.str(), {}});
  return relation;
}

Scalar AllReduceOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  SmallVector<WeightedScalar> terms;
  for (Scalar scalar : scalars)
    terms.push_back({scalar, 1});
  return terms.size() == 1 ? scalars[0] : algebra.sum(terms);
}

//===--- MoveOp -----------------------------------------------------------===//

LogicalResult MoveOp::verify() {
  for (AxisSetAttr set : getSource().getSets())
    if (set.size() != 1)
      return emitOpError("reads axis '")
             << set.getAxis().getValue() << "' at several coordinates";
  return success();
}

FailureOr<IndexRelation> MoveOp::getIndexRelation() {
  FailureOr<IndexRelation> relation = elementwiseRelation(*this);
  if (failed(relation))
    return failure();
  for (AxisSetAttr set : getSource().getSets())
    relation->axisReads.push_back(
        {set.getAxis().getValue().str(), set.getBounds()[0]});
  return relation;
}

Scalar MoveOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars[0];
}

//===--- AccumulateOp -----------------------------------------------------===//

FailureOr<IndexRelation> AccumulateOp::getIndexRelation() {
  FailureOr<IndexRelation> relation = elementwiseRelation(*this);
  if (failed(relation))
    return failure();
  AxisSetAttr over = getOver();
  relation->axisSums.push_back({over.getAxis().getValue().str(),
                                SmallVector<int64_t, 2>(over.getBounds())});
  return relation;
}

Scalar AccumulateOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars[0];
}
