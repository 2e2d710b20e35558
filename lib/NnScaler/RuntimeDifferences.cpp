//===- RuntimeDifferences.cpp - what is executed otherwise ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan states more than its runtime looks at. The code that nnScaler makes of
// a plan (nnscaler/codegen) has forward segments only: autograd runs their
// backward, and where the plan states another one, or counts on the values of
// variables that something else was bound to, it is read otherwise than it is
// executed.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include <deque>

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
class DifferenceFinder {
public:
  explicit DifferenceFinder(const PlanFile &plan) : plan(plan) {}
  std::optional<RuntimeDifference> find() {
    check();
    return difference;
  }

private:
  bool note(const Node &node, StringRef reason) {
    difference = {&node, reason};
    return false;
  }
  bool hasGradient(ArrayRef<Argument> arguments) const {
    return llvm::any_of(arguments, [&](const Argument &argument) {
      return argument.isTensor &&
             plan.subTensors[argument.tensor].gradient != none;
    });
  }
  // Each returns false, having noted it, at a difference.
  bool check();
  bool checkAdapter(const Node &adapter, const Node &segment);
  bool checkBackwardAdapter(const Node &adapter, const Node &segment);
  bool checkProgram(const DeviceProgram &program);
  bool checkOutputs();
  bool checkParameters(const Node &op);

  /// What runs on one device, in order.
  struct Execution {
    /// By id, the cell whose value a variable has.
    llvm::DenseMap<int64_t, const Cell *> variables;
    llvm::DenseMap<int64_t, const Cell *> forwards; ///< by cell id
    /// By segment, the executions whose inputs are saved.
    llvm::DenseMap<Index, std::deque<int64_t>> saved;
  };
  bool checkBackward(const Cell &cell, Execution &execution);
  bool takesGradient(const Cell &cell) const;
  bool isBackward(const Node &segment) const;
  /// Whether the primitive returns the very tensor that it is given.
  static bool returnsOperand(const Primitive &primitive) {
    return isInPlace(primitive) &&
           (primitive.name == "MovePrim" || primitive.name == "BroadcastPrim" ||
            primitive.name == "RDScatterPrim");
  }

  const PlanFile &plan;
  std::optional<RuntimeDifference> difference;
  llvm::MapVector<Index, Index> segments;        ///< that an adapter is in
  llvm::DenseMap<int64_t, StringRef> parameters; ///< names, by tensor id
  // Outputs of the plan, by tensor id.
  llvm::DenseMap<int64_t, const Node *> givers;
  SmallVector<int64_t> missing; ///< on some device
};
} // namespace

bool DifferenceFinder::checkBackwardAdapter(const Node &adapter,
                                            const Node &segment) {
  auto found = segments.find(adapter.mirror);
  if (adapter.mirror == none || segment.mirror == none ||
      found == segments.end() || found->second != segment.mirror ||
      !plan.nodes[adapter.mirror].isForward)
    return note(adapter, "autograd does not run this adapter, which is the "
                         "backward of none that its segment executes forward");
  const Node &forward = plan.nodes[adapter.mirror];
  if (!adapter.isDifferentiable || !forward.isDifferentiable ||
      adapter.isCustom != forward.isCustom)
    return note(forward, "its backward of this adapter is not run, which is "
                         "not marked as differentiable in the same way");
  // The code made of a custom adapter has the primitives of its mirror.
  if (!adapter.isCustom &&
      !llvm::equal(forward.primitives, adapter.primitives, haveEqualTransposes))
    return note(forward, "its backward of this adapter is not that of the "
                         "primitives that are executed forward, which "
                         "autograd runs");
  return true;
}

bool DifferenceFinder::checkAdapter(const Node &adapter, const Node &segment) {
  if (!adapter.isForward)
    return checkBackwardAdapter(adapter, segment);
  if (segment.mirror == none)
    return true;
  if (adapter.isDifferentiable) {
    auto found = segments.find(adapter.mirror);
    if (adapter.mirror == none || found == segments.end() ||
        found->second != segment.mirror)
      return note(adapter, "autograd runs the backward of this adapter, which "
                           "the plan does not have");
    return true;
  }
  if (hasGradient(adapter.outputs))
    return note(adapter, "no gradient passes through this adapter, which is "
                         "not differentiable");
  return true;
}

