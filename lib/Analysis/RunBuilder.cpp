//===- RunBuilder.cpp - long values, run by run ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

/// Elements of a row that are looked at together.
static constexpr size_t rowPart = 256;

RunBuilder::~RunBuilder() {
  taken.push_back(std::move(own));
  for (const Runs &runs : taken)
    for (Scalar value : runs.values)
      algebra.release(value);
}

bool RunBuilder::Runs::isInOrder() const {
  return llvm::all_of(stretches, [&](const Stretch &stretch) {
    auto own =
        ArrayRef(starts).slice(stretch.first, stretch.last - stretch.first);
    return !own.empty() && own.front() == stretch.start &&
           own.back() < stretch.end &&
           llvm::adjacent_find(own, std::greater_equal<>()) == own.end();
  });
}

void RunBuilder::Runs::push(int64_t start, int64_t end, Scalar value) {
  if (stretches.empty() || stretches.back().end != start)
    stretches.push_back({start, end, values.size(), values.size()});
  stretches.back().end = end;
  ++stretches.back().last;
  starts.push_back(start);
  values.push_back(value);
}

void RunBuilder::Runs::push(const Runs &from, Stretch stretch) {
  if (stretch.first == stretch.last)
    return;
  int64_t start = from.starts[stretch.first];
  if (stretches.empty() || stretches.back().end != start)
    stretches.push_back({start, stretch.end, values.size(), values.size()});
  stretches.back().end = stretch.end;
  stretches.back().last += stretch.last - stretch.first;
  auto append = [&](auto &to, const auto &list) {
    to.insert(to.end(), list.begin() + stretch.first,
              list.begin() + stretch.last);
  };
  append(starts, from.starts);
  append(values, from.values);
}

bool RunBuilder::append(Runs &runs, int64_t start, int64_t end, Scalar value) {
  if (joins && !runs.values.empty() && runs.stretches.back().end == start) {
    Scalar &last = runs.values.back();
    size_t mark = algebra.mark();
    if (std::optional<Scalar> joined = algebra.join(last, value)) {
      runs.stretches.back().end = end;
      if (*joined != last) {
        Scalar kept = algebra.keep(*joined, mark);
        algebra.release(last);
        last = kept;
      }
      algebra.release(value);
      return true;
    }
  }
  runs.push(start, end, value);
  return false;
}

template <typename GetEnd>
void RunBuilder::Runs::push(int64_t start, GetEnd getEnd,
                            ArrayRef<Scalar> row) {
  if (row.empty())
    return;
  push(start, getEnd(0), row.front());
  size_t before = starts.size();
  starts.resize(before + row.size() - 1);
  for (size_t i = 1; i < row.size(); ++i)
    starts[before + i - 1] = getEnd(i - 1);
  llvm::append_range(values, row.drop_front());
  stretches.back().end = getEnd(row.size() - 1);
  stretches.back().last = values.size();
}

template <typename GetEnd>
void RunBuilder::addAll(int64_t start, GetEnd getEnd, ArrayRef<Scalar> row) {
  size_t next = 0;
  auto addNext = [&](Runs &runs) {
    int64_t end = getEnd(next);
    bool isJoined = append(runs, start, end, row[next++]);
    start = end;
    return isJoined;
  };
  while (next < row.size()) {
    size_t last = std::min(row.size(), next + rowPart);
    // The first ones may be close to what comes before.
    while (addNext(own) && next < last)
      ;
    if (!joins || algebra.areApart(row.slice(next - 1, last - next + 1))) {
      own.push(
          start, [&, next](size_t i) { return getEnd(next + i); },
          row.slice(next, last - next));
      next = last;
      start = getEnd(last - 1);
      continue;
    }
    while (next < last)
      addNext(own);
  }
}

void RunBuilder::addRow(int64_t start, ArrayRef<Scalar> row) {
  addAll(
      start, [=](size_t i) { return start + static_cast<int64_t>(i) + 1; },
      row);
}

void RunBuilder::addRuns(int64_t start, ArrayRef<int64_t> ends,
                         ArrayRef<Scalar> values) {
  addAll(start, [=](size_t i) { return ends[i]; }, values);
}

