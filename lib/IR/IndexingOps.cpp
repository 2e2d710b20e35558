//===- IndexingOps.cpp - positions as data --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===--- OneHotOp ---------------------------------------------------------===//

FailureOr<IndexRelation> OneHotOp::getIndexRelation() {
  if (getElementKind(getIndices().getType()) != ElementKind::Integer)
    return emitOpError("indices are not integers");
  IndexRelation relation;
  for (int64_t size : typeOf(getResult()).getShape())
    relation.result.push_back(relation.addFactor(size));
  if (relation.result.empty())
    return emitOpError("result has rank 0");
  IndexRelation::Access access;
  access.dimensions.assign(relation.result.begin(), relation.result.end() - 1);
  relation.accesses.push_back(std::move(access));
  // Numbers of positions are signed 64-bit integers, as data are.
  auto start = static_cast<int64_t>(getStart());
  int64_t end;
  if (llvm::AddOverflow(start, typeOf(getResult()).getShape().back(), end))
    return emitOpError("has positions of more than 2^63");
  relation.positions.push_back({relation.result.back().getFactor(),
                                PositionUse::Equality, start, /*operand=*/0});
  return relation;
}

Scalar OneHotOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return algebra.select(
      algebra.compare(Comparison::Equal, scalars[0], scalars[1]),
      algebra.rational(1), algebra.rational(0));
}

LogicalResult OneHotOp::buildGradients(OpBuilder &, Value,
                                       SmallVectorImpl<Value> &gradients) {
  gradients.push_back({});
  return success();
}

//===--- OneHotIndexOp ----------------------------------------------------===//

FailureOr<IndexRelation> OneHotIndexOp::getIndexRelation() {
  RankedTensorType type = typeOf(getOperand());
  if (type.getRank() == 0)
    return emitOpError("operand has rank 0");
  IndexRelation relation;
  IndexRelation::Access access;
  for (int64_t size : type.getShape())
    access.dimensions.push_back(relation.addFactor(size));
  relation.result.assign(access.dimensions.begin(),
                         access.dimensions.end() - 1);
  relation.positions.push_back(
      {access.dimensions.back().getFactor(), PositionUse::Order});
  relation.accesses.push_back(std::move(access));
  return relation;
}

Scalar OneHotIndexOp::combine(ScalarAlgebra &algebra,
                              ArrayRef<Scalar> scalars) {
  return algebra.select(
      algebra.compare(Comparison::Equal, scalars[0], algebra.rational(1)),
      scalars[1], algebra.integer(0));
}

//===--- DescendingRankOp -------------------------------------------------===//

FailureOr<IndexRelation> DescendingRankOp::getIndexRelation() {
  RankedTensorType type = typeOf(getScores());
  if (type.getRank() == 0)
    return emitOpError("scores have rank 0");
  IndexRelation relation;
  for (int64_t size : type.getShape())
    relation.result.push_back(relation.addFactor(size));
  // The other element of each pair that is compared.
  DimensionExpr other = relation.addFactor(type.getShape().back());
  IndexRelation::Access own, compared;
  own.dimensions = relation.result;
  compared.dimensions = relation.result;
  compared.dimensions.back() = other;
  relation.accesses = {own, compared};
  if (getEligible()) {
    compared.operand = 1;
    relation.accesses.push_back(compared);
  }
  // A rank depends on all elements of a row at once, and fewer elements have
  // fewer ranks: none may be left out.
  relation.positions = {
      {relation.result.back().getFactor(), PositionUse::Order},
      {other.getFactor(), PositionUse::Order}};
  return relation;
}

Scalar DescendingRankOp::combine(ScalarAlgebra &algebra,
                                 ArrayRef<Scalar> scalars) {
  Scalar counts =
      algebra.select(algebra.compare(Comparison::Less, scalars[0], scalars[1]),
                     algebra.integer(1), algebra.integer(0));
  if (!getEligible())
    return counts;
  return algebra.select(
      algebra.compare(Comparison::Equal, scalars[2], algebra.rational(1)),
      counts, algebra.integer(0));
}

//===--- EmbeddingOp ------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  RankedTensorType indices = typeOf(getIndices()), table = typeOf(getTable());
  if (getElementKind(indices) != ElementKind::Integer)
    return emitOpError("indices are not integers");
  if (getElementKind(table) != ElementKind::Real ||
      getElementKind(getResult().getType()) != ElementKind::Real)
    return emitOpError("elements of table or result are not real numbers");
  if (table.getRank() != 2)
    return emitOpError("table has rank ") << table.getRank() << ", expected 2";
  if (indices.getRank() > 20)
    return emitOpError("indices have rank ") << indices.getRank();
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(table.getDimSize(1));
  if (typeOf(getResult()).getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("result does not have the shape of the indices and one "
                       "row: ")
           << getResult().getType();
  return success();
}

FailureOr<SmallVector<Value>> EmbeddingOp::decompose(OpBuilder &builder) {
  RankedTensorType indices = typeOf(getIndices()), table = typeOf(getTable());
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(table.getDimSize(0));
  Value oneHot = OneHotOp::create(
      builder, getLoc(), RankedTensorType::get(shape, table.getElementType()),
      getIndices(), getStart(), getDomainAttr());
  std::string batch;
  for (int64_t i = 0; i < indices.getRank(); ++i)
    batch.push_back('A' + i);
  Value result = EinsumOp::create(
      builder, getLoc(), getResult().getType(), ValueRange{oneHot, getTable()},
      builder.getStringAttr(batch + "v,vh->" + batch + "h"), getDomainAttr());
  return SmallVector<Value>{result};
}

