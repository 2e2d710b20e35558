//===- PlanBackward.cpp - backward ops on numbers -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backward op runs the stated derivatives of the ops between the inputs and
// the outputs of its forward op, on the tensors that the forward execution had.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"
#include "Verify/Interpreter/PlanInterpreter.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace verify;

ArrayRef<Operation *> PlanInterpreter::getCone(tv::SaveOp op) {
  auto [found, isNew] = cones.try_emplace(op);
  if (!isNew)
    return found->second;
  llvm::SmallDenseSet<Value> stop;
  stop.insert(op.getInputs().begin(), op.getInputs().end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> ops;
  SmallVector<Value> worklist(op.getOutputs());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *producer = value.getDefiningOp();
    // Draws do not depend on what they are like; they come from outside.
    if (!producer || isa<tv::RandomOp>(producer) || stop.contains(value) ||
        !seen.insert(producer).second)
      continue;
    ops.push_back(producer);
    llvm::append_range(worklist, producer->getOperands());
  }
  llvm::sort(ops, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return found->second = std::move(ops);
}

SmallVector<Value> PlanInterpreter::getConeValues(tv::SaveOp op) {
  llvm::SetVector<Value> values;
  values.insert(op->operand_begin(), op->operand_end());
  for (Operation *inner : getCone(op)) {
    values.insert(inner->operand_begin(), inner->operand_end());
    values.insert(inner->result_begin(), inner->result_end());
  }
  return values.takeVector();
}

PlanInterpreter::Step PlanInterpreter::executeSave(Process &process,
                                                   tv::SaveOp op) {
  int64_t instance = process.frame->call.getInstance();
  auto [saved, isNew] = process.saved.try_emplace({instance, op.getOp()});
  if (!isNew) {
    op.emitOpError("runs twice in execution ") << instance;
    return Step::Failed;
  }
  saved->second.op = op;
  // What no execution mirrors is not needed.
  Block *program = process.frame->call->getBlock();
  if (!lastMirrors.count({program, instance}))
    return Step::Done;
  for (Value value : getConeValues(op))
    saved->second.values[value] = lookup(process, value);
  return Step::Done;
}

/// What an op that is differentiated takes and its cone does not make, some
/// more than once: first its inputs.
static SmallVector<Value> listArguments(tv::SaveOp save,
                                        ArrayRef<Operation *> cone) {
  SmallVector<Value> arguments(save.getInputs());
  llvm::SmallDenseSet<Value> made;
  for (Operation *inner : cone)
    made.insert(inner->result_begin(), inner->result_end());
  auto addUnlessMade = [&](ValueRange values) {
    llvm::copy_if(values, std::back_inserter(arguments),
                  [&](Value value) { return !made.contains(value); });
  };
  for (Operation *inner : cone)
    addUnlessMade(inner->getOperands());
  addUnlessMade(save.getOutputs());
  return arguments;
}

void PlanInterpreter::keepNeeded(Backward &backward, Operation *last) {
  Block &block = backward.block;
  llvm::DenseSet<Value> needed(backward.results.begin(),
                               backward.results.end());
  for (Operation *inner = block.empty() ? nullptr : &block.back();
       inner && inner != last; inner = inner->getPrevNode())
    if (llvm::any_of(inner->getResults(),
                     [&](Value value) { return needed.contains(value); })) {
      backward.ops.push_back(inner);
      needed.insert(inner->operand_begin(), inner->operand_end());
    }
  std::reverse(backward.ops.begin(), backward.ops.end());
}

LogicalResult PlanInterpreter::buildBackward(tv::BackwardOp op, tv::SaveOp save,
                                             Backward &backward) {
  Block &block = backward.block;
  IRMapping mapping;
  ArrayRef<Operation *> cone = getCone(save);
  auto addArgument = [&](Value value) {
    if (mapping.contains(value))
      return;
    mapping.map(value, block.addArgument(value.getType(), value.getLoc()));
    backward.arguments.push_back(value);
  };
  llvm::for_each(listArguments(save, cone), addArgument);
  OpBuilder builder(plan.getContext());
  builder.setInsertionPointToEnd(&block);
  SmallVector<Operation *> ops;
  for (Operation *inner : cone) {
    ops.push_back(builder.clone(*inner, mapping));
    for (auto [from, to] :
         llvm::zip(inner->getResults(), ops.back()->getResults()))
      backward.forward.emplace_back(from, to);
  }
  SmallVector<Value> produced, outputGradients(save.getOutputs().size());
  for (Value output : save.getOutputs())
    produced.push_back(mapping.lookup(output));
  for (auto [number, gradient] :
       llvm::zip(op.getOutputs(), op.getGradients())) {
    if (number < 0 || number >= static_cast<int64_t>(produced.size()))
      return op.emitOpError("has no result ") << number;
    auto type = cast<RankedTensorType>(gradient.getType());
    if (type.getShape() !=
        cast<RankedTensorType>(produced[number].getType()).getShape())
      return op.emitOpError(
          "takes a gradient of another shape than the forward result");
    backward.gradients.push_back(block.addArgument(type, op.getLoc()));
    outputGradients[number] = backward.gradients.back();
  }
  SmallVector<Value> wrt;
  for (int64_t number : op.getWrt()) {
    if (number < 0 || number >= static_cast<int64_t>(save.getInputs().size()))
      return op.emitOpError("has no operand ") << number;
    Value input = mapping.lookup(save.getInputs()[number]);
    if (llvm::is_contained(wrt, input))
      return op.emitOpError("needs two gradients of one value");
    wrt.push_back(input);
  }
  Operation *last = block.empty() ? nullptr : &block.back();
  FailureOr<SmallVector<Value>> results =
      buildReverse(builder, op.getLoc(), ops, wrt, produced, outputGradients);
  if (failed(results))
    return failure();
  backward.results = std::move(*results);
  // Derivatives may be written with compositions.
  for (Operation *inner = last ? last->getNextNode()
                               : (block.empty() ? nullptr : &block.front());
       inner; inner = inner->getNextNode())
    if (isa<tv::CompositionOpInterface>(inner))
      return inner->emitOpError("in a derivative is not executed");
  keepNeeded(backward, last);
  return success();
}

FailureOr<PlanInterpreter::Backward *>
PlanInterpreter::getBackward(tv::BackwardOp op, tv::SaveOp save) {
  std::unique_ptr<Backward> &backward = backwards[{op, save}];
  if (!backward) {
    backward = std::make_unique<Backward>();
    if (failed(buildBackward(op, save, *backward)))
      return failure();
  }
  return backward.get();
}

PlanInterpreter::Step PlanInterpreter::executeBackward(Process &process,
                                                       tv::BackwardOp op) {
  std::optional<int64_t> mirror = process.frame->call.getMirror();
  auto found =
      mirror
          ? process.saved.find({static_cast<int64_t>(*mirror), op.getForward()})
          : process.saved.end();
  if (found == process.saved.end()) {
    op.emitOpError("runs before its forward op (cell ")
        << op.getForward() << ") in the execution that it mirrors";
    return Step::Failed;
  }
  Saved &saved = found->second;
  FailureOr<Backward *> backward = getBackward(op, saved.op);
  if (failed(backward))
    return Step::Failed;
  llvm::DenseMap<Value, TensorRef> values;
  int64_t microBatch = -1;
  for (auto [value, argument] :
       llvm::zip((*backward)->arguments, (*backward)->block.getArguments())) {
    Held held = saved.values.lookup(value);
    if (microBatch < 0)
      microBatch = held.microBatch;
    values[argument] = held.tensor;
  }
  for (auto [value, copy] : (*backward)->forward)
    values[copy] = saved.values.lookup(value).tensor;
  for (auto [argument, gradient] :
       llvm::zip((*backward)->gradients, op.getGradients())) {
    Held held = lookup(process, gradient);
    if (microBatch < 0)
      microBatch = held.microBatch;
    values[argument] = held.tensor;
  }
  for (Operation *inner : (*backward)->ops) {
    SmallVector<TensorRef> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(values.lookup(operand));
    TensorRef result = executor.execute(inner, operands);
    if (!result)
      return Step::Failed;
    values[inner->getResult(0)] = result;
  }
  for (auto [result, gradient] :
       llvm::zip(op.getResults(), (*backward)->results)) {
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    TensorRef tensor =
        gradient
            ? values.lookup(gradient)
            : workspace.fill(shape, workspace.algebra.rational(0), op.getLoc());
    if (bind(process, result, {tensor, microBatch}) != Step::Done)
      return Step::Failed;
  }
  return Step::Done;
}
