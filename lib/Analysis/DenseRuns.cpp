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

RangeSums::RangeSums(int64_t count)
    : count(count), leaves(llvm::PowerOf2Ceil(static_cast<uint64_t>(count))),
      nodes(2 * leaves) {}

std::vector<Scalar> RangeSums::getSums() {
  for (size_t node = 2; node < nodes.size(); ++node)
    nodes[node] += nodes[node / 2];
  std::vector<Scalar> sums;
  sums.reserve(count);
  for (int64_t number = 0; number < count; ++number)
    sums.push_back(DoubleAlgebra::fromDouble(nodes[leaves + number]));
  return sums;
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
