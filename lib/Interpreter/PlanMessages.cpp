//===- PlanMessages.cpp - messages and collectives on numbers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages between two devices arrive in the order of sending, and are taken in
// the order of the receives or their starts. A collective runs when all members
// of its group have entered or started it, the n-th of each with the n-th of
// the others.
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/PlanInterpreter.h"

using namespace mlir;
using namespace verify;

/// The communicator of a collective: the members, and which replica's, or -1
/// for all.
static std::vector<int64_t> getCommunicator(tv::CommunicateOp op,
                                            int64_t replica) {
  std::vector<int64_t> group(op.getGroup().begin(), op.getGroup().end());
  llvm::sort(group);
  group.push_back(op.getReplicas() ? -1 : replica);
  return group;
}

int64_t PlanInterpreter::takePlace(Process &process, Operation *op) {
  Site site = process.site;
  if (auto send = dyn_cast<tv::SendOp>(op))
    return channels[{site.replica, site.device, send.getPeer()}].sent++;
  if (auto receive = dyn_cast<tv::ReceiveOp>(op))
    return channels[{site.replica, receive.getPeer(), site.device}].received++;
  return process.collectives[getCommunicator(cast<tv::CommunicateOp>(op),
                                             site.replica)]++;
}

LogicalResult PlanInterpreter::post(Process &process, Operation *op,
                                    int64_t number) {
  Site site = process.site;
  if (auto send = dyn_cast<tv::SendOp>(op)) {
    Channel &channel = channels[{site.replica, site.device, send.getPeer()}];
    Held value = lookup(process, send.getValue());
    auto found = channel.receives.find(number);
    if (found == channel.receives.end()) {
      channel.messages.insert({number, {value, op}});
      return success();
    }
    auto [receiver, receive] = found->second;
    channel.receives.erase(found);
    receiver->arrived[receive] = value;
    return success();
  }
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return postCollective(process, communicate, number);
  auto receive = cast<tv::ReceiveOp>(op);
  Channel &channel = channels[{site.replica, receive.getPeer(), site.device}];
  auto found = channel.messages.find(number);
  if (found == channel.messages.end()) {
    channel.receives.insert({number, {&process, op}});
    return success();
  }
  process.arrived[op] = found->second.value;
  channel.messages.erase(found);
  return success();
}

LogicalResult PlanInterpreter::postCollective(Process &process,
                                              tv::CommunicateOp op,
                                              int64_t number) {
  std::vector<int64_t> group = getCommunicator(op, process.site.replica);
  SmallVector<Member> &members = pending[{group, number}];
  members.push_back({&process, op, lookup(process, op.getValue())});
  size_t expected =
      op.getGroup().size() * (op.getReplicas() ? replicaCount : 1);
  if (members.size() < expected)
    return success();
  if (failed(complete(members)))
    return failure();
  pending.erase({group, number});
  return success();
}

std::optional<Held> PlanInterpreter::takeArrived(Process &process,
                                                 Operation *op) {
  auto found = process.arrived.find(op);
  if (found == process.arrived.end())
    return std::nullopt;
  Held held = std::move(found->second);
  process.arrived.erase(found);
  return held;
}

PlanInterpreter::Step PlanInterpreter::executeWhole(Process &process,
                                                    Operation *op) {
  if (!process.isWaiting && failed(post(process, op, takePlace(process, op))))
    return Step::Failed;
  process.isWaiting = true;
  std::optional<Held> held = takeArrived(process, op);
  if (!held)
    return Step::Blocked;
  process.isWaiting = false;
  return bind(process, op->getResult(0), *held);
}

/// Whether `right` has the attributes that `left` has, but for what a frontend
/// notes about one device's tensor.
static bool hasAttributesOf(tv::CommunicateOp left, tv::CommunicateOp right) {
  return llvm::all_of(left->getAttrs(), [&](NamedAttribute attribute) {
    return attribute.getName().strref().contains('.') ||
           right->getAttr(attribute.getName()) == attribute.getValue();
  });
}

