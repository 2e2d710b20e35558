//===- WrongGroups.cpp - what one member of a group takes for it ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrongGroups.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

namespace {
using Group = std::vector<int64_t>;

/// A collective on one device.
struct Use {
  tv::CommunicateOp op;
  int64_t device;
  Group group; ///< sorted
};

/// What the collectives of one cell have in common: its number, their kind, and
/// whether they are across replicas.
using Key = std::tuple<int64_t, unsigned, bool>;

/// The collectives of a plan that are numbered.
class Collectives {
public:
  explicit Collectives(const Skeleton &skeleton) {
    for (const Program &program : skeleton.programs)
      collect(program);
  }
  /// Of all cells or, if there are any, of these.
  std::optional<WrongGroup> findWrong(const std::set<int64_t> &cells) const;

private:
  void collect(const Program &program) {
    llvm::DenseSet<const Segment *> seen;
    auto add = [&](tv::CommunicateOp op) {
      auto place = dyn_cast<tv::NodeLoc>(op.getLoc());
      if (!place)
        return;
      Group group(op.getGroup());
      llvm::sort(group);
      ++frequency[{op.getReplicas(), group}];
      auto kind = static_cast<unsigned>(op.getKind());
      Key key(place.getCell(), kind, op.getReplicas());
      uses[key].push_back({op, program.device, std::move(group)});
    };
    for (const Step &step : program.steps) {
      if (step.segment && seen.insert(step.segment).second)
        tv::SegmentOp(step.segment->op).walk(add);
      else if (auto op = dyn_cast<tv::CommunicateOp>(step.op))
        add(op);
    }
  }
  /// One that the other's group names and that has another one, or the other
  /// way round.
  static const Use *findContradiction(const Use &use, ArrayRef<Use> all) {
    for (const Use &other : all)
      if (other.group != use.group &&
          (llvm::is_contained(use.group, other.device) ||
           llvm::is_contained(other.group, use.device)))
        return &other;
    return nullptr;
  }

  llvm::MapVector<Key, SmallVector<Use>, std::map<Key, unsigned>> uses;
  /// How often a group is used within replicas, and across them.
  std::map<std::pair<bool, Group>, size_t> frequency;
};
} // namespace

std::optional<WrongGroup>
Collectives::findWrong(const std::set<int64_t> &cells) const {
  for (const auto &[key, all] : uses) {
    // Of several groups on one device, which is which is not known.
    std::map<int64_t, const Group *> groups;
    if (!llvm::all_of(all, [&](const Use &use) {
          return *groups.try_emplace(use.device, &use.group).first->second ==
                 use.group;
        }))
      continue;
    if (!cells.empty() && !cells.count(std::get<0>(key)))
      continue;
    const Use *wrong = nullptr, *contradicted = nullptr;
    // Who is alone with it, or else has one that is rare.
    std::pair<size_t, size_t> least;
    for (const Use &use : all) {
      const Use *other = findContradiction(use, all);
      if (!other)
        continue;
      size_t agreeing = llvm::count_if(
          all, [&](const Use &each) { return each.group == use.group; });
      std::pair order(agreeing, frequency.at({std::get<bool>(key), use.group}));
      if (wrong && order >= least)
        continue;
      wrong = &use;
      contradicted = other;
      least = order;
    }
    if (wrong)
      return WrongGroup{wrong->op, wrong->device, contradicted->op,
                        contradicted->device};
  }
  return std::nullopt;
}

std::optional<WrongGroup>
verify::schedule::findWrongGroup(const Skeleton &skeleton,
                                 ArrayRef<Operation *> current) {
  Collectives collectives(skeleton);
  std::set<int64_t> cells;
  for (Operation *op : current)
    if (auto place = dyn_cast<tv::NodeLoc>(op->getLoc()))
      cells.insert(place.getCell());
  auto found = cells.empty() ? std::nullopt : collectives.findWrong(cells);
  return found ? found : collectives.findWrong({});
}

static std::string print(ArrayRef<int64_t> group) {
  return "[" +
         llvm::join(
             llvm::map_range(
                 group, [](int64_t device) { return std::to_string(device); }),
             ", ") +
         "]";
}

std::string WrongGroup::describe() const {
  return llvm::formatv("has group {0} on device {1} and {2} on device {3}",
                       print(tv::CommunicateOp(op).getGroup()), device,
                       print(tv::CommunicateOp(other).getGroup()), otherDevice);
}
