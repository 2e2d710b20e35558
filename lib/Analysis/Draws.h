//===- Draws.h - points at which a reference may be defined -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DRAWS_H
#define VERIFY_LIB_ANALYSIS_DRAWS_H

#include "Verify/Analysis/ElementEvaluator.h"
#include "Verify/Scalar/NumericAlgebras.h"

#include <random>

namespace verify {

/// The seeds, in the order in which they are tried: sizes of numbers take
/// turns.
llvm::SmallVector<unsigned> getDraws();

/// Small rationals, positive under odd seeds. Higher seeds draw smaller
/// numbers, and more of them, for functions that saturate in large sums and
/// selections that need elements to differ.
class RandomDraws {
public:
  RandomDraws(NumericAlgebra &algebra, unsigned seed);

  Scalar draw(ScalarSort sort);

private:
  NumericAlgebra &algebra;
  std::mt19937 engine;
  bool positive;
  unsigned level;
};

/// Draws for the elements that nobody computes.
class DrawnSource : public ElementSource {
public:
  DrawnSource(NumericAlgebra &algebra, unsigned seed)
      : algebra(algebra), draws(algebra, seed) {}

  Scalar input(mlir::Value value, llvm::ArrayRef<int64_t> index) override;
  Scalar opaque(unsigned number, mlir::Type type,
                llvm::ArrayRef<int64_t> index) override;
  Scalar undefined(mlir::Operation *op, llvm::ArrayRef<int64_t> place) override;
  /// Whether something was asked for that is not drawn.
  bool isRefused() const { return wasRefused; }

private:
  Scalar refuse();

  NumericAlgebra &algebra;
  RandomDraws draws;
  bool wasRefused = false;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DRAWS_H