/// Whether two members of a collective do the same.
static bool agree(tv::CommunicateOp left, tv::CommunicateOp right) {
  return hasAttributesOf(left, right) && hasAttributesOf(right, left) &&
         left.getResult().getType() == right.getResult().getType();
}

/// Corresponding elements of all members, combined.
static TensorRef reduce(Workspace &workspace, ArrayRef<TensorRef> values,
                        tv::ReductionKind kind, Location location) {
  NumericAlgebra &algebra = workspace.algebra;
  switch (kind) {
  case tv::ReductionKind::Sum:
    return workspace.add(values, location);
  case tv::ReductionKind::Average: {
    TensorRef sum = workspace.add(values, location);
    auto count = static_cast<int64_t>(values.size());
    auto divide = [&](ArrayRef<Scalar> scalars) {
      return algebra.divide(scalars[0], algebra.rational(count));
    };
    return sum ? workspace.combine(sum, divide, location) : nullptr;
  }
  case tv::ReductionKind::Maximum:
    return workspace.combine(
        values,
        [&](ArrayRef<Scalar> scalars) { return algebra.maximum(scalars); },
        location);
  case tv::ReductionKind::Minimum:
    return workspace.combine(
        values,
        [&](ArrayRef<Scalar> scalars) { return minimum(algebra, scalars); },
        location);
  case tv::ReductionKind::Product:
    return workspace.combine(
        values,
        [&](ArrayRef<Scalar> scalars) { return product(algebra, scalars); },
        location);
  }
  emitError(location, "combines by a kind that is not known");
  return nullptr;
}

namespace {
/// What the members of a collective get of what they enter it with.
class Exchange {
public:
  Exchange(Workspace &workspace, tv::CommunicateOp op,
           ArrayRef<TensorRef> values)
      : workspace(workspace), op(op), values(values),
        count(static_cast<int64_t>(values.size())) {}

  /// One for each member, in order; null after an error. All get that of
  /// `root` where there is one.
  SmallVector<TensorRef> run(std::optional<size_t> root) {
    switch (op.getKind()) {
    case tv::CollectiveKind::AllReduce:
      return SmallVector<TensorRef>(count, reduceAll());
    case tv::CollectiveKind::AllGather:
      return SmallVector<TensorRef>(count, join(values));
    case tv::CollectiveKind::ReduceScatter: {
      TensorRef whole = reduceAll();
      SmallVector<TensorRef> results(count);
      for (int64_t number = 0; whole && number < count; ++number)
        results[number] = cut(whole, op.getDimension(), number);
      return results;
    }
    case tv::CollectiveKind::AllToAll:
      return exchangeParts();
    case tv::CollectiveKind::Broadcast:
      return SmallVector<TensorRef>(count, root ? values[*root] : nullptr);
    }
    return SmallVector<TensorRef>(count);
  }

private:
  TensorRef reduceAll() {
    return reduce(workspace, values, op.getReduction(), op.getLoc());
  }

  /// Part `number` of a tensor along `dimension`.
  TensorRef cut(const TensorRef &value, std::optional<uint64_t> dimension,
                int64_t number) {
    size_t rank = value->shape.size();
    if (!dimension || *dimension >= rank || value->shape[*dimension] % count) {
      op.emitOpError("cannot cut a tensor of shape ")
          << printIndex(value->shape) << " into " << count << " parts";
      return nullptr;
    }
    SmallVector<int64_t> shape(value->shape), starts(rank, 0);
    shape[*dimension] /= count;
    starts[*dimension] = number * shape[*dimension];
    return workspace.slice(*value, starts, shape, op.getLoc());
  }