int64_t RunBuilder::repeat(int64_t start, int64_t count, int64_t distance,
                           int64_t times) {
  // The first of the runs may have begun before.
  size_t last = own.values.size(), first = last - 1;
  while (own.starts[first] > start)
    --first;
  std::vector<int64_t> starts(own.starts.begin() + first, own.starts.end());
  std::vector<Scalar> values(own.values.begin() + first, own.values.end());
  starts.front() = start;
  starts.push_back(start + count);
  // Those that are there may be joined with what is added, and released.
  for (Scalar &value : values)
    value = algebra.keep(value, algebra.mark());
  for (int64_t time = 1; time <= times && !isFull(); ++time)
    for (size_t i = 0; i < values.size(); ++i)
      add(starts[i] + time * distance, starts[i + 1] - starts[i],
          algebra.keep(values[i], algebra.mark()));
  for (Scalar value : values)
    algebra.release(value);
  return times * static_cast<int64_t>(values.size());
}

void RunBuilder::take(RunBuilder &later) {
  takenCount += later.own.values.size();
  taken.push_back(std::move(later.own));
  later.own = {};
}

bool RunBuilder::finishInOrder(DenseTensor &tensor) {
  int64_t end = 0;
  for (const Runs &runs : taken)
    for (const Stretch &stretch : runs.stretches) {
      if (stretch.start != end)
        return false;
      end = stretch.end;
    }
  if (end != tensor.size)
    return false;
  Runs whole = std::move(taken.front());
  bool areSingle = static_cast<int64_t>(takenCount) == tensor.size;
  whole.starts.reserve(areSingle ? 0 : takenCount);
  whole.values.reserve(takenCount);
  for (const Runs &runs : llvm::drop_begin(taken)) {
    llvm::append_range(whole.values, runs.values);
    if (!areSingle)
      llvm::append_range(whole.starts, runs.starts);
  }
  taken.clear();
  give(whole, tensor);
  return true;
}

void RunBuilder::give(Runs &runs, DenseTensor &tensor) {
  tensor.elements = std::move(runs.values);
  tensor.starts = std::move(runs.starts);
  tensor.isOwned = true;
  // Elements that all differ are found faster without their places.
  if (static_cast<int64_t>(tensor.elements.size()) == tensor.size)
    tensor.starts = {};
}

LogicalResult RunBuilder::finish(DenseTensor &tensor, bool allowsGaps) {
  takenCount += own.values.size();
  taken.insert(taken.begin(), std::move(own));
  own = {};
  if (!llvm::all_of(taken, [](const Runs &runs) { return runs.isInOrder(); }))
    return failure();
  // Neighbours were joined when they were added, but for those of two shares,
  // which stay apart.
  if (finishInOrder(tensor))
    return success();
  std::vector<Runs> given = std::exchange(taken, {});
  std::vector<std::pair<const Runs *, Stretch>> stretches;
  for (const Runs &runs : given)
    for (const Stretch &stretch : runs.stretches)
      stretches.emplace_back(&runs, stretch);
  llvm::stable_sort(stretches, [](const auto &left, const auto &right) {
    return left.second.start < right.second.start;
  });
  Runs whole;
  int64_t end = 0;
  bool isWhole = true;
  auto fillTo = [&](int64_t start) {
    isWhole &= start == end || (start > end && allowsGaps);
    while (start > end) {
      int64_t next = joins ? start : end + 1;
      append(whole, end, next, algebra.integer(0));
      end = next;
    }
  };
  for (auto [runs, stretch] : stretches) {
    fillTo(stretch.start);
    // Runs of one stretch are apart, but the first ones may be close to what
    // comes before.
    bool isJoined = true;
    for (size_t &run = stretch.first; isJoined && run < stretch.last; ++run) {
      int64_t runEnd =
          run + 1 < stretch.last ? runs->starts[run + 1] : stretch.end;
      isJoined = append(whole, runs->starts[run], runEnd, runs->values[run]);
    }
    whole.push(*runs, stretch);
    end = stretch.end;
  }
  fillTo(tensor.size);
  give(whole, tensor);
  return success(isWhole);
}
