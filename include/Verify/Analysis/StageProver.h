//===- StageProver.h - decides one stage ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves that the expects of a stage hold for every value of its reference
// tensors, by comparing one element for each pattern of indices.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_STAGEPROVER_H
#define VERIFY_ANALYSIS_STAGEPROVER_H

#include "Verify/IR/TVOps.h"
#include "Verify/Solver/Solver.h"

#include <string>

namespace verify {

/// What is known of a stage.
struct StageVerdict {
  /// `Proved` and `ProvedByNormalization` hold for all obligations together.
  Verdict verdict = Verdict::Unknown;
  /// Why not, for the other two.
  std::string reason;
  unsigned byZ3 = 0;
  unsigned byNormalization = 0;
  /// Unknown tensors that stand for ops on positions.
  unsigned opaqueTensors = 0;
  /// Conditions of definedness the reference needs.
  unsigned conditions = 0;

  bool isProved() const {
    return verdict == Verdict::Proved ||
           verdict == Verdict::ProvedByNormalization;
  }
};

/// Decides stages, one after the other, with one solver.
class StageProver {
public:
  explicit StageProver(const ProverOptions &options) : prover(terms, options) {}

  /// Decides `stage`, and writes its obligations to files that begin with
  /// `smtLibPath` if there is one. Deterministic: it depends on the stage's
  /// content and the options alone.
  StageVerdict prove(tv::StageOp stage, llvm::StringRef smtLibPath = "");

private:
  TermAlgebra terms;
  Prover prover;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_STAGEPROVER_H