  TensorRef join(ArrayRef<TensorRef> parts) {
    std::optional<uint64_t> dimension = op.getDimension();
    if (llvm::is_contained(parts, nullptr))
      return nullptr;
    if (!dimension || *dimension >= parts.front()->shape.size()) {
      op.emitOpError("has no dimension to gather along");
      return nullptr;
    }
    return workspace.concatenate(parts, static_cast<int64_t>(*dimension),
                                 op.getLoc());
  }

  SmallVector<TensorRef> exchangeParts() {
    SmallVector<TensorRef> results(count);
    for (int64_t number = 0; number < count; ++number) {
      SmallVector<TensorRef> parts;
      for (const TensorRef &value : values)
        parts.push_back(cut(value, op.getSplitDimension(), number));
      results[number] = join(parts);
      if (!results[number])
        break;
    }
    return results;
  }

  Workspace &workspace;
  tv::CommunicateOp op;
  ArrayRef<TensorRef> values;
  int64_t count;
};
} // namespace

LogicalResult PlanInterpreter::sortMembers(MutableArrayRef<Member> members) {
  tv::CommunicateOp first = members.front().op;
  ArrayRef<int64_t> group = first.getGroup();
  for (const Member &member : members)
    if (!agree(first, member.op) ||
        !llvm::is_contained(group, member.process->site.device)) {
      InFlightDiagnostic error = member.op->emitOpError(
          "is not what another member of its group enters at this point");
      error.attachNote(first.getLoc()) << "the other member's collective";
      return error;
    }
  auto placeOf = [&](const Member &member) {
    Site site = member.process->site;
    return std::pair(site.replica,
                     llvm::find(group, site.device) - group.begin());
  };
  llvm::sort(members, [&](const Member &left, const Member &right) {
    return placeOf(left) < placeOf(right);
  });
  for (size_t i = 1; i < members.size(); ++i)
    if (placeOf(members[i - 1]) == placeOf(members[i]))
      return members[i].op.emitOpError("is entered twice by one member");
  return success();
}

LogicalResult PlanInterpreter::complete(MutableArrayRef<Member> members) {
  if (failed(sortMembers(members)))
    return failure();
  tv::CommunicateOp first = members.front().op;
  SmallVector<TensorRef> values;
  for (const Member &member : members)
    values.push_back(member.value.tensor);
  for (const TensorRef &value : values)
    if (value->shape != values.front()->shape)
      return first.emitOpError("is entered with tensors of different shapes");
  std::optional<size_t> root;
  if (first.getKind() == tv::CollectiveKind::Broadcast) {
    if (first.getReplicas())
      return first.emitOpError("has a root in every replica");
    for (auto [number, member] : llvm::enumerate(members))
      if (first.getRoot() &&
          member.process->site.device == static_cast<int64_t>(*first.getRoot()))
        root = number;
    if (!root)
      return first.emitOpError("has no root in its group");
  }
  // What is made of several micro-batches is of the first one's, as with ops.
  int64_t microBatch = -1;
  for (const Member &member : members)
    if (microBatch < 0)
      microBatch = member.value.microBatch;
  if (root)
    microBatch = members[*root].value.microBatch;
  Exchange exchange(workspace, first, values);
  for (auto [member, result] : llvm::zip_equal(members, exchange.run(root))) {
    if (!result)
      return failure();
    member.process->arrived[member.op] = {result, microBatch};
  }
  return success();
}

LogicalResult PlanInterpreter::reportDeadlock() {
  Process *first = nullptr;
  for (Process &process : processes)
    if (process.blockedAt && !first)
      first = &process;
  if (!first)
    return plan.emitOpError("does not run to its end");
  InFlightDiagnostic error = first->blockedAt->emitOpError("on device ")
                             << first->site.device << " of replica "
                             << first->site.replica << " waits without end";
  for (Process &process : processes)
    if (process.blockedAt && &process != first &&
        process.site.replica == first->site.replica)
      error.attachNote(process.blockedAt->getLoc())
          << "device " << process.site.device << " waits here";
  return error;
}
