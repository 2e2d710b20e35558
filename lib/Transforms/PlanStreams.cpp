//===- PlanStreams.cpp - what is started and waited for -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That nothing touches the memory in between was checked before (checkMemory),
// so the operand is what it is at the start, and the result is there at the
// wait. Where something that is started waits for other, each begins when that
// is over, and what goes into a buffer is there at its end: of all orders that
// streams, handles and waits leave open, every one gives the same values, as
// no two of them that use one buffer, and write to it, are open.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

using namespace mlir;
using namespace verify;

PlanExecution::Step PlanExecution::executeStart(Device &device,
                                                tv::StartOp op) {
  Operation *started = op.getStarted();
  if (!op.startsCommunication() && !op.startsComputation()) {
    op.emitOpError("starts something else than one communication op, or one "
                   "computation of a program");
    return Step::Failed;
  }
  device.started[started] = takePlace(device, started);
  Item item{op, {}};
  if (!ordersStreams || device.frame)
    return begin(device, item);
  for (Item &other : device.items)
    if ((op.getStream() && op.getStream() == other.op.getStream()) ||
        llvm::is_contained(op.getAfter(), other.op.getHandle()))
      item.before.push_back(other.op);
  device.items.push_back(std::move(item));
  return succeeded(advanceItems(device)) ? Step::Done : Step::Failed;
}

PlanExecution::Step PlanExecution::begin(Device &device, Item &item) {
  item.isPosted = true;
  for (auto read : item.op.getBody().getOps<tv::ReadOp>())
    if (Step step = executeBuffer(device, read); step != Step::Done)
      return step;
  Operation *started = item.op.getStarted();
  int64_t number = device.started.lookup(started);
  if (auto operand = dyn_cast<tv::SendOp>(started)) {
    send(device, operand, number);
    return Step::Done;
  }
  if (isa<tv::ReceiveOp>(started))
    return Step::Done;
  if (auto communicate = dyn_cast<tv::CommunicateOp>(started))
    return succeeded(arrive(device, communicate, number)) ? Step::Done
                                                          : Step::Failed;
  Step step = executeCompute(device, started);
  if (step == Step::Done)
    device.arrived[started] = lookup(device, started->getResult(0));
  return step;
}

FailureOr<std::optional<Bound>> PlanExecution::takeResult(Device &device,
                                                          Operation *started) {
  if (isa<tv::SendOp>(started))
    return std::optional(Bound());
  if (auto receive = dyn_cast<tv::ReceiveOp>(started))
    return takeMessage(device, receive, device.started.lookup(started));
  auto arrived = device.arrived.find(started);
  if (arrived == device.arrived.end())
    return std::optional<Bound>();
  Bound bound = arrived->second;
  device.arrived.erase(arrived);
  return std::optional(bound);
}

PlanExecution::Item *PlanExecution::findItem(Device &device, tv::StartOp op) {
  auto found = llvm::find_if(device.items,
                             [&](const Item &item) { return item.op == op; });
  return found == device.items.end() ? nullptr : &*found;
}

FailureOr<bool> PlanExecution::advanceItems(Device &device) {
  bool hasMoved = false, isMoving = !device.items.empty();
  // They are of the program, whatever segment it is in.
  std::unique_ptr<Frame> frame = std::move(device.frame);
  while (isMoving) {
    isMoving = false;
    for (size_t next = 0; next < device.items.size() && !isMoving; ++next) {
      Item &item = device.items[next];
      tv::StartOp op = item.op;
      if (llvm::any_of(item.before, [&](tv::StartOp before) {
            return findItem(device, before);
          }))
        continue;
      hasMoved |= !item.isPosted;
      if (!item.isPosted && begin(device, item) != Step::Done)
        return failure();
      Operation *started = op.getStarted();
      FailureOr<std::optional<Bound>> result = takeResult(device, started);
      if (failed(result))
        return failure();
      if (!*result)
        continue;
      hasMoved = isMoving = true;
      device.items.erase(device.items.begin() + next);
      if (op.getInto()) {
        if (writeBuffer(op, op.getIntoAttr(), **result) != Step::Done)
          return failure();
      } else if (started->getNumResults()) {
        device.arrived[started] = **result;
      }
    }
  }
  device.frame = std::move(frame);
  return hasMoved;
}

PlanExecution::Step PlanExecution::executeWait(Device &device, tv::WaitOp op) {
  tv::StartOp start = op.getStart();
  Operation *started = start ? start.getStarted() : nullptr;
  if (!started) {
    op.emitOpError("waits for a handle of another block");
    return Step::Failed;
  }
  if (!device.started.contains(started)) {
    op.emitOpError("waits for what was not started");
    return Step::Failed;
  }
  bool isItem = ordersStreams && !device.frame;
  if (isItem && findItem(device, start))
    return Step::Blocked;
  Bound bound;
  if (!isItem || (started->getNumResults() && !start.getInto())) {
    // What was received is there as what was computed is.
    FailureOr<std::optional<Bound>> result =
        isItem ? std::optional(device.arrived.lookup(started))
               : takeResult(device, started);
    if (failed(result))
      return Step::Failed;
    if (!*result)
      return Step::Blocked;
    bound = **result;
  }
  device.started.erase(started);
  if (isItem)
    device.arrived.erase(started);
  if (isa<tv::SendOp>(started) || (isItem && start.getInto()))
    return Step::Done;
  if (FlatSymbolRefAttr name = start.getIntoAttr())
    return writeBuffer(op, name, bound);
  if (op->getNumResults() != 1) {
    op.emitOpError("has another result than what was started");
    return Step::Failed;
  }
  bind(device, op, bound);
  return Step::Done;
}

Operation *PlanExecution::getAwaited(const Device &device) {
  auto wait = dyn_cast<tv::WaitOp>(device.blockedAt);
  if (!wait)
    return device.blockedAt;
  tv::StartOp start = wait.getStart();
  // What waits for other is not under way yet.
  for (bool isBehind = true; isBehind;) {
    isBehind = false;
    for (const Item &item : device.items)
      if (item.op == start && !item.isPosted)
        for (const Item &other : device.items)
          if (!isBehind && llvm::is_contained(item.before, other.op)) {
            start = other.op;
            isBehind = true;
          }
  }
  return start.getStarted();
}
