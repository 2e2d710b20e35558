//===- PlanBuffers.cpp - what buffers hold when read ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading a gradient buffer becomes a sum over exactly what was added to it
// since it was last overwritten, each term once.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

#include "Verify/IR/Gradients.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace verify;

/// The name of what an op reads, writes, adds to or frees.
static FlatSymbolRefAttr getBufferName(Operation *op) {
  return llvm::TypeSwitch<Operation *, FlatSymbolRefAttr>(op)
      .Case<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(
          [](auto access) { return access.getBufferAttr(); })
      .Default(FlatSymbolRefAttr());
}

bool PlanExecution::readsParameter(Operation *op) const {
  if (!isa<tv::ReadOp>(op))
    return false;
  auto buffer = symbols.lookup<tv::BufferOp>(getBufferName(op).getAttr());
  return buffer && !buffer.getGradientOfAttr();
}

PlanExecution::Step PlanExecution::executeBuffer(Device &device,
                                                 Operation *op) {
  FlatSymbolRefAttr name = getBufferName(op);
  Operation *symbol = symbols.lookup(name.getAttr());
  if (auto scratch = dyn_cast_or_null<tv::ScratchOp>(symbol))
    return executeScratch(device, op, scratch);
  auto buffer = dyn_cast_or_null<tv::BufferOp>(symbol);
  if (!buffer || isa<tv::FreeOp>(op)) {
    op->emitOpError("names no buffer: ") << name;
    return Step::Failed;
  }
  bool isGradient = static_cast<bool>(buffer.getGradientOfAttr());
  if (!isa<tv::ReadOp>(op) && !isGradient) {
    op->emitOpError("writes to a parameter, which no step may");
    return Step::Failed;
  }
  if (auto add = dyn_cast<tv::AddToOp>(op)) {
    buffers[buffer].push_back({lookup(device, add.getValue()), op->getLoc()});
    return Step::Done;
  }
  if (auto write = dyn_cast<tv::WriteOp>(op))
    return writeBuffer(op, name, lookup(device, write.getValue()));
  if (isGradient) {
    FailureOr<Value> value = materialize(buffer, device.number, op->getLoc());
    if (failed(value))
      return Step::Failed;
    bind(device, op, {*value, -1});
    return Step::Done;
  }
  Value &value = parameters[buffer];
  if (!value)
    value = boundary.parameter(buffer);
  if (!value)
    return Step::Failed;
  placeInput(value, device);
  bind(device, op, {value, -1});
  return Step::Done;
}

PlanExecution::Step PlanExecution::executeScratch(Device &device, Operation *op,
                                                  tv::ScratchOp scratch) {
  if (auto write = dyn_cast<tv::WriteOp>(op))
    return writeBuffer(op, write.getBufferAttr(),
                       lookup(device, write.getValue()));
  if (isa<tv::FreeOp>(op)) {
    contents.erase(scratch);
    return Step::Done;
  }
  auto read = dyn_cast<tv::ReadOp>(op);
  if (!read) {
    op->emitOpError("adds to scratch memory");
    return Step::Failed;
  }
  auto content = contents.find(scratch);
  if (content == contents.end()) {
    malformation = "memory is read that holds nothing";
    op->emitOpError("on device ")
        << device.number << " reads '" << scratch.getName()
        << "', which holds nothing";
    return Step::Failed;
  }
  if (content->second.value.getType() != read.getResult().getType()) {
    malformation = "shapes do not fit";
    op->emitOpError("expects ") << read.getResult().getType() << ", it holds "
                                << content->second.value.getType();
    return Step::Failed;
  }
  bind(device, op, content->second);
  return Step::Done;
}

PlanExecution::Step
PlanExecution::writeBuffer(Operation *op, FlatSymbolRefAttr name, Bound bound) {
  if (auto scratch = symbols.lookup<tv::ScratchOp>(name.getAttr())) {
    contents[scratch] = bound;
    return Step::Done;
  }
  auto buffer = symbols.lookup<tv::BufferOp>(name.getAttr());
  if (!buffer) {
    op->emitOpError("names no buffer: ") << name;
    return Step::Failed;
  }
  if (!buffer.getGradientOf()) {
    op->emitOpError("writes to a parameter, which no step may");
    return Step::Failed;
  }
  ++overwrittenGradients;
  buffers[buffer].assign(1, {bound, op->getLoc()});
  return Step::Done;
}

ArrayRef<int64_t> Repetitions::getIntervals() const {
  if (!intervals)
    intervals = toIntervals(microBatches);
  return *intervals;
}

/// Adds intervals from `first` to `end` to those of a round.
static void addInterval(SmallVectorImpl<int64_t> &bounds, int64_t first,
                        int64_t end) {
  if (!bounds.empty() && bounds.back() == first)
    bounds.back() = end;
  else
    bounds.append({first, end});
}

bool PlanExecution::addRound(ArrayRef<const Contribution *> contributions,
                             SmallVectorImpl<Round> &rounds) {
  struct Interval {
    int64_t first, end;
    Location location;
  };
  SmallVector<Interval, 2> intervals;
  for (const Contribution *each : contributions) {
    // What is of no micro-batch is counted otherwise.
    if (each->bound.microBatch < 0)
      return false;
    if (!each->again) {
      intervals.push_back(
          {each->bound.microBatch, each->bound.microBatch + 1, each->location});
      continue;
    }
    for (ArrayRef<int64_t> bounds = each->again->getIntervals();
         !bounds.empty(); bounds = bounds.drop_front(2))
      intervals.push_back({bounds[0], bounds[1], each->location});
  }
  auto isEarlier = [](const Interval &left, const Interval &right) {
    return left.first < right.first;
  };
  if (!llvm::is_sorted(intervals, isEarlier))
    llvm::sort(intervals, isEarlier);
  Round round = {
      contributions[0]->bound.value, {}, 0, intervals.front().location};
  int64_t end = 0;
  for (const Interval &interval : intervals) {
    if (interval.first < end)
      return false;
    end = interval.end;
    addInterval(round.microBatches, interval.first, end);
  }
  rounds.push_back(std::move(round));
  return true;
}

