//===- CompareBackward.cpp - backward segments and autograd ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that is made of a plan has forward segments only, and autograd runs
// their backward: that of each op in reverse order, where gradients of what
// several ops take add up. A backward segment says the same where it has the
// mirrors of what is executed forward in reverse order, each on the gradients
// of that op's tensors, and where a tensor has one gradient as long as its name
// stands for it, and no gradient is of two tensors.
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

BackwardComparison::BackwardComparison(const PlanFile &plan,
                                       const Node &forward,
                                       const Node &backward)
    : plan(plan), forward(forward), backward(backward) {}

std::optional<RuntimeDifference> BackwardComparison::find() {
  compareOrder() && walk();
  return difference;
}

int64_t BackwardComparison::getGradient(const SubTensor &tensor) const {
  return tensor.gradient == none ? -1 : plan.subTensors[tensor.gradient].id;
}

bool BackwardComparison::compareOrder() {
  const Index *next = backward.nodes.begin();
  for (Index index : llvm::reverse(forward.nodes)) {
    const Node &op = plan.nodes[index];
    if (op.mirror == none)
      continue;
    if (next == backward.nodes.end() || *next != op.mirror) {
      if (next != backward.nodes.end() && plan.nodes[*next].mirror == none)
        break;
      return note(op, "autograd runs the backward of what is executed forward, "
                      "in reverse order, and the plan does not");
    }
    ++next;
  }
  return next == backward.nodes.end() ||
         note(plan.nodes[*next],
              "autograd does not run this, which is the backward of nothing "
              "that its segment executes forward");
}

bool BackwardComparison::areGradients(ArrayRef<Argument> gradients,
                                      ArrayRef<Argument> tensors) const {
  size_t next = 0;
  for (const Argument &argument : tensors) {
    if (!argument.isTensor)
      continue;
    int64_t gradient = getGradient(get(argument));
    if (gradient < 0)
      continue;
    if (next == gradients.size() || !gradients[next].isTensor ||
        plan.subTensors[gradients[next].tensor].id != gradient)
      return false;
    ++next;
  }
  return next == gradients.size();
}

bool BackwardComparison::compareMirror(const Node &op) {
  const Node &mirror = plan.nodes[op.mirror];
  if (op.kind == NodeKind::Forward && detachesResults(op))
    return note(op, "autograd passes no gradient through this op, for which "
                    "the plan has a backward");
  if (!areGradients(mirror.inputs, op.outputs) ||
      !areGradients(mirror.outputs, op.inputs))
    return note(op, "its backward takes or gives other tensors than the "
                    "gradients of what it gives and takes, with which autograd "
                    "runs it");
  if (op.kind != NodeKind::Adapter)
    return true;
  if (!op.isForward || mirror.isForward || !op.isDifferentiable ||
      !mirror.isDifferentiable || op.isCustom != mirror.isCustom)
    return note(op, "this adapter and its backward are not marked as "
                    "differentiable in the same way, and autograd does not run "
                    "the latter");
  // The code made of a custom adapter has the primitives of its mirror.
  if (!op.isCustom &&
      !llvm::equal(op.primitives, mirror.primitives, haveEqualTransposes))
    return note(op, "the backward of this adapter is not that of the "
                    "primitives that are executed forward, which is what "
                    "autograd runs");
  return true;
}

bool BackwardComparison::passesGradient(const Node &adapter) const {
  return adapter.isCustom
             ? adapter.mirror != none &&
                   llvm::all_of(plan.nodes[adapter.mirror].primitives,
                                isIdentity)
             : llvm::all_of(adapter.primitives, isIdentityTransposed);
}

bool BackwardComparison::take(const SubTensor &tensor, const Node &op) {
  int64_t gradient = getGradient(tensor);
  if (tensor.isParameter) {
    // Its gradients have names of their own, and are added up by number.
    gradient = std::min<int64_t>(gradient, 0);
    if (gradient < 0 && tensor.requiresGradient)
      return note(op, "autograd gives this parameter a gradient, and the plan "
                      "does not");
  }
  auto [found, isNew] = bound.try_emplace(tensor.id, Bound{gradient});
  if (!isNew && found->second.isData) {
    if (gradient < 0 ||
        (!gradients.contains(gradient) &&
         dataGradients.try_emplace(gradient, tensor.id).first->second ==
             tensor.id))
      return true;
    return note(op, "the plan adds up the gradients of two tensors in one");
  }
  if (!isNew && (found->second.gradient != gradient || found->second.isOver))
    return note(op, "autograd adds up all gradients of what it takes, and the "
                    "plan has several");
  return true;
}

