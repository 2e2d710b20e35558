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
  unsigned getObject(int64_t id) {
    auto [known, isNew] = objects.try_emplace(id, objectCount);
    objectCount += isNew;
    return known->second;
  }
  /// Where a gradient is one of what a segment takes, and then of what it
  /// gives: the last place, which is what the runtime has of it.
  size_t findLast(int64_t gradient, ArrayRef<Argument> inputs,
                  ArrayRef<Argument> outputs) const;
  bool isReadByOthers(int64_t id, const Cell &cell);
  /// Whether the backward of a segment is of a parameter that was reduced.
  bool addsToReduced(const Node &forward) const;
  // Each returns false, having noted it, at a difference.
  bool followCell(const Cell &cell);
  bool followBackward(const Cell &cell);
  bool compareStarts(const Cell &cell, const Cell &forward);
  bool compareGradients(const Cell &cell, const Cell &forward);
  bool followForward(const Cell &cell);
  bool followReducer(const Cell &cell);

  const PlanFile &plan;
  const DeviceProgram &program;
  std::optional<RuntimeDifference> difference;
  const SubTensor *replaced = nullptr;
  /// By tensor id, the cell whose value a variable has.
  llvm::DenseMap<int64_t, const Cell *> variables;
  llvm::DenseMap<Index, const Cell *> forwards; ///< by their number
  /// By tensor id, which object a variable is.
  llvm::DenseMap<int64_t, unsigned> objects;
  unsigned objectCount = 0;
  llvm::DenseSet<int64_t> reduced; ///< parameters, by tensor id
  /// By segment, the executions whose inputs are saved.
  llvm::DenseMap<Index, std::deque<Index>> saved;
  llvm::DenseMap<Index, bool> backwards;     ///< segments
  llvm::DenseSet<Index> compared;            ///< backward segments
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

size_t ProgramFollower::findLast(int64_t gradient, ArrayRef<Argument> inputs,
                                 ArrayRef<Argument> outputs) const {
  auto isWanted = [&](const Argument &argument) {
    return argument.isTensor && get(argument).gradient != none &&
           plan.subTensors[get(argument).gradient].id == gradient;
  };
  for (size_t at = outputs.size(); at-- != 0;)
    if (isWanted(outputs[at]))
      return inputs.size() + at;
  for (size_t at = inputs.size(); at-- != 0;)
    if (isWanted(inputs[at]))
      return at;
  return inputs.size() + outputs.size();
}

bool ProgramFollower::compareStarts(const Cell &cell, const Cell &forward) {
  const Node &node = plan.nodes[cell.node], &other = plan.nodes[forward.node];
  SmallVector<int64_t> starts = listGradients(forward.outputs);
  llvm::SmallDenseSet<int64_t> known;
  for (auto [own, executed] : llvm::zip(node.inputs, cell.inputs)) {
    if (!own.isTensor || !executed.isTensor)
      continue;
    int64_t id = get(executed).id;
    if (!llvm::is_contained(starts, id))
      return note(node,
                  "this backward starts from the gradient of nothing that "
                  "its segment gives");
    size_t place = findLast(id, forward.inputs, forward.outputs);
    if (place < forward.inputs.size() ||
        place != findLast(get(own).id, other.inputs, other.outputs))
      return note(node, "this backward starts from the gradient of something "
                        "else in the execution that it follows");
    if (!known.insert(id).second)
      return note(node, "this backward starts from one gradient twice");
  }
  return true;
}

bool ProgramFollower::compareGradients(const Cell &cell, const Cell &forward) {
  const Node &node = plan.nodes[cell.node];
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
  // That of what no device executes is no key.
  auto found = cell.mirrorNumber == none ? forwards.end()
                                         : forwards.find(cell.mirrorNumber);
  if (found == forwards.end() || found->second->node != node.mirror)
    return note(node, "it is not the backward of the segment whose execution "
                      "it is said to follow");
  const Cell &forward = *found->second;
  if (addsToReduced(plan.nodes[forward.node]))
    return note(node,
                "this backward adds to a gradient that was reduced before "
                "it");
  if (!listGradients(forward.inputs).empty()) {
    std::deque<Index> &waiting = saved[forward.node];
    if (waiting.empty() || waiting.front() != forward.number)
      return note(node, "this backward takes the inputs that were saved first, "
                        "which are those of another micro-batch");
    waiting.pop_front();
  }
  for (const Argument &output : forward.outputs)
    if (output.isTensor && get(output).gradient != none &&
        variables.lookup(get(output).id) != &forward)
      return note(node, "this backward starts from a variable to which another "
                        "value was bound");
  if (!compareStarts(cell, forward) || !compareGradients(cell, forward))
    return false;
  if (!compared.insert(cell.node).second)
    return true;
  BackwardComparison comparison(plan, plan.nodes[forward.node], node);
  difference = comparison.find();
  if (!replaced)
    replaced = comparison.getReplaced();
  return !difference;
}

bool ProgramFollower::addsToReduced(const Node &forward) const {
  return !reduced.empty() && llvm::any_of(forward.nodes, [&](Index index) {
    return llvm::any_of(plan.nodes[index].inputs, [&](const Argument &input) {
      return input.isTensor && reduced.contains(get(input).id);
    });
  });
}

bool ProgramFollower::followForward(const Cell &cell) {
  llvm::SmallDenseSet<unsigned> taken;
  for (const Argument &input : cell.inputs) {
    if (!input.isTensor || get(input).isParameter ||
        get(input).gradient == none)
      continue;
    if (!taken.insert(getObject(get(input).id)).second)
      return note(plan.nodes[cell.node],
                  "two inputs of this segment are one tensor, and each has the "
                  "gradient of both");
  }
  forwards[cell.number] = &cell;
  if (!listGradients(cell.inputs).empty())
    saved[cell.node].push_back(cell.number);
  return true;
}

bool ProgramFollower::followReducer(const Cell &cell) {
  const Node &node = plan.nodes[cell.node];
  for (const Argument &input : node.inputs)
    if (input.isTensor && !reduced.insert(get(input).id).second)
      return note(node, "a gradient is reduced twice");
  return true;
}

bool ProgramFollower::followCell(const Cell &cell) {
  const Node &node = plan.nodes[cell.node];
  if (node.kind == NodeKind::Adapter && node.isDifferentiable)
    return note(node, "outside of a segment an adapter has no backward, and is "
                      "executed as it is");
  if (node.kind == NodeKind::WeightReducer)
    return followReducer(cell);
  if (node.kind == NodeKind::Segment && isBackward(cell.node)) {
    if (!followBackward(cell))
      return false;
  } else if (node.kind == NodeKind::Segment && !followForward(cell)) {
    return false;
  }
  if (node.kind == NodeKind::Adapter &&
      llvm::all_of(node.primitives, returnsOperand))
    return true;
  // Read before an output takes its place.
  bool isPassedOn = node.kind == NodeKind::Adapter &&
                    llvm::all_of(node.primitives, passesOperand) &&
                    cell.inputs.size() == 1 && cell.inputs[0].isTensor;
  unsigned passed = isPassedOn ? getObject(get(cell.inputs[0]).id) : 0;
  for (const Argument &output : cell.outputs)
    if (output.isTensor) {
      variables[get(output).id] = &cell;
      objects[get(output).id] = isPassedOn ? passed : objectCount++;
    }
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
  if ((found.first = DeviceComparison(plan).find(context)))
    return found;
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
