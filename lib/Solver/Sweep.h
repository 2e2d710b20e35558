//===- Sweep.h - equations proved from their operands up --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where one side has an op more than the other one, nothing that comes after it
// is common to both. Terms that agree at samples are proved equal one by one,
// operands first, and each takes the place of the other in what uses it: what
// is SAT sweeping for circuits (Kuehlmann et al., "Robust Boolean reasoning for
// equivalence checking and functional property verification", 2002).
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_SWEEP_H
#define VERIFY_LIB_SOLVER_SWEEP_H

#include "Samples.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace verify {

/// Makes terms of two sides the same ones.
class Sweep {
public:
  /// Of an attempt to prove that two terms are equal wherever conditions hold.
  enum class Result : uint8_t {
    Proved,
    NotProved,
    Enough ///< so many attempts failed that no more are made
  };
  using Prove =
      llvm::function_ref<Result(Scalar, Scalar, llvm::ArrayRef<Condition>)>;

  Sweep(TermAlgebra &terms, Samples &samples,
        llvm::ArrayRef<Condition> hypotheses);

  /// Whether both sides become the same term. `prove` is given the hypotheses,
  /// with what took the place of the terms that they are about.
  bool run(Scalar left, Scalar right, Prove prove);

private:
  /// The term with what takes the place of its operands.
  Scalar rewrite(Scalar term);
  /// A term that is equal to the rewritten one and came before, if one is
  /// found and proved so; else that itself.
  Scalar merge(Scalar rewritten, Prove prove);
  /// A term whose place another one takes may be what a hypothesis is about.
  void rewriteHypotheses(Scalar term, Scalar replacement);

  TermAlgebra &terms;
  Samples &samples;
  llvm::SmallVector<Condition> hypotheses;
  llvm::DenseMap<uint64_t, Scalar> replacements;
  /// Terms with these values at samples, of which none was proved equal to
  /// another.
  std::map<Samples::Signature, llvm::SmallVector<Scalar, 1>> known;
  bool isOver = false;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_SWEEP_H
