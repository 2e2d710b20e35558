//===- CompareDevices.cpp - what devices do together ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reducer puts the gradients of its weights into buffers, in the order in
// which its device uses the weights first, and sums buffers over its devices
// (nnscaler/codegen/module/module.py, init_reducer): it sums what is of one
// weight if that order is the same on each. A collective that is recomputed is
// done again in the backward, by all or by none.
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

SmallVector<DeviceComparison::Reducer>
DeviceComparison::listReducers(const DeviceProgram &program) const {
  SmallVector<Reducer> found;
  llvm::SmallSetVector<Index, 8> nodes;
  for (const Cell &cell : program.cells)
    nodes.insert(cell.node);
  for (Index index : nodes)
    if (const Node &node = plan.nodes[index];
        node.kind == NodeKind::WeightReducer && node.devices.size() > 1)
      found.push_back({&node, {}});
  if (found.empty())
    return found;
  // By number of the full tensor.
  llvm::DenseMap<int64_t, size_t> firstUses;
  size_t place = 0;
  for (Index segment : nodes)
    for (Index index : plan.nodes[segment].nodes) {
      const Node &node = plan.nodes[index];
      ++place;
      if (node.kind != NodeKind::Forward)
        continue;
      for (const Argument &input : node.inputs)
        if (input.isTensor && get(input).isParameter)
          firstUses.try_emplace(plan.fullTensors[get(input).full].id, place);
    }
  auto getFirstUse = [&](const SubTensor *weight) {
    auto use = firstUses.find(plan.fullTensors[weight->full].id);
    return use == firstUses.end() ? place + 1 : use->second;
  };
  for (Reducer &reducer : found) {
    for (const Argument &input : reducer.node->inputs)
      if (input.isTensor)
        reducer.weights.push_back(&get(input));
    llvm::stable_sort(reducer.weights,
                      [&](const SubTensor *left, const SubTensor *right) {
                        return getFirstUse(left) < getFirstUse(right);
                      });
  }
  return found;
}

bool DeviceComparison::compareReducers(const DeviceProgram &program) {
  auto isSame = [&](const SubTensor *left, const SubTensor *right) {
    return plan.fullTensors[left->full].id ==
               plan.fullTensors[right->full].id &&
           left->elementType == right->elementType &&
           llvm::equal(left->slice, right->slice, [](Range a, Range b) {
             return a.start == b.start && a.end == b.end;
           });
  };
  llvm::MapVector<Group, SmallVector<Reducer>, std::map<Group, unsigned>> own;
  for (Reducer &reducer : listReducers(program)) {
    Group group = reducer.node->devices.vec();
    llvm::sort(group);
    own[group].push_back(std::move(reducer));
  }
  for (auto &[group, list] : own) {
    auto [first, isFirst] = reducers.try_emplace(group, list);
    if (isFirst)
      continue;
    for (auto [number, reducer] : llvm::enumerate(list)) {
      if (number < first->second.size() &&
          llvm::equal(reducer.weights, first->second[number].weights, isSame))
        continue;
      difference = {reducer.node,
                    "the runtime sums buffers of gradients, in the order in "
                    "which a device uses weights first, and on another device "
                    "of this reducer they hold other weights"};
      return false;
    }
    if (list.size() != first->second.size()) {
      difference = {
          list.back().node,
          "another device has one more reducer over the same devices"};
      return false;
    }
  }
  return true;
}

bool DeviceComparison::compareRecomputed(const DeviceProgram &program) {
  llvm::SmallSetVector<Index, 8> segments;
  for (const Cell &cell : program.cells)
    segments.insert(cell.node);
  std::map<Group, size_t> done;
  for (Index segment : segments)
    for (Index index : plan.nodes[segment].nodes) {
      const Node &adapter = plan.nodes[index];
      if (adapter.kind != NodeKind::Adapter || !adapter.isForward)
        continue;
      for (const Primitive &primitive : adapter.primitives)
        for (const KeywordArgument &keyword : primitive.keywords) {
          if (keyword.name != "ranks")
            continue;
          Group group;
          for (const Argument &rank : keyword.value.getElements())
            group.push_back(rank.getInteger());
          llvm::sort(group);
          SmallVector<int64_t> &first = recomputed[group];
          size_t number = done[group]++;
          if (number == first.size())
            first.push_back(adapter.recompute);
          if (first[number] == adapter.recompute)
            continue;
          difference = {&adapter, "it is recomputed in the backward of some "
                                  "devices that do it together, not of all"};
          return false;
        }
    }
  return true;
}

std::optional<RuntimeDifference> DeviceComparison::find() {
  bool recomputes = llvm::any_of(plan.nodes, [](const Node &node) {
    return node.kind == NodeKind::Adapter && node.recompute >= 0;
  });
  for (const DeviceProgram &program : plan.programs)
    if (!compareReducers(program) ||
        (recomputes && !compareRecomputed(program)))
      break;
  return difference;
}
