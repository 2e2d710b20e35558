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

//===--- Sums over ranges -------------------------------------------------===//

/// Sums that are next to each other have most terms in common. They are added
/// up in blocks, so that none is rounded as often as there are sums.
static constexpr int64_t sumBlock = 64;

/// Adds a term to the nodes of a tree that make up a range of its leaves.
template <typename Add>
static void addToTree(size_t leaves, int64_t start, int64_t end, Add add) {
  size_t left = leaves + start, right = leaves + end;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2)
      add(left++);
    if (right % 2)
      add(--right);
  }
}

void RangeTerms::add(int64_t start, int64_t end, WeightedScalar term) {
  if (start >= end)
    return;
  if (start == 0) {
    toFirst.emplace_back(count - end, term);
    return;
  }
  if (end == count) {
    toLast.emplace_back(start, term);
    return;
  }
  if (nodes.empty()) {
    leaves = llvm::PowerOf2Ceil(static_cast<uint64_t>(count));
    nodes.resize(2 * leaves);
  }
  addToTree(leaves, start, end,
            [&](size_t node) { nodes[node].push_back(term); });
}

/// What two sums are together, of which there may be none.
static std::optional<Scalar> addUp(std::optional<Scalar> left,
                                   std::optional<Scalar> right,
                                   RangeTerms::Combine combine,
                                   std::vector<WeightedScalar> &list) {
  if (!left || !right)
    return left ? left : right;
  list.assign({{*left, 1}, {*right, 1}});
  return combine(list);
}

void RangeTerms::addEnds(Ends &ends, bool isFromLast, Combine combine,
                         Sums &sums) {
  if (ends.empty())
    return;
  auto comesBefore = [](const auto &left, const auto &right) {
    return left.first < right.first;
  };
  if (!llvm::is_sorted(ends, comesBefore))
    llvm::stable_sort(ends, comesBefore);
  // Those of a block, of the blocks before it, and of both.
  std::optional<Scalar> own, earlier, together;
  std::vector<WeightedScalar> list;
  auto next = ends.begin();
  for (int64_t number = 0; number < count; ++number) {
    if (number % sumBlock == 0) {
      earlier = addUp(earlier, std::exchange(own, {}), combine, list);
      together = earlier;
    }
    if (next != ends.end() && next->first == number) {
      list.clear();
      if (own)
        list.push_back({*own, 1});
      for (; next != ends.end() && next->first == number; ++next)
        list.push_back(next->second);
      own = combine(list);
      together = addUp(earlier, own, combine, list);
    }
    std::optional<Scalar> &sum = sums[isFromLast ? count - 1 - number : number];
    sum = addUp(sum, together, combine, list);
  }
}

void RangeTerms::addInner(Combine combine, Sums &sums) {
  // What a node adds to the leaves below it, those of its parents included.
  Sums total(nodes.size());
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
  std::copy_n(total.begin() + static_cast<std::ptrdiff_t>(leaves), count,
              sums.begin());
}

void RangeTerms::visit(Combine combine, Visitor visitor) {
  Sums sums(count);
  if (!nodes.empty())
    addInner(combine, sums);
  addEnds(toFirst, /*isFromLast=*/true, combine, sums);
  addEnds(toLast, /*isFromLast=*/false, combine, sums);
  for (auto [number, sum] : llvm::enumerate(sums))
    visitor(static_cast<int64_t>(number), sum);
}

RangeSums::RangeSums(int64_t count)
    : count(count), toFirst(count), toLast(count) {}

void RangeSums::addInner(int64_t start, int64_t end, double term) {
  if (nodes.empty()) {
    leaves = llvm::PowerOf2Ceil(static_cast<uint64_t>(count));
    nodes.resize(2 * leaves);
  }
  addToTree(leaves, start, end, [&](size_t node) { nodes[node] += term; });
}

std::vector<Scalar> RangeSums::getSums() {
  std::vector<double> sums(count);
  for (size_t node = 2; node < nodes.size(); ++node)
    nodes[node] += nodes[node / 2];
  if (!nodes.empty())
    std::copy_n(nodes.begin() + static_cast<std::ptrdiff_t>(leaves), count,
                sums.begin());
  auto addEnds = [&](ArrayRef<double> ends, bool isFromLast) {
    double own = 0, earlier = 0;
    for (int64_t number = 0; number < count; ++number) {
      if (number % sumBlock == 0)
        earlier += std::exchange(own, 0);
      own += ends[number];
      sums[isFromLast ? count - 1 - number : number] += earlier + own;
    }
  };
  addEnds(toFirst, /*isFromLast=*/true);
  addEnds(toLast, /*isFromLast=*/false);
  std::vector<Scalar> scalars(count);
  llvm::transform(sums, scalars.begin(), DoubleAlgebra::fromDouble);
  return scalars;
}
