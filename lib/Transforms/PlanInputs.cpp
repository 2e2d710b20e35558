//===- PlanInputs.cpp - what a plan reads and nobody computes -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data, draws of random ops and the seed of the backward are instances like
// those of ops: their domain is where they are read.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

using namespace mlir;
using namespace verify;

Value PlanExecution::getSeed(Device &device, Operation *op) {
  // Every seed of one type is the same value, in whichever call it occurs.
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isNew;
  Instance &instance = findInstance(
      reinterpret_cast<uintptr_t>(type.getAsOpaquePointer()), device.number,
      /*source=*/nullptr, isNew);
  extend(instance, device.number, /*source=*/nullptr, -1);
  if (isNew) {
    Value seed = tv::ConstantOp::create(
        builder, op->getLoc(), type,
        DenseElementsAttr::get(
            type, builder.getFloatAttr(type.getElementType(), 1.0)),
        tv::DomainAttr());
    instance.ops.push_back(seed.getDefiningOp());
    instance.results.push_back(seed);
  }
  return instance.results.front();
}

void PlanExecution::placeInput(Value value, Device &device) {
  // One value for all devices that hold the same piece.
  bool isNew;
  Instance &instance = findInstance(
      reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()), device.number,
      /*source=*/nullptr, isNew, /*anywhere=*/true);
  // Parts of a tensor may be reshaped; the tensor itself is no op of the plan.
  Operation *op = value.getDefiningOp();
  while (isNew && op && !isa<tv::InputOp>(op)) {
    instance.ops.push_back(op);
    op =
        isa<tv::DistributeOp>(op) ? nullptr : op->getOperand(0).getDefiningOp();
  }
  extend(instance, device.number, /*source=*/nullptr, -1);
}

PlanExecution::Step PlanExecution::executeLoad(Device &device,
                                               tv::LoadDataOp op) {
  int64_t execution = device.loads[op.getCell()]++;
  if (isReference && execution != 0) {
    op.emitOpError("loads another batch, and the reference has one");
    return Step::Failed;
  }
  int64_t microBatch = isReference ? -1 : execution;
  for (unsigned number = 0; number < op.getNumResults(); ++number) {
    Value value = boundary.load(op, number);
    if (!value)
      return Step::Failed;
    placeInput(value, device);
    valuesOf(device)[op.getResult(number)] = {value, microBatch};
  }
  return Step::Done;
}

PlanExecution::Step PlanExecution::executeRandom(Device &device,
                                                 tv::RandomOp op) {
  Value value = boundary.random(op, device.number);
  if (!value)
    return Step::Failed;
  placeInput(value, device);
  bind(device, op, {value, lookup(device, op.getLike()).microBatch});
  return Step::Done;
}
