//===- RuntimeDifferences.cpp - what is executed otherwise ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan states more than its runtime looks at. The cells of a device are
// followed in order as the code that is made of them runs: variables are bound,
// inputs of segments are saved and taken in order, gradients come out in the
// order of the inputs they are of.
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

#include "mlir/IR/Threading.h"

#include <deque>

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// Follows the program of one device.
class ProgramFollower {
public:
  ProgramFollower(const PlanFile &plan, const DeviceProgram &program)
      : plan(plan), program(program) {}
  void follow();
  const std::optional<RuntimeDifference> &getDifference() const {
    return difference;
  }
  const SubTensor *getReplaced() const { return replaced; }
  /// Who gave the tensor with this number last; null if nobody did.
  const Node *findGiver(int64_t id) const {
    const Cell *cell = variables.lookup(id);
    return cell ? &plan.nodes[cell->node] : nullptr;
  }

private:
  bool note(const Node &node, StringRef reason) {
    difference = {&node, reason};
    return false;
  }
  const SubTensor &get(const Argument &argument) const {
    return plan.subTensors[argument.tensor];
  }
  /// The numbers of the gradients of those that have one.
  SmallVector<int64_t> listGradients(ArrayRef<Argument> arguments) const;
  bool isBackward(Index segment);
  bool isReadByOthers(int64_t id, const Cell &cell);
  // Each returns false, having noted it, at a difference.
  bool followCell(const Cell &cell);
  bool followBackward(const Cell &cell);
  bool compareGradients(const Cell &cell, const Cell &forward);

  const PlanFile &plan;
  const DeviceProgram &program;
  std::optional<RuntimeDifference> difference;
  const SubTensor *replaced = nullptr;
  /// By tensor id, the cell whose value a variable has.
  llvm::DenseMap<int64_t, const Cell *> variables;
  llvm::DenseMap<int64_t, const Cell *> forwards; ///< by cell id
  /// By segment, the executions whose inputs are saved.
  llvm::DenseMap<Index, std::deque<int64_t>> saved;
  llvm::DenseMap<Index, bool> backwards; ///< segments
  llvm::DenseSet<Index> compared;        ///< backward segments
  llvm::DenseMap<int64_t, StringRef> parameters;
  llvm::DenseMap<int64_t, unsigned> readers; ///< cells, by tensor id
};
} // namespace

SmallVector<int64_t>
ProgramFollower::listGradients(ArrayRef<Argument> arguments) const {
  SmallVector<int64_t> found;
  for (const Argument &argument : arguments)
    if (argument.isTensor && !get(argument).isParameter &&
        get(argument).gradient != none)
      found.push_back(plan.subTensors[get(argument).gradient].id);
  return found;
}

bool ProgramFollower::isBackward(Index segment) {
  auto [known, isNew] = backwards.try_emplace(segment);
  if (isNew)
    known->second = llvm::any_of(plan.nodes[segment].nodes, [&](Index index) {
      const Node &node = plan.nodes[index];
      return node.kind == NodeKind::Backward ||
             (node.kind == NodeKind::Adapter && !node.isForward);
    });
  return known->second;
}

bool ProgramFollower::isReadByOthers(int64_t id, const Cell &cell) {
  if (readers.empty())
    for (const Cell &each : program.cells)
      for (const Argument &input : each.inputs)
        if (input.isTensor)
          ++readers[get(input).id];
  unsigned own = llvm::count_if(cell.inputs, [&](const Argument &input) {
    return input.isTensor && get(input).id == id;
  });
  return readers.lookup(id) > own;
}

bool ProgramFollower::compareGradients(const Cell &cell, const Cell &forward) {
  const Node &node = plan.nodes[cell.node];
  SmallVector<int64_t> starts = listGradients(forward.outputs);
  for (const Argument &input : cell.inputs)
    if (input.isTensor && !llvm::is_contained(starts, get(input).id))
      return note(node,
                  "this backward starts from the gradient of nothing that "
                  "its segment gives");
  // The runtime gives one for each input that has a gradient, in their order.
  SmallVector<int64_t> given = listGradients(forward.inputs);
  for (auto [number, output] : llvm::enumerate(cell.outputs))
    if (output.isTensor &&
        (number >= given.size() || given[number] != get(output).id) &&
        isReadByOthers(get(output).id, cell))
      return note(node, "the gradients that this backward gives are not those "
                        "of the inputs of its segment, in their order");
  return true;
}

