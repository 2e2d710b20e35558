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

#include "Verify/IR/Prefetch.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

Simulation::Simulation(const Skeleton &skeleton, const Options &options,
                       Outcome &outcome, bool followsMicroBatches)
    : skeleton(skeleton), options(options), outcome(outcome),
      followsMicroBatches(followsMicroBatches),
      transfers(skeleton.channels.size()),
      gatherings(skeleton.communicators.size()) {
  for (const Program &program : skeleton.programs) {
    processOf[program.device] = processes.size();
    Process &process = processes.emplace_back();
    process.program = &program;
    if (followsMicroBatches)
      process.microBatches.reserve(program.steps.size());
    outcome.timeline.devices.push_back(program.device);
  }
  for (auto memory :
       tv::PlanOp(skeleton.plan).getBody().getOps<tv::ScratchOp>())
    scratch.insert(memory.getSymName());
}

LogicalResult Simulation::run() {
  for (unsigned number = 0; number < processes.size(); ++number)
    wake(number);
  while (!ready.empty()) {
    unsigned number = ready.front();
    ready.pop_front();
    processes[number].isReady = false;
    if (advance(number) == Progress::Fails)
      return failure();
  }
  if (!llvm::all_of(processes,
                    [&](const Process &process) { return isAtEnd(process); }))
    return reportDeadlock();
  if (failed(reportLeft()))
    return failure();
  if (executed != skeleton.actionCount)
    return tv::PlanOp(skeleton.plan).emitOpError("has ")
           << skeleton.actionCount << " communication ops to execute, "
           << executed << " were executed";
  return success();
}

void Simulation::wake(unsigned number) {
  Process &process = processes[number];
  if (process.isReady)
    return;
  process.isReady = true;
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
    return step.action;
  return process.nextAction < step.segment->actions.size()
             ? &step.segment->actions[process.nextAction]
             : nullptr;
}

Simulation::Progress Simulation::advance(unsigned number) {
  Process &process = processes[number];
  if (failed(proceed(number)))
    return Progress::Fails;
  while (!isAtEnd(process)) {
    ArrayRef<Step> steps = process.program->steps;
    const Step &step = steps[process.nextStep];
    if (process.nextStep + 1 < steps.size())
      prefetch(steps[process.nextStep + 1].op);
    auto call = dyn_cast<tv::CallOp>(step.op);
    if (call && !process.hasEntered &&
        failed(enter(process, call, *step.segment)))
      return Progress::Fails;
    if (auto loader = dyn_cast<tv::LoadDataOp>(step.op))
      load(process, loader);
    use(process, step.op);
    while (const Action *action = getAction(process)) {
      Progress progress = perform(number, *action);
      if (progress != Progress::Done)
        return progress;
      process.isAtAction = false;
      executed += static_cast<int64_t>(process.completed);
      process.nextAction += process.completed;
      if (!step.segment)
        break;
    }
    if (call)
      leave(process, call, *step.segment);
    process.nextAction = 0;
    ++process.nextStep;
  }
  return Progress::Done;
}

