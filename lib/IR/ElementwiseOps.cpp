//===- ElementwiseOps.cpp - ops on corresponding elements -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derivatives and verifiers; relations and bodies stand in the declarations.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

namespace {
/// Builds ops at one place, all of one result type unless said otherwise.
struct Build {
  OpBuilder &builder;
  Location location;
  RankedTensorType type;

  Value multiply(Value left, Value right) {
    return MultiplyOp::create(builder, location, type, left, right,
                              DomainAttr());
  }
  Value divide(Value left, Value right) {
    return DivideOp::create(builder, location, type, left, right, DomainAttr());
  }
  Value add(Value left, Value right) {
    return AddOp::create(builder, location, type, left, right, DomainAttr());
  }
  Value negate(Value value) {
    return NegateOp::create(builder, location, type, value, DomainAttr());
  }
  template <typename Op> Value unary(Value value) {
    return Op::create(builder, location, type, value, DomainAttr());
  }
  Value exp(Value value) {
    return ExpOp::create(builder, location, type, value, DomainAttr());
  }
  Value power(Value value, int64_t numerator, int64_t denominator = 1) {
    return PowerOp::create(builder, location, type, value, numerator,
                           denominator, DomainAttr());
  }
  Value erf(Value value) {
    return ErfOp::create(builder, location, type, value, DomainAttr());
  }
  Value erfDerivative(Value value) {
    return ErfDerivativeOp::create(builder, location, type, value,
                                   DomainAttr());
  }
  /// The scalar `base` to the power `numerator / denominator`.
  Value scalarPower(double base, int64_t numerator, int64_t denominator) {
    Value value = scalar(base);
    return PowerOp::create(builder, location, value.getType(), value, numerator,
                           denominator, DomainAttr());
  }
  Value scalar(double value) { return buildScalar(builder, location, value); }
  /// `gradient`, summed to the shape of `operand`.
  Value to(Value operand, Value gradient) {
    return sumToShape(builder, location, gradient,
                      getRealType(operand.getType()));
  }
};
} // namespace

static Build at(OpBuilder &builder, Operation *op) {
  return {builder, op->getLoc(), getRealType(op->getResult(0).getType())};
}

//===--- AddOp ------------------------------------------------------------===//

LogicalResult AddOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  gradients.append(
      {build.to(getLeft(), gradient), build.to(getRight(), gradient)});
  return success();
}

//===--- SubtractOp -------------------------------------------------------===//

LogicalResult SubtractOp::buildGradients(OpBuilder &builder, Value gradient,
                                         SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  gradients.append({build.to(getLeft(), gradient),
                    build.to(getRight(), build.negate(gradient))});
  return success();
}

//===--- MultiplyOp -------------------------------------------------------===//

LogicalResult MultiplyOp::buildGradients(OpBuilder &builder, Value gradient,
                                         SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  gradients.append({build.to(getLeft(), build.multiply(gradient, getRight())),
                    build.to(getRight(), build.multiply(gradient, getLeft()))});
  return success();
}

//===--- DivideOp ---------------------------------------------------------===//

LogicalResult DivideOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // d(a / b) = da / b - a db / b^2, with a / b the result.
  Value scaled = build.divide(gradient, getRight());
  gradients.append({build.to(getLeft(), scaled),
                    build.to(getRight(), build.negate(build.multiply(
                                             scaled, getResult())))});
  return success();
}

//===--- NegateOp ---------------------------------------------------------===//

LogicalResult NegateOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  gradients.append({at(builder, *this).negate(gradient)});
  return success();
}

//===--- ExpOp ------------------------------------------------------------===//

LogicalResult ExpOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  gradients.append({at(builder, *this).multiply(gradient, getResult())});
  return success();
}

//===--- RsqrtOp ----------------------------------------------------------===//

LogicalResult RsqrtOp::buildGradients(OpBuilder &builder, Value gradient,
                                      SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // d x^(-1/2) = -1/2 (x^(-1/2))^3 dx.
  Value cube = build.power(getResult(), 3);
  gradients.append(
      {build.multiply(build.multiply(gradient, cube), build.scalar(-0.5))});
  return success();
}

//===--- SqrtOp -----------------------------------------------------------===//

LogicalResult SqrtOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // d sqrt(x) = dx / (2 sqrt(x)).
  gradients.append(
      {build.divide(build.multiply(gradient, build.scalar(0.5)), getResult())});
  return success();
}

//===--- LogOp ------------------------------------------------------------===//

