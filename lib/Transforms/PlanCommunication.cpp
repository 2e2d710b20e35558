//===- PlanCommunication.cpp - links communication across devices ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sends match receives in channel order, collectives match in the order in
// which a group's members enter them. What cannot be matched is an error at the
// op that waits.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

using namespace mlir;
using namespace verify;

Bound PlanExecution::moveTo(Bound bound, int64_t microBatch, Operation *op,
                            ArrayRef<int64_t> where) {
  bool isNew;
  Instance &instance = findInstance(
      {reinterpret_cast<uintptr_t>(bound.value.getAsOpaquePointer()),
       static_cast<uintptr_t>(bound.microBatch),
       static_cast<uintptr_t>(microBatch)},
      where, /*source=*/nullptr, isNew);
  extend(instance, where, /*source=*/nullptr, microBatch);
  if (isNew) {
    auto set =
        tv::AxisSetAttr::get(builder.getContext(), builder.getStringAttr("mb"),
                             {bound.microBatch, bound.microBatch + 1});
    auto move = tv::MoveOp::create(
        builder, op->getLoc(), bound.value.getType(), bound.value,
        tv::DomainAttr::get(builder.getContext(), set), tv::DomainAttr());
    instance.ops.push_back(move);
    instance.results.push_back(move);
  }
  return {instance.results.front(), microBatch};
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

tv::DomainAttr PlanExecution::getSource(int64_t device, int64_t rank) {
  MLIRContext *context = builder.getContext();
  SmallVector<tv::AxisSetAttr, 2> sets = {tv::AxisSetAttr::get(
      context, StringAttr::get(context, "device"), {device, device + 1})};
  if (rank >= 0)
    sets.push_back(tv::AxisSetAttr::get(
        context, StringAttr::get(context, RankFold::axis), {rank, rank + 1}));
  return tv::DomainAttr::get(context, sets);
}

PlanExecution::Step PlanExecution::executeSend(Device &device, tv::SendOp op) {
  if (fold && fold->isFolded(device.number))
    sendByRank(device, op);
  else
    send(device, op, takePlace(device, op));
  return Step::Done;
}

void PlanExecution::send(Device &device, tv::SendOp op, int64_t number) {
  channels[{device.number, op.getPeer()}].messages.try_emplace(
      number, Sent{lookup(device, op.getValue()), op, device.number});
}

FailureOr<PlanExecution::Sent> PlanExecution::take(tv::ReceiveOp op,
                                                   int64_t source,
                                                   Channel &channel,
                                                   int64_t number) {
  auto found = channel.messages.find(number);
  Sent sent = found->second;
  channel.messages.erase(found);
  if (sent.bound.value.getType() == op.getResult().getType())
    return sent;
  malformation = "what one device sends, another does not receive";
  op.emitOpError("expects ")
          .append(op.getResult().getType(), ", device ", source, " sends ",
                  sent.bound.value.getType())
          .attachNote(sent.op->getLoc())
      << "sent here";
  return failure();
}

FailureOr<Bound> PlanExecution::receive(int64_t device, Operation *op,
                                        const Sent &sent) {
  Type type = op->getResult(0).getType();
  auto build = [&](ArrayRef<Value> operands,
                   SmallVectorImpl<Value> &results) -> LogicalResult {
    results.push_back(tv::MoveOp::create(
        builder, op->getLoc(), type, operands[0],
        getSource(sent.device, sent.rank), tv::DomainAttr()));
    return success();
  };
  uintptr_t function[] = {
      reception, static_cast<uintptr_t>(sent.device),
      static_cast<uintptr_t>(sent.rank),
      reinterpret_cast<uintptr_t>(type.getAsOpaquePointer())};
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, function, device, sent.bound, build);
  if (failed(results))
    return failure();
  return results->front();
}

FailureOr<std::optional<Bound>>
PlanExecution::takeMessage(Device &device, tv::ReceiveOp op, int64_t number) {
  int64_t source = op.getPeer();
  Channel &channel = channels[{source, device.number}];
  if (!channel.messages.count(number))
    return std::optional<Bound>();
  FailureOr<Sent> sent = take(op, source, channel, number);
  if (failed(sent))
    return failure();
  FailureOr<Bound> bound = receive(device.number, op, *sent);
  if (failed(bound))
    return failure();
  return std::optional(*bound);
}

