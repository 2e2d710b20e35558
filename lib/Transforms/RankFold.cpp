//===- RankFold.cpp - ranks with equal programs as an axis ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankComparison.h"

#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace verify;

std::vector<int64_t> verify::getCommunicator(tv::CommunicateOp op) {
  std::vector<int64_t> group(op.getGroup().begin(), op.getGroup().end());
  if (op.getReplicas())
    group.push_back(-1); // Another communicator than the same group without.
  llvm::sort(group);
  return group;
}

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
  llvm::DenseSet<StringAttr> names;
  for (Operation &op : plan.getBody().front()) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (name && !names.insert(name).second)
      return false;
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

/// The group of the first collective of a block that joins several devices.
static std::optional<SmallVector<int64_t>> findGroupIn(Block &block) {
  for (auto op : block.getOps<tv::CommunicateOp>())
    // A broadcast tells other stages, and not the ranks of one.
    if (op.getGroup().size() > 1 &&
        op.getKind() != tv::CollectiveKind::Broadcast)
      return SmallVector<int64_t>(op.getGroup());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>>
RankFold::findGroupOfSegments(tv::ProgramOp program) const {
  llvm::SmallDenseSet<Attribute, 8> seen;
  for (auto call : program.getBody().front().getOps<tv::CallOp>()) {
    if (!seen.insert(call.getCalleeAttr()).second)
      continue;
    auto segment = segments.find(call.getCalleeAttr().getAttr());
    if (segment == segments.end())
      return std::nullopt;
    tv::SegmentOp callee = segment->second;
    if (auto found = findGroupIn(callee.getBody().front()))
      return found;
  }
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> RankFold::findGroup(int64_t device) const {
  tv::ProgramOp program = devices[device].program;
  // What segments do together is that of a group rather than what programs do,
  // which also join what several stages have of one parameter.
  if (auto found = findGroupOfSegments(program))
    return found;
  return findGroupIn(program.getBody().front());
}

void RankFold::compareLoadOrders(tv::PlanOp plan) {
  auto count = static_cast<int64_t>(devices.size());
  std::map<std::vector<int64_t>, SmallVector<tv::ProgramOp>> byGroup;
  for (int64_t device = 0; device < count; ++device)
    if (places[device].group == nowhere)
      if (auto found = findGroupOfSegments(devices[device].program))
        byGroup[std::vector<int64_t>(found->begin(), found->end())].push_back(
            devices[device].program);
  int64_t microBatches = plan.getMesh().getAxisSize("mb").value_or(1);
  auto findSegment = [&](tv::CallOp call) {
    return segments.lookup(call.getCalleeAttr().getAttr());
  };
  for (const auto &[members, programs] : byGroup)
    if (members.size() == programs.size())
      loadOrders.compare(programs, microBatches, findSegment);
  // What they draw is that of the micro-batch that they work on.
  if (!loadOrders.empty() &&
      plan.walk([](tv::RandomOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    loadOrders.clear();
}

void RankFold::formGroups(const llvm::DenseSet<int64_t> &apart) {
  auto count = static_cast<int64_t>(devices.size());
  std::vector<std::optional<SmallVector<int64_t>>> found(count);
  for (int64_t device = 0; device < count; ++device)
    found[device] = findGroup(device);
  // Those of which all members say the same, by size.
  std::map<size_t, SmallVector<int64_t>> firsts;
  for (int64_t device = 0; device < count; ++device) {
    const auto &group = found[device];
    if (group && group->front() == device &&
        llvm::SmallDenseSet<int64_t, 8>(group->begin(), group->end()).size() ==
            group->size() &&
        llvm::all_of(*group, [&](int64_t member) {
          return member >= 0 && member < count && !apart.contains(member) &&
                 found[member] == group;
        }))
      firsts[group->size()].push_back(device);
  }
  // The size of most.
  auto countDevices = [](const auto &entry) {
    return entry.first * entry.second.size();
  };
  auto most =
      llvm::max_element(firsts, [&](const auto &left, const auto &right) {
        return countDevices(left) < countDevices(right);
      });
  places.assign(count, Place());
  if (most == firsts.end())
    return;
  size = static_cast<int64_t>(most->first);
  for (int64_t each : most->second) {
    SmallVector<int64_t> members = std::move(*found[each]);
    orderByParts(members);
    int64_t first = members.front();
    for (auto [rank, member] : llvm::enumerate(members))
      places[member] = {first, static_cast<int64_t>(rank)};
    groups[first].devices = std::move(members);
  }
}

void RankFold::orderByParts(SmallVector<int64_t> &members) const {
  size_t count = devices[members.front()].buffers.size();
  for (int64_t member : members)
    count = std::min(count, devices[member].buffers.size());
  auto getPiece = [&](int64_t member, size_t number) {
    tv::BufferOp buffer = devices[member].buffers[number];
    return buffer.getPiece();
  };
  std::optional<SmallVector<int64_t>> byFirst;
  for (size_t number = 0; number < count; ++number) {
    // Most parameters are divided among all, or none.
    if (getPiece(members[0], number) == getPiece(members[1], number))
      continue;
    std::map<std::vector<int64_t>, int64_t> byPart;
    for (int64_t member : members)
      if (tv::PieceAttr piece = getPiece(member, number))
        byPart[piece.getBounds()] = member;
    if (byPart.size() != members.size())
      continue;
    auto order = llvm::map_to_vector(
        byPart, [](const auto &each) { return each.second; });
    if (llvm::equal(order, members))
      return;
    if (!byFirst)
      byFirst = std::move(order);
  }
  if (byFirst)
    members = std::move(*byFirst);
}

bool RankFold::areAllRanks(ArrayRef<int64_t> members) const {
  if (static_cast<int64_t>(members.size()) != size)
    return false;
  auto find = [&](int64_t device) {
    return device >= 0 && device < static_cast<int64_t>(places.size())
               ? places[device]
               : Place();
  };
  Place first = find(members.front());
  llvm::BitVector seen(size);
  for (int64_t member : members) {
    Place place = find(member);
    if (place.group == nowhere || place.group != first.group ||
        seen.test(place.rank))
      return false;
    seen.set(place.rank);
  }
  return true;
}

void RankFold::sortStarts(Group &group) {
  for (auto [number, op] : llvm::enumerate(group.sliceStarts.ops)) {
    SmallVector<int64_t, 8> row = group.sliceStarts.getRow(number);
    if (llvm::all_equal(row))
      continue;
    group.starts.insert(op);
    auto slice = cast<tv::SliceOp>(op);
    int64_t extent, expected = row.front();
    bool isRising =
        !llvm::SubOverflow(static_cast<int64_t>(slice.getEnd()),
                           static_cast<int64_t>(slice.getStart()), extent) &&
        llvm::all_of(ArrayRef(row).drop_front(), [&](int64_t start) {
          return !llvm::AddOverflow(expected, extent, expected) &&
                 start == expected;
        });
    if (!isRising)
      group.anyStarts[op] = std::move(row);
  }
}

bool RankFold::addAxis(tv::PlanOp plan) {
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

SmallVector<ArrayRef<int64_t>> RankFold::getGroups() const {
  SmallVector<ArrayRef<int64_t>> all;
  for (const auto &[first, group] : groups)
    all.push_back(group.devices);
  return all;
}

bool RankFold::findByRank() const {
  auto isByRank = [&](ArrayRef<tv::CommunicateOp> broadcast) {
    SmallVector<int64_t> roots;
    SmallVector<SmallVector<int64_t>> members; ///< each by rank
    for (tv::CommunicateOp op : broadcast) {
      members.resize(std::max(members.size(), op.getGroup().size()));
      for (auto [number, member] : llvm::enumerate(op.getGroup()))
        members[number].push_back(member);
      roots.push_back(static_cast<int64_t>(op.getRoot().value_or(-1)));
    }
    return isGroup(roots) &&
           llvm::all_of(members, [&](const SmallVector<int64_t> &ranks) {
             return isGroup(ranks);
           });
  };
  return llvm::all_of(groups, [&](const auto &entry) {
    const auto &[first, group] = entry;
    return group.peers.all([&](ArrayRef<int64_t> row) {
      return isGroup(row);
    }) && group.broadcasts.all(isByRank);
  });
}

SmallVector<tv::BufferOp> RankFold::getCopies(tv::BufferOp buffer) const {
  ArrayRef<int64_t> ranks = getRanks(buffer.getDevice());
  if (ranks.empty())
    return {buffer};
  unsigned number = buffers.find(buffer.getSymNameAttr())->second.second;
  SmallVector<tv::BufferOp> copies;
  for (int64_t device : ranks)
    copies.push_back(devices[device].buffers[number]);
  return copies;
}

void RankFold::listCommunication() {
  isByRank = findByRank();
  if (isByRank)
    return;
  for (const auto &[first, group] : groups) {
    for (auto [number, op] : llvm::enumerate(group.peers.ops))
      peers[op] = group.peers.getRow(number);
    for (auto [number, op] : llvm::enumerate(group.broadcasts.ops))
      broadcasts[op] = group.broadcasts.getRow(number);
  }
}

void RankFold::setExceptionsApart() {
  for (auto &[first, group] : groups)
    if (group.isUniform && group.isDeclaredOtherwise) {
      group.isUniform = false;
      break;
    }
  SmallVector<Group *> exceptions;
  for (auto &[first, group] : groups)
    if (group.isUniform &&
        (!group.anyStarts.empty() ||
         !group.peers.all([&](ArrayRef<int64_t> row) { return isGroup(row); })))
      exceptions.push_back(&group);
  if (4 * exceptions.size() >= groups.size())
    return;
  for (Group *group : exceptions)
    group->isUniform = false;
}

void RankFold::dropOthers() {
  for (bool isOver = false; !isOver;) {
    isOver = true;
    for (auto &[first, group] : groups) {
      bool isJoined = llvm::all_of(group.partners, [&](int64_t partner) {
        return groups.find(partner)->second.isUniform;
      });
      // What ranks are given has to be a function of their number.
      bool isGiven = llvm::none_of(group.given, [](const auto &entry) {
        return entry.second.kind == Spread::Other;
      });
      bool isFolded = isJoined && isGiven;
      isOver &= isFolded || !group.isUniform;
      group.isUniform &= isFolded;
    }
  }
  for (auto next = groups.begin(); next != groups.end();) {
    Group &group = next->second;
    if (group.isUniform) {
      stated.insert(group.stated.begin(), group.stated.end());
      given.insert(group.given.begin(), group.given.end());
      starts.insert(group.starts.begin(), group.starts.end());
      anyStarts.insert(group.anyStarts.begin(), group.anyStarts.end());
      compared.insert_range(group.compared);
      models.insert_range(group.models);
      llvm::append_range(differing, group.differing);
      ++next;
      continue;
    }
    for (int64_t device : group.devices)
      places[device] = {};
    next = groups.erase(next);
  }
}

bool RankFold::areDivided(tv::LineageAttr lineage) {
  return llvm::any_of(lineage.getDimensions(), [](ArrayAttr dimension) {
    return llvm::any_of(dimension.getAsRange<tv::DimensionFactorAttr>(),
                        [](tv::DimensionFactorAttr factor) {
                          return isAxis(factor.getAxis());
                        });
  });
}

LogicalResult RankFold::verify(tv::PlanOp plan) const {
  // What the verifier asks of a plan itself. Its symbol table would have it
  // look at the uses of symbols in all ops, covered ones too; that no two have
  // one name was seen when they were listed.
  if (failed(plan->getName().verifyInvariants(plan)) ||
      failed(plan.verifyRegions()))
    return failure();
  using Verified = std::pair<Operation *, bool>; ///< whether all of it
  SmallVector<Verified> ops;
  for (Operation &op : plan.getBody().front())
    ops.push_back({&op, !isCompared(&op)});
  for (Operation *op : getDiffering())
    ops.push_back({op, false});
  auto isValid = [](Verified each) {
    auto [op, isWhole] = each;
    // What is in it was compared, and each operand with a result before it.
    if (!isWhole)
      return succeeded(op->getName().verifyInvariants(op));
    return succeeded(mlir::verify(op)) &&
           succeeded(OpTrait::impl::verifyIsIsolatedFromAbove(op));
  };
  // Most are buffers, of which each takes less than telling a thread about it.
  // Long ones are neighbours, and are of different parts.
  constexpr size_t together = 64;
  size_t parts = llvm::divideCeil(ops.size(), together);
  LogicalResult isVerified =
      failableParallelForEachN(plan.getContext(), 0, parts, [&](size_t part) {
        for (size_t op = part; op < ops.size(); op += parts)
          if (!isValid(ops[op]))
            return failure();
        return success();
      });
  if (failed(isVerified))
    return failure();
  SymbolTableCollection tables;
  for (auto [op, isWhole] : ops)
    if (isWhole && op->walk([&](SymbolUserOpInterface user) {
                       return WalkResult(user.verifySymbolUses(tables));
                     }).wasInterrupted())
      return failure();
  return success();
}

std::unique_ptr<RankFold> RankFold::find(tv::PlanOp plan,
                                         const llvm::DenseSet<int64_t> &apart,
                                         bool foldsExceptions) {
  auto fold = std::make_unique<RankFold>();
  if (!fold->list(plan))
    return nullptr;
  fold->formGroups(apart);
  if (!fold->addAxis(plan))
    return nullptr;
  SmallVector<Group *> all;
  for (auto &[first, group] : fold->groups)
    all.push_back(&group);
  parallelForEach(plan.getContext(), all, [&](Group *group) {
    group->isUniform = true;
    for (int64_t rank = 1; group->isUniform && rank < fold->size; ++rank)
      group->isUniform = RankComparison(*fold, *group, rank).run();
    if (group->isUniform)
      sortStarts(*group);
  });
  if (!foldsExceptions)
    fold->setExceptionsApart();
  fold->dropOthers();
  fold->listCommunication();
  fold->compareLoadOrders(plan);
  bool isOfUse = !fold->groups.empty() || !fold->loadOrders.empty();
  return isOfUse ? std::move(fold) : nullptr;
}
