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
  if (getKind() == ReductionKind::Product)
    return emitOpError("reduces by product, which is not supported");
  if (getKind() == ReductionKind::Maximum)
    relation.combination = Combination::Maximum;
  if (getKind() == ReductionKind::Minimum)
    relation.combination = Combination::Minimum;
  if (getKind() == ReductionKind::Average)
    relation.divisor = count;
  return relation;
}

Scalar ReduceOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars[0];
}

LogicalResult ReduceOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getOperand().getType());
  SmallVector<int64_t> kept;
  int64_t count = 1;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool isReduced = llvm::is_contained(getDimensions(), i);
    // Doubles have all integers up to there.
    if (isReduced && (llvm::MulOverflow(count, type.getDimSize(i), count) ||
                      count > int64_t(1) << 53))
      return emitOpError("has no derivative: reduces more than 2^53 elements");
    if (!isReduced || getKeep())
      kept.push_back(i);
  }
  auto repeat = [&](Value value) {
    return BroadcastOp::create(builder, getLoc(), type, value, kept,
                               DomainAttr());
  };
  switch (getKind()) {
  case ReductionKind::Sum:
    gradients.append({repeat(gradient)});
    return success();
  case ReductionKind::Average:
    gradients.append({repeat(DivideOp::create(
        builder, getLoc(), gradient.getType(), gradient,
        buildScalar(builder, getLoc(), count), DomainAttr()))});
    return success();
  case ReductionKind::Maximum:
  case ReductionKind::Minimum: {
    Value isChosen =
        CompareOp::create(builder, getLoc(), type, ComparisonKind::Equal,
                          getOperand(), repeat(getResult()), DomainAttr());
    Value chosen = ReduceOp::create(builder, getLoc(), gradient.getType(),
                                    ReductionKind::Sum, isChosen,
                                    getDimensions(), getKeep(), DomainAttr());
    Value share = DivideOp::create(builder, getLoc(), gradient.getType(),
                                   gradient, chosen, DomainAttr());
    gradients.append({MultiplyOp::create(builder, getLoc(), type, isChosen,
                                         repeat(share), DomainAttr())});
    return success();
  }
  case ReductionKind::Product:
    break;
  }
  return emitOpError("has no derivative: a ")
         << stringifyReductionKind(getKind()) << " is not supported";
}

//===--- LowerTriangleOp --------------------------------------------------===//

FailureOr<IndexRelation> LowerTriangleOp::getIndexRelation() {
  IndexRelation relation;
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() != 2)
    return emitOpError("result has rank ") << type.getRank();
  for (int64_t size : type.getShape()) {
    relation.result.push_back(relation.addFactor(size));
    relation.positions.push_back(
        {relation.result.back().getFactor(), PositionUse::Order});
  }
  return relation;
}

Scalar LowerTriangleOp::combine(ScalarAlgebra &algebra,
                                ArrayRef<Scalar> scalars) {
  return algebra.select(
      algebra.compare(Comparison::LessEqual, scalars[1], scalars[0]),
      algebra.rational(1), algebra.rational(0));
}

//===--- CumulativeSumOp --------------------------------------------------===//

LogicalResult CumulativeSumOp::verify() {
  auto type = cast<RankedTensorType>(getOperand().getType());
  if (type != getResult().getType() ||
      getElementKind(type) != ElementKind::Real)
    return emitOpError("operand and result are not of one real type");
  if (type.getRank() > 20)
    return emitOpError("operand has rank ") << type.getRank();
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError("has no dimension ") << dimension;
  return success();
}

FailureOr<SmallVector<Value>> CumulativeSumOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t dimension = getDimension(), size = type.getDimSize(dimension);
  Value triangle = LowerTriangleOp::create(
      builder, getLoc(),
      RankedTensorType::get({size, size}, type.getElementType()),
      getDomainAttr());
  std::string from, to;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    from.push_back(i == dimension ? 'n' : 'A' + i);
    to.push_back(i == dimension ? 'm' : 'A' + i);
  }
  Value result = EinsumOp::create(
      builder, getLoc(), type, ValueRange{getOperand(), triangle},
      builder.getStringAttr(from + ",mn->" + to), getDomainAttr());
  return SmallVector<Value>{result};
}

