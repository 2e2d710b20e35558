//===- PlanInstances.cpp - graph ops for ops of a plan --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op of the plan becomes one op of the graph for all micro-batches in which
// its operands are the same graph values.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace verify;

PlanExecution::Instance &PlanExecution::findInstance(ArrayRef<uintptr_t> key,
                                                     bool &isNew) {
  uint64_t hash = llvm::hash_combine_range(key.begin(), key.end());
  auto [first, isFirst] =
      instanceOfHash.try_emplace(hash & ~uint64_t(3), instances.size());
  if (!isFirst)
    for (unsigned candidate = first->second; candidate != none;
         candidate = instances[candidate].next)
      if (instances[candidate].key == key) {
        isNew = false;
        lastInstance = candidate;
        return instances[candidate];
      }
  isNew = true;
  lastInstance = instances.size();
  Instance &instance = instances.emplace_back();
  instance.key = key.copy(keys);
  if (!isFirst)
    instance.next = std::exchange(first->second, lastInstance);
  return instance;
}

void PlanExecution::extend(Instance &instance, ArrayRef<int64_t> where,
                           int64_t microBatch) {
  for (int64_t device : where)
    if (!llvm::is_contained(instance.devices, device))
      instance.devices.push_back(device);
  if (microBatch < 0)
    instance.allMicroBatches = true;
  else if (instance.microBatches.empty() ||
           instance.microBatches.back() != microBatch)
    instance.microBatches.push_back(microBatch);
}

FailureOr<SmallVector<Bound>>
PlanExecution::instantiate(Operation *op, ArrayRef<int64_t> where,
                           ArrayRef<Bound> operands, Build build,
                           ArrayRef<int64_t> owners) {
  int64_t microBatch = -1;
  for (const Bound &operand : operands)
    if (microBatch < 0)
      microBatch = operand.microBatch;
  SmallVector<Value> values;
  SmallVector<uintptr_t> key = {reinterpret_cast<uintptr_t>(op)};
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
  Instance &instance = findInstance(key, isNew);
  if (isNew) {
    // What was built before belongs to other ops.
    if (failed(graph.verifyNewOps()) || failed(build(values, instance.results)))
      return failure();
    for (Operation &built : graph.getNewOps()) {
      built.setLoc(op->getLoc());
      instance.ops.push_back(&built);
    }
    if (failed(check(graph.verifyNewOps())))
      return failure();
  }
  extend(instance, where, microBatch);
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
                                        ArrayRef<int64_t> microBatches) {
  MLIRContext *context = builder.getContext();
  SmallVector<tv::AxisSetAttr> sets;
  sets.push_back(
      tv::AxisSetAttr::get(context, builder.getStringAttr("device"),
                           toIntervals(SmallVector<int64_t>(where))));
  if (!microBatches.empty())
    sets.push_back(
        tv::AxisSetAttr::get(context, builder.getStringAttr("mb"),
                             toIntervals(SmallVector<int64_t>(microBatches))));
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
  for (Instance &instance : instances) {
    ArrayRef<int64_t> microBatches;
    if (!instance.allMicroBatches) {
      llvm::sort(instance.microBatches);
      instance.microBatches.erase(llvm::unique(instance.microBatches),
                                  instance.microBatches.end());
      if (static_cast<int64_t>(instance.microBatches.size()) != microBatchCount)
        microBatches = instance.microBatches;
    }
    if (!domain || lastDevices != ArrayRef(instance.devices) ||
        lastMicroBatches != microBatches)
      domain = getDomain(instance.devices, microBatches);
    lastDevices = instance.devices;
    lastMicroBatches = microBatches;
    for (Operation *op : instance.ops)
      op->setAttr(name, domain);
  }
}
