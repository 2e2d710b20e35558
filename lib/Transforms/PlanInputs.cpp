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
  if (!isReference && execution >= microBatchCount) {
    op.emitOpError("loads more than ")
        << microBatchCount
        << (microBatchCount == 1 ? " micro-batch" : " micro-batches")
        << " on device " << device.number;
    return Step::Failed;
  }
  int64_t microBatch = isReference ? -1 : execution;
  for (unsigned number = 0; number < op.getNumResults(); ++number) {
    Value value = boundary.load(op, number);
    if (!value)
      return Step::Failed;
    placeInput(value, device);
    FailureOr<Bound> bound = reorder(device, op, {value, microBatch});
    if (failed(bound))
      return Step::Failed;
    valuesOf(device)[op.getResult(number)] = *bound;
  }
  return Step::Done;
}

/// The dimension that is divided by micro-batches; none of what all have.
static std::optional<int64_t> findBatchDimension(tv::LineageAttr lineage) {
  for (auto [number, factors] : llvm::enumerate(lineage.getDimensions()))
    for (auto factor : factors.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis() && factor.getAxis().getValue() == "mb")
        return static_cast<int64_t>(number);
  return std::nullopt;
}

FailureOr<Bound> PlanExecution::reorder(Device &device, tv::LoadDataOp op,
                                        Bound bound) {
  ArrayRef<int64_t> loaded;
  if (fold)
    loaded = fold->getLoadOrders().getLoaded(device.number);
  const auto *place = llvm::find(loaded, bound.microBatch);
  if (place == loaded.end())
    return bound;
  bound.microBatch = place - loaded.begin();
  auto part = bound.value.getDefiningOp<tv::DistributeOp>();
  if (!part)
    return op.emitOpError("loads what is no part of an input");
  std::optional<int64_t> dimension = findBatchDimension(part.getLineage());
  if (!dimension)
    return bound;
  SmallVector<uintptr_t> key = {
      reordered, reinterpret_cast<uintptr_t>(bound.value.getAsOpaquePointer())};
  for (int64_t each : loaded)
    key.push_back(static_cast<uintptr_t>(each));
  bool isNew;
  Instance &instance =
      findInstance(key, device.number, /*source=*/nullptr, isNew);
  extend(instance, device.number, /*source=*/nullptr, -1);
  if (isNew) {
    if (failed(graph.verifyNewOps()) ||
        failed(buildReordered(op, bound.value, *dimension, loaded,
                              instance.results)))
      return failure();
    for (Operation &built : graph.getNewOps())
      instance.ops.push_back(&built);
    if (failed(checkNewOps()))
      return failure();
  }
  bound.value = instance.results.front();
  return bound;
}

LogicalResult PlanExecution::buildReordered(tv::LoadDataOp op, Value value,
                                            int64_t dimension,
                                            ArrayRef<int64_t> loaded,
                                            SmallVectorImpl<Value> &results) {
  auto type = cast<RankedTensorType>(value.getType());
  auto count = static_cast<int64_t>(loaded.size());
  int64_t size;
  if (llvm::MulOverflow(type.getDimSize(dimension), count, size))
    return op.emitOpError("loads what cannot be put one after the other");
  auto resize = [&](int64_t parts) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dimension] *= parts;
    return RankedTensorType::get(shape, type.getElementType());
  };
  StringAttr axis = builder.getStringAttr("mb");
  Value whole =
      tv::AllGatherOp::create(builder, op.getLoc(), resize(count), value,
                              dimension, axis, tv::DomainAttr());
  SmallVector<Value> runs;
  for (int64_t first = 0, next; first < count; first = next) {
    next = first + 1;
    while (next < count && loaded[next] == loaded[next - 1] + 1)
      ++next;
    int64_t start = loaded[first] * type.getDimSize(dimension);
    RankedTensorType run = resize(next - first);
    runs.push_back(tv::SliceOp::create(
        builder, op.getLoc(), run, whole, dimension, start,
        start + run.getDimSize(dimension), tv::DomainAttr()));
  }
  Value joined =
      tv::AllGatherOp::create(builder, op.getLoc(), resize(count), runs,
                              dimension, StringAttr(), tv::DomainAttr());
  results.push_back(tv::AllSliceOp::create(builder, op.getLoc(), type, joined,
                                           dimension, axis, tv::DomainAttr()));
  return success();
}

/// Whether each micro-batch has another part of what is drawn; or of what is no
/// part that is known, may have.
static bool isDividedByMicroBatches(Value drawn) {
  // Parts may be reshaped.
  Operation *op = drawn.getDefiningOp();
  while (op && !isa<tv::InputOp, tv::DistributeOp>(op))
    op =
        op->getNumOperands() == 0 ? nullptr : op->getOperand(0).getDefiningOp();
  auto part = dyn_cast_or_null<tv::DistributeOp>(op);
  return !part || findBatchDimension(part.getLineage());
}

PlanExecution::Step PlanExecution::executeRandom(Device &device,
                                                 tv::RandomOp op) {
  Value value = boundary.random(op, device.number);
  if (!value)
    return Step::Failed;
  int64_t microBatch = lookup(device, op.getLike()).microBatch;
  if (!isReference && microBatch < 0 && isDividedByMicroBatches(value)) {
    // What is of no micro-batch, as a parameter or what nothing produces, is so
    // in an execution of one.
    if (device.frame)
      for (Value given : op->getBlock()->getArguments())
        if (microBatch < 0)
          microBatch = lookup(device, given).microBatch;
    if (microBatch < 0 && microBatchCount > 1) {
      op.emitOpError("draws what micro-batches divide, and which one it is for "
                     "does not show: what it is like is of none");
      return Step::Failed;
    }
    microBatch = std::max<int64_t>(microBatch, 0);
  }
  placeInput(value, device);
  bind(device, op, {value, microBatch});
  return Step::Done;
}
