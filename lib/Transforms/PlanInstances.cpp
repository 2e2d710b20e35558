//===- PlanInstances.cpp - graph ops for ops of a plan --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op of the plan becomes one op of the graph for all micro-batches and
// devices in which its operands are the same graph values. Two ops of one
// device are never one, even where they compute the same: each has a place of
// its own in the source.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace verify;

Operation *PlanExecution::getFirstLike(Operation *op) {
  auto isMeant = [&](NamedAttribute attribute) {
    return attribute.getName() != pieceName &&
           attribute.getName() != piecesName &&
           attribute.getName() != declaredName;
  };
  auto isLike = [&](Operation *other) {
    return op->getName() == other->getName() &&
           op->getResultTypes() == other->getResultTypes() &&
           op->getName().compareOpProperties(op->getPropertiesStorage(),
                                             other->getPropertiesStorage()) &&
           llvm::equal(
               llvm::make_filter_range(op->getDiscardableAttrs(), isMeant),
               llvm::make_filter_range(other->getDiscardableAttrs(), isMeant));
  };
  llvm::hash_code hash = llvm::hash_combine(
      op->getName(), op->hashProperties(),
      llvm::hash_combine_range(op->result_type_begin(), op->result_type_end()));
  SmallVectorImpl<Operation *> &firsts = firstsOfHash[hash];
  auto *found = llvm::find_if(firsts, isLike);
  if (found != firsts.end())
    return *found;
  firsts.push_back(op);
  return op;
}

tv::PieceAttr PlanExecution::findStatedUse(Operation *op) const {
  constexpr unsigned maxSteps = 8;
  for (unsigned step = 0; step != maxSteps; ++step) {
    if (auto piece =
            dyn_cast_or_null<tv::PieceAttr>(op->getDiscardableAttr(pieceName)))
      return piece;
    if (op->use_empty())
      break;
    op = *op->user_begin();
  }
  return {};
}

SmallVector<uintptr_t, 3> PlanExecution::getFunction(Operation *op) {
  auto like = reinterpret_cast<uintptr_t>(getFirstLike(op));
  if (fold && fold->startsByRank(op)) {
    SmallVector<uintptr_t, 3> function = {byRank, like};
    for (int64_t start : fold->getStarts(op))
      function.push_back(static_cast<uintptr_t>(start));
    return function;
  }
  if (op->getNumOperands() != 0)
    return {like};
  // A number is told apart by the tensor that it goes into: the same one occurs
  // in many places.
  tv::PieceAttr use = findStatedUse(op);
  if (!use)
    return {reinterpret_cast<uintptr_t>(op)};
  return {like, static_cast<uintptr_t>(use.getFull()), use.getGradient()};
}

Instance &PlanExecution::findInstance(ArrayRef<uintptr_t> key,
                                      ArrayRef<int64_t> where,
                                      Operation *source, bool &isNew,
                                      bool anywhere) {
  bool isOfApart = isApart(where.front());
  uint64_t hash = llvm::hash_combine_range(key.begin(), key.end());
  auto [first, isFirst] = instanceOfHash.try_emplace(hash & ~uint64_t(3), none);
  unsigned *place = &first->second;
  unsigned numOthers = 0;
  for (; *place != none; place = &instances[*place].next) {
    Instance &instance = instances[*place];
    if (instance.key != key || (!anywhere && instance.isApart != isOfApart))
      continue;
    if (llvm::any_of(where, [&](int64_t device) {
          Operation *other = instance.sources.lookup(device);
          return other && other != source;
        })) {
      ++numOthers;
      continue;
    }
    isNew = false;
    lastInstance = *place;
    return instance;
  }
  auto own = reinterpret_cast<uintptr_t>(source);
  if (numOthers >= maxAlike && key.front() != own) {
    SmallVector<uintptr_t> ofSource(key);
    ofSource.front() = own;
    return findInstance(ofSource, where, source, isNew, anywhere);
  }
  isNew = true;
  lastInstance = *place = instances.size();
  Instance &instance = instances.emplace_back();
  instance.key = key.copy(keys);
  instance.isApart = isOfApart;
  return instance;
}

Operation *InstanceSources::lookup(int64_t device) const {
  const auto *found = llvm::lower_bound(devices, device);
  return found != devices.end() && *found == device
             ? ops[found - devices.begin()]
             : nullptr;
}

void InstanceSources::insert(int64_t device, Operation *op) {
  // Devices mostly run in ascending order.
  if (devices.empty() || devices.back() < device) {
    devices.push_back(device);
    ops.push_back(op);
    return;
  }
  auto *found = llvm::lower_bound(devices, device);
  if (*found == device)
    return;
  ops.insert(ops.begin() + (found - devices.begin()), op);
  devices.insert(found, device);
}

