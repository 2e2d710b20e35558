//===- DenseParts.cpp - parts of the elements of a value ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseParts.h"

using namespace mlir;
using namespace verify;

bool verify::coversSame(NumericAlgebra &algebra, Scalar left, Scalar right) {
  if (left == right)
    return true;
  size_t mark = algebra.mark();
  std::optional<Scalar> joined = algebra.join(left, right);
  if (joined && *joined != left)
    algebra.release(algebra.keep(*joined, mark));
  return joined && *joined == left;
}

bool verify::coversSame(NumericAlgebra &algebra, const DenseTensor &tensor,
                        int64_t left, int64_t right, int64_t count) {
  size_t leftRun = tensor.findRun(left), rightRun = tensor.findRun(right);
  for (int64_t at = 0; at < count;) {
    if (!coversSame(algebra, tensor.elements[leftRun],
                    tensor.elements[rightRun]))
      return false;
    int64_t leftEnd = tensor.getEnd(leftRun) - left;
    int64_t rightEnd = tensor.getEnd(rightRun) - right;
    at = std::min(leftEnd, rightEnd);
    leftRun += leftEnd == at;
    rightRun += rightEnd == at;
  }
  return true;
}

namespace {
/// Puts a tensor together from parts of another one, in order.
class PartSelection {
public:
  explicit PartSelection(const DenseTensor &from) : from(from) {
    to.axisStrides = from.axisStrides;
    to.axisClasses = from.axisClasses;
    to.dimensionStrides = from.dimensionStrides;
    to.size = 0;
  }

  void add(int64_t start, int64_t count) {
    for (size_t run = from.findRun(start); count > 0; ++run) {
      int64_t length = std::min(from.getEnd(run) - start, count);
      // What goes on is one run, as it was; elements of short values are none.
      if (runs.empty() || runs.back() != run || from.starts.empty()) {
        to.elements.push_back(from.elements[run]);
        to.starts.push_back(to.size);
        runs.push_back(run);
      }
      to.size += length;
      start += length;
      count -= length;
    }
  }
  /// The chosen parts, again and again.
  void addParts(PartLayout parts, ArrayRef<int64_t> chosen) {
    for (int64_t outer = 0; outer < from.size;
         outer += parts.stride * parts.count)
      for (int64_t number : chosen)
        add(outer + number * parts.stride, parts.stride);
  }
  /// The tensor, which shares its scalars with the other one.
  DenseTensor take() {
    if (static_cast<int64_t>(to.elements.size()) == to.size)
      to.starts.clear();
    return std::move(to);
  }
  /// The runs whose scalars it has, each once if parts were in order.
  ArrayRef<size_t> getRuns() const { return runs; }

private:
  const DenseTensor &from;
  DenseTensor to;
  std::vector<size_t> runs;
};
} // namespace

DenseTensor verify::selectParts(const DenseTensor &tensor, PartLayout parts,
                                ArrayRef<int64_t> chosen) {
  PartSelection selection(tensor);
  selection.addParts(parts, chosen);
  return selection.take();
}

void verify::keepParts(DenseTensor &tensor, PartLayout parts,
                       ArrayRef<int64_t> chosen, NumericAlgebra &algebra) {
  PartSelection selection(tensor);
  selection.addParts(parts, chosen);
  if (tensor.isOwned) {
    llvm::BitVector isKept(tensor.elements.size());
    for (size_t run : selection.getRuns())
      isKept.set(run);
    for (auto [run, scalar] : llvm::enumerate(tensor.elements))
      if (!isKept.test(run))
        algebra.release(scalar);
  }
  bool isOwned = tensor.isOwned;
  tensor = selection.take();
  tensor.isOwned = isOwned;
}
