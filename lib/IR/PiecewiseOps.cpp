//===- PiecewiseOps.cpp - ops that depend on an order ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derivatives; relations and bodies stand in the declarations.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

static_assert(static_cast<int>(ComparisonKind::Equal) ==
                      static_cast<int>(Comparison::Equal) &&
                  static_cast<int>(ComparisonKind::NotEqual) ==
                      static_cast<int>(Comparison::NotEqual) &&
                  static_cast<int>(ComparisonKind::Less) ==
                      static_cast<int>(Comparison::Less) &&
                  static_cast<int>(ComparisonKind::LessEqual) ==
                      static_cast<int>(Comparison::LessEqual),
              "the body of tv.compare takes one for the other");

//===--- MaximumOp and MinimumOp ------------------------------------------===//

/// Those of the greater or lesser one of two: all goes to the one that it is,
/// and half to each where they are equal.
template <typename Op>
static void buildGradientsOfChoice(Op op, OpBuilder &builder, Value gradient,
                                   SmallVectorImpl<Value> &gradients) {
  constexpr bool isMaximum = std::is_same_v<Op, MaximumOp>;
  Location location = op.getLoc();
  RankedTensorType type = getRealType(op.getResult().getType());
  auto compare = [&](ComparisonKind kind, Value left, Value right) {
    return CompareOp::create(builder, location, type, kind, left, right,
                             DomainAttr());
  };
  Value half = MultiplyOp::create(
      builder, location, type,
      compare(ComparisonKind::Equal, op.getLeft(), op.getRight()),
      buildScalar(builder, location, 0.5), DomainAttr());
  for (auto [operand, other] : {std::pair(op.getLeft(), op.getRight()),
                                std::pair(op.getRight(), op.getLeft())}) {
    Value isChosen = isMaximum ? compare(ComparisonKind::Less, other, operand)
                               : compare(ComparisonKind::Less, operand, other);
    Value share =
        AddOp::create(builder, location, type, isChosen, half, DomainAttr());
    Value part = MultiplyOp::create(builder, location, type, gradient, share,
                                    DomainAttr());
    gradients.push_back(
        sumToShape(builder, location, part, getRealType(operand.getType())));
  }
}

LogicalResult MaximumOp::buildGradients(OpBuilder &builder, Value gradient,
                                        SmallVectorImpl<Value> &gradients) {
  buildGradientsOfChoice(*this, builder, gradient, gradients);
  return success();
}

LogicalResult MinimumOp::buildGradients(OpBuilder &builder, Value gradient,
                                        SmallVectorImpl<Value> &gradients) {
  buildGradientsOfChoice(*this, builder, gradient, gradients);
  return success();
}

//===--- ReluOp -----------------------------------------------------------===//

LogicalResult ReluOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getResult().getType());
  Value isPositive = CompareOp::create(
      builder, getLoc(), type, ComparisonKind::Less,
      buildScalar(builder, getLoc(), 0), getOperand(), DomainAttr());
  gradients.append({MultiplyOp::create(builder, getLoc(), type, gradient,
                                       isPositive, DomainAttr())});
  return success();
}

//===--- AbsOp ------------------------------------------------------------===//

LogicalResult AbsOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getResult().getType());
  Value sign =
      SignOp::create(builder, getLoc(), type, getOperand(), DomainAttr());
  gradients.append({MultiplyOp::create(builder, getLoc(), type, gradient, sign,
                                       DomainAttr())});
  return success();
}

//===--- SignOp -----------------------------------------------------------===//

LogicalResult SignOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  gradients.append({Value()});
  return success();
}

//===--- SelectOp ---------------------------------------------------------===//

LogicalResult SelectOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getResult().getType());
  Value zero = buildScalar(builder, getLoc(), 0);
  auto pass = [&](Value operand, Value ifTrue, Value ifFalse) {
    Value part = SelectOp::create(builder, getLoc(), type, getCondition(),
                                  ifTrue, ifFalse, DomainAttr());
    return sumToShape(builder, getLoc(), part, getRealType(operand.getType()));
  };
  gradients.append({Value(), pass(getIfTrue(), gradient, zero),
                    pass(getIfFalse(), zero, gradient)});
  return success();
}
