//===- ResidualBranches.h - inputs that keep deep models simple -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of many layers is a chain of residual connections `x + f(x)`. Where
// the last parameter of `f` is 0, the connection passes `x` on as it is, so a
// mistake near one of them shows without what the others compute. It chooses
// inputs to try; no verdict rests on it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_RESIDUALBRANCHES_H
#define VERIFY_LIB_TRANSFORMS_RESIDUALBRANCHES_H

#include "Verify/Analysis/FactorAnalysis.h"
#include "llvm/ADT/StringSet.h"

namespace verify {

/// What becomes of branches with a value that has two long dimensions, as those
/// of attention have: where sequences are long they take most of the time. With
/// scores of 0 attention is an average, which is nearly the same at all
/// positions.
enum class QuadraticBranches { LikeOthers, Nearest, NearestAverage, None };

/// Parameters that are 0 in simple inputs.
struct ZeroParameters {
  llvm::StringSet<> names;
  /// Whether what happens at the place may show with them. No is a guess.
  bool mayShowPlace = true;
};

/// The parameters to set to 0 so that of the reference's residual branches
/// those near `place` alone are not 0. Of few branches, or if most would stay,
/// all stay that `quadratic` allows. Those that make scores 0, or what is
/// made of scores, go with the branches of these.
ZeroParameters chooseZeroParameters(tv::GraphOp graph,
                                    const FactorAnalysis &factors,
                                    tv::ExpectOp place,
                                    QuadraticBranches quadratic);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RESIDUALBRANCHES_H
