//===- PlanStreams.cpp - what runs beside a program on numbers ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device starts is a task, which begins when those before it on its
// stream and those that it comes after are over. It takes its place in its
// channel or group at the start, and its operands, which nothing changes, when
// it begins. A result goes into its buffer at the end. Races are not looked
// for.
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/PlanInterpreter.h"

using namespace mlir;
using namespace verify;

PlanInterpreter::Step PlanInterpreter::executeStart(Process &process,
                                                    tv::StartOp op) {
  if (!op.startsCommunication() && !op.startsComputation()) {
    op.emitOpError("starts something else than one communication op, or one "
                   "computation of a program");
    return Step::Failed;
  }
  Operation *started = op.getStarted();
  if (op.startsCommunication())
    process.places[started] = takePlace(process, started);
  Task task{op, {}};
  // What a segment starts waits for nothing.
  if (process.frame)
    return begin(process, task);
  for (const Task &earlier : process.tasks) {
    tv::StartOp other = earlier.op;
    bool isOnStream = op.getStream() && other.getStream() == op.getStream();
    if (isOnStream || llvm::is_contained(op.getAfter(), other.getHandle()))
      task.awaited.insert(other);
  }
  process.tasks.push_back(std::move(task));
  return advanceStreams(process) == Step::Failed ? Step::Failed : Step::Done;
}

PlanInterpreter::Step PlanInterpreter::begin(Process &process, Task &task) {
  task.hasBegun = true;
  for (auto read : task.op.getBody().getOps<tv::ReadOp>())
    if (executeBuffer(process, read) != Step::Done)
      return Step::Failed;
  Operation *started = task.op.getStarted();
  if (task.op.startsCommunication())
    return succeeded(post(process, started, process.places[started]))
               ? Step::Done
               : Step::Failed;
  Step step = executeCompute(process, started);
  Value result = started->getResult(0);
  if (step == Step::Done) {
    process.arrived[started] = lookup(process, result);
    valuesOf(process).erase(result);
  }
  return step;
}

PlanInterpreter::Step PlanInterpreter::end(Process &process, Task &task) {
  tv::StartOp op = task.op;
  Operation *started = op.getStarted();
  if (isa<tv::SendOp>(started))
    return Step::Done;
  if (!process.arrived.count(started))
    return Step::Blocked;
  if (!op.getInto())
    return Step::Done;
  std::optional<Held> held = takeArrived(process, started);
  if (Operation *scratch = findScratch(process, op.getIntoAttr())) {
    process.contents[scratch] = *held;
    return Step::Done;
  }
  TensorRef *content = findContent(process, op, op.getIntoAttr());
  if (!content || !held->tensor)
    return Step::Failed;
  if (held->tensor->shape != (*content)->shape) {
    op.emitOpError("puts a tensor of another shape into the buffer");
    return Step::Failed;
  }
  *content = held->tensor;
  return Step::Done;
}

PlanInterpreter::Step PlanInterpreter::advanceStreams(Process &process) {
  std::unique_ptr<Frame> frame = std::move(process.frame);
  bool hasMoved = false;
  // Those that an end lets begin come later in the list.
  for (auto next = process.tasks.begin(); next != process.tasks.end();) {
    Task &task = *next;
    if (!task.awaited.empty()) {
      ++next;
      continue;
    }
    if (!task.hasBegun) {
      hasMoved = true;
      if (begin(process, task) != Step::Done)
        return Step::Failed;
    }
    Step step = end(process, task);
    if (step == Step::Failed)
      return step;
    if (step == Step::Blocked) {
      ++next;
      continue;
    }
    hasMoved = true;
    for (Task &other : process.tasks)
      other.awaited.erase(task.op);
    next = process.tasks.erase(next);
  }
  process.frame = std::move(frame);
  return hasMoved ? Step::Done : Step::Blocked;
}

PlanInterpreter::Step PlanInterpreter::executeWait(Process &process,
                                                   tv::WaitOp op) {
  tv::StartOp start = op.getStart();
  Operation *started = start ? start.getStarted() : nullptr;
  if (!started) {
    op.emitOpError("waits for a handle of another block");
    return Step::Failed;
  }
  if (process.frame) {
    Task task{start, {}};
    if (Step step = end(process, task); step != Step::Done)
      return step;
  } else if (llvm::any_of(process.tasks,
                          [&](const Task &task) { return task.op == start; })) {
    return Step::Blocked;
  }
  Value result = op.getResult();
  if (!result)
    return Step::Done;
  std::optional<Held> held = takeArrived(process, started);
  if (!held) {
    op.emitOpError("waits for what was not started");
    return Step::Failed;
  }
  return bind(process, result, *held);
}
