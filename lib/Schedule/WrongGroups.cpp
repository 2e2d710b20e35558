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
/// how many of these come before them there.
using Key = std::tuple<uint64_t, unsigned, unsigned>;

/// The collectives of a plan that are numbered.
class Collectives {
public:
  explicit Collectives(const Skeleton &skeleton) {
    for (const Program &program : skeleton.programs)
      collect(program);
  }
  std::optional<WrongGroup> findWrong() const;

private:
  void collect(const Program &program) {
    llvm::DenseSet<const Segment *> seen;
    std::map<std::pair<uint64_t, unsigned>, unsigned> counts;
    auto add = [&](tv::CommunicateOp op) {
      auto place = dyn_cast<tv::NodeLoc>(op.getLoc());
      if (!place || op.getReplicas())
        return;
      Group group(op.getGroup());
      llvm::sort(group);
      ++frequency[group];
      auto kind = static_cast<unsigned>(op.getKind());
      unsigned number = counts[{place.getCell(), kind}]++;
      uses[{place.getCell(), kind, number}].push_back(
          {op, program.device, std::move(group)});
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
  std::map<Group, size_t> frequency;
};
} // namespace

std::optional<WrongGroup> Collectives::findWrong() const {
  for (const auto &[key, all] : uses) {
    const Use *wrong = nullptr, *contradicted = nullptr;
    // Who is alone with it, or else has one that is rare.
    std::pair<size_t, size_t> least;
    for (const Use &use : all) {
      const Use *other = findContradiction(use, all);
      if (!other)
        continue;
      size_t agreeing = llvm::count_if(
          all, [&](const Use &each) { return each.group == use.group; });
      std::pair order(agreeing, frequency.at(use.group));
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
verify::schedule::findWrongGroup(const Skeleton &skeleton) {
  return Collectives(skeleton).findWrong();
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
