//===- RankFold.cpp - ranks with equal programs as an axis ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankComparison.h"

#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace verify;

bool RankFold::list(tv::PlanOp plan) {
  tv::MeshAttr own = plan.getMesh();
  int64_t count = own.getAxisSize("device").value_or(0);
  constexpr int64_t mostDevices = 1 << 20;
  if (own.getAxisSize(axis) || count < 2 || count > mostDevices)
    return false;
  devices.resize(count);
  auto find = [&](int64_t device) {
    return device >= 0 && device < count ? &devices[device] : nullptr;
  };
  for (Operation &op : plan.getBody().front()) {
    if (auto buffer = dyn_cast<tv::BufferOp>(op)) {
      Device *device = find(buffer.getDevice());
      if (!device)
        return false;
      buffers[buffer.getSymNameAttr()] = {buffer, device->buffers.size()};
      device->buffers.push_back(buffer);
    } else if (auto segment = dyn_cast<tv::SegmentOp>(op)) {
      segments[segment.getSymNameAttr()] = segment;
    } else if (auto program = dyn_cast<tv::ProgramOp>(op)) {
      Device *device = find(program.getDevice());
      if (!device || device->program)
        return false;
      device->program = program;
    } else {
      return false;
    }
  }
  return llvm::all_of(devices,
                      [](Device &device) { return device.program != nullptr; });
}

std::optional<SmallVector<int64_t>> RankFold::findGroup(int64_t device) const {
  auto findIn = [](Block &block) -> std::optional<SmallVector<int64_t>> {
    for (auto op : block.getOps<tv::CommunicateOp>())
      if (op.getGroup().size() > 1)
        return SmallVector<int64_t>(op.getGroup());
    return std::nullopt;
  };
  tv::ProgramOp program = devices[device].program;
  Block &body = program.getBody().front();
  // What segments do together is that of a group rather than what programs do,
  // which also join what several stages have of one parameter.
  llvm::SmallDenseSet<Attribute, 8> seen;
  for (auto call : body.getOps<tv::CallOp>()) {
    if (!seen.insert(call.getCalleeAttr()).second)
      continue;
    auto segment = segments.find(call.getCalleeAttr().getAttr());
    if (segment == segments.end())
      return std::nullopt;
    tv::SegmentOp callee = segment->second;
    if (auto found = findIn(callee.getBody().front()))
      return found;
  }
  return findIn(body);
}

bool RankFold::formGroups(tv::PlanOp plan) {
  constexpr int64_t nowhere = -1;
  places.assign(devices.size(), {nowhere, nowhere});
  for (int64_t device = 0, end = devices.size(); device < end; ++device) {
    if (places[device].first != nowhere)
      continue;
    std::optional<SmallVector<int64_t>> found = findGroup(device);
    if (!found || (size && size != static_cast<int64_t>(found->size())))
      return false;
    size = found->size();
    for (auto [rank, member] : llvm::enumerate(*found)) {
      if (member < 0 || member >= end || places[member].first != nowhere)
        return false;
      places[member] = {found->front(), static_cast<int64_t>(rank)};
    }
    if (places[device].first == nowhere)
      return false;
    groups[found->front()].devices = std::move(*found);
  }
  SmallVector<tv::AxisAttr> axes;
  int64_t points = size;
  for (tv::AxisAttr each : plan.getMesh().getAxes()) {
    if (llvm::MulOverflow(points, each.getSize(), points))
      return false;
    if (each.getName() == "device")
      axes.push_back(tv::AxisAttr::get(
          plan.getContext(), StringAttr::get(plan.getContext(), axis), size));
    axes.push_back(each);
  }
  mesh = tv::MeshAttr::get(plan.getContext(), axes);
  return true;
}

SmallVector<tv::BufferOp> RankFold::getCopies(tv::BufferOp buffer) const {
  unsigned number = buffers.find(buffer.getSymNameAttr())->second.second;
  SmallVector<tv::BufferOp> copies;
  for (int64_t device : groups.find(buffer.getDevice())->second.devices)
    copies.push_back(devices[device].buffers[number]);
  return copies;
}

std::unique_ptr<RankFold> RankFold::find(tv::PlanOp plan) {
  auto fold = std::make_unique<RankFold>();
  if (!fold->list(plan) || !fold->formGroups(plan))
    return nullptr;
  SmallVector<Group *> all;
  for (auto &[first, group] : fold->groups)
    all.push_back(&group);
  parallelForEach(plan.getContext(), all, [&](Group *group) {
    group->isUniform = true;
    for (int64_t rank = 1; group->isUniform && rank < fold->size; ++rank)
      group->isUniform = RankComparison(*fold, *group, rank).run();
  });
  for (Group *group : all) {
    if (!group->isUniform)
      return nullptr;
    for (auto &[place, spread] : group->stated)
      fold->stated.insert({place, spread});
    for (auto &[place, spread] : group->given)
      fold->given.insert({place, spread});
    fold->starts.insert(group->starts.begin(), group->starts.end());
  }
  return fold;
}
