//===- StageProver.h - decides one stage ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves that the expects of a stage hold for every value of its reference
// tensors: because both sides are the same ops, or by comparing one element for
// each pattern of indices.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_STAGEPROVER_H
#define VERIFY_ANALYSIS_STAGEPROVER_H

#include "Verify/IR/TVOps.h"
#include "Verify/Scalar/NumericAlgebras.h"
#include "Verify/Solver/Solver.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <string>
#include <vector>

namespace verify {

/// A step of a proof that the solver does not confirm, and what it is part of.
struct UnconfirmedPart {
  mlir::Location location;
  /// The element, or the condition of definedness.
  std::string obligation;
  UnconfirmedStep step;
};

/// What is known of a stage.
struct StageVerdict {
  /// `Proved` and `ProvedByNormalization` hold for all obligations together.
  Verdict verdict = Verdict::Unknown;
  /// Why not, for the other two.
  std::string reason;
  /// Obligations that are proved, by how: with each step confirmed, by Z3 or as
  /// a ring identity, or by the normal form's word.
  unsigned confirmed = 0;
  unsigned byNormalization = 0;
  /// Whether it was given up because it takes too many terms.
  bool isTooLarge = false;
  /// Whether it was given up after as many steps as one attempt may take.
  bool isTooLong = false;
  /// Expects whose sides are the same ops.
  unsigned byCongruence = 0;
  /// Unknown tensors that stand for ops on positions.
  unsigned opaqueTensors = 0;
  /// Conditions of definedness the reference needs.
  unsigned conditions = 0;
  /// What the obligations proved by normalization rest on.
  std::vector<UnconfirmedPart> unconfirmed;

  bool isProved() const {
    return verdict == Verdict::Proved ||
           verdict == Verdict::ProvedByNormalization;
  }
};

/// Which proofs of a stage are looked for. `Any` is that both sides are the
/// same ops, or the small case.
enum class StageProofs : uint8_t { Any, SmallCase, FullSize };

/// Decides stages, one after the other, with one solver.
class StageProver {
public:
  /// Writes every distinct obligation it decides to a file in
  /// `smtLibDirectory`, if there is one, with where it is from and the verdict.
  explicit StageProver(const ProverOptions &options,
                       llvm::StringRef smtLibDirectory = "",
                       StageProofs kinds = StageProofs::Any,
                       std::shared_ptr<SolverContext> context = nullptr)
      : termLimit(options.termLimit),
        prover(terms, options, std::move(context)),
        smtLibDirectory(smtLibDirectory), kinds(kinds) {}

  /// Decides `stage`. Deterministic: it depends on the stage's content, the
  /// options and whether differences are expected.
  StageVerdict prove(tv::StageOp stage);
  /// Whether a file could not be written, which was said.
  bool hasFailedToWrite() const { return hasWriteFailed; }
  /// See Prover.
  void expectDifferences() { prover.expectDifferences(); }
  void setBeforeLongAttempt(std::function<bool(Effort)> ask) {
    prover.setBeforeLongAttempt(ask);
    this->ask = std::move(ask);
  }

private:
  TermAlgebra terms;
  size_t termLimit;
  /// For points at which references are defined.
  DoubleIntervalAlgebra intervals{FunctionSource::Rounded};
  Prover prover;
  std::function<bool(Effort)> ask;
  std::string smtLibDirectory;
  StageProofs kinds;
  /// The text of what was written, without comments on its origin.
  llvm::StringSet<> written;
  bool hasWriteFailed = false;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_STAGEPROVER_H
