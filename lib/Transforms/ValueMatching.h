//===- ValueMatching.h - what plan values are, by their numbers -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares values of an execution with parts, sums and multiples of reference
// values. It explains differences to people; no verdict rests on it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_VALUEMATCHING_H
#define VERIFY_LIB_TRANSFORMS_VALUEMATCHING_H

#include "Verify/Analysis/DenseEvaluator.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <tuple>

namespace verify {

/// What some plan values are: their sum is `numerator / denominator` times the
/// part of `reference` that `lineage` names.
struct Match {
  mlir::Value reference;
  tv::LineageAttr lineage;
  llvm::SmallVector<mlir::Value> terms;
  int64_t numerator = 1, denominator = 1;

  bool isSum() const {
    return terms.size() > 1 || !lineage.getSumAxes().empty();
  }
  bool isScaled() const { return numerator != denominator; }
};

/// The devices of a plan value, sorted; empty if it is on all of them.
llvm::SmallVector<int64_t> getDevices(mlir::Value value);

/// The name of the op at a location, without the number of the cell, and its
/// source line: the same for the same op of the model.
struct PlaceKey {
  llvm::StringRef op;
  const void *file = nullptr; ///< the name, as an attribute; null if none
  unsigned line = 0;

  bool operator==(const PlaceKey &other) const {
    return op == other.op && file == other.file && line == other.line;
  }
  bool operator!=(const PlaceKey &other) const { return !(*this == other); }
  std::tuple<llvm::StringRef, const void *, unsigned> asTuple() const {
    return {op, file, line};
  }
};
PlaceKey getPlaceKey(mlir::Location location);

class ValueMatcher {
public:
  explicit ValueMatcher(tv::GraphOp graph)
      : graph(graph), mesh(graph.getMesh()) {}

  /// The value that the same op of the model gives on each device, ordered by
  /// device; at least `value` itself.
  llvm::SmallVector<mlir::Value> getCounterparts(mlir::Value value);

  /// Matches in an execution that has kept all values which are asked for.
  void setExecution(const FactorAnalysis &newFactors, DoubleAlgebra &newAlgebra,
                    DenseEvaluator &newEvaluator) {
    factors = &newFactors;
    algebra = &newAlgebra;
    evaluator = &newEvaluator;
  }

  /// The part of `reference` that `value` is, or is a simple multiple of: of
  /// the part that is `expected`, unless that is null.
  std::optional<Match> matchPart(mlir::Value value, mlir::Value reference,
                                 tv::LineageAttr expected = {});
  /// Whether `value` may be that very part of `reference`, by its elements.
  bool isPart(mlir::Value value, mlir::Value reference,
              tv::LineageAttr lineage);
  /// The sum over devices, replicas or micro-batches that has `value` as a term
  /// and is a part of `reference`.
  std::optional<Match> matchSum(mlir::Value value, mlir::Value reference);
  /// The first of all values that are equal because equal ops give them.
  mlir::Value getLeader(mlir::Value value) const;
  /// Whether two values of the plan are the same one, or have equal elements at
  /// all coordinates, not all of them 0.
  bool areEqual(mlir::Value left, mlir::Value right);

private:
  /// The name of an op of the dialect, or of the tensor that is missing, and
  /// where it stands in the model.
  using OpKey =
      std::tuple<const void *, llvm::StringRef, const void *, unsigned>;
  static OpKey getKey(mlir::Operation *op);
  void listPlaces();
  /// Axes that index one dimension together.
  struct Indexing {
    llvm::SmallVector<mlir::Attribute, 2> factors;
    int64_t parts = 1;  ///< how many parts they make of it
    size_t carrier = 0; ///< the dimension; past the last one, none

    /// Whether there is a dimension of so many if there are axes.
    bool isWhole(size_t dimensions) const {
      return factors.empty() == (carrier == dimensions);
    }
  };
  /// The parts of `reference` that `value` may be.
  llvm::SmallVector<tv::LineageAttr>
  listLineages(mlir::Value value, mlir::Value reference,
               llvm::ArrayRef<mlir::StringAttr> sumAxes);
  /// The same with axes that index these dimensions; false if there are too
  /// many.
  bool addLineages(llvm::SmallVectorImpl<tv::LineageAttr> &lineages,
                   llvm::ArrayRef<int64_t> local, llvm::ArrayRef<int64_t> whole,
                   llvm::ArrayRef<Indexing> indexing,
                   llvm::ArrayRef<mlir::StringAttr> sumAxes) const;
  llvm::SmallVector<mlir::StringAttr> getVaryingAxes(mlir::Value value);
  std::optional<Match> match(llvm::ArrayRef<mlir::Value> terms,
                             mlir::Value reference, tv::LineageAttr lineage);
  /// How many elements of a value are looked at.
  int64_t countLooked(mlir::Value value) const;
  /// What decides, besides the reference and the lineage, how many elements of
  /// a claim are known: where its terms exist, the axes that they vary with and
  /// the roots of their dimensions.
  using Extent =
      std::tuple<const void *, uint64_t, llvm::SmallVector<unsigned>>;
  Extent getExtent(llvm::ArrayRef<mlir::Value> terms) const;
  /// Whether so many elements of the part are looked at that `match` may say
  /// what it is.
  bool isMostlyKnown(llvm::ArrayRef<mlir::Value> terms, mlir::Value reference,
                     tv::LineageAttr lineage);
  /// Whether the last elements show that the terms do not add up to the part of
  /// the reference.
  bool isOtherSum(llvm::ArrayRef<mlir::Value> terms, mlir::Value reference,
                  tv::LineageAttr lineage);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  listGroups(mlir::Value value);

  tv::GraphOp graph;
  tv::MeshAttr mesh;
  /// For each op of the model, the values on each device in order; empty until
  /// that is asked for.
  llvm::DenseMap<OpKey, std::map<int64_t, llvm::SmallVector<mlir::Value>>>
      byPlace;
  const FactorAnalysis *factors = nullptr;
  DoubleAlgebra *algebra = nullptr;
  DenseEvaluator *evaluator = nullptr;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_VALUEMATCHING_H
