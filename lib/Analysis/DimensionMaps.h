//===- DimensionMaps.h - where claims find their elements -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DIMENSIONMAPS_H
#define VERIFY_LIB_ANALYSIS_DIMENSIONMAPS_H

#include "Verify/Analysis/ElementEvaluator.h"

#include <map>

namespace verify {

/// Where the places of one dimension of a value are in a reference.
struct DimensionMap {
  /// For each place, which of the reference's it is; -1 if that is not looked
  /// at.
  std::vector<int64_t> ordinals;
  /// For each place, how many from there on are not looked at, and how many
  /// follow each other in the reference too.
  std::vector<int64_t> unknown, neighbours;
  bool isComplete = true; ///< whether none is unknown
};

/// Those that were asked for. Many claims are about the same dimensions.
class DimensionMaps {
public:
  /// Maps the places `local` of a dimension to those of `reference`, as one
  /// dimension of a lineage says.
  std::shared_ptr<const DimensionMap>
  get(mlir::ArrayAttr dimension, const Coordinates &coordinates,
      llvm::ArrayRef<Representative> reference,
      llvm::ArrayRef<Representative> local, const ElementEvaluator &elements,
      const FactorAnalysis &factors);
  /// Forgets all if there are many.
  void trim();

private:
  std::map<std::vector<uintptr_t>, std::shared_ptr<const DimensionMap>> maps;
  size_t size = 0;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DIMENSIONMAPS_H
