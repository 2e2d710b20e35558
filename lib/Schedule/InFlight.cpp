//===- InFlight.cpp - memory that is used meanwhile -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment is looked at once: what it does to memory, in order, where a view
// may be of a buffer or of what an argument is a view of. The program of a
// device is then followed with arguments replaced by what its calls pass. What
// is started counts as overwriting a buffer where it starts: whatever uses the
// buffer next comes after it.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "InFlightChecker.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

bool InFlightChecker::isView(Operation *op) const {
  if (auto copy = dyn_cast<tv::CopyOp>(op))
    return copy.getOperand().getType() == copy.getResult().getType();
  if (isa<tv::ConcatOp, tv::PadOp>(op))
    return op->getOperand(0).getType() == op->getResult(0).getType();
  // One that permutes, and one that has nothing to add up.
  if (isa<tv::EinsumOp, tv::ReduceOp>(op)) {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    return op->getNumOperands() == 1 &&
           (!from.hasStaticShape() || !to.hasStaticShape() ||
            from.getNumElements() == to.getNumElements());
  }
  // A group of one has nothing to do, and the root of a broadcast has its
  // result already.
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return communicate.getKind() == tv::CollectiveKind::Broadcast ||
           (communicate.getGroup().size() == 1 &&
            (!communicate.getReplicas() || replicaCount <= 1));
  // The derivative of a sum hands on what it gets.
  return isa<tv::ReshapeOp, tv::TransposeOp, tv::SliceOp, tv::BroadcastOp,
             tv::BackwardOp>(op);
}

Origins InFlightChecker::viewThrough(Operation *op, Origins origins) const {
  // Memory is in row-major order, which a reshape keeps.
  if (!isa<tv::CopyOp, tv::CommunicateOp, tv::ReshapeOp>(op))
    for (Origin &origin : origins)
      origin.isMoved = true;
  return origins;
}

FailureOr<Operation *> InFlightChecker::findBuffer(Operation *op,
                                                   FlatSymbolRefAttr name,
                                                   int64_t device) {
  if (auto scratch = name ? symbols.lookup<tv::ScratchOp>(name.getAttr())
                          : tv::ScratchOp()) {
    if (static_cast<int64_t>(scratch.getDevice()) != device)
      return op->emitOpError("uses memory of device ")
             << scratch.getDevice() << " on device " << device;
    if (isa<tv::AddToOp>(op))
      return op->emitOpError("adds to scratch memory");
    return scratch.getOperation();
  }
  auto buffer =
      name ? symbols.lookup<tv::BufferOp>(name.getAttr()) : tv::BufferOp();
  if (!buffer || isa<tv::FreeOp>(op))
    return op->emitOpError("names no buffer: ") << name;
  if (static_cast<int64_t>(buffer.getDevice()) != device)
    return op->emitOpError("uses a buffer of device ")
           << buffer.getDevice() << " on device " << device;
  if (buffer.getGradientOf())
    return buffer.getOperation();
  // Nothing writes to a parameter.
  if (!isa<tv::ReadOp>(op))
    return op->emitOpError("writes to a parameter, which no step may");
  return static_cast<Operation *>(nullptr);
}

void InFlightChecker::addBetween(tv::SaveOp save, Origins &origins) const {
  SmallVector<Value> worklist(save.getOutputs());
  DenseValueSet seen(save.getInputs().begin(), save.getInputs().end());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    addOrigins(value, origins);
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    llvm::append_range(worklist, op->getOperands());
    if (auto start = dyn_cast<tv::StartOp>(op))
      llvm::append_range(worklist, start.getStarted()->getOperands());
  }
}

LogicalResult InFlightChecker::summarizeStart(tv::StartOp start, int64_t device,
                                              Summary &summary) {
  MemoryAccess access{AccessType::Start, start, {}, {}, nullptr, start};
  for (auto read : start.getBody().getOps<tv::ReadOp>()) {
    FailureOr<Operation *> buffer =
        findBuffer(read, read.getBufferAttr(), device);
    if (failed(buffer))
      return failure();
    if (*buffer)
      access.read.push_back(addRead(read, *buffer));
  }
  for (Value operand : start.getStarted()->getOperands())
    if (operand.getParentBlock() == start->getBlock())
      addOrigins(operand, access.used);
  if (start.getInto()) {
    FailureOr<Operation *> buffer =
        findBuffer(start, start.getIntoAttr(), device);
    if (failed(buffer))
      return failure();
    access.written = *buffer;
  }
  summary.accesses.push_back(std::move(access));
  return success();
}

