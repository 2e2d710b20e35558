//===- PlanRanks.cpp - what one rank does for all of its group ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the first rank of each group is executed for all, its values have a
// coordinate on the axis of ranks: a collective of the group runs along that
// axis, and what starts elsewhere on each rank is a part of what they have
// together.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

using namespace mlir;
using namespace verify;

/// The type with another size of one dimension.
static RankedTensorType resize(RankedTensorType type, int64_t dimension,
                               int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

Value PlanExecution::sliceByRank(Value value, int64_t dimension,
                                 Location location) {
  auto type = cast<RankedTensorType>(value.getType());
  return tv::AllSliceOp::create(
      builder, location,
      resize(type, dimension, type.getDimSize(dimension) / fold->getSize()),
      value, dimension, builder.getStringAttr(RankFold::axis),
      tv::DomainAttr());
}

LogicalResult PlanExecution::buildByRank(Operation *op, ArrayRef<Value> values,
                                         SmallVectorImpl<Value> &results) {
  Location location = op->getLoc();
  if (auto slice = dyn_cast<tv::SliceOp>(op)) {
    auto type = cast<RankedTensorType>(slice.getResult().getType());
    int64_t dimension = slice.getDimension(), start = slice.getStart();
    int64_t together = (slice.getEnd() - slice.getStart()) * fold->getSize();
    Value whole = values[0];
    auto from = cast<RankedTensorType>(whole.getType());
    if (dimension < 0 || dimension >= from.getRank() ||
        from.getRank() != type.getRank() || start < 0 ||
        together > from.getDimSize(dimension) - start)
      return slice.emitOpError("is outside of its operand on some rank");
    if (together != from.getDimSize(dimension))
      whole = tv::SliceOp::create(
          builder, location, resize(type, dimension, together), whole,
          dimension, start, start + together, tv::DomainAttr());
    results.push_back(sliceByRank(whole, dimension, location));
    return success();
  }
  auto oneHotByRank = [&](Value indices, RankedTensorType type,
                          int64_t start) -> Value {
    int64_t last = type.getRank() - 1, together;
    if (last < 0 ||
        llvm::MulOverflow(type.getDimSize(last), fold->getSize(), together))
      return {};
    Value whole =
        tv::OneHotOp::create(builder, location, resize(type, last, together),
                             indices, start, tv::DomainAttr());
    return sliceByRank(whole, last, location);
  };
  if (auto oneHot = dyn_cast<tv::OneHotOp>(op)) {
    auto type = cast<RankedTensorType>(oneHot.getResult().getType());
    Value part = oneHotByRank(values[0], type, oneHot.getStart());
    if (!part)
      return oneHot.emitOpError("has too many positions on all ranks");
    results.push_back(part);
    return success();
  }
  auto embedding = cast<tv::EmbeddingOp>(op);
  Operation *clone =
      Operation::create(location, op->getName(), op->getResultTypes(), values,
                        NamedAttrList(), op->getPropertiesStorage());
  builder.insert(clone);
  if (failed(check(clone)))
    return failure();
  FailureOr<SmallVector<Value>> parts =
      cast<tv::EmbeddingOp>(clone).decompose(builder);
  if (failed(parts))
    return failure();
  clone->erase();
  // What is looked up is one factor of a contraction.
  Operation *contraction = parts->front().getDefiningOp();
  for (OpOperand &operand : contraction->getOpOperands()) {
    auto oneHot = operand.get().getDefiningOp<tv::OneHotOp>();
    if (!oneHot || oneHot.getIndices() != values[0])
      continue;
    builder.setInsertionPoint(contraction);
    Value part = oneHotByRank(
        values[0], cast<RankedTensorType>(oneHot.getResult().getType()),
        oneHot.getStart());
    builder.setInsertionPointToEnd(contraction->getBlock());
    if (!part)
      return embedding.emitOpError("has too many rows on all ranks");
    operand.set(part);
    oneHot.erase();
    results = *parts;
    return success();
  }
  return embedding.emitOpError("is not looked up by position");
}

LogicalResult PlanExecution::buildAlongRanks(tv::CommunicateOp op, Value value,
                                             SmallVectorImpl<Value> &results) {
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto operand = cast<RankedTensorType>(value.getType());
  StringAttr axis = builder.getStringAttr(RankFold::axis);
  int64_t dimension = op.getDimension().value_or(0), size = fold->getSize();
  auto hasDimension = [&](int64_t number) {
    return number >= 0 && number < operand.getRank();
  };
  auto canCut = [&](RankedTensorType whole, int64_t number) {
    return hasDimension(number) && whole.getDimSize(number) % size == 0;
  };
  auto gather = [&]() -> Value {
    int64_t together;
    if (!hasDimension(dimension) ||
        llvm::MulOverflow(operand.getDimSize(dimension), size, together))
      return {};
    return tv::AllGatherOp::create(builder, location,
                                   resize(operand, dimension, together), value,
                                   dimension, axis, tv::DomainAttr());
  };
  auto move = [&](int64_t rank) -> Value {
    auto from =
        tv::AxisSetAttr::get(builder.getContext(), axis, {rank, rank + 1});
    return tv::MoveOp::create(builder, location, operand, value,
                              tv::DomainAttr::get(builder.getContext(), from),
                              tv::DomainAttr());
  };
  auto reduce = [&]() -> Value {
    SmallVector<Attribute> axes;
    if (op.getReplicas())
      axes.push_back(builder.getStringAttr("dp"));
    SmallVector<Value> terms = {value};
    if (op.getReduction() == tv::ReductionKind::Sum ||
        op.getReduction() == tv::ReductionKind::Average) {
      axes.push_back(axis);
    } else {
      terms.clear();
      for (int64_t rank = 0; rank < size; ++rank)
        terms.push_back(move(rank));
    }
    return tv::AllReduceOp::create(builder, location, operand, terms,
                                   builder.getArrayAttr(axes), tv::DomainAttr(),
                                   op.getReduction());
  };
  Value result;
  switch (op.getKind()) {
  case tv::CollectiveKind::AllReduce:
    result = reduce();
    break;
  case tv::CollectiveKind::AllGather:
    result = gather();
    break;
  case tv::CollectiveKind::ReduceScatter:
    if (canCut(operand, dimension))
      result = sliceByRank(reduce(), dimension, location);
    break;
  case tv::CollectiveKind::AllToAll: {
    int64_t split = op.getSplitDimension().value_or(0);
    // Along one dimension parts of parts change places, which is no slice.
    if (split != dimension && canCut(operand, split))
      if (Value whole = gather())
        result = sliceByRank(whole, split, location);
    break;
  }
  case tv::CollectiveKind::Broadcast: {
    ArrayRef<int64_t> group = op.getGroup();
    const auto *root =
        llvm::find(group, static_cast<int64_t>(op.getRoot().value_or(-1)));
    if (root != group.end())
      result = move(root - group.begin());
    break;
  }
  }
  if (!result || result.getType() != type)
    return op.emitOpError("is not one along an axis");
  results.push_back(result);
  return success();
}

LogicalResult PlanExecution::completeAlongRanks(Device &device,
                                                tv::CommunicateOp op) {
  if (op.getReplicas() && op.getKind() != tv::CollectiveKind::AllReduce)
    return op.emitOpError("with members in all replicas is not supported "
                          "unless it is an all-reduce");
  auto build = [&](ArrayRef<Value> values, SmallVectorImpl<Value> &results) {
    return buildAlongRanks(op, values[0], results);
  };
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, device.number, lookup(device, op.getValue()), build);
  if (failed(results))
    return failure();
  device.arrived[op] = results->front();
  return success();
}
