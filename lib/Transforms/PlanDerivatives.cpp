//===- PlanDerivatives.cpp - what a plan differentiates -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A forward execution saves from which graph values to which an op leads; its
// backward builds the derivatives of the graph ops in between.
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;

PlanExecution::Step PlanExecution::executeSave(Device &device,
                                               tv::SaveOp save) {
  auto [saved, isNew] = device.saved.try_emplace(
      {device.frame->call.getInstance(), save.getOp()});
  if (!isNew) {
    malformation = "an op runs twice in one execution";
    save.emitOpError("runs twice in execution ")
        << device.frame->call.getInstance();
    return Step::Failed;
  }
  saved->second.inputs = lookup(device, save.getInputs());
  saved->second.outputs = lookup(device, save.getOutputs());
  if (Trace *written = device.frame->written)
    written->saved.try_emplace(save.getOp(), saved->second);
  return Step::Done;
}

/// The ops of the graph that lead from `inputs` to `outputs`, in order.
static SmallVector<Operation *> opsBetween(ArrayRef<Value> inputs,
                                           ArrayRef<Value> outputs) {
  llvm::DenseSet<Value> stop(inputs.begin(), inputs.end());
  llvm::SetVector<Operation *> found;
  SmallVector<Value> worklist(outputs);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (stop.contains(value) || !op || !found.insert(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
  }
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return ops;
}

PlanExecution::Step PlanExecution::executeBackward(Device &device,
                                                   tv::BackwardOp op) {
  std::optional<uint64_t> mirror = device.frame->call.getMirror();
  std::optional<Saved> found =
      mirror ? findSaved(device, *mirror, op.getForward()) : std::nullopt;
  if (!found) {
    malformation = "a backward op runs before its forward op";
    op.emitOpError("runs before its forward op (cell ")
        << op.getForward() << ") in the execution that it mirrors";
    return Step::Failed;
  }
  const Saved &saved = *found;
  SmallVector<Bound> operands = lookup(device, op.getGradients());
  size_t gradientCount = operands.size();
  // The micro-batch is that of the saved values.
  operands.insert(operands.begin(), saved.inputs.begin(), saved.inputs.end());
  operands.append(saved.outputs.begin(), saved.outputs.end());
  // Layout: inputs, gradients, outputs.
  size_t inputCount = saved.inputs.size();
  for (int64_t number : op.getWrt())
    if (number < 0 || number >= static_cast<int64_t>(inputCount)) {
      op.emitOpError("has no operand ") << number;
      return Step::Failed;
    }
  auto build = [&](ArrayRef<Value> values,
                   SmallVectorImpl<Value> &results) -> LogicalResult {
    ArrayRef<Value> inputs = values.take_front(inputCount);
    ArrayRef<Value> given = values.slice(inputCount, gradientCount);
    ArrayRef<Value> produced = values.drop_front(inputCount + gradientCount);
    SmallVector<Value> outputGradients(produced.size());
    for (auto [number, gradient] : llvm::zip(op.getOutputs(), given)) {
      if (number < 0 || number >= static_cast<int64_t>(produced.size()))
        return op.emitOpError("has no result ") << number;
      if (cast<RankedTensorType>(gradient.getType()).getShape() !=
          cast<RankedTensorType>(produced[number].getType()).getShape()) {
        malformation = "shapes do not fit";
        return op.emitOpError("takes a gradient of another shape than the "
                              "forward result");
      }
      outputGradients[number] = gradient;
    }
    SmallVector<Value> wrt;
    for (int64_t number : op.getWrt()) {
      if (llvm::is_contained(wrt, inputs[number]))
        return op.emitOpError("needs two gradients of one value");
      wrt.push_back(inputs[number]);
    }
    FailureOr<SmallVector<Value>> all = buildReverse(
        builder, op.getLoc(),
        opsBetween(SmallVector<Value>(inputs), SmallVector<Value>(produced)),
        wrt, produced, outputGradients);
    if (failed(all))
      return failure();
    for (auto [k, gradient] : llvm::enumerate(*all)) {
      auto type = cast<RankedTensorType>(op.getResult(k).getType());
      if (!gradient)
        gradient = tv::ConstantOp::create(
            builder, op.getLoc(), type,
            DenseElementsAttr::get(type,
                                   builder.getZeroAttr(type.getElementType())),
            tv::DomainAttr());
      if (cast<RankedTensorType>(gradient.getType()).getShape() !=
          type.getShape()) {
        malformation = "shapes do not fit";
        return op.emitOpError("declares a gradient of ")
               << type << ", the forward operand has " << gradient.getType();
      }
      results.push_back(gradient);
    }
    return success();
  };
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, device.number, operands, build);
  if (failed(results))
    return Step::Failed;
  if (Trace *written = device.frame->written) {
    written->instances.push_back({op, lastInstance});
    // Saved values are operands too, and may be of another micro-batch.
    written->isReplayable &= device.frame->hasMirror;
    for (const Bound &operand : operands)
      written->isReplayable &= operand.microBatch < 0 ||
                               operand.microBatch == device.frame->microBatch;
  }
  for (auto [k, bound] : llvm::enumerate(*results))
    bind(device, op, bound, k);
  return Step::Done;
}
