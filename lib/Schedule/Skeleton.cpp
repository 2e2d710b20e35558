//===- Skeleton.cpp - what a plan communicates, and nothing else ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frontends give plans that no verifier has seen, so whatever the simulation
// rests on is checked here.
//
//===----------------------------------------------------------------------===//

#include "Skeleton.h"

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/Prefetch.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

SkeletonBuilder::SkeletonBuilder(tv::PlanOp plan, const RankGroups *ranks)
    : symbols(plan),
      deviceCount(plan.getMesh().getAxisSize("device").value_or(0)),
      replicaCount(plan.getMesh().getAxisSize("dp").value_or(1)), ranks(ranks) {
  skeleton.plan = plan;
  if (!ranks)
    return;
  for (ArrayRef<int64_t> group : ranks->groups) {
    std::vector<int64_t> &sorted = groupOf[group.front()];
    sorted = group;
    llvm::sort(sorted);
    for (int64_t device : group)
      standIns[device] = group.front();
  }
}

FailureOr<Skeleton> SkeletonBuilder::build() {
  std::set<int64_t> devices;
  for (auto segment : skeleton.plan.getBody().getOps<tv::SegmentOp>())
    if ((!ranks || !ranks->isCovered(segment)) && failed(buildSegment(segment)))
      return failure();
  for (auto program : skeleton.plan.getBody().getOps<tv::ProgramOp>()) {
    if (!devices.insert(program.getDevice()).second)
      return program.emitOpError("is a second program of device ")
             << program.getDevice();
    if (isCovered(program.getDevice())) {
      if (!ranks->isCovered(program))
        return program.emitOpError("was not compared with that of device ")
               << getStandIn(program.getDevice());
    } else if (failed(buildProgram(program))) {
      return failure();
    }
  }
  return std::move(skeleton);
}

