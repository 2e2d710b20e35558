//===- Simulation.cpp - runs the communication of a plan ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device that cannot go on is left alone until the one thing happens that it
// waits for, so the time taken is that of the actions executed.
//
//===----------------------------------------------------------------------===//

#include "Simulation.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

Simulation::Simulation(const Skeleton &skeleton, const Options &options,
                       Outcome &outcome)
    : skeleton(skeleton), options(options), outcome(outcome),
      transfers(skeleton.channels.size()),
      arrivals(skeleton.communicators.size()) {
  for (const Program &program : skeleton.programs) {
    processOf[program.device] = processes.size();
    processes.emplace_back().program = &program;
    outcome.timeline.devices.push_back(program.device);
  }
}

LogicalResult Simulation::run() {
  for (unsigned number = 0; number < processes.size(); ++number)
    wake(number, 0);
  while (!ready.empty()) {
    unsigned number = ready.front();
    ready.pop_front();
    processes[number].isQueued = false;
    if (advance(number) == Progress::Fails)
      return failure();
  }
  if (!llvm::all_of(processes,
                    [&](const Process &process) { return isAtEnd(process); }))
    return reportDeadlock();
  // Buffers may hold what nobody takes.
  for (auto [channel, transfer] : llvm::zip(skeleton.channels, transfers))
    if (!transfer.messages.empty()) {
      outcome.malformation = "what one device sends, another does not receive";
      return transfer.messages.front().op->emitOpError("to device ")
             << channel.receiver << " is never received";
    }
  if (executed != skeleton.actionCount)
    return tv::PlanOp(skeleton.plan).emitOpError("has ")
           << skeleton.actionCount << " communication ops to execute, "
           << executed << " were executed";
  return success();
}

