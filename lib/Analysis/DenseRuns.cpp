//===- DenseRuns.cpp - long values as runs of elements --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

/// A dimension with more positions is long.
static constexpr size_t longLimit = 32;

bool verify::isLong(const FactorAnalysis &factors, FactorAnalysis::Node node) {
  return factors.getRepresentatives(node).size() > longLimit &&
         !factors.isSelected(node);
}

bool verify::isLong(const FactorAnalysis &factors, Value value) {
  return llvm::any_of(
      factors.getDimensions(value),
      [&](FactorAnalysis::Node node) { return isLong(factors, node); });
}

SmallVector<unsigned, 4> verify::getLayout(const DenseTensor &tensor) {
  SmallVector<unsigned, 4> layout;
  for (unsigned i = 0; i < tensor.dimensionStrides.size(); ++i)
    if (tensor.dimensionStrides[i] != 0)
      layout.push_back(i);
  llvm::stable_sort(layout, [&](unsigned left, unsigned right) {
    return tensor.dimensionStrides[left] > tensor.dimensionStrides[right];
  });
  return layout;
}

//===--- Runs -------------------------------------------------------------===//

RunBuilder::~RunBuilder() {
  taken.push_back(std::move(runs));
  for (const std::vector<Run> &list : taken)
    for (const Run &run : list)
      algebra.release(run.value);
}

void RunBuilder::append(std::vector<Run> &list, Run run) {
  if (joins && !list.empty() && list.back().end == run.start) {
    Run &last = list.back();
    size_t mark = algebra.mark();
    if (std::optional<Scalar> joined = algebra.join(last.value, run.value)) {
      last.end = run.end;
      if (*joined != last.value) {
        Scalar kept = algebra.keep(*joined, mark);
        algebra.release(last.value);
        last.value = kept;
      }
      algebra.release(run.value);
      return;
    }
  }
  list.push_back(run);
}

void RunBuilder::add(int64_t start, int64_t count, Scalar value) {
  append(runs, {start, start + count, value});
}

void RunBuilder::take(RunBuilder &later) {
  count += later.runs.size();
  taken.push_back(std::move(later.runs));
  later.runs.clear();
}

bool RunBuilder::finishInOrder(DenseTensor &tensor) {
  int64_t end = 0;
  for (const std::vector<Run> &list : taken)
    for (const Run &run : list) {
      if (run.start != end)
        return false;
      end = run.end;
    }
  if (end != tensor.size)
    return false;
  bool hasStarts = static_cast<int64_t>(count) < tensor.size;
  tensor.elements.reserve(count);
  tensor.starts.reserve(hasStarts ? count : 0);
  for (const std::vector<Run> &list : taken)
    for (const Run &run : list) {
      tensor.elements.push_back(run.value);
      if (hasStarts)
        tensor.starts.push_back(run.start);
    }
  taken.clear();
  tensor.isOwned = true;
  return true;
}

LogicalResult RunBuilder::finish(DenseTensor &tensor, bool allowsGaps) {
  auto isBefore = [](const Run &left, const Run &right) {
    return left.start < right.start;
  };
  tensor.elements.clear();
  tensor.starts.clear();
  taken.insert(taken.begin(), std::move(runs));
  runs.clear();
  count += taken.front().size();
  // Neighbours were joined when they were added, but for those of two shares,
  // which stay apart.
  if (finishInOrder(tensor))
    return success();
  std::vector<Run> list, given;
  list.reserve(count);
  for (const std::vector<Run> &part : taken)
    llvm::append_range(given, part);
  taken.clear();
  if (!llvm::is_sorted(given, isBefore))
    llvm::sort(given, isBefore);
  int64_t end = 0;
  bool isWhole = true;
  auto fillTo = [&](int64_t start) {
    isWhole &= start == end || (start > end && allowsGaps);
    while (start > end) {
      int64_t next = joins ? start : end + 1;
      append(list, {end, next, algebra.integer(0)});
      end = next;
    }
  };
  for (const Run &run : given) {
    fillTo(run.start);
    append(list, run);
    end = run.end;
  }
  fillTo(tensor.size);
  tensor.elements.reserve(list.size());
  tensor.starts.reserve(list.size());
  for (const Run &run : list) {
    tensor.elements.push_back(run.value);
    tensor.starts.push_back(run.start);
  }
  tensor.isOwned = true;
  // Elements that all differ are found faster without their places.
  if (static_cast<int64_t>(list.size()) == tensor.size)
    tensor.starts.clear();
  return success(isWhole);
}

//===--- Sums over ranges -------------------------------------------------===//

RangeTerms::RangeTerms(int64_t count) : count(count) {
  leaves = llvm::PowerOf2Ceil(static_cast<uint64_t>(count));
  nodes.resize(2 * leaves);
}

void RangeTerms::add(int64_t start, int64_t end, WeightedScalar term) {
  size_t left = leaves + start, right = leaves + end;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2)
      nodes[left++].push_back(term);
    if (right % 2)
      nodes[--right].push_back(term);
  }
}

void RangeTerms::visit(Combine combine, Visitor visitor) {
  // What a node adds to the leaves below it, those of its parents included.
  std::vector<std::optional<Scalar>> total(nodes.size());
  for (size_t node = 1; node < nodes.size(); ++node) {
    std::optional<Scalar> above =
        node > 1 ? total[node / 2] : std::optional<Scalar>();
    if (nodes[node].empty()) {
      total[node] = above;
      continue;
    }
    if (above)
      nodes[node].push_back({*above, 1});
    total[node] = combine(nodes[node]);
  }
  for (int64_t number = 0; number < count; ++number)
    if (std::optional<Scalar> sum = total[leaves + number])
      visitor(number, *sum);
}