//===--- IotaOp -----------------------------------------------------------===//

FailureOr<IndexRelation> IotaOp::getIndexRelation() {
  RankedTensorType type = typeOf(getResult());
  ElementKind kind = getElementKind(type);
  if (type.getRank() != 1)
    return emitOpError("result has rank ") << type.getRank() << ", expected 1";
  if (kind != ElementKind::Integer && kind != ElementKind::Real)
    return emitOpError("makes numbers, not elements of ")
           << type.getElementType();
  int64_t start = static_cast<int64_t>(getStart()), last;
  if (llvm::MulOverflow(static_cast<int64_t>(getStep()), type.getDimSize(0) - 1,
                        last) ||
      llvm::AddOverflow(start, last, last))
    return emitOpError("has numbers of more than 64 bits");
  auto isTooLarge = [&](int64_t number) {
    return kind == ElementKind::Integer &&
           !llvm::isIntN(type.getElementTypeBitWidth(), number);
  };
  if (isTooLarge(start) || isTooLarge(last))
    return emitOpError("has numbers beyond ") << type.getElementType();
  IndexRelation relation;
  relation.result = {relation.addFactor(type.getDimSize(0))};
  // Which number stands where is all that there is to it.
  relation.positions = {
      {relation.result.back().getFactor(), PositionUse::Order}};
  return relation;
}

Scalar IotaOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  Scalar offset = algebra.multiply(
      scalars[0], algebra.integer(static_cast<int64_t>(getStep())));
  Scalar number =
      algebra.add(offset, algebra.integer(static_cast<int64_t>(getStart())));
  return isReal(getResult().getType()) ? algebra.toReal(number) : number;
}

//===--- CausalMaskOp -----------------------------------------------------===//

LogicalResult CausalMaskOp::verify() {
  RankedTensorType type = typeOf(getResult());
  if (!isExtended(type))
    return emitOpError("result is minus infinity in places, its type is not "
                       "extended");
  if (type.getRank() < 2)
    return emitOpError("result has rank ") << type.getRank();
  return success();
}

FailureOr<IndexRelation> CausalMaskOp::getIndexRelation() {
  IndexRelation relation;
  ArrayRef<int64_t> shape = typeOf(getResult()).getShape();
  if (shape.size() < 2)
    return emitOpError("result has rank ") << shape.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    relation.result.push_back(relation.addFactor(size));
    if (i + 2 >= shape.size())
      relation.positions.push_back(
          {relation.result.back().getFactor(), PositionUse::Order});
  }
  return relation;
}

Scalar CausalMaskOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return algebra.select(
      algebra.compare(Comparison::LessEqual, scalars[1], scalars[0]),
      algebra.rational(0), algebra.minusInfinity());
}

//===--- ComplexProductOp -------------------------------------------------===//

LogicalResult ComplexProductOp::verify() {
  RankedTensorType type = typeOf(getOperand()), factors = typeOf(getFactors());
  for (Type each :
       {getOperand().getType(), getFactors().getType(), getResult().getType()})
    if (getElementKind(each) != ElementKind::Real)
      return emitOpError("is not defined on elements of ")
             << cast<RankedTensorType>(each).getElementType();
  int64_t rank = type.getRank(), position = getPositionDimension();
  if (rank > 20)
    return emitOpError("operand has rank ") << rank;
  if (position < 0 || position >= rank - 1)
    return emitOpError("has no position dimension ") << position;
  int64_t pairs = type.getDimSize(rank - 1) / 2;
  if (type.getDimSize(rank - 1) % 2 ||
      factors.getShape() !=
          ArrayRef<int64_t>({type.getDimSize(position), pairs, 2}))
    return emitOpError("needs one complex factor for each position and pair, "
                       "got factors ")
           << factors;
  if (typeOf(getResult()).getShape() != type.getShape())
    return emitOpError("operand and result differ in shape");
  return success();
}

FailureOr<SmallVector<Value>> ComplexProductOp::decompose(OpBuilder &builder) {
  RankedTensorType type = typeOf(getOperand());
  int64_t rank = type.getRank(), position = getPositionDimension();
  Location location = getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  shape.push_back(2);
  auto pairs = RankedTensorType::get(shape, type.getElementType());
  Value paired = ReshapeOp::create(builder, location, pairs, getOperand(),
                                   getDomainAttr());
  // table[d, c, e]: part e of the product of part d and part c.
  auto tableType = RankedTensorType::get({2, 2, 2}, builder.getF64Type());
  Value table = ConstantOp::create(
      builder, location, tableType,
      DenseElementsAttr::get(tableType,
                             ArrayRef<double>{1, 0, 0, 1, 0, 1, -1, 0}),
      getDomainAttr());
  std::string batch;
  for (int64_t i = 0; i + 1 < rank; ++i)
    batch.push_back('A' + i);
  std::string at(1, batch[position]);
  Value product = EinsumOp::create(
      builder, location, pairs, ValueRange{paired, getFactors(), table},
      builder.getStringAttr(batch + "pd," + at + "pc,dce->" + batch + "pe"),
      getDomainAttr());
  Value result =
      ReshapeOp::create(builder, location, type, product, getDomainAttr());
  return SmallVector<Value>{result};
}
