//===- ReductionOps.cpp - reductions and softmax --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

//===--- ReduceOp ---------------------------------------------------------===//

FailureOr<IndexRelation> ReduceOp::getIndexRelation() {
  IndexRelation relation;
  IndexRelation::Access access;
  auto type = cast<RankedTensorType>(getOperand().getType());
  for (int64_t dimension : getDimensions())
    if (dimension < 0 || dimension >= type.getRank())
      return emitOpError("has no dimension ") << dimension;
  int64_t count = 1;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    DimensionExpr factor =
        size == 1 ? DimensionExpr::unit() : relation.addFactor(size);
    access.dimensions.push_back(factor);
    if (!llvm::is_contained(getDimensions(), static_cast<int64_t>(i))) {
      relation.result.push_back(factor);
      continue;
    }
    if (llvm::MulOverflow(count, size, count))
      return emitOpError("reduces more than 2^63 elements");
    if (getKeep())
      relation.result.push_back(DimensionExpr::unit());
  }
  relation.accesses.push_back(std::move(access));
  if (getKind() == ReductionKind::Maximum)
    relation.combination = Combination::Maximum;
  if (getKind() == ReductionKind::Average)
    relation.divisor = count;
  return relation;
}

Scalar ReduceOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars[0];
}

LogicalResult ReduceOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  if (getKind() == ReductionKind::Maximum)
    return emitOpError("has no derivative: a maximum has one only off ties");
  RankedTensorType type = getGradientType(getOperand().getType());
  SmallVector<int64_t> kept;
  int64_t count = 1;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool isReduced = llvm::is_contained(getDimensions(), i);
    if (isReduced)
      count *= type.getDimSize(i);
    if (!isReduced || getKeep())
      kept.push_back(i);
  }
  if (getKind() == ReductionKind::Average)
    gradient =
        DivideOp::create(builder, getLoc(), gradient.getType(), gradient,
                         buildScalar(builder, getLoc(), count), DomainAttr());
  gradients.append({BroadcastOp::create(builder, getLoc(), type, gradient, kept,
                                        DomainAttr())});
  return success();
}

//===--- SoftmaxOp --------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getOperand().getType());
  if (!type || getGradientType(type) !=
                   dyn_cast<RankedTensorType>(getResult().getType()))
    return emitOpError("operand and result differ in shape");
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError("has no dimension ") << dimension;
  return success();
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  RankedTensorType type = getGradientType(getOperand().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[getDimension()] = 1;
  Value exponential =
      ExpOp::create(builder, getLoc(), type, getOperand(), getDomainAttr());
  Value sum = ReduceOp::create(
      builder, getLoc(), RankedTensorType::get(shape, type.getElementType()),
      ReductionKind::Sum, exponential, ArrayRef<int64_t>(getDimension()),
      /*keep=*/true, getDomainAttr());
  Value result = DivideOp::create(builder, getLoc(), type, exponential, sum,
                                  getDomainAttr());
  return SmallVector<Value>{result};
}