void PlanExecution::addRounds(ArrayRef<const Contribution *> contributions,
                              SmallVectorImpl<Round> &rounds) {
  using Addition = std::pair<int64_t, Location>;
  SmallVector<Addition, 0> additions;
  Value value = contributions[0]->bound.value;
  for (const Contribution *each : contributions) {
    ArrayRef<int64_t> microBatches = each->bound.microBatch;
    if (each->again)
      microBatches = each->again->getMicroBatches();
    for (int64_t microBatch : microBatches)
      additions.push_back(
          {each->bound.microBatch < 0 ? -1 : microBatch, each->location});
  }
  llvm::stable_sort(additions, [](const Addition &left, const Addition &right) {
    return left.first < right.first;
  });
  // One value may be of a micro-batch and of none, as what a loss starts from:
  // both count.
  const auto *next = llvm::find_if(
      additions, [](const Addition &each) { return each.first >= 0; });
  if (next != additions.begin())
    rounds.push_back(
        {value, {}, next - additions.begin(), additions.front().second});
  size_t first = rounds.size(), number = first;
  for (const auto *each = next; each != additions.end(); ++each) {
    auto [microBatch, location] = *each;
    bool isRepeated = each != next && std::prev(each)->first == microBatch;
    number = isRepeated ? number + 1 : first;
    if (number == rounds.size())
      rounds.push_back({value, {}, 0, location});
    addInterval(rounds[number].microBatches, microBatch, microBatch + 1);
  }
}

SmallVector<PlanExecution::Round>
PlanExecution::listRounds(ArrayRef<Contribution> contributions) {
  llvm::MapVector<Value, SmallVector<const Contribution *, 2>> additions;
  for (const Contribution &entry : contributions)
    additions[entry.bound.value].push_back(&entry);
  SmallVector<Round> rounds;
  for (auto &[value, of] : additions)
    if (!addRound(of, rounds))
      addRounds(of, rounds);
  return rounds;
}

FailureOr<Value> PlanExecution::sumUp(ArrayRef<Round> rounds,
                                      RankedTensorType type, Location location,
                                      Instance &instance) {
  auto record = [&](Value value, Location where) {
    value.getDefiningOp()->setLoc(where);
    instance.ops.push_back(value.getDefiningOp());
    return value;
  };
  Value total;
  for (const Round &round : rounds) {
    if (round.value.getType() != type) {
      malformation = "shapes do not fit";
      return emitError(round.location) << "adds " << round.value.getType()
                                       << " to a gradient of " << type;
    }
    Value term = round.value;
    if (!round.microBatches.empty() && !isReference) {
      term = record(tv::AccumulateOp::create(
                        builder, round.location, type, term,
                        tv::AxisSetAttr::get(builder.getContext(),
                                             builder.getStringAttr("mb"),
                                             round.microBatches),
                        tv::DomainAttr()),
                    round.location);
    } else if (round.invariant > 1) {
      Value times =
          record(buildScalar(builder, round.location, round.invariant),
                 round.location);
      term = record(tv::MultiplyOp::create(builder, round.location, type, term,
                                           times, tv::DomainAttr()),
                    round.location);
    }
    total = total ? record(tv::AddOp::create(builder, round.location, type,
                                             total, term, tv::DomainAttr()),
                           round.location)
                  : term;
  }
  if (!total)
    total = record(tv::ConstantOp::create(
                       builder, location, type,
                       DenseElementsAttr::get(
                           type, builder.getZeroAttr(type.getElementType())),
                       tv::DomainAttr()),
                   location);
  return total;
}

FailureOr<Value> PlanExecution::materialize(tv::BufferOp buffer, int64_t device,
                                            Location location) {
  SmallVector<Round> rounds = listRounds(buffers[buffer]);
  bool isNew;
  // Nothing is of this buffer only.
  SmallVector<uintptr_t> key = {
      sum,
      reinterpret_cast<uintptr_t>(
          rounds.empty() ? buffer.getAsOpaquePointer()
                         : buffer.getType().getTensor().getAsOpaquePointer())};
  for (const Round &round : rounds) {
    key.push_back(
        reinterpret_cast<uintptr_t>(round.value.getAsOpaquePointer()));
    key.push_back(round.microBatches.size());
    key.append(round.microBatches.begin(), round.microBatches.end());
    key.push_back(round.invariant);
  }
  Instance &instance = findInstance(key, device, buffer, isNew);
  extend(instance, device, buffer, -1);
  if (!isNew)
    return instance.results.front();
  FailureOr<Value> total =
      sumUp(rounds, buffer.getType().getTensor(), location, instance);
  if (succeeded(total))
    instance.results.push_back(*total);
  return total;
}

LogicalResult PlanExecution::finish() {
  for (auto buffer : plan.getBody().getOps<tv::BufferOp>()) {
    if (!buffer.getGradientOf() ||
        (fold && fold->isCovered(buffer.getDevice())))
      continue;
    auto parameter = symbols.lookup<tv::BufferOp>(*buffer.getGradientOf());
    if (!parameter)
      return buffer.emitOpError("names no parameter");
    ArrayRef<Contribution> entries = buffers[buffer];
    Location location =
        entries.empty() ? buffer.getLoc() : entries.back().location;
    FailureOr<Value> value = materialize(buffer, buffer.getDevice(), location);
    if (failed(value))
      return failure();
    gradients.push_back({parameter, *value, location});
  }
  return success();
}