bool BackwardComparison::give(const SubTensor &tensor, const Node &op,
                              const SubTensor *before) {
  int64_t gradient = getGradient(tensor);
  bool isInPlace = before && before->id == tensor.id;
  bound[tensor.id] = {gradient, /*isOver=*/false,
                      /*replaced=*/isInPlace ? getGradient(*before) : -1};
  bool isOfData = dataGradients.contains(gradient);
  if (gradient < 0 || (!isOfData && gradients.insert(gradient).second))
    return true;
  if (isOfData || !before || getGradient(*before) != gradient)
    return note(op, "the plan adds up the gradients of two tensors in one");
  // An adapter whose backward is in place: what is added to the gradient of its
  // operand is so before or after, which only an identity does not tell apart.
  if (!isInPlace && !passesGradient(op))
    bound[before->id].isOver = true;
  return true;
}

bool BackwardComparison::visit(const Node &op) {
  const SubTensor *before = nullptr;
  for (const Argument &input : op.inputs)
    if (input.isTensor && op.kind == NodeKind::Adapter)
      before = &get(input);
  if (op.mirror == none && !checkWithoutMirror(op))
    return false;
  if (op.mirror != none && !compareMirror(op))
    return false;
  if (op.mirror != none)
    for (const Argument &input : op.inputs)
      if (input.isTensor && !take(get(input), op))
        return false;
  return llvm::all_of(op.outputs, [&](const Argument &output) {
    return !output.isTensor || give(get(output), op, before);
  });
}

bool BackwardComparison::isUnread(const Node &op) {
  SmallVector<const Argument *> worklist;
  auto note = [&](const Argument &argument) { worklist.push_back(&argument); };
  if (read.empty()) {
    llvm::for_each(forward.outputs, note);
    for (Index index : forward.nodes) {
      llvm::for_each(plan.nodes[index].inputs, note);
      for (const KeywordArgument &keyword : plan.nodes[index].keywords)
        note(keyword.value);
    }
  }
  while (!worklist.empty()) {
    const Argument &argument = *worklist.pop_back_val();
    if (argument.isTensor)
      read.insert(get(argument).id);
    else
      llvm::for_each(argument.getElements(), note);
  }
  return llvm::none_of(op.outputs, [&](const Argument &output) {
    if (!output.isTensor)
      return false;
    StringRef type = get(output).elementType;
    bool isWhole = type == "bool" || type.starts_with("int");
    return !isWhole && read.contains(get(output).id);
  });
}

bool BackwardComparison::checkWithoutMirror(const Node &op) {
  bool isAdapter = op.kind == NodeKind::Adapter;
  if (isAdapter && op.isDifferentiable)
    return note(op, "autograd runs the backward of this adapter, which the "
                    "plan does not have");
  for (const Argument &output : op.outputs)
    if (output.isTensor && getGradient(get(output)) >= 0)
      return note(op, isAdapter ? "no gradient passes through this adapter, "
                                  "which is not differentiable"
                                : "autograd runs the backward of this op, "
                                  "which the plan does not have");
  // Autograd comes to what something was computed of, integers apart.
  if (isAdapter ? llvm::all_of(op.primitives, detaches)
                : stopsGradients(op) || isUnread(op))
    return true;
  bool isFirst = true;
  for (const Argument &input : op.inputs) {
    if (!input.isTensor)
      continue;
    const SubTensor &tensor = get(input);
    auto found = bound.find(tensor.id);
    // Of a tensor whose shape or type is taken autograd asks nothing.
    if (!std::exchange(isFirst, false) && !isAdapter && ignoresOthers(op))
      continue;
    if (getGradient(tensor) >= 0 ||
        (tensor.isParameter && tensor.requiresGradient) ||
        (found != bound.end() && found->second.gradient >= 0 &&
         !found->second.isData))
      return note(op, "autograd runs the backward of this op, which the plan "
                      "does not have");
    bound.try_emplace(tensor.id, Bound{-1});
  }
  return true;
}

bool BackwardComparison::walk() {
  llvm::SmallDenseSet<int64_t> given;
  for (const Argument &output : backward.outputs)
    if (output.isTensor)
      given.insert(get(output).id);
  for (const Argument &input : forward.inputs) {
    if (!input.isTensor || get(input).isParameter)
      continue;
    auto [known, isNew] =
        bound.try_emplace(get(input).id, Bound{getGradient(get(input))});
    known->second.isData = !given.contains(getGradient(get(input)));
    if (isNew && !known->second.isData &&
        !gradients.insert(getGradient(get(input))).second)
      return note(forward, "the plan adds up the gradients of two tensors in "
                           "one");
  }
  for (Index index : forward.nodes)
    if (!visit(plan.nodes[index]))
      return false;
  for (const Argument &output : forward.outputs) {
    if (!output.isTensor)
      continue;
    const SubTensor &tensor = get(output);
    int64_t gradient = getGradient(tensor);
    auto found = bound.find(tensor.id);
    if (gradient < 0 || found == bound.end() || found->second.isData ||
        (found->second.gradient == gradient && !found->second.isOver))
      continue;
    if (found->second.replaced != gradient)
      return note(forward, "autograd adds up all gradients of what it gives, "
                           "and the plan has several");
    replaced = &tensor;
  }
  return true;
}
