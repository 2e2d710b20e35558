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

/// What is replaced of what both sides have in common.
enum class CommonPart : uint8_t {
  Terms,   ///< every largest term
  Operands ///< the operands of these, which may suffice where it does not
};

/// `left = right` under `hypotheses`, with every common part that is no leaf
/// replaced by a new atom. Hypotheses about terms that no longer occur, or
/// never did, are left out.
Generalization generalize(TermAlgebra &terms, Scalar left, Scalar right,
                          llvm::ArrayRef<Condition> hypotheses,
                          CommonPart part = CommonPart::Terms);

} // namespace verify

#endif // VERIFY_LIB_SOLVER_GENERALIZATION_H
