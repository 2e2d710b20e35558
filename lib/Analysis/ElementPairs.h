//===- ElementPairs.h - both sides of an expect, by elements ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_ELEMENTPAIRS_H
#define VERIFY_LIB_ANALYSIS_ELEMENTPAIRS_H

#include "DenseRuns.h"
#include "DimensionMaps.h"

namespace verify {

/// A value of a claim: where its elements lie, and the terms of its sum.
struct Summand {
  const DenseTensor *tensor = nullptr;
  std::vector<AxisTerm> terms;
};

/// The elements of a claim at one place of the mesh, one after the other.
class ElementPairs {
public:
  ElementPairs(llvm::ArrayRef<Summand> summands, const DenseTensor &reference,
               llvm::ArrayRef<llvm::ArrayRef<Representative>> kept,
               const MeshPlace &place,
               llvm::ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
               bool isInRuns);

  /// Goes to the first element from here on that the reference has; false at
  /// the end.
  bool find();
  /// How many pairs from here on are equal.
  int64_t countEqual();
  void skip(int64_t pairs) {
    at += pairs;
    if (at >= stretchEnd)
      return;
    // In a stretch, the reference's elements follow each other too.
    offset += pairs;
    lastPlace += pairs;
    unsigned last = layout.back();
    index[last] = kept[last][lastPlace].position;
  }
  void skipToLast() { at = std::max<int64_t>(count - 1, 0); }

  llvm::ArrayRef<int64_t> getIndex() const { return index; }
  Scalar getReference() { return reference.get(offset, referenceCursor); }
  Scalar getFirst() {
    return summands.front().tensor->get(starts.front() + at, firstCursor);
  }
  void getTerms(std::vector<WeightedScalar> &terms) {
    terms.clear();
    size_t *cursor = cursors.begin();
    for (auto [start, summand] : llvm::zip_equal(starts, summands))
      for (AxisTerm term : summand.terms)
        terms.push_back(
            {summand.tensor->get(start + at + term.offset, *cursor++),
             term.weight});
  }

private:
  /// Sets `index` and `offset`; returns the next element that may be known,
  /// which is this one if it is.
  int64_t locate();

  llvm::ArrayRef<Summand> summands;
  const DenseTensor &reference;
  llvm::ArrayRef<llvm::ArrayRef<Representative>> kept;
  llvm::ArrayRef<std::shared_ptr<const DimensionMap>> mapped;
  llvm::SmallVector<unsigned, 4> layout;
  bool isInRuns;
  llvm::SmallVector<int64_t> starts; ///< of the summands
  llvm::ArrayRef<int64_t> neighbours;
  int64_t count = 1, at = 0, offset = 0;
  int64_t lastPlace = 0; ///< in the last dimension of the layout
  /// Up to where elements follow each other as those of the reference do.
  int64_t stretchEnd = 0;
  llvm::SmallVector<int64_t> index;
  /// The runs that were read last, of each term and of the reference.
  llvm::SmallVector<size_t> cursors;
  size_t firstCursor = 0, referenceCursor = 0;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_ELEMENTPAIRS_H
