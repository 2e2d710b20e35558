//===- PlanReplay.cpp - equal executions of a segment ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Micro-batches mostly do the same. The first execution of a segment is traced;
// another one with the same graph values as operands, of another micro-batch,
// only communicates with others and reads and writes buffers. As soon as that
// gives another value than in the trace, it goes on op by op.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

using namespace mlir;
using namespace verify;

bool PlanExecution::givesResultsOnly(Operation *op) const {
  // What a folded group does together its first rank does alone.
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return fold && fold->areGroup(communicate.getGroup());
  return isa<tv::SaveOp, tv::BackwardOp>(op) ||
         (isa<tv::SemanticsOpInterface, tv::CompositionOpInterface>(op) &&
          !isa<tv::SeedOp>(op));
}

/// A bound of a trace in an execution of `microBatch`.
static Bound translate(Bound bound, int64_t microBatch) {
  return {bound.value, bound.microBatch < 0 ? -1 : microBatch};
}

/// What a trace saved, in an execution of `microBatch`.
static SavedValues translate(SavedValues saved, int64_t microBatch) {
  for (auto *bounds : {&saved.inputs, &saved.outputs, &saved.others})
    for (Bound &bound : *bounds)
      bound = translate(bound, microBatch);
  return saved;
}

void PlanExecution::leaveTrace(Device &device, int64_t instance,
                               TracedExecution &execution) {
  if (execution.trace)
    for (const auto &[number, saved] : execution.trace->saved)
      device.saved.try_emplace({instance, number},
                               *execution.findSaved(number));
  execution.trace = nullptr;
}

void PlanExecution::startTrace(Device &device, Frame &frame,
                               ArrayRef<Bound> operands) {
  // In the reference the last value counts, and the order of all is needed.
  if (isReference)
    return;
  tv::CallOp call = frame.call;
  Block *segment = frame.next->getBlock();
  auto [place, isUnseen] = tracesOfSegment.try_emplace(segment);
  SegmentTraces &ofSegment = place->second;
  if (isUnseen)
    ofSegment.saves = llvm::any_of(
        *segment, [](Operation &op) { return isa<tv::SaveOp>(op); });
  // What the call mirrors was there before it.
  TracedExecution mirrored;
  std::optional<int64_t> mirror = call.getMirror();
  if (mirror)
    if (TracedExecution *const *known = device.executionOf.find(*mirror))
      mirrored = **known;
  // Of others nothing is asked but their micro-batch, and that only by those
  // that they mirror.
  if (mirror || ofSegment.saves) {
    auto [known, isFirst] =
        device.executionOf.tryEmplace(call.getInstance(), nullptr);
    if (!isFirst)
      return leaveTrace(device, call.getInstance(), **known);
    *known = frame.execution = &device.executions.emplace_back();
  }
  TraceKey key = {reinterpret_cast<uintptr_t>(segment)};
  auto addBound = [&](Bound bound) {
    key.push_back(
        reinterpret_cast<uintptr_t>(bound.value.getAsOpaquePointer()));
    key.push_back(bound.microBatch >= 0);
    if (bound.microBatch >= 0 && frame.microBatch < 0)
      frame.microBatch = bound.microBatch;
  };
  for (Bound operand : operands)
    addBound(operand);
  // That of a forward execution is not there yet.
  if (mirrored.trace) {
    frame.hasMirror = true;
    key.push_back(reinterpret_cast<uintptr_t>(mirrored.trace));
    int64_t microBatch = mirrored.microBatch;
    if (frame.microBatch >= 0 && microBatch >= 0 &&
        microBatch != frame.microBatch)
      return;
    frame.microBatch = std::max(frame.microBatch, microBatch);
  }
  for (Bound operand : operands)
    if (operand.microBatch >= 0 && operand.microBatch != frame.microBatch)
      return;
  findTrace(frame, ofSegment, std::move(key));
}

void PlanExecution::findTrace(Frame &frame, SegmentTraces &ofSegment,
                              TraceKey key) {
  // That of the last execution of the segment, mostly.
  if (!ofSegment.last || ofSegment.last->first != key) {
    auto [found, isNew] = traceOfKey.try_emplace(std::move(key));
    ofSegment.last = &*found;
    if (isNew) {
      frame.written = found->second = &traces.emplace_back();
      frame.written->microBatch = frame.microBatch;
      frame.written->putsOffAdditions = seesNoGradient(*frame.next->getBlock());
      return;
    }
  }
  Trace *trace = ofSegment.last->second;
  // A trace that is being written by a frame that waits has no effects yet.
  if (!trace->isReplayable || trace->effects.empty() ||
      !isa<tv::ReturnOp>(trace->effects.back()))
    return;
  frame.followed = trace;
  frame.next = trace->effects.front()->getIterator();
}

bool PlanExecution::seesNoGradient(Block &segment) const {
  // What is started may be over at any time.
  return !ordersStreams && llvm::none_of(segment, [&](Operation &op) {
    return isa<tv::WriteOp, tv::FreeOp, tv::StartOp, tv::WaitOp>(op) ||
           (isa<tv::ReadOp>(op) && !readsParameter(&op));
  });
}