LogicalResult SkeletonBuilder::checkDevice(Operation *op, int64_t device) {
  if (device >= 0 && device < deviceCount)
    return success();
  malformation = "a device is not in the plan";
  return op->emitOpError("names device ")
         << device << ", the plan has devices 0 to " << deviceCount - 1;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

std::optional<int64_t>
SkeletonBuilder::countCopies(ArrayRef<int64_t> devices) const {
  std::optional<int64_t> copies;
  for (int64_t device : devices) {
    auto group = groupOf.find(device);
    int64_t own =
        group == groupOf.end() ? 1 : static_cast<int64_t>(group->second.size());
    if (copies && *copies != own)
      return std::nullopt;
    copies = own;
  }
  return copies;
}

FailureOr<unsigned> SkeletonBuilder::findChannel(Operation *op, int64_t sender,
                                                 int64_t receiver) {
  if (failed(checkDevice(op, sender)) || failed(checkDevice(op, receiver)))
    return failure();
  if (sender == receiver) {
    malformation = "a device waits for itself";
    return op->emitOpError("is a transfer of device ")
           << sender << " to itself";
  }
  std::optional<int64_t> copies = countCopies({sender, receiver});
  if (!copies)
    return op->emitOpError("is a transfer of one rank with another");
  auto [found, isNew] =
      channelOf.try_emplace({sender, receiver}, skeleton.channels.size());
  if (isNew)
    skeleton.channels.push_back({sender, receiver, *copies});
  return found->second;
}

FailureOr<unsigned> SkeletonBuilder::findCommunicator(tv::CommunicateOp op,
                                                      int64_t device) {
  std::vector<int64_t> members(op.getGroup().begin(), op.getGroup().end());
  llvm::sort(members);
  for (auto [number, member] : llvm::enumerate(members)) {
    if (failed(checkDevice(op, member)))
      return failure();
    if (number && members[number - 1] == member)
      return op.emitOpError("names device ") << member << " twice";
  }
  if (!llvm::is_contained(members, device)) {
    malformation = "a device is outside the group of its collective";
    return op.emitOpError("runs on device ")
           << device << ", which is not in its group";
  }
  auto group = groupOf.find(device);
  bool isOwnGroup = group != groupOf.end() && group->second == members;
  std::optional<int64_t> copies = isOwnGroup ? 1 : countCopies(members);
  if (!copies)
    return op.emitOpError("is a collective of some ranks with others");
  auto [found, isNew] = communicatorOf.try_emplace(
      {members, op.getReplicas()}, skeleton.communicators.size());
  if (isNew) {
    Communicator &communicator = skeleton.communicators.emplace_back();
    communicator.members.assign(members.begin(), members.end());
    if (isOwnGroup)
      communicator.members = {device};
    communicator.isAcrossReplicas = op.getReplicas();
    communicator.copies = *copies;
  }
  return found->second;
}

FailureOr<Action> SkeletonBuilder::buildAction(Operation *op, int64_t device) {
  ActionKind kind = ActionKind::Collective;
  FailureOr<unsigned> place = failure();
  if (auto send = dyn_cast<tv::SendOp>(op)) {
    kind = ActionKind::Send;
    place = findChannel(op, device, send.getPeer());
  } else if (auto receive = dyn_cast<tv::ReceiveOp>(op)) {
    kind = ActionKind::Receive;
    place = findChannel(op, receive.getPeer(), device);
  } else {
    place = findCommunicator(cast<tv::CommunicateOp>(op), device);
  }
  if (failed(place))
    return failure();
  return Action{kind, op, *place, Phase::Whole, op};
}

/// Whether a device may come to a stop at an op.
static bool isCommunication(Operation *op) {
  return isa<tv::SendOp, tv::ReceiveOp, tv::CommunicateOp, tv::StartOp,
             tv::WaitOp>(op);
}

/// Whether an op reads or writes a buffer and does nothing else.
static bool isBufferOp(Operation *op) {
  return isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(op);
}

/// Whether an op only computes: nobody else notices it.
static bool isComputation(Operation *op) {
  // These speak of all devices at once and do not belong into a program.
  if (op->hasTrait<tv::RunsAlongAxes>() ||
      isa<tv::DistributeOp, tv::InputOp, tv::ExpectOp>(op))
    return false;
  return isa<tv::SemanticsOpInterface, tv::CompositionOpInterface, tv::SeedOp,
             tv::RandomOp, tv::UndefinedOp>(op);
}

FailureOr<Action> SkeletonBuilder::buildPhase(Operation *op, int64_t device) {
  auto start = dyn_cast<tv::StartOp>(op);
  auto wait = dyn_cast<tv::WaitOp>(op);
  if (!start && !wait)
    return buildAction(op, device);
  if (start && failed(checkHandle(start, device)))
    return failure();
  if (wait && !(start = wait.getStart()))
    return op->emitOpError("waits for a handle of another block");
  Operation *started = start.getStarted();
  bool computes = start.startsComputation() && isComputation(started);
  if (!computes && !start.startsCommunication())
    return start.emitOpError("starts something else than one communication op, "
                             "or one computation of a program");
  bool givesResult = started->getNumResults() && !start.getInto();
  if (wait && wait->getNumResults() != givesResult)
    return op->emitOpError("has another result than what was started");
  (computes ? skeleton.startsComputation : skeleton.startsCommunication) = true;
  FailureOr<Action> action = Action{ActionKind::Computation, started, 0};
  if (!computes)
    action = buildAction(started, device);
  if (failed(action) || failed(placeOnStream(start, *action)))
    return failure();
  action->phase = wait ? Phase::Wait : Phase::Start;
  action->at = op;
  return action;
}

LogicalResult SkeletonBuilder::placeOnStream(tv::StartOp op, Action &action) {
  if (op.isPlain())
    return success();
  if (!isa<tv::ProgramOp>(op->getParentOp()))
    return op.emitOpError("names a stream or a handle, or reads a buffer, "
                          "outside of a program");
  for (Value handle : op.getAfter()) {
    auto start = handle.getDefiningOp<tv::StartOp>();
    if (!start || start->getBlock() != op->getBlock())
      return op.emitOpError("comes after a handle of another block");
  }
  skeleton.ordersStreams |= op.getStream() || !op.getAfter().empty();
  if (std::optional<StringRef> stream = op.getStream())
    action.stream =
        streamOf.try_emplace(*stream, streamOf.size()).first->second;
  return success();
}

LogicalResult SkeletonBuilder::checkHandle(tv::StartOp op, int64_t device) {
  SmallVector<Operation *> waits;
  for (Operation *user : op->getUsers()) {
    if (!isa<tv::WaitOp, tv::StartOp>(user) ||
        user->getBlock() != op->getBlock())
      return op.emitOpError("gives a handle that is not only waited for");
    if (isa<tv::WaitOp>(user)) {
      waits.push_back(user);
    } else if (!op->isBeforeInBlock(user)) {
      malformation = "what is started comes after what is started later";
      InFlightDiagnostic error = user->emitOpError("on device ");
      error << device << " comes after what is started later";
      error.attachNote(op.getLoc()) << "it is started here";
      return error;
    }
  }
  llvm::sort(waits, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  if (waits.empty()) {
    malformation = "what is started is not waited for";
    return op.emitOpError("on device ") << device << " is never waited for";
  }
  if (waits.size() > 1) {
    malformation = "what is started is waited for twice";
    InFlightDiagnostic error = waits[1]->emitOpError("on device ");
    error << device << " waits a second time for what was started";
    error.attachNote(waits[0]->getLoc()) << "the first time is here";
    error.attachNote(op.getLoc()) << "it was started here";
    return error;
  }
  if (op->isBeforeInBlock(waits.front()))
    return success();
  malformation = "what is started is waited for before";
  InFlightDiagnostic error = waits.front()->emitOpError("on device ");
  error << device << " waits for what is started later";
  error.attachNote(op.getLoc()) << "it is started here";
  return error;
}

//===----------------------------------------------------------------------===//
// Gradient buffers
//===----------------------------------------------------------------------===//

bool SkeletonBuilder::hasSeveralMembers(tv::CommunicateOp op) const {
  return op.getGroup().size() > 1 || (op.getReplicas() && replicaCount > 1);
}

bool SkeletonBuilder::isReduced(Value value) const {
  llvm::SetVector<Operation *> reached;
  auto addUsers = [&](Value value) {
    reached.insert(value.user_begin(), value.user_end());
  };
  addUsers(value);
  // More are reached on the way. NOLINTNEXTLINE(modernize-loop-convert)
  for (unsigned next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next];
    if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
      if (hasSeveralMembers(communicate))
        return true;
    for (Value result : op->getResults())
      addUsers(result);
    if (auto start = dyn_cast<tv::StartOp>(op->getParentOp()))
      addUsers(start.getHandle());
  }
  return false;
}

bool SkeletonBuilder::isReductionOf(Value value, tv::BufferOp buffer) const {
  // Each op with whether a collective lies on the way to it.
  llvm::SetVector<std::pair<Operation *, unsigned>> reached;
  auto add = [&](Value value, bool isReduced) {
    if (Operation *op = value.getDefiningOp())
      reached.insert({op, isReduced});
  };
  add(value, false);
  // More are reached on the way. NOLINTNEXTLINE(modernize-loop-convert)
  for (unsigned next = 0; next < reached.size(); ++next) {
    auto [op, isReduced] = reached[next];
    if (auto read = dyn_cast<tv::ReadOp>(op);
        read && isReduced && read.getBuffer() == buffer.getSymName())
      return true;
    // What is started takes its operands inside.
    if (auto start = dyn_cast<tv::StartOp>(op))
      op = start.getStarted();
    auto communicate = dyn_cast_or_null<tv::CommunicateOp>(op);
    bool isNowReduced =
        isReduced || (communicate && hasSeveralMembers(communicate));
    if (op)
      for (Value operand : op->getOperands())
        add(operand, isNowReduced);
  }
  return false;
}

LogicalResult
SkeletonBuilder::buildAccesses(Operation *op,
                               SmallVectorImpl<GradientAccess> &accesses) {
  if (isBufferOp(op))
    return buildAccess(op, op->getAttrOfType<FlatSymbolRefAttr>("buffer"),
                       accesses);
  // Where nothing races, what is started might end where it starts.
  auto start = dyn_cast<tv::StartOp>(op);
  if (!start)
    return success();
  for (auto read : start.getBody().getOps<tv::ReadOp>())
    if (failed(buildAccess(read, read.getBufferAttr(), accesses)))
      return failure();
  return start.getInto() ? buildAccess(op, start.getIntoAttr(), accesses)
                         : success();
}

LogicalResult
SkeletonBuilder::buildAccess(Operation *op, FlatSymbolRefAttr name,
                             SmallVectorImpl<GradientAccess> &accesses) {
  if (name && symbols.lookup<tv::ScratchOp>(name.getAttr()))
    return success();
  auto buffer =
      name ? symbols.lookup<tv::BufferOp>(name.getAttr()) : tv::BufferOp();
  if (!buffer)
    return op->emitOpError("names no buffer: ") << name;
  if (!buffer.getGradientOf())
    return success();
  if (auto read = dyn_cast<tv::ReadOp>(op)) {
    if (isReduced(read.getResult()))
      accesses.push_back({AccessKind::Reduction, op, buffer});
    return success();
  }
  if (isa<tv::AddToOp>(op)) {
    accesses.push_back({AccessKind::Addition, op, buffer});
    return success();
  }
  auto start = dyn_cast<tv::StartOp>(op);
  Value value = start ? Value(start.getHandle())
                      : Value(cast<tv::WriteOp>(op).getValue());
  if (!isReductionOf(value, buffer))
    accesses.push_back({AccessKind::Renewal, op, buffer});
  return success();
}

//===----------------------------------------------------------------------===//
// Segments and programs
//===----------------------------------------------------------------------===//

/// Counts the collectives of one communicator that follow each other.
static void findRuns(MutableArrayRef<Action> actions) {
  auto isWhole = [](const Action &action) {
    return action.kind == ActionKind::Collective &&
           action.phase == Phase::Whole;
  };
  for (size_t i = actions.size(); i-- > 1;)
    if (isWhole(actions[i - 1]) && isWhole(actions[i]) &&
        actions[i - 1].place == actions[i].place)
      actions[i - 1].together = actions[i].together + 1;
}

LogicalResult SkeletonBuilder::buildSegment(tv::SegmentOp op) {
  Segment &segment = skeleton.segments.emplace_back();
  segment.op = op;
  segment.isBackward = op.getBackward();
  segmentOf[op] = &segment;
  DenseValueSet saved;
  for (Operation &inner : op.getBody().front()) {
    if (isa<tv::ReturnOp>(inner))
      continue;
    if (isCommunication(&inner)) {
      FailureOr<Action> action = buildPhase(&inner, op.getDevice());
      if (failed(action))
        return failure();
      segment.actions.push_back(*action);
    }
    if (failed(buildAccesses(&inner, segment.accesses)))
      return failure();
    auto start = dyn_cast<tv::StartOp>(inner);
    segment.writes |=
        isa<tv::WriteOp, tv::FreeOp>(inner) || (start && start.getInto());
    if (isBufferOp(&inner))
      continue;
    if (auto save = dyn_cast<tv::SaveOp>(inner)) {
      // A parameter is there anyway.
      for (Value value : save.getOperands())
        if (!value.getDefiningOp<tv::ReadOp>())
          saved.insert(value);
    } else if (isa<tv::BackwardOp>(inner)) {
      segment.isBackward = segment.differentiates = segment.computes = true;
    } else if (isComputation(&inner)) {
      segment.computes = true;
    } else if (!isCommunication(&inner)) {
      return inner.emitOpError("is not understood by the schedule check");
    }
  }
  segment.savedValues = saved.size();
  findRuns(segment.actions);
  return success();
}

LogicalResult SkeletonBuilder::buildProgram(tv::ProgramOp op) {
  int64_t device = op.getDevice();
  if (failed(checkDevice(op, device)))
    return failure();
  // Programs of one plan are mostly about as long.
  size_t expected =
      skeleton.programs.empty() ? 0 : skeleton.programs.back().steps.size();
  Program &program = skeleton.programs.emplace_back();
  program.steps.reserve(expected);
  program.op = op;
  program.device = device;
  streamOf.clear();
  Prefetcher ahead(op.getBody().front());
  for (Operation &inner : op.getBody().front()) {
    ahead.step();
    Step &step = program.steps.emplace_back();
    step.op = &inner;
    if (auto call = dyn_cast<tv::CallOp>(inner)) {
      auto callee =
          symbols.lookup<tv::SegmentOp>(call.getCalleeAttr().getAttr());
      step.segment = callee ? segmentOf.lookup(callee) : nullptr;
      if (!step.segment || static_cast<int64_t>(callee.getDevice()) != device)
        return call.emitOpError("does not name a segment of device ") << device;
      skeleton.actionCount += step.segment->actions.size();
    } else if (isCommunication(&inner)) {
      FailureOr<Action> action = buildPhase(&inner, device);
      if (failed(action))
        return failure();
      step.action = &skeleton.actions.emplace_back(*action);
      ++skeleton.actionCount;
    }
    SmallVector<GradientAccess> accesses;
    if (failed(buildAccesses(&inner, accesses)))
      return failure();
    if (!accesses.empty())
      step.accesses = skeleton.accesses.emplace_back(std::move(accesses));
    if (!isa<tv::CallOp, tv::LoadDataOp, tv::OutputOp>(inner) &&
        !isBufferOp(&inner) && !isCommunication(&inner) &&
        !isComputation(&inner))
      return inner.emitOpError("is not understood by the schedule check");
  }
  return success();
}
