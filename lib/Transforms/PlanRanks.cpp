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

namespace {
/// Builds ops along the axis of ranks. What cannot be built is null.
class RankBuilder {
public:
  RankBuilder(OpBuilder &builder, Location location, int64_t size)
      : builder(builder), location(location), size(size),
        axis(builder.getStringAttr(RankFold::axis)) {}

  /// The part of a dimension that a rank has.
  Value slice(Value whole, int64_t dimension) {
    RankedTensorType type = typeOf(whole);
    if (!hasDimension(type, dimension) || type.getDimSize(dimension) % size)
      return {};
    return tv::AllSliceOp::create(
        builder, location,
        resize(type, dimension, type.getDimSize(dimension) / size), whole,
        dimension, axis, tv::DomainAttr());
  }
  /// What all ranks have, one after the other.
  Value gather(Value part, int64_t dimension) {
    return join(part, dimension, axis);
  }
  /// The same of what ranks have in another order.
  Value gather(Value part, int64_t dimension, ArrayRef<int64_t> order) {
    if (llvm::equal(order, llvm::seq(size)))
      return gather(part, dimension);
    return join(llvm::map_to_vector(
                    order, [&](int64_t rank) { return move(part, rank); }),
                dimension);
  }
  /// What each rank has, of a tensor for each.
  Value choose(ArrayRef<Value> byRank, int64_t dimension = 0) {
    Value whole = join(byRank, dimension);
    return whole ? slice(whole, dimension) : whole;
  }
  /// What one rank has, on each.
  Value move(Value value, int64_t rank) {
    auto from =
        tv::AxisSetAttr::get(builder.getContext(), axis, {rank, rank + 1});
    return tv::MoveOp::create(builder, location, typeOf(value), value,
                              tv::DomainAttr::get(builder.getContext(), from),
                              tv::DomainAttr());
  }
  /// What all ranks have, combined; over replicas too where `op` says so.
  Value reduce(tv::CommunicateOp op, Value value) {
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
        terms.push_back(move(value, rank));
    }
    return tv::AllReduceOp::create(builder, location, typeOf(value), terms,
                                   builder.getArrayAttr(axes), tv::DomainAttr(),
                                   op.getReduction());
  }
  /// The part that a rank has of what is cut in the order of the ranks that
  /// `order` names, one for each part.
  Value slice(Value whole, int64_t dimension, ArrayRef<int64_t> order) {
    if (llvm::equal(order, llvm::seq(size)))
      return slice(whole, dimension);
    RankedTensorType type = typeOf(whole);
    if (!hasDimension(type, dimension) || type.getDimSize(dimension) % size)
      return {};
    int64_t extent = type.getDimSize(dimension) / size;
    SmallVector<int64_t> starts(order.size());
    for (auto [part, rank] : llvm::enumerate(order))
      starts[rank] = static_cast<int64_t>(part) * extent;
    return sliceAt(whole, resize(type, dimension, extent), dimension, starts);
  }
  /// A slice of `type` that starts where said, by rank.
  Value sliceAt(Value whole, RankedTensorType type, int64_t dimension,
                ArrayRef<int64_t> starts) {
    if (!hasDimension(type, dimension))
      return {};
    SmallVector<Value> byRank;
    for (int64_t start : starts) {
      int64_t end;
      if (llvm::AddOverflow(start, type.getDimSize(dimension), end))
        return {};
      byRank.push_back(tv::SliceOp::create(builder, location, type, whole,
                                           dimension, start, end,
                                           tv::DomainAttr()));
    }
    return choose(byRank, dimension);
  }
  /// A slice that starts where the one of the rank before ends, or where said.
  Value sliceByRank(tv::SliceOp op, Value whole, ArrayRef<int64_t> starts) {
    RankedTensorType type = typeOf(op.getResult()), from = typeOf(whole);
    int64_t dimension = op.getDimension(), start = op.getStart(), together;
    if (!starts.empty())
      return sliceAt(whole, type, dimension, starts);
    if (from.getRank() != type.getRank() || !hasDimension(from, dimension) ||
        start < 0 ||
        llvm::MulOverflow(type.getDimSize(dimension), size, together) ||
        together > from.getDimSize(dimension) - start)
      return {};
    if (together != from.getDimSize(dimension))
      whole = tv::SliceOp::create(
          builder, location, resize(type, dimension, together), whole,
          dimension, start, start + together, tv::DomainAttr());
    return slice(whole, dimension);
  }
  /// A one-hot of `type` whose first position rises so, from `start` on.
  Value oneHotByRank(Value indices, RankedTensorType type, int64_t start) {
    int64_t last = type.getRank() - 1, together;
    if (last < 0 || llvm::MulOverflow(type.getDimSize(last), size, together))
      return {};
    Value whole =
        tv::OneHotOp::create(builder, location, resize(type, last, together),
                             indices, start, tv::DomainAttr());
    return slice(whole, last);
  }

private:
  /// A tensor for each rank, one after the other: of one value what each has,
  /// if it is `along` the axis.
  Value join(ArrayRef<Value> byRank, int64_t dimension, StringAttr along = {}) {
    RankedTensorType type = typeOf(byRank.front());
    int64_t together;
    if (!hasDimension(type, dimension) ||
        llvm::MulOverflow(type.getDimSize(dimension), size, together))
      return {};
    return tv::AllGatherOp::create(builder, location,
                                   resize(type, dimension, together), byRank,
                                   dimension, along, tv::DomainAttr());
  }

  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  static bool hasDimension(RankedTensorType type, int64_t dimension) {
    return dimension >= 0 && dimension < type.getRank();
  }

