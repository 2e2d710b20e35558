//===- Semantics.cpp - what all ops derive from their relation ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVInterfaces.h"

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

#include "Verify/IR/TVInterfaces.cpp.inc"

bool verify::isExtended(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<tv::ExtendedType>(tensor.getElementType());
}

ElementKind verify::getElementKind(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (isa<FloatType>(element))
    return ElementKind::Real;
  if (isa<tv::ExtendedType>(element))
    return ElementKind::Extended;
  if (element.isInteger(1))
    return ElementKind::Boolean;
  return isa<IntegerType>(element) ? ElementKind::Integer : ElementKind::Other;
}

bool verify::isReal(Type type) {
  return getElementKind(type) == ElementKind::Real;
}

RankedTensorType verify::getRealType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto extended = dyn_cast<tv::ExtendedType>(tensor.getElementType()))
    return RankedTensorType::get(tensor.getShape(), extended.getReal());
  return tensor;
}

Scalar verify::product(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  Scalar result = scalars.empty() ? algebra.rational(1) : scalars[0];
  for (Scalar scalar : scalars.drop_front(scalars.empty() ? 0 : 1))
    result = algebra.multiply(result, scalar);
  return result;
}

Scalar verify::minimum(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return algebra.negate(algebra.maximum(llvm::map_to_vector(
      scalars, [&](Scalar scalar) { return algebra.negate(scalar); })));
}

Scalar verify::truth(ScalarAlgebra &algebra, Type type, Scalar condition) {
  if (!isReal(type))
    return condition;
  return algebra.select(condition, algebra.rational(1), algebra.rational(0));
}

FailureOr<IndexRelation> verify::elementwiseRelation(Operation *op) {
  IndexRelation relation;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t size : result.getShape())
    relation.result.push_back(size == 1 ? DimensionExpr::unit()
                                        : relation.addFactor(size));
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (type.getRank() > result.getRank())
      return op->emitOpError("operand #")
             << operand.getOperandNumber() << " has a higher rank than the "
             << "result";
    int64_t offset = result.getRank() - type.getRank();
    IndexRelation::Access access;
    access.operand = operand.getOperandNumber();
    for (int64_t i = 0; i < type.getRank(); ++i)
      access.dimensions.push_back(type.getDimSize(i) == 1
                                      ? DimensionExpr::unit()
                                      : relation.result[offset + i]);
    relation.accesses.push_back(std::move(access));
  }
  return relation;
}

/// Checks one tensor against the expressions of its dimensions.
static LogicalResult verifyTensor(Operation *op, Type type,
                                  ArrayRef<DimensionExpr> dimensions,
                                  const IndexRelation &relation,
                                  const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError() << what << " is not a tensor of static shape";
  if (tensor.getRank() != static_cast<int64_t>(dimensions.size()))
    return op->emitOpError() << what << " has rank " << tensor.getRank()
                             << ", expected " << dimensions.size();
  for (auto [i, dimension] : llvm::enumerate(dimensions))
    if (dimension.getSize(relation.extents) != tensor.getDimSize(i))
      return op->emitOpError()
             << "dimension " << i << " of " << what << " has size "
             << tensor.getDimSize(i) << ", expected "
             << dimension.getSize(relation.extents);
  return success();
}

LogicalResult verify::verifyStaticShapes(Operation *op) {
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op->emitOpError("needs tensors of static shape, got ") << type;
    if (llvm::is_contained(tensor.getShape(), 0))
      return op->emitOpError("needs tensors that have elements, got ") << type;
  }
  return success();
}

/// Elements of this kind in words if `op` is not defined on them, else nothing.
static StringRef refuse(Operation *op, ElementKind kind) {
  OperationName name = op->getName();
  switch (kind) {
  case ElementKind::Real:
    return {};
  case ElementKind::Extended:
    return name.hasTrait<tv::AcceptsExtended>() ? "" : "minus infinity";
  case ElementKind::Integer:
    return name.hasTrait<tv::AcceptsIntegers>() ? "" : "integers";
  case ElementKind::Boolean:
    return name.hasTrait<tv::AcceptsBooleans>() ? "" : "booleans";
  case ElementKind::Other:
    break;
  }
  return "elements that are no numbers";
}

