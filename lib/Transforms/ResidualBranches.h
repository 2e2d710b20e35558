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

/// A branch of the reference that a residual connection adds.
struct ResidualBranch {
  /// Parameters that make it 0, if all of them are.
  llvm::SmallVector<mlir::Value, 2> ends;
  llvm::SmallVector<mlir::Operation *> ops;
  /// Whether it relates the positions of a sequence to each other, as attention
  /// does: a value of it has two long dimensions.
  bool isQuadratic = false;
  /// Parameters that make the first such values 0, the scores, and those that
  /// make 0 what is made of such values: what attention gives.
  llvm::SmallVector<mlir::Value, 2> scoreEnds, valueEnds;
};

/// The residual branches of a graph's reference.
class ResidualBranches {
public:
  /// Of the graph that these are all results of the contract of. The analysis
  /// is that of the graph, and has to outlive this.
  ResidualBranches(llvm::ArrayRef<tv::ExpectOp> results,
                   const FactorAnalysis &factors);

  /// The parameters to set to 0 so that of the branches those near `place`
  /// alone are not 0. Of few branches, or if most would stay, all stay that
  /// `quadratic` allows. Those that make scores 0, or what is made of scores,
  /// go with the branches of these.
  ZeroParameters chooseZeros(tv::ExpectOp place,
                             QuadraticBranches quadratic) const;

private:
  const FactorAnalysis &factors;
  std::vector<ResidualBranch> branches; ///< in the order of the forward pass
  llvm::DenseMap<mlir::Operation *, size_t> branchOf;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RESIDUALBRANCHES_H
