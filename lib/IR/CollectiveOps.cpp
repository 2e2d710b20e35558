//===- CollectiveOps.cpp - communication as data flow ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

bool tv::communicates(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, AllSliceOp, MoveOp>(op);
}

//===--- AllReduceOp ------------------------------------------------------===//

/// The number of terms an average divides by.
static FailureOr<int64_t> countMembers(AllReduceOp op) {
  MeshAttr mesh;
  if (auto graph = op->getParentOfType<GraphOp>())
    mesh = graph.getMesh();
  else if (auto stage = op->getParentOfType<StageOp>())
    mesh = stage.getMesh();
  int64_t count = op.getOperands().size();
  for (auto axis : op.getAxes().getAsValueRange<StringAttr>()) {
    std::optional<int64_t> size = mesh ? mesh.getAxisSize(axis) : std::nullopt;
    if (!size)
      return op.emitOpError("averages over axis '")
             << axis << "', whose size is not known";
    if (llvm::MulOverflow(count, *size, count))
      return op.emitOpError("has more than 2^63 members");
  }
  return count;
}

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
  bool isLinear =
      getKind() == ReductionKind::Sum || getKind() == ReductionKind::Average;
  if (!isLinear && !getAxes().empty())
    return emitOpError("combines coordinates of an axis by ")
           << stringifyReductionKind(getKind())
           << ", which is not supported: name the operands";
  if (getKind() == ReductionKind::Average) {
    FailureOr<int64_t> count = countMembers(*this);
    if (failed(count))
      return failure();
    relation->divisor = *count;
  }
  return relation;
}

Scalar AllReduceOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  if (scalars.size() == 1)
    return scalars[0];
  switch (getKind()) {
  case ReductionKind::Maximum:
    return algebra.maximum(scalars);
  case ReductionKind::Minimum:
    return minimum(algebra, scalars);
  case ReductionKind::Product:
    return product(algebra, scalars);
  case ReductionKind::Sum:
  case ReductionKind::Average:
    break;
  }
  SmallVector<WeightedScalar> terms;
  for (Scalar scalar : scalars)
    terms.push_back({scalar, 1});
  return algebra.sum(terms);
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
