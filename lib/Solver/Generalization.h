//===- Generalization.h - obligations without common parts ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both sides of an obligation mostly compute the same scalars and combine them
// in different ways. What holds for any value of the common parts holds for the
// values they have, and is far smaller to prove.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_GENERALIZATION_H
#define VERIFY_LIB_SOLVER_GENERALIZATION_H

#include "Verify/Scalar/Terms.h"

namespace verify {

/// An obligation from which another one follows.
struct Generalization {
  Scalar left, right;
  llvm::SmallVector<Condition> hypotheses;
  /// Whether an atom stands for something that is not one.
  bool hasReplaced;
};

/// `left = right` under `hypotheses`, with every largest term that occurs on
/// both sides, unless it is a leaf, replaced by a new atom. Hypotheses about
/// terms that no longer occur, or never did, are left out.
Generalization generalize(TermAlgebra &terms, Scalar left, Scalar right,
                          llvm::ArrayRef<Condition> hypotheses);

} // namespace verify

#endif // VERIFY_LIB_SOLVER_GENERALIZATION_H
