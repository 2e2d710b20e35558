//===- FactorPositions.cpp - which positions are looked at ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers which positions of a dimension are looked at, what they stand for and
// which patterns of them there are.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

#include <functional>

using namespace mlir;
using namespace verify;

/// Positions of an atom that are looked at: the first ones, and the last one
/// for all others.
static std::vector<Representative> representAtom(int64_t size, int64_t width,
                                                 bool isRigid) {
  std::vector<Representative> list;
  bool isWhole = isRigid || size <= width + 1;
  int64_t kept = isWhole ? size : width;
  list.reserve(kept + 1);
  for (int64_t i = 0; i < kept; ++i)
    list.push_back({i, 1});
  if (!isWhole)
    list.push_back({size - 1, size - kept});
  return list;
}

/// A group has at most this part of the positions before it: of what depends on
/// how many these are, a mean say, it is that near.
static constexpr int64_t groupFraction = 8;

/// Neighbouring positions together, the last of each group for all of it. The
/// last one of all is alone.
static std::vector<Representative> representInGroups(int64_t size) {
  std::vector<Representative> list;
  for (int64_t start = 0; start < size;) {
    int64_t count = std::max<int64_t>(start / groupFraction, 1);
    count = std::min(count, std::max<int64_t>(size - 1 - start, 1));
    start += count;
    list.push_back({start - 1, count});
  }
  return list;
}

void FactorAnalysis::group() {
  isGrouping = true;
  representatives.clear(nodes.size());
}

std::vector<Representative> FactorAnalysis::represent(Node node) const {
  const NodeData &data = nodes[node];
  if (data.kind == Kind::Atom && isGrouping && grouped[node])
    return representInGroups(data.size);
  if (data.kind == Kind::Atom)
    return representAtom(data.size, data.width, data.isRigid());
  std::vector<Representative> list;
  if (data.kind == Kind::Concat) {
    int64_t offset = 0;
    for (Node child : data.children) {
      for (Representative entry : getRepresentatives(child))
        list.push_back({entry.position + offset, entry.weight});
      offset += nodes[find(child)].size;
    }
    return list;
  }
  list.push_back({0, 1});
  for (Node child : data.children) {
    int64_t size = nodes[find(child)].size;
    std::vector<Representative> next;
    for (Representative major : list)
      for (Representative minor : getRepresentatives(child))
        next.push_back({major.position * size + minor.position,
                        major.weight * minor.weight});
    list = std::move(next);
  }
  return list;
}

void FactorAnalysis::KnownRepresentatives::clear(size_t count) {
  lists.clear();
  size = count;
  ofRoot = std::make_unique<std::atomic<const List *>[]>(count);
}

ArrayRef<Representative> FactorAnalysis::KnownRepresentatives::get(
    Node root, llvm::function_ref<List(Node)> represent) {
  if (const List *known = ofRoot[root].load(std::memory_order_acquire))
    return *known;
  List list = represent(root);
  std::scoped_lock<std::mutex> guard(lock);
  // Another thread may have been faster.
  if (const List *known = ofRoot[root].load(std::memory_order_relaxed))
    return *known;
  const List &kept = lists.emplace_back(std::move(list));
  ofRoot[root].store(&kept, std::memory_order_release);
  return kept;
}

ArrayRef<Representative> FactorAnalysis::getRepresentatives(Node node) const {
  return representatives.get(find(node),
                             [&](Node root) { return represent(root); });
}

int64_t FactorAnalysis::getRepresentative(Node node, int64_t position) const {
  node = find(node);
  const NodeData &data = nodes[node];
  switch (data.kind) {
  case Kind::Atom:
    // The last of a group, or of the others, stands for it.
    return llvm::lower_bound(getRepresentatives(node), position,
                             [](Representative entry, int64_t to) {
                               return entry.position < to;
                             })
        ->position;
  case Kind::Concat: {
    int64_t start = 0;
    for (Node child : data.children) {
      int64_t size = nodes[find(child)].size;
      if (position - start < size)
        return start + getRepresentative(child, position - start);
      start += size;
    }
    break;
  }
  case Kind::Product: {
    int64_t result = 0, stride = 1;
    for (Node child : llvm::reverse(data.children)) {
      int64_t size = nodes[find(child)].size;
      result += stride * getRepresentative(child, position % size);
      position /= size;
      stride *= size;
    }
    return result;
  }
  case Kind::Forward:
    break;
  }
  llvm_unreachable("a position of the dimension");
}

int64_t FactorAnalysis::getWeight(Node node, int64_t position) const {
  node = find(node);
  const NodeData &data = nodes[node];
  if (position < 0 || position >= data.size)
    return 0;
  switch (data.kind) {
  case Kind::Atom: {
    if (isGrouping && grouped[node]) {
      const Representative *found = llvm::lower_bound(
          getRepresentatives(node), position,
          [](Representative entry, int64_t to) { return entry.position < to; });
      return found->position == position ? found->weight : 0;
    }
    bool isWhole = data.isRigid() || data.size <= data.width + 1;
    if (isWhole || position < data.width)
      return 1;
    return position == data.size - 1 ? data.size - data.width : 0;
  }
  case Kind::Concat:
    for (Node child : data.children) {
      int64_t size = nodes[find(child)].size;
      if (position < size)
        return getWeight(child, position);
      position -= size;
    }
    return 0;
  case Kind::Product: {
    int64_t weight = 1;
    for (Node child : llvm::reverse(data.children)) {
      int64_t size = nodes[find(child)].size;
      weight *= getWeight(child, position % size);
      position /= size;
    }
    return weight;
  }
  case Kind::Forward:
    break;
  }
  return 0;
}