LogicalResult InFlightChecker::summarize(Operation *op, int64_t device,
                                         Summary &summary) {
  if (auto start = dyn_cast<tv::StartOp>(op))
    return summarizeStart(start, device, summary);
  MemoryAccess access{AccessType::Use, op, {}, {}, nullptr, {}};
  if (auto wait = dyn_cast<tv::WaitOp>(op)) {
    access.type = AccessType::Wait;
    access.start = wait.getStart();
    Operation *started = access.start.getStarted();
    if (wait.getResult() && isView(started)) {
      Origins origins;
      for (Value operand : started->getOperands())
        addOrigins(operand, origins);
      originsOf[wait.getResult()] = viewThrough(started, std::move(origins));
    }
    summary.accesses.push_back(std::move(access));
    return success();
  }
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(op)) {
    FailureOr<Operation *> buffer =
        findBuffer(op, op->getAttrOfType<FlatSymbolRefAttr>("buffer"), device);
    if (failed(buffer))
      return failure();
    for (Value operand : op->getOperands())
      addOrigins(operand, access.used);
    if (auto read = dyn_cast<tv::ReadOp>(op); read && *buffer) {
      access.type = AccessType::Read;
      access.read.push_back(addRead(read, *buffer));
    } else if (!read) {
      access.type = isa<tv::FreeOp>(op) ? AccessType::Free : AccessType::Write;
      access.written = *buffer;
    }
    if (*buffer)
      summary.accesses.push_back(std::move(access));
    return success();
  }
  for (Value operand : op->getOperands())
    addOrigins(operand, access.used);
  if (auto save = dyn_cast<tv::SaveOp>(op))
    addBetween(save, access.used);
  if (isView(op))
    for (Value result : op->getResults())
      originsOf[result] = viewThrough(op, access.used);
  // A return hands over and reads nothing.
  bool isOfBackward = isa<tv::SaveOp, tv::BackwardOp>(op);
  if ((!access.used.empty() || isOfBackward) && !isa<tv::ReturnOp>(op))
    summary.accesses.push_back(std::move(access));
  return success();
}

Origin InFlightChecker::addRead(tv::ReadOp op, Operation *buffer) {
  Origin origin{buffer, 0, op, std::nullopt};
  originsOf[op.getResult()] = {origin};
  return origin;
}

FailureOr<const Summary *> InFlightChecker::summarize(const Segment &segment) {
  auto [found, isNew] = summaryOf.try_emplace(&segment);
  Summary &summary = found->second;
  if (!isNew)
    return &summary;
  tv::SegmentOp op = segment.op;
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments())
    originsOf[argument] = {
        {nullptr, argument.getArgNumber(), nullptr, std::nullopt}};
  for (Operation &inner : body) {
    if (failed(summarize(&inner, op.getDevice(), summary)))
      return failure();
    if (isa<tv::ReturnOp>(inner))
      for (Value result : inner.getOperands())
        addOrigins(result, summary.results.emplace_back());
  }
  return &summary;
}

Origins InFlightChecker::replace(const Origins &origins,
                                 ArrayRef<Origins> arguments) const {
  Origins replaced;
  for (const Origin &origin : origins) {
    if (origin.buffer) {
      replaced.push_back(origin);
      replaced.back().version = getVersion(origin);
    } else if (origin.argument < arguments.size()) {
      for (const Origin &argument : arguments[origin.argument]) {
        replaced.push_back(argument);
        replaced.back().isMoved |= origin.isMoved;
      }
    }
  }
  return replaced;
}

LogicalResult InFlightChecker::check(const Program &program) {
  device = program.device;
  order = DeviceOrder();
  underWay.clear();
  writers.clear();
  saved.clear();
  outputs.clear();
  for (const Step &step : program.steps) {
    if (!step.segment) {
      Summary own;
      if (failed(summarize(step.op, device, own)))
        return failure();
      for (const MemoryAccess &access : own.accesses)
        if (failed(follow(access, access.used, nullptr)))
          return failure();
      continue;
    }
    FailureOr<const Summary *> summary = summarize(*step.segment);
    if (failed(summary))
      return failure();
    SmallVector<Origins> arguments;
    for (Value operand : step.op->getOperands())
      addOrigins(operand, arguments.emplace_back());
    for (const MemoryAccess &access : (*summary)->accesses)
      if (failed(follow(access, replace(access.used, arguments), step.op)))
        return failure();
    for (auto [result, origins] :
         llvm::zip(step.op->getResults(), (*summary)->results))
      originsOf[result] = replace(origins, arguments);
  }
  for (auto &[buffer, users] : underWay)
    for (const UnderWay &user : users)
      if (!order.isOver(user.number)) {
        malformation = "what is started is not waited for";
        return order.getStart(user.number).emitOpError("on device ")
               << device << " is never waited for";
      }
  // Outputs are looked at when the program is over.
  for (const auto &[access, origins] : outputs)
    for (const Origin &origin : origins)
      if (failed(checkCurrent(access, nullptr, origin)))
        return failure();
  return success();
}

LogicalResult verify::schedule::checkInFlight(const Skeleton &skeleton,
                                              StringRef &malformation) {
  bool hasScratch =
      !tv::PlanOp(skeleton.plan).getBody().getOps<tv::ScratchOp>().empty();
  if (!skeleton.startsCommunication && !skeleton.startsComputation &&
      !hasScratch)
    return success();
  InFlightChecker checker(skeleton, malformation);
  for (const Program &program : skeleton.programs)
    if (failed(checker.check(program)))
      return failure();
  return success();
}