LogicalResult LogOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  gradients.append({at(builder, *this).divide(gradient, getOperand())});
  return success();
}

//===--- SigmoidOp --------------------------------------------------------===//

LogicalResult SigmoidOp::buildGradients(OpBuilder &builder, Value gradient,
                                        SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // d s(x) = s(x) (1 - s(x)) dx.
  Value rest = build.add(build.negate(getResult()), build.scalar(1));
  gradients.append(
      {build.multiply(build.multiply(gradient, getResult()), rest)});
  return success();
}

//===--- TanhOp -----------------------------------------------------------===//

LogicalResult TanhOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // d tanh(x) = (1 - tanh(x)^2) dx.
  Value slope =
      build.add(build.negate(build.power(getResult(), 2)), build.scalar(1));
  gradients.append({build.multiply(gradient, slope)});
  return success();
}

//===--- SinOp ------------------------------------------------------------===//

LogicalResult SinOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  gradients.append(
      {build.multiply(gradient, build.unary<CosOp>(getOperand()))});
  return success();
}

//===--- CosOp ------------------------------------------------------------===//

LogicalResult CosOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  Value slope = build.negate(build.unary<SinOp>(getOperand()));
  gradients.append({build.multiply(gradient, slope)});
  return success();
}

//===--- ToRealOp ---------------------------------------------------------===//

LogicalResult ToRealOp::buildGradients(OpBuilder &, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  gradients.push_back(isReal(getOperand().getType()) ? gradient : Value());
  return success();
}

//===--- SiluOp -----------------------------------------------------------===//

LogicalResult SiluOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // With e = exp(-x), d x / (1 + e) = 1 / (1 + e) + x e / (1 + e)^2.
  Value decay = build.exp(build.negate(getOperand()));
  Value denominator = build.add(decay, build.scalar(1));
  Value direct = build.divide(gradient, denominator);
  Value through = build.divide(
      build.multiply(build.multiply(direct, getOperand()), decay), denominator);
  gradients.append({build.add(direct, through)});
  return success();
}

//===--- ErfOp ------------------------------------------------------------===//

LogicalResult ErfOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  gradients.append(
      {build.multiply(gradient, build.erfDerivative(getOperand()))});
  return success();
}

//===--- ErfDerivativeOp --------------------------------------------------===//

LogicalResult
ErfDerivativeOp::buildGradients(OpBuilder &builder, Value gradient,
                                SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  Value slope = build.multiply(build.multiply(getOperand(), getResult()),
                               build.scalar(-2));
  gradients.append({build.multiply(gradient, slope)});
  return success();
}

//===--- GeluOp -----------------------------------------------------------===//

LogicalResult GeluOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  // With s = x / sqrt(2), d x (1 + erf s) / 2 = (1 + erf s + s erf'(s)) / 2.
  Value root = build.scalarPower(2, -1, 2);
  Value scaled = build.multiply(getOperand(), root);
  Value distribution = build.add(build.erf(scaled), build.scalar(1));
  Value density = build.multiply(scaled, build.erfDerivative(scaled));
  Value half = build.multiply(gradient, build.scalar(0.5));
  gradients.append({build.multiply(half, build.add(distribution, density))});
  return success();
}

//===--- CopyOp -----------------------------------------------------------===//

LogicalResult CopyOp::buildGradients(OpBuilder &builder, Value gradient,
                                     SmallVectorImpl<Value> &gradients) {
  gradients.append({gradient});
  return success();
}

//===--- DetachOp ---------------------------------------------------------===//

LogicalResult DetachOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  gradients.append({Value()});
  return success();
}

//===--- PowerOp ----------------------------------------------------------===//

LogicalResult PowerOp::verify() {
  // The accessors give numbers without a sign.
  auto numerator = static_cast<int64_t>(getNumerator());
  auto denominator = static_cast<int64_t>(getDenominator());
  if (denominator < 1)
    return emitOpError("denominator of the exponent is ") << denominator;
  // Numbers to such powers are computed exactly.
  constexpr int64_t limit = 4096;
  if (denominator > limit || numerator > limit || numerator < -limit)
    return emitOpError("exponent ")
           << numerator << "/" << denominator << " has numbers above " << limit;
  return success();
}