std::pair<int64_t, int64_t>
FactorAnalysis::getBlock(Node node, int64_t position, bool mergesBlocks) const {
  node = find(node);
  const NodeData &data = nodes[node];
  auto isRigid = [&](Node child) { return nodes[find(child)].isRigid(); };
  auto isAxis = [&](Node child) {
    return llvm::any_of(axes,
                        [&](Node axis) { return find(axis) == find(child); });
  };
  auto getWithin = [&](Node child, int64_t start) {
    auto [first, end] = getBlock(child, position - start, mergesBlocks);
    return std::pair(start + first, start + end);
  };
  if (data.kind == Kind::Concat) {
    if (mergesBlocks && llvm::all_of(data.children, isRigid))
      return {0, data.size};
    int64_t start = 0;
    for (Node child : data.children) {
      int64_t size = nodes[find(child)].size;
      if (position - start < size)
        return getWithin(child, start);
      start += size;
    }
  }
  if (data.kind == Kind::Product) {
    // What devices have is parts of one tensor, as in a concatenation.
    if (mergesBlocks && isAxis(data.children.front()) &&
        llvm::all_of(data.children, isRigid))
      return {0, data.size};
    // One row after the other.
    Node minor = data.children.back();
    return getWithin(minor, position - position % nodes[find(minor)].size);
  }
  if (data.isRigid())
    return {0, data.size};
  return {position, position + 1};
}

bool FactorAnalysis::chooseOfAtom(Node node, PatternState &state,
                                  GoOn next) const {
  const NodeData &data = nodes[node];
  if (data.size == 1)
    return next(state, 0);
  bool isWhole = data.isRigid() || data.size <= data.width + 1;
  int64_t available = isWhole ? data.size : data.width;
  int64_t before = state.used.lookup(node);
  int64_t choices =
      data.isRigid() ? data.size : std::min(available, before + 1);
  for (int64_t choice = 0; choice < choices; ++choice) {
    state.used[node] = std::max(before, choice + 1);
    if (!next(state, choice))
      return false;
  }
  state.used[node] = before;
  return choices > 0;
}

bool FactorAnalysis::choose(Node node, PatternState &state, GoOn next) const {
  node = find(node);
  const NodeData &data = nodes[node];
  if (data.kind == Kind::Atom)
    return chooseOfAtom(node, state, next);
  if (data.kind == Kind::Concat) {
    int64_t offset = 0;
    for (Node child : data.children) {
      if (!choose(child, state, [&](PatternState &inner, int64_t position) {
            return next(inner, offset + position);
          }))
        return false;
      offset += nodes[find(child)].size;
    }
    return true;
  }
  std::function<bool(size_t, PatternState &, int64_t)> factor =
      [&](size_t i, PatternState &inner, int64_t position) -> bool {
    if (i == data.children.size())
      return next(inner, position);
    int64_t size = nodes[find(data.children[i])].size;
    return choose(data.children[i], inner,
                  [&](PatternState &deeper, int64_t minor) {
                    return factor(i + 1, deeper, position * size + minor);
                  });
  };
  return factor(0, state, 0);
}

std::optional<std::vector<SmallVector<int64_t>>>
FactorAnalysis::getPatterns(ArrayRef<Node> list, size_t limit) const {
  std::vector<SmallVector<int64_t>> patterns;
  std::function<bool(size_t, PatternState &)> dimension =
      [&](size_t i, PatternState &state) -> bool {
    if (i == list.size()) {
      patterns.push_back(state.index);
      return patterns.size() <= limit;
    }
    return choose(list[i], state, [&](PatternState &inner, int64_t position) {
      inner.index.push_back(position);
      bool goesOn = dimension(i + 1, inner);
      inner.index.pop_back();
      return goesOn;
    });
  };
  PatternState state;
  if (!dimension(0, state))
    return std::nullopt;
  return patterns;
}

SmallVector<SortInfo> FactorAnalysis::getSorts() const {
  SmallVector<SortInfo> sorts;
  for (Node node = 0; node < nodes.size(); ++node) {
    const NodeData &data = nodes[node];
    if (data.kind != Kind::Atom || data.size <= 1)
      continue;
    SortInfo sort{data.size, data.width,     0,
                  0,         data.isRigid(), data.countsSteps};
    for (const Representative &position : getRepresentatives(node)) {
      if (position.weight == 1)
        ++sort.kept;
      else
        sort.bulk = position.weight;
    }
    sorts.push_back(sort);
  }
  return sorts;
}

SmallCase FactorAnalysis::getSmallCase() const {
  SmallCase result = SmallCase::None;
  for (const NodeData &data : nodes) {
    if (data.kind != Kind::Atom || data.isRigid() ||
        data.size <= data.width + 1)
      continue;
    if (data.countsSteps)
      return SmallCase::CountsSteps;
    result = SmallCase::Smooth;
  }
  return result;
}
