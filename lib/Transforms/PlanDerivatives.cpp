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

/// The ops of a segment that lead from the inputs of a save to its outputs, in
/// order. What is drawn is given.
static SmallVector<Operation *> opsBetween(tv::SaveOp save) {
  llvm::SmallDenseSet<Value> stop(save.getInputs().begin(),
                                  save.getInputs().end());
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> worklist(save.getOutputs());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isa<tv::RandomOp>(op) || stop.contains(value) ||
        !found.insert(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
  }
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return ops;
}

LogicalResult
PlanExecution::computeAgain(Device &device, tv::SaveOp save,
                            ArrayRef<Operation *> ops,
                            llvm::SmallDenseMap<Value, Bound> &copies) {
  for (Operation *op : ops) {
    if (!llvm::any_of(op->getOperands(),
                      [&](Value value) { return copies.contains(value); }))
      continue;
    if (op->getNumResults() != 1 ||
        !isa<tv::SemanticsOpInterface, tv::CompositionOpInterface>(op))
      return op->emitOpError("has no derivative");
    SmallVector<Bound> operands = lookup(device, op->getOperands());
    for (auto [operand, bound] : llvm::zip_equal(op->getOperands(), operands))
      if (auto copy = copies.find(operand); copy != copies.end())
        bound = copy->second;
    FailureOr<Bound> result = compute(device, op, operands);
    if (failed(result))
      return failure();
    if (Trace *written = device.frame->written)
      written->instances.back().first = save;
    copies[op->getResult(0)] = *result;
  }
  return success();
}

/// What is given to the ops of a save: its inputs, what else is read, and those
/// of its outputs that they do not compute.
static llvm::SmallSetVector<Value, 8> listGiven(tv::SaveOp save,
                                                ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<Value, 8> given(save.getInputs().begin(),
                                       save.getInputs().end());
  auto addIfGiven = [&](Value value) {
    if (!llvm::is_contained(ops, value.getDefiningOp()))
      given.insert(value);
  };
  for (Operation *op : ops)
    llvm::for_each(op->getOperands(), addIfGiven);
  llvm::for_each(save.getOutputs(), addIfGiven);
  return given;
}

/// Whether the gradient of a value is a tensor of numbers.
static bool hasGradient(Value value) {
  return isa<FloatType>(getRealType(value.getType()).getElementType());
}

int64_t PlanExecution::findMicroBatch(Device &device, tv::SaveOp save,
                                      ArrayRef<Value> given) {
  for (ValueRange values : {ValueRange(save.getOutputs()), ValueRange(given)})
    for (Value value : values)
      if (Bound bound = lookup(device, value); bound.microBatch >= 0)
        return bound.microBatch;
  return -1;
}

bool PlanExecution::isHidden(Device &device, tv::SaveOp save,
                             ArrayRef<Operation *> ops, ArrayRef<Value> given) {
  llvm::SmallDenseSet<Value> known;
  for (Value value : given)
    known.insert(lookup(device, value).value);
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      Value value = lookup(device, result).value;
      // What passes an operand on is no op of the graph.
      bool isPassedOn = llvm::any_of(op->getOperands(), [&](Value operand) {
        return lookup(device, operand).value == value;
      });
      if (!isPassedOn && known.contains(value))
        return true;
    }
  int64_t microBatch = findMicroBatch(device, save, given);
  return llvm::any_of(
      llvm::concat<const Value>(given, SmallVector<Value>(save.getOutputs())),
      [&](Value value) {
        int64_t own = lookup(device, value).microBatch;
        return own >= 0 && own != microBatch;
      });
}

SmallVector<SmallVector<std::pair<Value, Bound>, 1>>
PlanExecution::listAlike(Device &device, ArrayRef<Value> given) {
  // That which is one graph value of one micro-batch; what is of none is that
  // of any.
  llvm::SmallMapVector<std::pair<Value, int64_t>, SmallVector<Value, 1>, 8>
      alike;
  llvm::SmallDenseSet<Value> ofNone;
  for (Value value : given)
    if (Bound bound = lookup(device, value); bound.microBatch < 0)
      ofNone.insert(bound.value);
  for (Value value : given) {
    Bound bound = lookup(device, value);
    if (ofNone.contains(bound.value))
      bound.microBatch = -1;
    if (hasGradient(value))
      alike[{bound.value, bound.microBatch}].push_back(value);
  }
  SmallVector<SmallVector<std::pair<Value, Bound>, 1>> lists;
  for (auto &[key, values] : alike) {
    if (values.size() < 2)
      continue;
    // The first one stays.
    auto &list = lists.emplace_back();
    for (Value other : ArrayRef(values).drop_front())
      list.push_back({other, Bound{key.first, key.second}});
  }
  return lists;
}