LogicalResult PowerOp::buildGradients(OpBuilder &builder, Value gradient,
                                      SmallVectorImpl<Value> &gradients) {
  Build build = at(builder, *this);
  int64_t numerator = getNumerator(), denominator = getDenominator();
  Value lower = build.power(getOperand(), numerator - denominator, denominator);
  Value scaled = build.multiply(gradient, build.scalar(numerator));
  if (denominator != 1)
    scaled = build.divide(scaled, build.scalar(denominator));
  gradients.append({build.multiply(scaled, lower)});
  return success();
}

//===--- ConstantOp -------------------------------------------------------===//

FailureOr<IndexRelation> ConstantOp::getIndexRelation() {
  IndexRelation relation;
  auto type = cast<RankedTensorType>(getResult().getType());
  if (!isa<DenseIntOrFPElementsAttr>(getValue()) ||
      !getValue().getElementType().isIntOrFloat())
    return emitOpError("literals are not a dense list of numbers");
  Type literal = getValue().getElementType();
  if (literal.getIntOrFloatBitWidth() + literal.isUnsignedInteger() > 64)
    return emitOpError("literals of type ") << literal << " are too wide";
  ElementKind kind = getElementKind(type);
  bool isExtended = kind == ElementKind::Extended;
  if (isExtended)
    kind = ElementKind::Real;
  if (getElementKind(getValue().getShapedType()) != kind ||
      (kind != ElementKind::Real && literal != type.getElementType()))
    return emitOpError("makes elements of ")
           << type.getElementType() << " from literals of type " << literal;
  if (isa<FloatType>(literal)) {
    auto values = getValue().getValues<APFloat>();
    auto isAllowed = [&](const APFloat &value) {
      return isExtended ? value.isInfinity() && value.isNegative()
                        : value.isFinite();
    };
    // All are the first one then.
    bool areAllowed = getValue().isSplat() ? isAllowed(*values.begin())
                                           : llvm::all_of(values, isAllowed);
    if (!areAllowed)
      return emitOpError(isExtended ? "literals are not minus infinity"
                                    : "literals are not finite");
  }
  if (cast<ShapedType>(getValue().getType()).getShape() != type.getShape() &&
      !getValue().isSplat())
    return emitOpError("has literals of another shape than its result");
  bool isTable = !getValue().isSplat();
  for (int64_t size : type.getShape()) {
    if (size == 1) {
      relation.result.push_back(DimensionExpr::unit());
      continue;
    }
    relation.result.push_back(relation.addFactor(size));
    if (isTable)
      relation.positions.push_back(
          {relation.result.back().getFactor(), PositionUse::Order});
  }
  return relation;
}

/// The format of literals of a type; of other types each number is a double.
static FloatFormat getFormat(Type type) {
  if (type.isF32())
    return FloatFormat::Single;
  if (type.isF16())
    return FloatFormat::Half;
  return type.isBF16() ? FloatFormat::BFloat : FloatFormat::Double;
}

/// Reads element `index` of a constant, counted in row-major order.
static Scalar readLiteral(ScalarAlgebra &algebra, ElementsAttr value,
                          int64_t index) {
  Type type = value.getElementType();
  if (isa<FloatType>(type)) {
    auto element = value.getValues<APFloat>()[index];
    if (element.isInfinity())
      return algebra.minusInfinity();
    bool losesInformation;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInformation);
    return algebra.literal(element.convertToDouble(), getFormat(type));
  }
  auto element = value.getValues<APInt>()[index];
  if (type.isInteger(1))
    return algebra.boolean(element.getBoolValue());
  return algebra.integer(type.isUnsignedInteger()
                             ? static_cast<int64_t>(element.getZExtValue())
                             : element.getSExtValue());
}

Scalar ConstantOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  if (getValue().isSplat())
    return readLiteral(algebra, getValue(), 0);
  // The table is written as nested selections, one for each of its elements.
  auto shape = cast<RankedTensorType>(getResult().getType()).getShape();
  Scalar result = readLiteral(algebra, getValue(), 0);
  int64_t count = getValue().getNumElements();
  for (int64_t element = 1; element < count; ++element) {
    Scalar isHere = algebra.boolean(true);
    Scalar value = readLiteral(algebra, getValue(), element);
    int64_t rest = element;
    unsigned next = scalars.size();
    for (int64_t size : llvm::reverse(shape)) {
      if (size != 1) {
        Scalar matches = algebra.compare(Comparison::Equal, scalars[--next],
                                         algebra.integer(rest % size));
        isHere = algebra.select(isHere, matches, algebra.boolean(false));
      }
      rest /= size;
    }
    result = algebra.select(isHere, value, result);
  }
  return result;
}
