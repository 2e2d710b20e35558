//===- MovementOps.cpp - elements in other places -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// One factor for each dimension of `type`, or a unit where the size is 1.
static SmallVector<DimensionExpr, 4> addFactors(IndexRelation &relation,
                                                RankedTensorType type) {
  SmallVector<DimensionExpr, 4> dimensions;
  for (int64_t size : type.getShape())
    dimensions.push_back(size == 1 ? DimensionExpr::unit()
                                   : relation.addFactor(size));
  return dimensions;
}

//===--- ReshapeOp --------------------------------------------------------===//

FailureOr<IndexRelation> ReshapeOp::getIndexRelation() {
  // Both shapes are cut into runs of equal size. Within a run the finer side
  // gives the factors if the coarser side has one dimension there; otherwise
  // the common refinement does, where there is one.
  ArrayRef<int64_t> from = typeOf(getOperand()).getShape();
  ArrayRef<int64_t> to = typeOf(getResult()).getShape();
  IndexRelation relation;
  SmallVector<std::vector<DimensionExpr>> fromParts(from.size()),
      toParts(to.size());
  int64_t i = from.size() - 1, j = to.size() - 1;
  int64_t restFrom = 1, restTo = 1;
  while (true) {
    while (restFrom == 1 && i >= 0)
      restFrom = from[i--];
    while (restTo == 1 && j >= 0)
      restTo = to[j--];
    if (restFrom == 1 && restTo == 1)
      break;
    int64_t size = std::min(restFrom, restTo);
    if (size <= 1 || restFrom % size || restTo % size)
      return emitOpError("sizes have no common factoring");
    DimensionExpr factor = relation.addFactor(size);
    fromParts[i + 1].insert(fromParts[i + 1].begin(), factor);
    toParts[j + 1].insert(toParts[j + 1].begin(), factor);
    restFrom /= size;
    restTo /= size;
  }
  IndexRelation::Access access;
  for (auto &parts : fromParts)
    access.dimensions.push_back(DimensionExpr::product(std::move(parts)));
  for (auto &parts : toParts)
    relation.result.push_back(DimensionExpr::product(std::move(parts)));
  relation.accesses.push_back(std::move(access));
  return relation;
}

LogicalResult ReshapeOp::buildGradients(OpBuilder &builder, Value gradient,
                                        SmallVectorImpl<Value> &gradients) {
  gradients.append(
      {ReshapeOp::create(builder, getLoc(), getRealType(getOperand().getType()),
                         gradient, DomainAttr())});
  return success();
}

//===--- TransposeOp ------------------------------------------------------===//

FailureOr<IndexRelation> TransposeOp::getIndexRelation() {
  IndexRelation relation;
  RankedTensorType type = typeOf(getOperand());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  for (auto [i, dimension] : llvm::enumerate(sorted))
    if (dimension != static_cast<int64_t>(i))
      return emitOpError("permutation is not one");
  if (static_cast<int64_t>(sorted.size()) != type.getRank())
    return emitOpError("permutation has ")
           << sorted.size() << " entries for rank " << type.getRank();
  SmallVector<DimensionExpr, 4> dimensions = addFactors(relation, type);
  for (int64_t dimension : getPermutation())
    relation.result.push_back(dimensions[dimension]);
  relation.accesses.push_back({0, std::move(dimensions)});
  return relation;
}

LogicalResult TransposeOp::buildGradients(OpBuilder &builder, Value gradient,
                                          SmallVectorImpl<Value> &gradients) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dimension] : llvm::enumerate(getPermutation()))
    inverse[dimension] = i;
  gradients.append({TransposeOp::create(builder, getLoc(),
                                        getRealType(getOperand().getType()),
                                        gradient, inverse, DomainAttr())});
  return success();
}

//===--- SliceOp ----------------------------------------------------------===//