void PlanExecution::add(const Frame &frame, const Trace::Addition &addition) {
  tv::AddToOp op = addition.op;
  buffers[addition.buffer].push_back(
      {translate(addition.bound, frame.microBatch), op.getLoc()});
}

void PlanExecution::addAgain(Trace &trace, int64_t microBatch) {
  if (trace.additions.empty())
    return;
  if (trace.additionsAgain.empty() ||
      trace.overwrittenGradients != overwrittenGradients) {
    trace.overwrittenGradients = overwrittenGradients;
    const auto *again = &trace.additionsAgain.emplace_back();
    for (const Trace::Addition &addition : trace.additions) {
      tv::AddToOp op = addition.op;
      buffers[addition.buffer].push_back({addition.bound, op.getLoc(), again});
    }
  }
  trace.additionsAgain.back().add(microBatch);
}

void PlanExecution::trace(Device &device, Operation *op) {
  Frame &frame = *device.frame;
  Trace *written = frame.written;
  if (!written)
    return;
  auto isOfFrame = [&](Bound bound) {
    return bound.microBatch < 0 || bound.microBatch == written->microBatch;
  };
  for (Value result : op->getResults()) {
    auto found = written->values.find(result);
    if (found == written->values.end())
      continue;
    if (written->microBatch < 0)
      frame.microBatch = written->microBatch = found->second.microBatch;
    written->isReplayable &= isOfFrame(found->second);
  }
  if (auto addition = dyn_cast<tv::AddToOp>(op);
      addition && written->putsOffAdditions) {
    auto buffer =
        symbols.lookup<tv::BufferOp>(addition.getBufferAttr().getAttr());
    written->additions.push_back(
        {addition, buffer, lookup(device, addition.getValue())});
    return;
  }
  // No step writes to a parameter: it is the same in every micro-batch.
  if (!givesResultsOnly(op) && !readsParameter(op))
    written->effects.push_back(op);
}

void PlanExecution::moveOn(Device &device, Operation *op) {
  Frame &frame = *device.frame;
  if (frame.followed)
    frame.next = frame.followed->effects[++frame.nextEffect]->getIterator();
  else
    ++frame.next;
}

bool PlanExecution::isAsTraced(const Frame &frame, Value result,
                               Bound bound) const {
  Bound expected =
      translate(frame.followed->values.lookup(result), frame.microBatch);
  return expected.value == bound.value &&
         expected.microBatch == bound.microBatch;
}

LogicalResult PlanExecution::abandonTrace(Device &device, Operation *op) {
  Frame &frame = *device.frame;
  Trace &followed = *frame.followed;
  for (auto [value, bound] : followed.values)
    frame.values.try_emplace(value, translate(bound, frame.microBatch));
  for (auto [done, instance] : followed.instances)
    if (done->isBeforeInBlock(op))
      extend(instances[instance], device.number, done, frame.microBatch);
  for (const Trace::Addition &addition : followed.additions)
    if (tv::AddToOp done = addition.op; done->isBeforeInBlock(op))
      add(frame, addition);
  for (Operation &done :
       llvm::make_range(op->getBlock()->begin(), op->getIterator()))
    if (isa<tv::SaveOp>(done) && execute(device, &done) != Step::Done)
      return failure();
  frame.followed = nullptr;
  frame.next = op->getIterator();
  return success();
}

void PlanExecution::endTrace(Device &device) {
  Frame &frame = *device.frame;
  Trace *trace = frame.followed ? frame.followed : frame.written;
  if (!trace)
    return;
  if (frame.followed) {
    trace->replays.push_back(frame.microBatch);
    addAgain(*trace, frame.microBatch);
  }
  if (frame.execution)
    *frame.execution = {trace, frame.microBatch, frame.written != nullptr};
}

void PlanExecution::extendTraced() {
  for (const Trace &trace : traces) {
    if (trace.replays.empty())
      continue;
    llvm::DenseSet<int64_t> microBatches(trace.replays.begin(),
                                         trace.replays.end());
    microBatches.insert(trace.microBatch);
    bool isEverywhere =
        llvm::any_of(microBatches, [](int64_t k) { return k < 0; }) ||
        static_cast<int64_t>(microBatches.size()) == microBatchCount;
    for (auto [op, number] : trace.instances) {
      instances[number].allMicroBatches |= isEverywhere;
      if (!isEverywhere)
        instances[number].microBatches.append(trace.replays.begin(),
                                              trace.replays.end());
    }
  }
}

std::optional<SavedValues> TracedExecution::findSaved(int64_t forward) const {
  if (!trace)
    return std::nullopt;
  auto *found = trace->saved.find(forward);
  if (found == trace->saved.end())
    return std::nullopt;
  return hasWritten ? found->second : translate(found->second, microBatch);
}

std::optional<SavedValues>
PlanExecution::findSaved(Device &device, int64_t execution, int64_t forward) {
  auto found = device.saved.find({execution, forward});
  if (found != device.saved.end())
    return found->second;
  // One that is not over may be its own mirror.
  Frame &frame = *device.frame;
  int64_t own = frame.call.getInstance();
  if (frame.written && own == execution)
    return TracedExecution{frame.written, frame.microBatch, true}.findSaved(
        forward);
  TracedExecution *const *ended = device.executionOf.find(execution);
  return ended ? (*ended)->findSaved(forward) : std::nullopt;
}
