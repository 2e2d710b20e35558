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

/// The elements of a claim at one place of the mesh, one after the other. In
/// the reference they begin at `referenceStart`, which takes account of
/// dimensions along which the values have one position alone.
class ElementPairs {
public:
  ElementPairs(llvm::ArrayRef<Summand> summands, const DenseTensor &reference,
               llvm::ArrayRef<llvm::ArrayRef<Representative>> kept,
               const MeshPlace &place,
               llvm::ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
               bool isInRuns, int64_t referenceStart = 0);

  /// Goes to the first element from here on that the reference has; false at
  /// the end.
  bool find();
  /// How many pairs from here on are equal.
  int64_t countEqual();
  /// Appends the scalars of pairs from here on that follow each other on both
  /// sides, of equal ones the first, and which pair from here on each is; for
  /// values that are not summed. Returns how many pairs these are.
  int64_t readRow(std::vector<Scalar> &references, std::vector<Scalar> &firsts,
                  std::vector<int64_t> &pairs);
  /// The scalars of pairs from here on that follow each other on both sides, of
  /// equal ones the first, as they lie.
  struct Row {
    llvm::ArrayRef<Scalar> references, firsts;
    /// How many pairs from here on these are.
    int64_t count = 0;

    /// Which pair from here on a scalar is of.
    int64_t getPair(size_t number) const {
      if (starts.empty() || number == 0)
        return static_cast<int64_t>(number);
      return starts[number] - start;
    }
    llvm::ArrayRef<int64_t> starts;
    int64_t start = 0;
  };
  /// For values that are not summed; none where few are in runs that end at the
  /// same places.
  Row getRow();
  void skip(int64_t pairs) {
    at += pairs;
    if (at >= stretchEnd)
      return;
    // In a stretch, the reference's elements follow each other too.
    offset += pairs;
    located = at;
    unsigned last = layout.back();
    places[last] += pairs;
    index[last] = kept[last][places[last]].position;
  }
  /// Skips pairs that were read as a row.
  void skipRow(int64_t pairs) { stretchEnd = at += pairs; }
  void skipToLast() { at = std::max<int64_t>(count - 1, 0); }

  llvm::ArrayRef<int64_t> getIndex() const { return index; }
  /// The same of a pair of the row that begins here.
  llvm::SmallVector<int64_t> getIndex(int64_t pair) const;
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
  /// Has all be of the element at `at`; returns the next one that may be known,
  /// which is this one if it is.
  int64_t locate();
  void findRows();
  /// How many pairs of the row are there from here on.
  int64_t countRow() const;

  llvm::ArrayRef<Summand> summands;
  const DenseTensor &reference;
  llvm::ArrayRef<llvm::ArrayRef<Representative>> kept;
  llvm::ArrayRef<std::shared_ptr<const DimensionMap>> mapped;
  llvm::SmallVector<unsigned, 4> layout;
  bool isInRuns;
  llvm::SmallVector<int64_t> starts; ///< of the summands
  llvm::ArrayRef<int64_t> neighbours;
  int64_t count = 1, at = 0;
  /// The element that `places`, `index` and `offset` are of: where it is in
  /// each dimension of the layout, and in the reference.
  int64_t located = 0, offset = 0;
  llvm::SmallVector<int64_t> places;
  bool isLocated = false;
  /// Up to where elements of the last dimension follow each other as those of
  /// the reference do.
  int64_t stretchEnd = 0;
  /// The outermost dimension through which they do so, with all inside of it,
  /// and how many elements those have; none if not even the last one is.
  std::optional<unsigned> rowDimension;
  int64_t rowBlock = 1;
  llvm::SmallVector<int64_t> index;
  /// The runs that were read last, of each term and of the reference.
  llvm::SmallVector<size_t> cursors;
  size_t firstCursor = 0, referenceCursor = 0;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_ELEMENTPAIRS_H