  OpBuilder &builder;
  Location location;
  int64_t size;
  StringAttr axis;
};
} // namespace

LogicalResult PlanExecution::buildByRank(Operation *op, ArrayRef<Value> values,
                                         SmallVectorImpl<Value> &results) {
  RankBuilder ranks(builder, op->getLoc(), fold->getSize());
  Value result;
  if (auto slice = dyn_cast<tv::SliceOp>(op)) {
    result = ranks.sliceByRank(slice, values[0], fold->getStarts(op));
  } else if (auto oneHot = dyn_cast<tv::OneHotOp>(op)) {
    result = ranks.oneHotByRank(
        values[0], cast<RankedTensorType>(oneHot.getResult().getType()),
        oneHot.getStart());
  } else {
    FailureOr<Value> looked = lookUpByRank(cast<tv::EmbeddingOp>(op), values);
    if (failed(looked))
      return failure();
    result = *looked;
  }
  if (!result)
    return op->emitOpError("does not fit on all ranks");
  results.push_back(result);
  return success();
}

FailureOr<Value> PlanExecution::lookUpByRank(tv::EmbeddingOp op,
                                             ArrayRef<Value> values) {
  Operation *clone =
      Operation::create(op.getLoc(), op->getName(), op->getResultTypes(),
                        values, NamedAttrList(), op->getPropertiesStorage());
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
    Value part =
        RankBuilder(builder, op.getLoc(), fold->getSize())
            .oneHotByRank(values[0],
                          cast<RankedTensorType>(oneHot.getResult().getType()),
                          oneHot.getStart());
    builder.setInsertionPointToEnd(contraction->getBlock());
    if (!part)
      return Value();
    operand.set(part);
    oneHot.erase();
    return parts->front();
  }
  return op.emitOpError("is not looked up by position");
}