FailureOr<IndexRelation> SliceOp::getIndexRelation() {
  IndexRelation relation;
  RankedTensorType type = typeOf(getOperand());
  int64_t dimension = getDimension(), start = getStart(), end = getEnd();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError("has no dimension ") << dimension;
  int64_t size = type.getDimSize(dimension);
  if (start < 0 || end <= start || end > size)
    return emitOpError("range ")
           << start << ":" << end << " is empty or not inside " << size;
  IndexRelation::Access access;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t extent = i == dimension ? end - start : type.getDimSize(i);
    DimensionExpr factor =
        extent == 1 ? DimensionExpr::unit() : relation.addFactor(extent);
    relation.result.push_back(factor);
    access.dimensions.push_back(
        i == dimension
            ? DimensionExpr::concat({DimensionExpr::hole(start), factor,
                                     DimensionExpr::hole(size - end)})
            : factor);
  }
  relation.accesses.push_back(std::move(access));
  return relation;
}

LogicalResult SliceOp::buildGradients(OpBuilder &builder, Value gradient,
                                      SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getOperand().getType());
  gradients.append({PadOp::create(
      builder, getLoc(), type, gradient, getDimension(), getStart(),
      type.getDimSize(getDimension()) - getEnd(), DomainAttr())});
  return success();
}

//===--- PadOp ------------------------------------------------------------===//

FailureOr<IndexRelation> PadOp::getIndexRelation() {
  IndexRelation relation;
  RankedTensorType type = typeOf(getOperand());
  int64_t dimension = getDimension(), low = getLow(), high = getHigh();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError("has no dimension ") << dimension;
  if (low < 0 || high < 0)
    return emitOpError("pads a negative number of elements");
  SmallVector<DimensionExpr, 4> dimensions = addFactors(relation, type);
  // A factor even at size 1, so that the padding is told from the operand.
  dimensions[dimension] = relation.addFactor(type.getDimSize(dimension));
  relation.result = dimensions;
  relation.result[dimension] =
      DimensionExpr::concat({DimensionExpr::hole(low), dimensions[dimension],
                             DimensionExpr::hole(high)});
  relation.accesses.push_back({0, std::move(dimensions)});
  return relation;
}

LogicalResult PadOp::buildGradients(OpBuilder &builder, Value gradient,
                                    SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getOperand().getType());
  gradients.append({SliceOp::create(
      builder, getLoc(), type, gradient, getDimension(), getLow(),
      getLow() + type.getDimSize(getDimension()), DomainAttr())});
  return success();
}

//===--- ConcatOp ---------------------------------------------------------===//

/// The relation of tensors one after the other along `dimension`.
static FailureOr<IndexRelation> concatRelation(Operation *op,
                                               int64_t dimension) {
  IndexRelation relation;
  if (op->getNumOperands() == 0)
    return op->emitOpError("has no operands");
  RankedTensorType first = typeOf(op->getOperand(0));
  if (dimension < 0 || dimension >= first.getRank())
    return op->emitOpError("has no dimension ") << dimension;
  relation.result = addFactors(relation, first);
  std::vector<DimensionExpr> blocks;
  for (OpOperand &operand : op->getOpOperands()) {
    IndexRelation::Access access;
    access.operand = operand.getOperandNumber();
    access.dimensions = relation.result;
    // A block of its own factor even at size 1, so that blocks are told apart.
    RankedTensorType type = typeOf(operand.get());
    if (type.getRank() != first.getRank())
      return op->emitOpError("operands differ in rank");
    access.dimensions[dimension] =
        relation.addFactor(type.getDimSize(dimension));
    blocks.push_back(access.dimensions[dimension]);
    relation.accesses.push_back(std::move(access));
  }
  relation.result[dimension] = DimensionExpr::concat(std::move(blocks));
  return relation;
}

FailureOr<IndexRelation> ConcatOp::getIndexRelation() {
  return concatRelation(*this, getDimension());
}

LogicalResult ConcatOp::buildGradients(OpBuilder &builder, Value gradient,
                                       SmallVectorImpl<Value> &gradients) {
  int64_t start = 0;
  for (Value operand : getOperands()) {
    RankedTensorType type = getRealType(operand.getType());
    int64_t end = start + type.getDimSize(getDimension());
    gradients.push_back(SliceOp::create(builder, getLoc(), type, gradient,
                                        getDimension(), start, end,
                                        DomainAttr()));
    start = end;
  }
  return success();
}