PlanExecution::Step PlanExecution::executeReceive(Device &device,
                                                  tv::ReceiveOp op) {
  if (fold && fold->isFolded(device.number))
    return receiveByRank(device, op);
  // It takes its place among the receives once it is over: nothing else of the
  // device goes on before.
  Channel &channel = channels[{op.getPeer(), device.number}];
  FailureOr<std::optional<Bound>> bound =
      takeMessage(device, op, channel.received);
  if (failed(bound))
    return Step::Failed;
  if (!*bound)
    return Step::Blocked;
  ++channel.received;
  bind(device, op, **bound);
  return Step::Done;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Checks that all members of a collective do the same.
static LogicalResult checkMembers(tv::CommunicateOp first,
                                  tv::CommunicateOp other) {
  if (first.getKind() == other.getKind() &&
      first.getGroup() == other.getGroup() &&
      first.getDimension() == other.getDimension() &&
      first.getSplitDimension() == other.getSplitDimension() &&
      first.getRoot() == other.getRoot() &&
      first.getReduction() == other.getReduction() &&
      first.getReplicas() == other.getReplicas() &&
      first.getResult().getType() == other.getResult().getType())
    return success();
  InFlightDiagnostic error = other.emitOpError(
      "is not what another member of its group enters at this point");
  error.attachNote(first.getLoc()) << "the other member's collective";
  return error;
}

int64_t PlanExecution::takePlace(Device &device, Operation *op) {
  if (auto send = dyn_cast<tv::SendOp>(op))
    return channels[{device.number, send.getPeer()}].sent++;
  if (auto receive = dyn_cast<tv::ReceiveOp>(op))
    return channels[{receive.getPeer(), device.number}].received++;
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return device.collectives[getCommunicator(communicate)]++;
  return 0;
}

LogicalResult PlanExecution::arrive(Device &device, tv::CommunicateOp op,
                                    int64_t number) {
  if (!llvm::is_contained(op.getGroup(), device.number)) {
    malformation = "a device is outside the group of its collective";
    return op.emitOpError("runs on device ")
           << device.number << ", which is not in its group";
  }
  if (fold && fold->areGroup(op.getGroup()))
    return completeAlongRanks(device, op);
  Bound bound = lookup(device, op.getValue());
  bool isFolded = fold && fold->isFolded(device.number);
  if (!isFolded || op.getKind() != tv::CollectiveKind::Broadcast)
    return arrive({device.number, op, bound, device.number, op}, number);
  ArrayRef<tv::CommunicateOp> broadcasts = op;
  if (!fold->communicatesByRank())
    broadcasts = fold->getBroadcasts(op);
  ArrayRef<int64_t> ranks = fold->getRanks(device.number);
  for (auto [rank, broadcast] : llvm::enumerate(broadcasts))
    if (failed(arrive({ranks[rank], broadcast, bound, device.number, op,
                       static_cast<int64_t>(rank)},
                      number)))
      return failure();
  return success();
}

LogicalResult PlanExecution::arrive(const Arrival &arrival, int64_t number) {
  tv::CommunicateOp op = arrival.op;
  std::pair key(getCommunicator(op), number);
  SmallVector<Arrival> &arrivals = pending[key];
  arrivals.push_back(arrival);
  if (arrivals.size() < op.getGroup().size())
    return success();
  if (failed(complete(arrivals)))
    return failure();
  pending.erase(key);
  return success();
}

PlanExecution::Step PlanExecution::executeCommunicate(Device &device,
                                                      tv::CommunicateOp op) {
  if (!device.waiting && failed(arrive(device, op, takePlace(device, op))))
    return Step::Failed;
  device.waiting = true;
  auto arrived = device.arrived.find(op);
  if (arrived == device.arrived.end())
    return Step::Blocked;
  bind(device, op, arrived->second);
  device.arrived.erase(arrived);
  device.waiting = false;
  return Step::Done;
}

LogicalResult PlanExecution::listMembers(MutableArrayRef<Arrival> arrivals,
                                         Members &members) {
  // The members' order of arrival differs between micro-batches.
  llvm::sort(arrivals, [](const Arrival &left, const Arrival &right) {
    return left.device < right.device;
  });
  tv::CommunicateOp first = arrivals.front().op;
  for (const Arrival &arrival : arrivals.drop_front())
    if (failed(checkMembers(first, arrival.op))) {
      malformation = "the members of a group do different things";
      return failure();
    }
  members.first = first;
  llvm::append_range(members.group, first.getGroup());
  for (int64_t member : members.group) {
    auto *found = llvm::find_if(arrivals, [&](const Arrival &arrival) {
      return arrival.device == member;
    });
    if (found == arrivals.end())
      return first.emitOpError("is entered twice by one member");
    members.operands.push_back(found->bound);
    members.ops.push_back(found->op);
  }
  if (first.getReplicas() && first.getKind() != tv::CollectiveKind::AllReduce)
    return first.emitOpError("with members in all replicas is not supported "
                             "unless it is an all-reduce");
  return success();
}

FailureOr<Value> PlanExecution::sliceForMember(const Members &members,
                                               Value value, int64_t dimension,
                                               int64_t number) {
  tv::CommunicateOp first = members.first;
  auto count = static_cast<int64_t>(members.group.size());
  auto whole = cast<RankedTensorType>(value.getType());
  if (dimension < 0 || dimension >= whole.getRank() ||
      whole.getDimSize(dimension) % count)
    return first.emitOpError("cannot cut dimension ")
           << dimension << " of " << whole << " into " << count << " parts";
  int64_t size = whole.getDimSize(dimension) / count;
  SmallVector<int64_t> shape(whole.getShape());
  shape[dimension] = size;
  return Value(tv::SliceOp::create(
      builder, first.getLoc(),
      RankedTensorType::get(shape, whole.getElementType()), value, dimension,
      number * size, (number + 1) * size, tv::DomainAttr()));
}

LogicalResult PlanExecution::buildCollective(const Members &members,
                                             ArrayRef<Value> values,
                                             SmallVectorImpl<Value> &results) {
  tv::CommunicateOp first = members.first;
  auto type = cast<RankedTensorType>(first.getResult().getType());
  auto count = static_cast<int64_t>(members.group.size());
  SmallVector<Attribute> axes;
  if (first.getReplicas())
    axes.push_back(builder.getStringAttr("dp"));
  ArrayAttr over = builder.getArrayAttr(axes);
  switch (first.getKind()) {
  case tv::CollectiveKind::AllReduce:
    for (auto [member, value] : llvm::zip(members.group, values))
      if (value.getType() != type)
        return first.emitOpError("adds up ")
               << value.getType() << " of device " << member
               << ", its result is " << type;
    results.assign(count, tv::AllReduceOp::create(
                              builder, first.getLoc(), type, values, over,
                              tv::DomainAttr(), first.getReduction()));
    return success();
  case tv::CollectiveKind::AllGather:
    results.assign(
        count, tv::AllGatherOp::create(builder, first.getLoc(), type, values,
                                       first.getDimension().value_or(0),
                                       StringAttr(), tv::DomainAttr()));
    return success();
  case tv::CollectiveKind::ReduceScatter:
    results.assign(count, tv::AllReduceOp::create(builder, first.getLoc(),
                                                  values[0].getType(), values,
                                                  over, tv::DomainAttr(),
                                                  first.getReduction()));
    return success();
  case tv::CollectiveKind::Broadcast:
  case tv::CollectiveKind::AllToAll:
    break;
  }
  return first.emitOpError("is not supported");
}

FailureOr<SmallVector<Bound>>
PlanExecution::exchangeParts(const Members &members) {
  tv::CommunicateOp first = members.first;
  auto type = cast<RankedTensorType>(first.getResult().getType());
  auto count = static_cast<int64_t>(members.group.size());
  // Each member cuts its own tensor, and what it gets is its own.
  SmallVector<SmallVector<Bound>> parts;
  for (auto [member, whole] : llvm::zip(members.group, members.operands)) {
    auto cut = [&](ArrayRef<Value> values,
                   SmallVectorImpl<Value> &results) -> LogicalResult {
      for (int64_t number = 0; number < count; ++number) {
        FailureOr<Value> part = sliceForMember(
            members, values[0], first.getSplitDimension().value_or(0), number);
        if (failed(part))
          return failure();
        results.push_back(*part);
      }
      return success();
    };
    FailureOr<SmallVector<Bound>> cuts = instantiate(first, member, whole, cut);
    if (failed(cuts))
      return failure();
    parts.push_back(std::move(*cuts));
  }
  SmallVector<Bound> gathered;
  for (auto [number, member] : llvm::enumerate(members.group)) {
    auto gather = [&](ArrayRef<Value> values,
                      SmallVectorImpl<Value> &results) -> LogicalResult {
      results.push_back(tv::AllGatherOp::create(
          builder, first.getLoc(), type, values,
          first.getDimension().value_or(0), StringAttr(), tv::DomainAttr()));
      return success();
    };
    SmallVector<Bound> own;
    for (ArrayRef<Bound> of : parts)
      own.push_back(of[number]);
    FailureOr<SmallVector<Bound>> result =
        instantiate(members.ops[number], member, own, gather, members.group);
    if (failed(result))
      return failure();
    gathered.push_back(result->front());
  }
  return gathered;
}

LogicalResult PlanExecution::keepParts(const Members &members,
                                       MutableArrayRef<Bound> gathered) {
  tv::CommunicateOp first = members.first;
  auto type = cast<RankedTensorType>(first.getResult().getType());
  for (auto [number, member] : llvm::enumerate(members.group)) {
    auto keep = [&](ArrayRef<Value> values,
                    SmallVectorImpl<Value> &results) -> LogicalResult {
      FailureOr<Value> part = sliceForMember(
          members, values[0], first.getDimension().value_or(0), number);
      if (failed(part))
        return failure();
      if (part->getType() != type)
        return first.emitOpError("expects ")
               << type << ", a part is " << part->getType();
      results.push_back(*part);
      return success();
    };
    FailureOr<SmallVector<Bound>> part =
        instantiate(members.ops[number], member, gathered[number], keep);
    if (failed(part))
      return failure();
    gathered[number] = part->front();
  }
  return success();
}

LogicalResult PlanExecution::complete(MutableArrayRef<Arrival> arrivals) {
  Members members;
  if (failed(listMembers(arrivals, members)))
    return failure();
  tv::CommunicateOp first = members.first;
  if (first.getKind() == tv::CollectiveKind::Broadcast)
    return completeBroadcast(arrivals);
  auto build = [&](ArrayRef<Value> values, SmallVectorImpl<Value> &results) {
    return buildCollective(members, values, results);
  };
  // Devices that reduce the same over replicas only get the same.
  SmallVector<uintptr_t> function = {reinterpret_cast<uintptr_t>(&*first)};
  if (members.group.size() == 1 &&
      first.getKind() == tv::CollectiveKind::AllReduce)
    function = {reduction, first.getReplicas(),
                static_cast<uintptr_t>(first.getReduction()),
                reinterpret_cast<uintptr_t>(
                    first.getResult().getType().getAsOpaquePointer())};
  FailureOr<SmallVector<Bound>> gathered =
      first.getKind() == tv::CollectiveKind::AllToAll
          ? exchangeParts(members)
          : instantiate(first, function, members.group, members.operands, build,
                        members.group);
  if (failed(gathered) ||
      (first.getKind() == tv::CollectiveKind::ReduceScatter &&
       failed(keepParts(members, *gathered)))) {
    if (!hasWrongElements)
      malformation = "shapes do not fit";
    return failure();
  }
  for (auto [member, bound, op] :
       llvm::zip(members.group, *gathered, members.ops))
    for (Device *device : devicesOfNumber.lookup(member))
      device->arrived[op] = bound;
  return success();
}

SmallVector<PlanExecution::Device *>
PlanExecution::findAwaited(const Device &device) {
  SmallVector<Device *> awaited;
  Operation *op = getAwaited(device);
  auto receive = dyn_cast<tv::ReceiveOp>(op);
  auto communicate = dyn_cast<tv::CommunicateOp>(op);
  for (Device &other : devices) {
    bool isMember =
        communicate && llvm::is_contained(communicate.getGroup(), other.number);
    // A member that has arrived as well waits for the others.
    for (auto &[collective, arrivals] : pending)
      if (llvm::any_of(arrivals, [&](const Arrival &arrival) {
            return arrival.op == op;
          }))
        for (const Arrival &arrival : arrivals)
          isMember &= arrival.device != other.number;
    if (&other != &device &&
        (isMember ||
         (receive && static_cast<int64_t>(receive.getPeer()) == other.number)))
      awaited.push_back(&other);
  }
  return awaited;
}

LogicalResult PlanExecution::reportDeadlock() {
  malformation = "devices wait for each other without end";
  auto isAtEnd = [](const Device *device) {
    return !device->frame && device->next == device->end;
  };
  // One that waits for a device that has nothing left to run tells most.
  Device *first = nullptr;
  for (Device &device : devices) {
    if (!device.blockedAt)
      continue;
    if (!first)
      first = &device;
    if (llvm::any_of(findAwaited(device), isAtEnd)) {
      first = &device;
      break;
    }
  }
  if (!first)
    return plan.emitOpError("does not run to its end");
  InFlightDiagnostic error = first->blockedAt->emitOpError("on device ");
  error << first->number;
  Operation *op = getAwaited(*first);
  if (auto receive = dyn_cast<tv::ReceiveOp>(op))
    error << " waits for device " << receive.getPeer()
          << ", which sends nothing more";
  else
    error << " waits for members of its group";
  for (auto &[collective, arrivals] : pending)
    for (const Arrival &arrival : arrivals)
      if (arrival.op == op && arrival.bound.microBatch >= 0)
        error << ", in micro-batch " << arrival.bound.microBatch;
  for (Device *device : findAwaited(*first)) {
    if (isAtEnd(device))
      error.attachNote(first->blockedAt->getLoc())
          << "device " << device->number
          << " has run to its end without taking part";
    else if (device->blockedAt)
      error.attachNote(device->blockedAt->getLoc())
          << "device " << device->number << " waits here";
  }
  return error;
}