LogicalResult Simulation::findMicroBatch(Process &process, tv::CallOp call) {
  // What has a mirror works on one micro-batch.
  bool isOfOne = options.checksOrder && call.getMirror();
  bool isMixed = false;
  for (Value operand : call.getOperands()) {
    int64_t microBatch = process.getMicroBatch(operand);
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
  const Execution *mirrored = nullptr;
  if (std::optional<int64_t> mirror = call.getMirror())
    mirrored = process.executions.find(*mirror);
  if (isMixed) {
    process.microBatch = -1;
  } else if (mirrored) {
    int64_t microBatch = mirrored->microBatch;
    if (isOfOne && process.microBatch >= 0 && microBatch >= 0 &&
        process.microBatch != microBatch) {
      outcome.malformation = "micro-batches are mixed up";
      InFlightDiagnostic error = call.emitOpError("on device ");
      error << process.program->device << " takes a tensor of micro-batch "
            << process.microBatch << ", execution " << *call.getMirror()
            << " that it mirrors is of micro-batch " << microBatch;
      error.attachNote(tv::CallOp(mirrored->call).getLoc())
          << "execution " << *call.getMirror() << " is here";
      return error;
    }
    process.microBatch = std::max(process.microBatch, microBatch);
  }
  return success();
}

LogicalResult Simulation::enter(Process &process, tv::CallOp call,
                                const Segment &segment) {
  process.hasEntered = true;
  process.microBatch = -1;
  if (followsMicroBatches && failed(findMicroBatch(process, call)))
    return failure();
  if (segment.computes) {
    int64_t start = process.clock++;
    record(process,
           segment.isBackward ? EventKind::Backward : EventKind::Forward, call,
           start, start, process.clock);
  }
  return success();
}

void Simulation::leave(Process &process, tv::CallOp call,
                       const Segment &segment) {
  process.hasEntered = false;
  if (!followsMicroBatches)
    return;
  Execution execution = {call, process.microBatch};
  *process.executions.tryEmplace(call.getInstance(), execution).first =
      execution;
  if (call.getNumResults())
    process.microBatches[call] = process.microBatch;
  process.microBatch = -1;
  // What a segment leaves in memory is not followed.
  if (segment.writes)
    process.held.clear();
}

void Simulation::hold(Process &process, Operation *writer,
                      FlatSymbolRefAttr name, int64_t microBatch) {
  if (name && scratch.contains(name.getValue()))
    process.held[name.getValue()] = {writer, microBatch};
}

void Simulation::use(Process &process, Operation *op) {
  if (scratch.empty() || !followsMicroBatches)
    return;
  auto name = op->getAttrOfType<FlatSymbolRefAttr>("buffer");
  if (auto write = dyn_cast<tv::WriteOp>(op)) {
    hold(process, op, name, process.getMicroBatch(write.getValue()));
  } else if (auto read = dyn_cast<tv::ReadOp>(op)) {
    auto found = process.held.find(name.getValue());
    if (found != process.held.end())
      process.microBatches[read] = found->second.second;
  } else if (isa<tv::FreeOp>(op)) {
    hold(process, op, name, -1);
  } else if (auto start = dyn_cast<tv::StartOp>(op)) {
    // It is there at the wait, unless something else comes after it.
    hold(process, op, start.getIntoAttr(), -1);
  }
}

void Simulation::load(Process &process, tv::LoadDataOp op) {
  if (followsMicroBatches)
    process.microBatches[op] = process.loads[op.getCell()]++;
}

int64_t Simulation::getMicroBatch(const Process &process, Operation *op) const {
  if (process.hasEntered)
    return process.microBatch;
  // What is received is noted at the result, what is given at the operand.
  return process.getMicroBatch(op->getNumOperands() ? op->getOperand(0)
                                                    : op->getResult(0));
}

LogicalResult Simulation::accept(Process &process, Operation *op,
                                 int64_t microBatch, Operation *other) {
  if (!followsMicroBatches)
    return success();
  if (!process.hasEntered) {
    process.microBatches[op] = microBatch;
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

EventKind Simulation::getEventKind(const Action &action) {
  switch (action.kind) {
  case ActionKind::Send:
    return EventKind::Send;
  case ActionKind::Receive:
    return EventKind::Receive;
  case ActionKind::Collective:
    return EventKind::Collective;
  case ActionKind::Computation:
    break;
  }
  return EventKind::Computation;
}

Simulation::Progress Simulation::perform(unsigned number,
                                         const Action &action) {
  Process &process = processes[number];
  process.completed = 1;
  if (!process.isAtAction) {
    process.isAtAction = true;
    process.arrived = process.clock;
    if (action.phase != Phase::Wait && failed(begin(number, action)))
      return Progress::Fails;
  }
  if (action.phase == Phase::Start)
    return Progress::Done;
  const Posting *posting = findPosting(process, action);
  if (!posting) {
    action.at->emitOpError("waits for what was not started");
    return Progress::Fails;
  }
  if (!isOver(*posting, action)) {
    await(number, action);
    return Progress::Waits;
  }
  process.completed = posting->count;
  if (failed(complete(process, *posting, action)))
    return Progress::Fails;
  // What follows is told before it is forgotten.
  if (failed(proceed(number)))
    return Progress::Fails;
  process.own.reset();
  if (action.phase == Phase::Wait)
    process.started.erase(action.op);
  return Progress::Done;
}

LogicalResult Simulation::complete(Process &process, const Posting &posting,
                                   const Action &action) {
  if (action.kind != ActionKind::Send &&
      failed(accept(process, action.at, posting.arrivingMicroBatch,
                    posting.other)))
    return failure();
  if (auto wait = dyn_cast<tv::WaitOp>(action.at))
    if (FlatSymbolRefAttr name = wait.getStart().getIntoAttr())
      if (auto found = process.held.find(name.getValue());
          found != process.held.end() && found->second.first == wait.getStart())
        found->second.second = posting.arrivingMicroBatch;
  int64_t end = getEnd(posting, action);
  EventKind kind = getEventKind(action);
  if (action.phase == Phase::Wait && options.recordsTimeline)
    outcome.timeline.events.push_back(
        {kind, action.op, process.hasEntered ? getCall(process) : tv::CallOp(),
         process.program->device, getMicroBatch(process, action.op),
         posting.time, posting.time, end, /*isFinished=*/true,
         /*isUnderWay=*/true});
  process.clock = std::max(process.clock, end);
  int64_t ready =
      action.phase == Phase::Wait ? process.clock : process.clock - 1;
  record(process, kind, action.op, process.arrived, ready, process.clock);
  return success();
}