void Simulation::wake(unsigned number, int64_t time) {
  Process &process = processes[number];
  process.clock = std::max(process.clock, time);
  if (process.isQueued)
    return;
  process.isQueued = true;
  ready.push_back(number);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

tv::CallOp Simulation::getCall(const Process &process) const {
  if (isAtEnd(process))
    return {};
  return dyn_cast<tv::CallOp>(process.program->steps[process.nextStep].op);
}

const Action *Simulation::getAction(const Process &process) const {
  if (isAtEnd(process))
    return nullptr;
  const Step &step = process.program->steps[process.nextStep];
  if (!step.segment)
    return step.action ? &*step.action : nullptr;
  return process.nextAction < step.segment->actions.size()
             ? &step.segment->actions[process.nextAction]
             : nullptr;
}

Simulation::Progress Simulation::advance(unsigned number) {
  Process &process = processes[number];
  while (!isAtEnd(process)) {
    const Step &step = process.program->steps[process.nextStep];
    auto call = dyn_cast<tv::CallOp>(step.op);
    if (call && !process.hasEntered &&
        failed(enter(process, call, *step.segment)))
      return Progress::Fails;
    if (auto loader = dyn_cast<tv::LoadDataOp>(step.op))
      load(process, loader);
    while (const Action *action = getAction(process)) {
      Progress progress = perform(number, *action);
      if (progress != Progress::Done)
        return progress;
      process.hasPosted = process.isReleased = false;
      ++executed;
      ++process.nextAction;
      if (!step.segment)
        break;
    }
    if (call)
      leave(process, call);
    process.nextAction = 0;
    ++process.nextStep;
  }
  return Progress::Done;
}

LogicalResult Simulation::enter(Process &process, tv::CallOp call,
                                const Segment &segment) {
  process.hasEntered = true;
  process.microBatch = -1;
  // What has a mirror works on one micro-batch.
  bool isOfOne = options.checksOrder && call.getMirror();
  bool isMixed = false;
  for (Value operand : call.getOperands()) {
    auto found = process.microBatches.find(operand);
    int64_t microBatch =
        found == process.microBatches.end() ? -1 : found->second;
    bool differs = process.microBatch >= 0 && microBatch >= 0 &&
                   process.microBatch != microBatch;
    if (differs && isOfOne) {
      outcome.malformation = "micro-batches are mixed up";
      return call.emitOpError("on device ")
             << process.program->device << " takes tensors of micro-batches "
             << process.microBatch << " and " << microBatch << " in execution "
             << call.getInstance();
    }
    isMixed |= differs;
    if (microBatch >= 0)
      process.microBatch = microBatch;
  }
  auto mirrored = process.executions.end();
  if (std::optional<uint64_t> mirror = call.getMirror())
    mirrored = process.executions.find(*mirror);
  if (isMixed) {
    process.microBatch = -1;
  } else if (mirrored != process.executions.end()) {
    int64_t microBatch = mirrored->second.microBatch;
    if (isOfOne && process.microBatch >= 0 && microBatch >= 0 &&
        process.microBatch != microBatch) {
      outcome.malformation = "micro-batches are mixed up";
      InFlightDiagnostic error = call.emitOpError("on device ");
      error << process.program->device << " takes a tensor of micro-batch "
            << process.microBatch << ", execution " << *call.getMirror()
            << " that it mirrors is of micro-batch " << microBatch;
      error.attachNote(mirrored->second.call.getLoc())
          << "execution " << *call.getMirror() << " is here";
      return error;
    }
    process.microBatch = std::max(process.microBatch, microBatch);
  }
  if (segment.computes) {
    int64_t start = process.clock++;
    record(process,
           segment.isBackward ? EventKind::Backward : EventKind::Forward, call,
           start, start, process.clock);
  }
  return success();
}

void Simulation::leave(Process &process, tv::CallOp call) {
  process.hasEntered = false;
  process.executions[call.getInstance()] = {call, process.microBatch};
  for (Value result : call.getResults())
    process.microBatches[result] = process.microBatch;
  process.microBatch = -1;
}

void Simulation::load(Process &process, tv::LoadDataOp op) {
  int64_t microBatch = process.loads[op.getCell()]++;
  for (Value result : op.getResults())
    process.microBatches[result] = microBatch;
}

int64_t Simulation::getMicroBatch(const Process &process, Operation *op) const {
  if (process.hasEntered)
    return process.microBatch;
  // What is received is noted at the result, what is given at the operand.
  auto found = process.microBatches.find(
      op->getNumOperands() ? op->getOperand(0) : op->getResult(0));
  return found == process.microBatches.end() ? -1 : found->second;
}

LogicalResult Simulation::accept(Process &process, Operation *op,
                                 int64_t microBatch, Operation *other) {
  if (!process.hasEntered) {
    for (Value result : op->getResults())
      process.microBatches[result] = microBatch;
    return success();
  }
  tv::CallOp call = getCall(process);
  bool differs = process.microBatch >= 0 && microBatch >= 0 &&
                 process.microBatch != microBatch;
  if (process.microBatch < 0)
    process.microBatch = microBatch;
  // What has a mirror works on one micro-batch.
  if (!differs || !options.checksOrder || !call.getMirror())
    return success();
  outcome.malformation = "micro-batches are mixed up";
  InFlightDiagnostic error = op->emitOpError("on device ");
  error << process.program->device << " takes a tensor of micro-batch "
        << microBatch << ", execution " << call.getInstance()
        << " that it belongs to is of micro-batch " << process.microBatch;
  error.attachNote(other->getLoc())
      << "the tensor of micro-batch " << microBatch << " comes from here";
  return error;
}

void Simulation::record(const Process &process, EventKind kind, Operation *op,
                        int64_t start, int64_t ready, int64_t end) {
  if (options.recordsTimeline)
    outcome.timeline.events.push_back(
        {kind, op, process.hasEntered ? getCall(process) : tv::CallOp(),
         process.program->device, getMicroBatch(process, op), start, ready, end,
         /*isFinished=*/true});
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

Simulation::Progress Simulation::perform(unsigned number,
                                         const Action &action) {
  if (!processes[number].hasPosted)
    processes[number].started = processes[number].clock;
  switch (action.kind) {
  case ActionKind::Send:
    return send(number, action);
  case ActionKind::Receive:
    return receive(number, action);
  case ActionKind::Collective:
    return meet(number, action);
  }
  action.op->emitOpError("is not understood by the schedule check");
  return Progress::Fails;
}

Simulation::Progress Simulation::send(unsigned number, const Action &action) {
  Process &process = processes[number];
  Transfer &transfer = transfers[action.place];
  if (!process.hasPosted) {
    process.hasPosted = true;
    transfer.messages.push_back(
        {action.op, getMicroBatch(process, action.op), process.clock});
    if (transfer.waitingReceiver) {
      wake(*transfer.waitingReceiver, 0);
      transfer.waitingReceiver.reset();
    }
  }
  if (transfer.messages.size() > options.bufferedSends) {
    transfer.waitingSender = number;
    return Progress::Waits;
  }
  // The clock is that of the receive which made room, if one had to.
  int64_t end = std::max(process.clock, process.started + 1);
  record(process, EventKind::Send, action.op, process.started, end - 1, end);
  process.clock = end;
  return Progress::Done;
}

Simulation::Progress Simulation::receive(unsigned number,
                                         const Action &action) {
  Process &process = processes[number];
  Transfer &transfer = transfers[action.place];
  process.hasPosted = true;
  if (transfer.messages.empty()) {
    transfer.waitingReceiver = number;
    return Progress::Waits;
  }
  Message message = transfer.messages.front();
  transfer.messages.pop_front();
  auto op = cast<tv::ReceiveOp>(action.op);
  Type sent = cast<tv::SendOp>(message.op).getValue().getType();
  if (sent != op.getResult().getType()) {
    (void)reportTypes(op, message, skeleton.channels[action.place].sender);
    return Progress::Fails;
  }
  if (failed(accept(process, op, message.microBatch, message.op)))
    return Progress::Fails;
  int64_t met = std::max(process.clock, message.time);
  record(process, EventKind::Receive, op, process.started, met, met + 1);
  process.clock = met + 1;
  ++outcome.messages;
  if (transfer.waitingSender &&
      transfer.messages.size() <= options.bufferedSends) {
    wake(*transfer.waitingSender, met + 1);
    transfer.waitingSender.reset();
  }
  return Progress::Done;
}

Simulation::Progress Simulation::meet(unsigned number, const Action &action) {
  Process &process = processes[number];
  auto op = cast<tv::CommunicateOp>(action.op);
  SmallVector<Arrival, 0> &present = arrivals[action.place];
  if (!process.hasPosted) {
    process.hasPosted = true;
    Arrival arrival{number, op, getMicroBatch(process, op), process.clock};
    if (!present.empty() && failed(compareMembers(present.front(), arrival)))
      return Progress::Fails;
    present.push_back(arrival);
    const Communicator &communicator = skeleton.communicators[action.place];
    if (present.size() == communicator.members.size() &&
        failed(release(present)))
      return Progress::Fails;
  }
  if (!process.isReleased)
    return Progress::Waits;
  record(process, EventKind::Collective, op, process.started, process.clock - 1,
         process.clock);
  return Progress::Done;
}

LogicalResult Simulation::release(SmallVectorImpl<Arrival> &present) {
  int64_t met = 0;
  const Arrival *known = nullptr;
  bool isMixed = false;
  for (const Arrival &member : present) {
    met = std::max(met, member.time);
    isMixed |= known && member.microBatch >= 0 &&
               known->microBatch != member.microBatch;
    if (!known && member.microBatch >= 0)
      known = &member;
  }
  for (const Arrival &member : present) {
    Process &process = processes[member.process];
    // Outside of calls nothing says that what meets has to be of one.
    bool isKnown = known && (process.hasEntered || !isMixed);
    if (failed(accept(process, member.op, isKnown ? known->microBatch : -1,
                      isKnown ? known->op : member.op)))
      return failure();
    process.isReleased = true;
    wake(member.process, met + 1);
  }
  present.clear();
  ++outcome.collectives;
  return success();
}