void PlanExecution::extend(Instance &instance, ArrayRef<int64_t> where,
                           Operation *source, int64_t microBatch) {
  for (int64_t device : where) {
    instance.sources.insert(device, source);
    instance.isApart &= isApart(device);
  }
  if (microBatch < 0)
    instance.allMicroBatches = true;
  else if (instance.microBatches.empty() ||
           instance.microBatches.back() != microBatch)
    instance.microBatches.push_back(microBatch);
}

FailureOr<SmallVector<Bound>>
PlanExecution::instantiate(Operation *op, ArrayRef<uintptr_t> function,
                           ArrayRef<int64_t> where, ArrayRef<Bound> operands,
                           Build build, ArrayRef<int64_t> owners) {
  int64_t microBatch = -1;
  for (const Bound &operand : operands)
    if (microBatch < 0)
      microBatch = operand.microBatch;
  SmallVector<Value> values;
  SmallVector<uintptr_t> key(function);
  for (auto [number, given] : llvm::enumerate(operands)) {
    Bound operand = given;
    if (operand.microBatch >= 0 && operand.microBatch != microBatch)
      operand = moveTo(operand, microBatch, op,
                       owners.empty() ? where : owners.slice(number, 1));
    values.push_back(operand.value);
    key.push_back(
        reinterpret_cast<uintptr_t>(operand.value.getAsOpaquePointer()));
  }
  bool isNew;
  Instance &instance = findInstance(key, where, op, isNew);
  if (isNew) {
    // What was built before belongs to other ops.
    if (failed(graph.verifyNewOps()) || failed(build(values, instance.results)))
      return failure();
    for (Operation &built : graph.getNewOps()) {
      built.setLoc(op->getLoc());
      instance.ops.push_back(&built);
      if (fold)
        noteUniform(&built);
    }
    if (failed(checkNewOps()))
      return failure();
  }
  extend(instance, where, op, microBatch);
  SmallVector<Bound> results;
  for (Value value : instance.results)
    results.push_back({value, microBatch});
  return results;
}

SmallVector<int64_t> verify::toIntervals(SmallVector<int64_t> coordinates) {
  llvm::sort(coordinates);
  SmallVector<int64_t> bounds;
  for (int64_t coordinate : coordinates) {
    if (!bounds.empty() && bounds.back() == coordinate)
      ++bounds.back();
    else
      bounds.append({coordinate, coordinate + 1});
  }
  return bounds;
}

tv::DomainAttr PlanExecution::getDomain(ArrayRef<int64_t> where,
                                        ArrayRef<int64_t> microBatches,
                                        bool isApart) {
  MLIRContext *context = builder.getContext();
  SmallVector<tv::AxisSetAttr> sets;
  sets.push_back(
      tv::AxisSetAttr::get(context, builder.getStringAttr("device"),
                           toIntervals(SmallVector<int64_t>(where))));
  if (!microBatches.empty())
    sets.push_back(
        tv::AxisSetAttr::get(context, builder.getStringAttr("mb"),
                             toIntervals(SmallVector<int64_t>(microBatches))));
  if (isApart)
    sets.push_back(tv::AxisSetAttr::get(
        context, builder.getStringAttr(RankFold::axis), {0, 1}));
  return tv::DomainAttr::get(context, sets);
}

void PlanExecution::setDomains() {
  if (isReference)
    return;
  extendTraced();
  auto name = builder.getStringAttr("domain");
  // Many in a row are of one domain.
  tv::DomainAttr domain;
  ArrayRef<int64_t> lastDevices, lastMicroBatches;
  bool wasApart = false;
  for (Instance &instance : instances) {
    ArrayRef<int64_t> microBatches;
    if (!instance.allMicroBatches) {
      llvm::sort(instance.microBatches);
      instance.microBatches.erase(llvm::unique(instance.microBatches),
                                  instance.microBatches.end());
      if (static_cast<int64_t>(instance.microBatches.size()) != microBatchCount)
        microBatches = instance.microBatches;
    }
    ArrayRef<int64_t> devices = instance.sources.getDevices();
    if (!domain || lastDevices != devices || lastMicroBatches != microBatches ||
        wasApart != instance.isApart)
      domain = getDomain(devices, microBatches, instance.isApart);
    wasApart = instance.isApart;
    lastDevices = devices;
    lastMicroBatches = microBatches;
    for (Operation *op : instance.ops)
      op->setAttr(name, domain);
  }
}