LogicalResult PlanExecution::buildAlongRanks(tv::CommunicateOp op, Value value,
                                             SmallVectorImpl<Value> &results) {
  RankBuilder ranks(builder, op.getLoc(), fold->getSize());
  int64_t dimension = op.getDimension().value_or(0);
  SmallVector<int64_t> order = fold->listRanks(op.getGroup());
  Value result;
  switch (op.getKind()) {
  case tv::CollectiveKind::AllReduce:
    result = ranks.reduce(op, value);
    break;
  case tv::CollectiveKind::AllGather:
    result = ranks.gather(value, dimension, order);
    break;
  case tv::CollectiveKind::ReduceScatter:
    result = ranks.slice(ranks.reduce(op, value), dimension, order);
    break;
  case tv::CollectiveKind::AllToAll: {
    int64_t split = op.getSplitDimension().value_or(0);
    // Along one dimension parts of parts change places, which is no slice.
    if (split != dimension)
      if (Value whole = ranks.gather(value, dimension))
        result = ranks.slice(whole, split);
    break;
  }
  case tv::CollectiveKind::Broadcast: {
    ArrayRef<int64_t> group = op.getGroup();
    const auto *root =
        llvm::find(group, static_cast<int64_t>(op.getRoot().value_or(-1)));
    if (root != group.end())
      result = ranks.move(value, order[root - group.begin()]);
    break;
  }
  }
  if (!result || result.getType() != op.getResult().getType())
    return op.emitOpError("is not one along an axis");
  results.push_back(result);
  return success();
}

void PlanExecution::noteUniform(Operation *op) {
  bool isSame = llvm::all_of(op->getOperands(),
                             [&](Value value) { return isUniform(value); });
  if (auto reduce = dyn_cast<tv::AllReduceOp>(op))
    isSame |= llvm::any_of(reduce.getAxes().getAsRange<StringAttr>(),
                           RankFold::isAxis);
  else if (auto gather = dyn_cast<tv::AllGatherOp>(op))
    isSame |= RankFold::isAxis(gather.getAxisAttr());
  else if (auto move = dyn_cast<tv::MoveOp>(op))
    isSame |= move.getSource().getSet(RankFold::axis) != nullptr;
  else if (isa<tv::AllSliceOp>(op))
    isSame = false;
  if (isSame && op->getNumResults() == 1)
    uniform.insert(op->getResult(0));
}

bool PlanExecution::isUniform(Value value) const {
  auto distributed = value.getDefiningOp<tv::DistributeOp>();
  if (!distributed)
    return uniform.contains(value);
  return !RankFold::areDivided(distributed.getLineage());
}

SmallVector<std::pair<int64_t, int64_t>>
PlanExecution::listTransfers(int64_t device, Operation *op,
                             int64_t peer) const {
  if (fold->communicatesByRank())
    return {{device, peer}};
  SmallVector<std::pair<int64_t, int64_t>> transfers;
  for (auto [rank, other] :
       llvm::zip_equal(fold->getRanks(device), fold->getPeers(op)))
    transfers.push_back({rank, other});
  return transfers;
}

void PlanExecution::sendByRank(Device &device, tv::SendOp op) {
  Bound bound = lookup(device, op.getValue());
  bool isSame = isUniform(bound.value);
  for (auto [number, ends] :
       llvm::enumerate(listTransfers(device.number, op, op.getPeer()))) {
    Channel &channel = channels[ends];
    channel.messages.try_emplace(channel.sent++,
                                 Sent{bound, op, device.number,
                                      isSame ? 0 : static_cast<int64_t>(number),
                                      isSame});
  }
}

PlanExecution::Step PlanExecution::receiveByRank(Device &device,
                                                 tv::ReceiveOp op) {
  SmallVector<std::pair<int64_t, Channel *>> arriving; ///< by rank
  for (auto [rank, peer] : listTransfers(device.number, op, op.getPeer())) {
    Channel &channel = channels[{peer, rank}];
    if (!channel.messages.count(channel.received))
      return Step::Blocked;
    arriving.push_back({peer, &channel});
  }
  SmallVector<Sent> sent;
  for (auto [peer, channel] : arriving) {
    FailureOr<Sent> message = take(op, peer, *channel, channel->received++);
    if (failed(message))
      return Step::Failed;
    sent.push_back(*message);
  }
  FailureOr<Bound> bound = join(device.number, op, sent);
  if (failed(bound))
    return Step::Failed;
  bind(device, op, *bound);
  return Step::Done;
}