LogicalResult verify::verifyElements(Operation *op) {
  auto elementOf = [](Type type) {
    return cast<RankedTensorType>(type).getElementType();
  };
  Type result = op->getResult(0).getType();
  ElementKind resultKind = getElementKind(result);
  if (resultKind == ElementKind::Other)
    return op->emitOpError("is not defined on elements that are no numbers");
  if (op->getNumOperands() == 0)
    return success();
  OperandRange operands = op->getOperands();
  if (op->getName().hasTrait<tv::SelectsOperands>()) {
    if (getElementKind(operands.front().getType()) != ElementKind::Boolean)
      return op->emitOpError("selects by elements of ")
             << elementOf(operands.front().getType())
             << ", which are no booleans";
    operands = operands.drop_front();
  }
  Type first = operands.front().getType();
  ElementKind kind = getElementKind(first);
  for (Type type : operands.getTypes()) {
    ElementKind next = getElementKind(type);
    if (StringRef refused = refuse(op, next); !refused.empty())
      return op->emitOpError("is not defined on ") << refused;
    // Float types are all the real numbers (docs/Soundness.md, A10).
    bool areReal =
        (kind == ElementKind::Real || kind == ElementKind::Extended) &&
        (next == ElementKind::Real || next == ElementKind::Extended);
    if (!areReal && elementOf(type) != elementOf(first))
      return op->emitOpError("mixes elements of ")
             << elementOf(first) << " and " << elementOf(type);
    if (next == ElementKind::Extended)
      kind = next;
  }
  if (op->getName().hasTrait<tv::ReturnsIntegers>()) {
    if (resultKind != ElementKind::Integer)
      return op->emitOpError("makes integers, not elements of ")
             << elementOf(result);
    return success();
  }
  if (op->getName().hasTrait<tv::ReturnsTruth>()) {
    if (resultKind != ElementKind::Real && resultKind != ElementKind::Boolean)
      return op->emitOpError("makes booleans or real numbers, not elements of ")
             << elementOf(result);
    return success();
  }
  if (op->getName().hasTrait<tv::ReturnsReal>())
    kind = ElementKind::Real;
  if (kind == ElementKind::Extended && resultKind == ElementKind::Real)
    return op->emitOpError("result may be minus infinity, its type may not");
  if (kind == ElementKind::Real && resultKind == ElementKind::Extended) {
    if (op->getName().hasTrait<tv::WidensElements>())
      return success();
    return op->emitOpError("result is never minus infinity, its type says so");
  }
  bool isExact = kind == ElementKind::Integer || kind == ElementKind::Boolean;
  if (kind != resultKind || (isExact && elementOf(result) != elementOf(first)))
    return op->emitOpError("makes elements of ")
           << elementOf(result) << " from " << elementOf(first);
  return success();
}

LogicalResult verify::verifyShapes(Operation *op) {
  if (failed(verifyStaticShapes(op)))
    return failure();
  FailureOr<IndexRelation> relation =
      cast<tv::SemanticsOpInterface>(op).getIndexRelation();
  if (failed(relation))
    return failure();
  if (!op->hasTrait<tv::RunsAlongAxes>() && relation->runsAlongAxes())
    return op->emitOpError("runs along an axis of the mesh, and is not defined "
                           "as such an op");
  for (const IndexRelation::Access &access : relation->accesses)
    if (failed(verifyTensor(op, op->getOperand(access.operand).getType(),
                            access.dimensions, *relation,
                            "operand #" + Twine(access.operand))))
      return failure();
  if (failed(verifyTensor(op, op->getResult(0).getType(), relation->result,
                          *relation, "result")))
    return failure();
  // Of each element of the result, however many there are.
  int64_t reduced = 1;
  llvm::BitVector bound = relation->getBoundFactors();
  for (auto [factor, extent] : llvm::enumerate(relation->extents))
    if (!bound.test(factor) && llvm::MulOverflow(reduced, extent, reduced))
      return op->emitOpError("reduces more than 2^63 elements");
  return verifyElements(op);
}