FailureOr<llvm::SmallDenseMap<Value, Bound>>
PlanExecution::tellApart(Device &device, tv::SaveOp save) {
  SmallVector<Operation *> ops = opsBetween(save);
  llvm::SmallSetVector<Value, 8> given = listGiven(save, ops);
  SmallVector<SmallVector<std::pair<Value, Bound>, 1>> lists;
  llvm::SmallDenseMap<Value, Bound> apart;
  if (isHidden(device, save, ops, given.getArrayRef())) {
    // All inputs are of this save alone then, and so is what is made of them.
    // All is of one micro-batch: nothing between is moved to another one.
    int64_t microBatch = findMicroBatch(device, save, given.getArrayRef());
    SmallVector<std::pair<Value, Bound>, 1> inputs;
    for (Value value : given) {
      Bound bound = lookup(device, value);
      if (bound.microBatch >= 0 && bound.microBatch != microBatch)
        apart[value] = bound = moveTo(bound, microBatch, save, device.number);
      if (llvm::is_contained(save.getInputs(), value) && hasGradient(value))
        inputs.push_back({value, bound});
    }
    if (!inputs.empty())
      lists.push_back(std::move(inputs));
  } else {
    lists = listAlike(device, given.getArrayRef());
  }
  auto copyAll = [&](ArrayRef<Value> values,
                     SmallVectorImpl<Value> &results) -> LogicalResult {
    for (Value value : values)
      results.push_back(tv::CopyOp::create(
          builder, save.getLoc(), value.getType(), value, tv::DomainAttr()));
    return success();
  };
  for (ArrayRef<std::pair<Value, Bound>> list : lists) {
    FailureOr<SmallVector<Bound>> results =
        instantiate(save, copies, device.number,
                    llvm::to_vector(llvm::make_second_range(list)), copyAll);
    if (failed(results))
      return failure();
    if (Trace *written = device.frame->written)
      written->instances.push_back({save, lastInstance});
    for (auto [entry, copy] : llvm::zip_equal(list, *results))
      apart[entry.first] = copy;
  }
  if (!apart.empty() && failed(computeAgain(device, save, ops, apart)))
    return failure();
  return apart;
}

PlanExecution::Step PlanExecution::executeSave(Device &device,
                                               tv::SaveOp save) {
  int64_t execution = device.frame->call.getInstance();
  Trace *written = device.frame->written;
  bool wasSaved = device.saved.count({execution, save.getOp()}) ||
                  (written && written->saved.contains(save.getOp()));
  if (wasSaved) {
    malformation = "an op runs twice in one execution";
    save.emitOpError("runs twice in execution ") << execution;
    return Step::Failed;
  }
  FailureOr<llvm::SmallDenseMap<Value, Bound>> apart = tellApart(device, save);
  if (failed(apart))
    return Step::Failed;
  auto find = [&](Value value) {
    auto found = apart->find(value);
    return found == apart->end() ? lookup(device, value) : found->second;
  };
  SavedValues saved = {llvm::map_to_vector(save.getInputs(), find),
                       llvm::map_to_vector(save.getOutputs(), find),
                       {}};
  for (Value value : listGiven(save, opsBetween(save)))
    if (!llvm::is_contained(save.getInputs(), value))
      saved.others.push_back(find(value));
  if (written)
    written->saved.try_emplace(save.getOp(), std::move(saved));
  else
    device.saved.try_emplace({execution, save.getOp()}, std::move(saved));
  return Step::Done;
}

/// The ops of the graph that lead from `inputs` to `outputs`, in order, and not
/// to what else is `given`.
static SmallVector<Operation *> opsBetween(ArrayRef<Value> inputs,
                                           ArrayRef<Value> outputs,
                                           ArrayRef<Bound> given) {
  DenseValueSet stop(inputs.begin(), inputs.end());
  for (Bound bound : given)
    stop.insert(bound.value);
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

LogicalResult PlanExecution::buildBackward(tv::BackwardOp op, size_t inputCount,
                                           ArrayRef<Value> values,
                                           ArrayRef<Bound> others,
                                           SmallVectorImpl<Value> &results) {
  size_t gradientCount = op.getGradients().size();
  ArrayRef<Value> inputs = values.take_front(inputCount);
  ArrayRef<Value> given = values.take_back(gradientCount);
  ArrayRef<Value> produced =
      values.drop_front(inputCount).drop_back(gradientCount);
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
  FailureOr<SmallVector<Value>> all =
      buildReverse(builder, op.getLoc(),
                   opsBetween(SmallVector<Value>(inputs),
                              SmallVector<Value>(produced), others),
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
    // The plan may say another type than the operand's, as autograd casts.
    if (gradient.getType() != type && isa<FloatType>(type.getElementType()))
      gradient = tv::CopyOp::create(builder, op.getLoc(), type, gradient,
                                    tv::DomainAttr());
    results.push_back(gradient);
  }
  return success();
}

PlanExecution::Step PlanExecution::executeBackward(Device &device,
                                                   tv::BackwardOp op) {
  std::optional<int64_t> mirror = device.frame->call.getMirror();
  std::optional<SavedValues> found =
      mirror ? findSaved(device, *mirror, op.getForward()) : std::nullopt;
  if (!found) {
    malformation = "a backward op runs before its forward op";
    op.emitOpError("runs before its forward op (cell ")
        << op.getForward() << ") in the execution that it mirrors";
    return Step::Failed;
  }
  const SavedValues &saved = *found;
  // Inputs, outputs, and gradients: the micro-batch is that of the saved
  // values.
  SmallVector<Bound> operands = saved.inputs;
  llvm::append_range(operands, saved.outputs);
  llvm::append_range(operands, lookup(device, op.getGradients()));
  size_t inputCount = saved.inputs.size();
  for (int64_t number : op.getWrt())
    if (number < 0 || number >= static_cast<int64_t>(inputCount)) {
      op.emitOpError("has no operand ") << number;
      return Step::Failed;
    }
  auto build = [&](ArrayRef<Value> values, SmallVectorImpl<Value> &results) {
    return buildBackward(op, inputCount, values, saved.others, results);
  };
  // All that a derivative depends on but its operands and what leads to them.
  SmallVector<uintptr_t> function = {
      derivative, inputCount, op.getGradients().size(), saved.others.size()};
  for (const Bound &other : saved.others)
    function.push_back(
        reinterpret_cast<uintptr_t>(other.value.getAsOpaquePointer()));
  llvm::append_range(function, op.getOutputs());
  llvm::append_range(function, op.getWrt());
  for (Type type : op->getResultTypes())
    function.push_back(reinterpret_cast<uintptr_t>(type.getAsOpaquePointer()));
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, function, device.number, operands, build);
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