bool DifferenceFinder::takesGradient(const Cell &cell) const {
  return llvm::any_of(cell.inputs, [&](const Argument &input) {
    if (!input.isTensor)
      return false;
    const SubTensor &tensor = plan.subTensors[input.tensor];
    return tensor.gradient != none && !tensor.isParameter;
  });
}

bool DifferenceFinder::isBackward(const Node &segment) const {
  return llvm::any_of(segment.nodes, [&](Index index) {
    const Node &node = plan.nodes[index];
    return node.kind == NodeKind::Backward ||
           (node.kind == NodeKind::Adapter && !node.isForward);
  });
}

bool DifferenceFinder::checkBackward(const Cell &cell, Execution &execution) {
  const Node &node = plan.nodes[cell.node];
  auto found = execution.forwards.find(cell.mirror);
  if (found == execution.forwards.end() || found->second->node != node.mirror)
    return note(node, "it is not the backward of the segment whose execution "
                      "it is said to follow");
  const Cell &forward = *found->second;
  if (takesGradient(forward)) {
    std::deque<int64_t> &waiting = execution.saved[forward.node];
    if (waiting.empty() || waiting.front() != forward.id)
      return note(node, "this backward takes the inputs that were saved first, "
                        "which are those of another micro-batch");
    waiting.pop_front();
  }
  for (const Argument &output : forward.outputs)
    if (hasGradient(output) &&
        execution.variables.lookup(plan.subTensors[output.tensor].id) !=
            &forward)
      return note(node, "this backward starts from a variable to which another "
                        "value was bound");
  return true;
}

bool DifferenceFinder::checkProgram(const DeviceProgram &program) {
  Execution execution;
  for (const Cell &cell : program.cells) {
    const Node &node = plan.nodes[cell.node];
    if (node.kind == NodeKind::Adapter && node.isDifferentiable)
      return note(node, "outside of a segment an adapter has no backward, and "
                        "is executed as it is");
    if (isBackward(node)) {
      if (!checkBackward(cell, execution))
        return false;
    } else if (node.kind == NodeKind::Segment) {
      execution.forwards[cell.id] = &cell;
      if (takesGradient(cell))
        execution.saved[cell.node].push_back(cell.id);
    }
    if (node.kind == NodeKind::Adapter &&
        llvm::all_of(node.primitives, returnsOperand))
      continue;
    for (const Argument &output : cell.outputs)
      if (output.isTensor)
        execution.variables[plan.subTensors[output.tensor].id] = &cell;
  }
  for (const Argument &output : plan.outputs) {
    if (!output.isTensor)
      continue;
    int64_t id = plan.subTensors[output.tensor].id;
    if (const Cell *cell = execution.variables.lookup(id))
      givers.try_emplace(id, &plan.nodes[cell->node]);
    else
      missing.push_back(id);
  }
  return true;
}

bool DifferenceFinder::checkOutputs() {
  for (int64_t id : missing)
    // One that no device has is a result that is missing, which linking finds.
    if (const Node *giver = givers.lookup(id))
      return note(*giver, "every device returns this output, and some device "
                          "does not have it");
  return true;
}

bool DifferenceFinder::checkParameters(const Node &op) {
  for (const Argument &input : op.inputs) {
    if (!input.isTensor)
      continue;
    const SubTensor &tensor = plan.subTensors[input.tensor];
    if (!tensor.isParameter)
      continue;
    auto [known, isNew] = parameters.try_emplace(tensor.id, tensor.name);
    if (!isNew && known->second != tensor.name)
      return note(op, "this parameter has another name elsewhere, and so "
                      "another variable");
  }
  return true;
}

bool DifferenceFinder::check() {
  for (auto [number, segment] : llvm::enumerate(plan.nodes))
    for (Index index : segment.nodes) {
      if (plan.nodes[index].kind == NodeKind::Adapter)
        segments.try_emplace(index, number);
      if (!checkParameters(plan.nodes[index]))
        return false;
    }
  for (auto [adapter, segment] : segments)
    if (!checkAdapter(plan.nodes[adapter], plan.nodes[segment]))
      return false;
  for (const DeviceProgram &program : plan.programs)
    if (!checkProgram(program))
      return false;
  return checkOutputs();
}

std::optional<RuntimeDifference>
nnscaler::findRuntimeDifference(const PlanFile &plan) {
  return DifferenceFinder(plan).find();
}