//===--- SoftmaxOp --------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getOperand().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!type || !result || type.getShape() != result.getShape())
    return emitOpError("operand and result differ in shape");
  ElementKind kind = getElementKind(type);
  if (kind != ElementKind::Real && kind != ElementKind::Extended)
    return emitOpError("is not defined on elements of ")
           << type.getElementType();
  if (getElementKind(result) != ElementKind::Real)
    return emitOpError("makes elements of ") << result.getElementType();
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError("has no dimension ") << dimension;
  return success();
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  RankedTensorType type = getRealType(getOperand().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[getDimension()] = 1;
  Value exponential =
      ExpOp::create(builder, getLoc(), type, getOperand(), getDomainAttr());
  Value sum = ReduceOp::create(
      builder, getLoc(), RankedTensorType::get(shape, type.getElementType()),
      ReductionKind::Sum, exponential, ArrayRef<int64_t>(getDimension()),
      /*keep=*/true, getDomainAttr());
  Value result = DivideOp::create(builder, getLoc(), getResult().getType(),
                                  exponential, sum, getDomainAttr());
  return SmallVector<Value>{result};
}

//===--- LayerNormOp ------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  auto type = cast<RankedTensorType>(getOperand().getType());
  ArrayRef<int64_t> normalized =
      cast<RankedTensorType>(getWeight().getType()).getShape();
  for (Type each : (*this)->getOperandTypes())
    if (getElementKind(each) != ElementKind::Real)
      return emitOpError("is not defined on elements of ")
             << cast<RankedTensorType>(each).getElementType();
  if (getResult().getType() != type)
    return emitOpError("operand and result are not of one real type");
  if (cast<RankedTensorType>(getBias().getType()).getShape() != normalized)
    return emitOpError("weight and bias differ in shape");
  if (normalized.empty() ||
      static_cast<int64_t>(normalized.size()) > type.getRank() ||
      type.getShape().take_back(normalized.size()) != normalized)
    return emitOpError("last dimensions of the operand are not those of the "
                       "weight");
  if (!(getEpsilon().convertToDouble() > 0))
    return emitOpError("epsilon is not positive");
  return success();
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t count = cast<RankedTensorType>(getWeight().getType()).getRank();
  SmallVector<int64_t> shape(type.getShape()), dimensions;
  for (int64_t i = type.getRank() - count; i < type.getRank(); ++i) {
    shape[i] = 1;
    dimensions.push_back(i);
  }
  auto average = [&](Value value) -> Value {
    return ReduceOp::create(builder, getLoc(),
                            RankedTensorType::get(shape, type.getElementType()),
                            ReductionKind::Average, value, dimensions,
                            /*keep=*/true, getDomainAttr());
  };
  auto multiply = [&](Value left, Value right) -> Value {
    return MultiplyOp::create(builder, getLoc(), type, left, right,
                              getDomainAttr());
  };
  Value centered = SubtractOp::create(builder, getLoc(), type, getOperand(),
                                      average(getOperand()), getDomainAttr());
  Value variance = average(PowerOp::create(builder, getLoc(), type, centered, 2,
                                           1, getDomainAttr()));
  Value scale = RsqrtOp::create(
      builder, getLoc(), variance.getType(),
      AddOp::create(
          builder, getLoc(), variance.getType(), variance,
          buildScalar(builder, getLoc(), getEpsilon().convertToDouble()),
          getDomainAttr()),
      getDomainAttr());
  Value scaled = multiply(multiply(centered, scale), getWeight());
  Value result = AddOp::create(builder, getLoc(), type, scaled, getBias(),
                               getDomainAttr());
  return SmallVector<Value>{result};
}
