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

#include "mlir/IR/Threading.h"
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

bool DeviceComparison::compareReducers(MutableArrayRef<Reducer> found) {
  auto isSame = [&](const SubTensor *left, const SubTensor *right) {
    return plan.fullTensors[left->full].id ==
               plan.fullTensors[right->full].id &&
           left->elementType == right->elementType &&
           llvm::equal(left->slice, right->slice, [](Range a, Range b) {
             return a.start == b.start && a.end == b.end;
           });
  };
  llvm::MapVector<Group, SmallVector<Reducer>, std::map<Group, unsigned>> own;
  for (Reducer &reducer : found) {
    Group group = reducer.node->devices.vec();
    llvm::sort(group);
    own[group].push_back(std::move(reducer));
  }
  for (auto &[group, all] : own) {
    auto [first, isFirst] = reducers.try_emplace(group, all);
    if (isFirst)
      continue;
    for (auto [number, reducer] : llvm::enumerate(all)) {
      if (number < first->second.size() &&
          llvm::equal(reducer.weights, first->second[number].weights, isSame))
        continue;
      difference = {reducer.node,
                    "the runtime sums buffers of gradients, in the order in "
                    "which a device uses weights first, and on another device "
                    "of this reducer they hold other weights"};
      return false;
    }
    if (all.size() != first->second.size()) {
      difference = {
          all.back().node,
          "another device has one more reducer over the same devices"};
      return false;
    }
  }
  return true;
}

/// The devices of each collective of an adapter that is executed forward.
static SmallVector<std::vector<int64_t>> listGroups(const Node &node) {
  SmallVector<std::vector<int64_t>> groups;
  if (node.kind != NodeKind::Adapter || !node.isForward)
    return groups;
  for (const Primitive &primitive : node.primitives)
    for (const KeywordArgument &keyword : primitive.keywords) {
      if (keyword.name != "ranks")
        continue;
      std::vector<int64_t> &group = groups.emplace_back();
      for (const Argument &rank : keyword.value.getElements())
        group.push_back(rank.getInteger());
      llvm::sort(group);
    }
  return groups;
}

bool DeviceComparison::compareRecomputed(const DeviceProgram &program) {
  llvm::SmallSetVector<Index, 8> segments;
  for (const Cell &cell : program.cells)
    segments.insert(cell.node);
  /// What a group has done so far, and in which of the parts that are
  /// recomputed: ops of one number that follow on each other.
  struct Progress {
    size_t done = 0, parts = 0, lastPart = 0;
  };
  std::map<Group, Progress> groups;
  size_t part = 0;
  for (Index segment : segments) {
    const Node *before = nullptr;
    for (Index index : plan.nodes[segment].nodes) {
      const Node &node = plan.nodes[index];
      if (!before || before->recompute != node.recompute)
        ++part;
      before = &node;
      for (Group &group : listGroups(node)) {
        Progress &progress = groups[group];
        if (node.recompute >= 0 && progress.lastPart != part)
          ++progress.parts;
        progress.lastPart = part;
        // That of none is 0.
        size_t own = node.recompute < 0 ? 0 : progress.parts;
        SmallVector<size_t> &first = recomputed[group];
        if (progress.done == first.size())
          first.push_back(own);
        if (first[progress.done++] == own)
          continue;
        difference = {&node, "devices that do it together recompute it in "
                             "another order, or not all of them"};
        return false;
      }
    }
  }
  return true;
}

std::optional<RuntimeDifference> DeviceComparison::find(MLIRContext *context) {
  bool recomputes = llvm::any_of(plan.nodes, [](const Node &node) {
    return node.kind == NodeKind::Adapter && node.recompute >= 0;
  });
  std::vector<SmallVector<Reducer>> lists(plan.programs.size());
  parallelFor(context, 0, lists.size(), [&](size_t number) {
    lists[number] = listReducers(plan.programs[number]);
  });
  for (auto [program, list] : llvm::zip(plan.programs, lists))
    if (!compareReducers(list) || (recomputes && !compareRecomputed(program)))
      break;
  return difference;
}