/// The relation of a part, as result, with a whole that has as many of them
/// along `dimension` as `axis` has coordinates.
static FailureOr<IndexRelation> partRelation(Operation *op,
                                             RankedTensorType part,
                                             int64_t dimension, StringRef axis,
                                             RankedTensorType whole) {
  if (dimension < 0 || dimension >= part.getRank() ||
      dimension >= whole.getRank())
    return op->emitOpError("has no dimension ") << dimension;
  int64_t size = part.getDimSize(dimension);
  if (size == 0 || whole.getDimSize(dimension) % size != 0)
    return op->emitOpError("cannot cut dimension ")
           << dimension << " of " << whole << " into parts of " << size;
  IndexRelation relation;
  relation.result = addFactors(relation, part);
  IndexRelation::Access access{0, relation.result};
  // A factor of its own even at size 1: it is an axis.
  DimensionExpr coordinate =
      relation.addFactor(whole.getDimSize(dimension) / size);
  relation.axisFactors.push_back({axis.str(), coordinate.getFactor()});
  access.dimensions[dimension] =
      DimensionExpr::product({coordinate, relation.result[dimension]});
  relation.accesses.push_back(std::move(access));
  return relation;
}

//===--- AllGatherOp ------------------------------------------------------===//
// A concatenation whose operands come from different devices, or from the
// coordinates of an axis.

FailureOr<IndexRelation> AllGatherOp::getIndexRelation() {
  if (!getAxis())
    return concatRelation(*this, getDimension());
  if (getOperands().size() != 1)
    return emitOpError("gathers over an axis, and not one operand");
  RankedTensorType part = typeOf(getOperands().front());
  FailureOr<IndexRelation> relation = partRelation(
      *this, part, getDimension(), *getAxis(), typeOf(getResult()));
  if (failed(relation))
    return failure();
  relation->axisFactors.front().isRead = true;
  std::swap(relation->accesses.front().dimensions, relation->result);
  return relation;
}

Scalar AllGatherOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars.empty() ? algebra.rational(0) : scalars[0];
}

//===--- AllSliceOp -------------------------------------------------------===//

FailureOr<IndexRelation> AllSliceOp::getIndexRelation() {
  return partRelation(*this, typeOf(getResult()), getDimension(), getAxis(),
                      typeOf(getOperand()));
}

Scalar AllSliceOp::combine(ScalarAlgebra &algebra, ArrayRef<Scalar> scalars) {
  return scalars[0];
}

//===--- BroadcastOp ------------------------------------------------------===//

FailureOr<IndexRelation> BroadcastOp::getIndexRelation() {
  IndexRelation relation;
  RankedTensorType type = typeOf(getOperand());
  relation.result = addFactors(relation, typeOf(getResult()));
  IndexRelation::Access access;
  if (static_cast<int64_t>(getDimensions().size()) != type.getRank())
    return emitOpError("names ") << getDimensions().size()
                                 << " dimensions for rank " << type.getRank();
  int64_t last = -1;
  for (auto [i, dimension] : llvm::enumerate(getDimensions())) {
    if (dimension <= last || dimension >= typeOf(getResult()).getRank())
      return emitOpError("dimensions are not increasing dimensions of the "
                         "result");
    last = dimension;
    access.dimensions.push_back(type.getDimSize(i) == 1
                                    ? DimensionExpr::unit()
                                    : relation.result[dimension]);
  }
  relation.accesses.push_back(std::move(access));
  return relation;
}

LogicalResult BroadcastOp::buildGradients(OpBuilder &builder, Value gradient,
                                          SmallVectorImpl<Value> &gradients) {
  RankedTensorType type = getRealType(getOperand().getType());
  SmallVector<int64_t> repeated, kept;
  RankedTensorType full = typeOf(getResult());
  for (int64_t i = 0; i < full.getRank(); ++i) {
    const int64_t *found = llvm::find(getDimensions(), i);
    bool isKept =
        found != getDimensions().end() &&
        type.getDimSize(found - getDimensions().begin()) == full.getDimSize(i);
    if (isKept)
      kept.push_back(full.getDimSize(i));
    else
      repeated.push_back(i);
  }
  Value sum = ReduceOp::create(
      builder, getLoc(), RankedTensorType::get(kept, type.getElementType()),
      ReductionKind::Sum, gradient, repeated, /*keep=*/false, DomainAttr());
  if (sum.getType() != type)
    sum = ReshapeOp::create(builder, getLoc(), type, sum, DomainAttr());
  gradients.append({sum});
  return success();
}