FailureOr<Bound> PlanExecution::join(int64_t device, Operation *op,
                                     ArrayRef<Sent> sent) {
  const Sent &first = sent.front();
  bool isOne = true, isStraight = true, isSame = true;
  SmallVector<uintptr_t> function = {joined};
  SmallVector<Bound> operands;
  for (auto [rank, message] : llvm::enumerate(sent)) {
    isOne &= message.bound.value == first.bound.value;
    isStraight &= message.rank == static_cast<int64_t>(rank) &&
                  message.device == first.device;
    isSame &= message.rank < 0 || message.isUniform;
    if (message.bound.microBatch != first.bound.microBatch) {
      tooDifferent = device;
      op->emitOpError("receives of several micro-batches on its ranks");
      return failure();
    }
    operands.push_back(message.bound);
    function.push_back(static_cast<uintptr_t>(message.device));
    function.push_back(static_cast<uintptr_t>(message.rank));
  }
  // Each rank has what that of the same number had, or all have one value: of a
  // group that is folded, or of devices at the first coordinate.
  if (isOne && (isStraight || isSame)) {
    Sent same = first;
    same.rank = fold->isFolded(first.device) ? -1 : 0;
    return receive(device, op, same);
  }
  auto build = [&](ArrayRef<Value> values,
                   SmallVectorImpl<Value> &results) -> LogicalResult {
    SmallVector<Value> moved;
    for (auto [message, value] : llvm::zip_equal(sent, values))
      moved.push_back(tv::MoveOp::create(
          builder, op->getLoc(), value.getType(), value,
          // One that stands for itself is at the first coordinate alone.
          getSource(message.device, std::max<int64_t>(message.rank, 0)),
          tv::DomainAttr()));
    Value chosen =
        RankBuilder(builder, op->getLoc(), fold->getSize()).choose(moved);
    if (!chosen) {
      tooDifferent = device;
      return op->emitOpError("does not fit on all ranks");
    }
    results.push_back(chosen);
    return success();
  };
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, function, device, operands, build);
  if (failed(results))
    return failure();
  return results->front();
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
  if (device.frame && device.frame->written)
    device.frame->written->instances.push_back({op, lastInstance});
  device.arrived[op] = results->front();
  return success();
}

LogicalResult PlanExecution::completeBroadcast(ArrayRef<Arrival> arrivals) {
  tv::CommunicateOp first = arrivals.front().op;
  const auto *root = llvm::find_if(arrivals, [&](const Arrival &arrival) {
    return arrival.device == static_cast<int64_t>(first.getRoot().value_or(-1));
  });
  if (root == arrivals.end())
    return first.emitOpError("has no root in its group");
  bool isUniformRoot = root->rank >= 0 && isUniform(root->bound.value);
  Sent sent = {root->bound, root->op, root->executor,
               isUniformRoot ? 0 : root->rank, isUniformRoot};
  for (const Arrival &arrival : arrivals) {
    FailureOr<Bound> bound = failure();
    if (arrival.rank < 0) {
      bound = receive(arrival.device, arrival.op, sent);
    } else {
      tv::CommunicateOp executed = arrival.executed;
      std::pair key(arrival.executor, executed.getOperation());
      auto &byRank = broadcast[key];
      byRank.resize(countCommunicating());
      byRank[arrival.rank] = sent;
      if (!llvm::all_of(byRank, [](const auto &sent) { return sent; }))
        continue;
      bound = join(
          arrival.executor, arrival.executed,
          llvm::map_to_vector(byRank, [](const auto &sent) { return *sent; }));
      broadcast.erase(key);
    }
    if (failed(bound))
      return failure();
    for (Device *device : devicesOfNumber.lookup(arrival.executor))
      device->arrived[arrival.executed] = *bound;
  }
  return success();
}