bool ProgramFollower::followBackward(const Cell &cell) {
  const Node &node = plan.nodes[cell.node];
  auto found = forwards.find(cell.mirror);
  if (found == forwards.end() || found->second->node != node.mirror)
    return note(node, "it is not the backward of the segment whose execution "
                      "it is said to follow");
  const Cell &forward = *found->second;
  if (!listGradients(forward.inputs).empty()) {
    std::deque<int64_t> &waiting = saved[forward.node];
    if (waiting.empty() || waiting.front() != forward.id)
      return note(node, "this backward takes the inputs that were saved first, "
                        "which are those of another micro-batch");
    waiting.pop_front();
  }
  for (const Argument &output : forward.outputs)
    if (output.isTensor && get(output).gradient != none &&
        variables.lookup(get(output).id) != &forward)
      return note(node, "this backward starts from a variable to which another "
                        "value was bound");
  if (!compareGradients(cell, forward))
    return false;
  if (!compared.insert(cell.node).second)
    return true;
  BackwardComparison comparison(plan, plan.nodes[forward.node], node,
                                parameters);
  difference = comparison.find();
  if (!replaced)
    replaced = comparison.getReplaced();
  return !difference;
}

bool ProgramFollower::followCell(const Cell &cell) {
  const Node &node = plan.nodes[cell.node];
  if (node.kind == NodeKind::Adapter && node.isDifferentiable)
    return note(node, "outside of a segment an adapter has no backward, and is "
                      "executed as it is");
  if (node.kind == NodeKind::Segment && isBackward(cell.node)) {
    if (!followBackward(cell))
      return false;
  } else if (node.kind == NodeKind::Segment) {
    forwards[cell.id] = &cell;
    if (!listGradients(cell.inputs).empty())
      saved[cell.node].push_back(cell.id);
  }
  if (node.kind == NodeKind::Adapter &&
      llvm::all_of(node.primitives, returnsOperand))
    return true;
  for (const Argument &output : cell.outputs)
    if (output.isTensor)
      variables[get(output).id] = &cell;
  return true;
}

void ProgramFollower::follow() {
  for (const Cell &cell : program.cells)
    if (!followCell(cell))
      return;
}

RuntimeDifferences nnscaler::findRuntimeDifferences(const PlanFile &plan,
                                                    MLIRContext *context) {
  std::vector<ProgramFollower> followers;
  followers.reserve(plan.programs.size());
  for (const DeviceProgram &program : plan.programs)
    followers.emplace_back(plan, program);
  parallelForEach(context, followers,
                  [](ProgramFollower &follower) { follower.follow(); });
  RuntimeDifferences found;
  for (const ProgramFollower &follower : followers) {
    if (follower.getDifference()) {
      found.first = follower.getDifference();
      return found;
    }
    if (follower.getReplaced() && found.assumption.empty())
      found.assumption =
          ("the gradient of '" + follower.getReplaced()->name + "' (tensor " +
           Twine(follower.getReplaced()->id) +
           ") that another segment gives is that of its value before an "
           "adapter replaced it, as the plan says; the code that nnScaler "
           "makes of the plan takes it for that of the value after")
              .str();
  }
  for (const Argument &output : plan.outputs) {
    if (!output.isTensor)
      continue;
    int64_t id = plan.subTensors[output.tensor].id;
    auto gives = [&](const ProgramFollower &follower) {
      return follower.findGiver(id) != nullptr;
    };
    // One that no device has is a result that is missing, which linking finds.
    auto giver = llvm::find_if(followers, gives);
    if (giver != followers.end() && !llvm::all_of(followers, gives)) {
      found.first = {giver->findGiver(id),
                     "every device returns this output, and some device does "
                     "not have it"};
      return found;
    }
  }
  return found;
}
