//===- ProverImplementation.h - the state of a prover -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_PROVERIMPLEMENTATION_H
#define VERIFY_LIB_SOLVER_PROVERIMPLEMENTATION_H

#include "Verify/Solver/Solver.h"

#include "Generalization.h"
#include "Obligation.h"
#include "Pattern.h"
#include "Replay.h"
#include "Samples.h"
#include "Z3Solver.h"

#include "llvm/ADT/StringSet.h"

namespace verify {

class Prover::Implementation {
public:
  Implementation(TermAlgebra &terms, ProverOptions options,
                 std::shared_ptr<SolverContext> context)
      : terms(terms), options(options), samples(terms, options.samples),
        solver(terms, options, std::move(context)) {}

  ProofResult prove(Scalar left, Scalar right,
                    llvm::ArrayRef<Condition> wanted);
  std::optional<ProofResult> compareAtSamples(Scalar left, Scalar right,
                                              llvm::ArrayRef<Condition> wanted);
  ProofResult proveCondition(const Condition &condition,
                             llvm::ArrayRef<Condition> wanted);
  std::string toSmtLib(Scalar left, Scalar right,
                       llvm::ArrayRef<Condition> wanted);
  std::string toSmtLib(const Condition &condition,
                       llvm::ArrayRef<Condition> wanted);
  void clear();

  TermAlgebra &terms;
  ProverOptions options;
  ProverStatistics statistics;
  SmallCase smallCase = SmallCase::None;
  std::function<bool(Effort)> beforeLongAttempt;
  bool areDifferencesExpected = false;

private:
  /// Makes sure that the normalizer has these hypotheses.
  void setHypotheses(llvm::ArrayRef<Condition> wanted);
  bool haveOneSort(Scalar left, Scalar right) const;
  /// Whether the sticky error of the algebra forbids every verdict.
  std::optional<ProofResult> refuse() const;
  /// Has the solver check a record and everything it rests on.
  ProofResult checkRecord(RecordId record);
  /// `isFirstAsked`: without nonlinear reasoning the solver did not confirm the
  /// first of them.
  ProofResult checkOneByOne(llvm::ArrayRef<RecordId> records,
                            bool isFirstAsked);
  /// Takes what a record claims for proved. False if it rests on a condition
  /// that was not given.
  bool addProved(RecordId record);
  /// The answer of Z3, unless it takes none: what rests on no law may be an
  /// identity of rings.
  Answer ask(const Query &query, bool isLinear);
  /// `isQuick`: only if both sides have one normal form.
  ProofResult proveEquation(Scalar left, Scalar right,
                            llvm::ArrayRef<Condition> wanted, bool isQuick);
  /// The equation that `left = right` follows from and that is proved, as both
  /// sides have one normal form and all steps to it hold. Those in `failed` are
  /// not tried again, and others that fail are added.
  std::optional<Generalization>
  proveGeneral(Scalar left, Scalar right, llvm::ArrayRef<Condition> wanted,
               llvm::StringSet<> *failed = nullptr);
  bool proveGeneral(const Generalization &general, llvm::StringSet<> *failed);
  /// Whether the sides are made equal step by step, each as a small equation,
  /// which are appended to `steps`.
  bool sweep(Scalar left, Scalar right, llvm::ArrayRef<Condition> wanted,
             std::vector<Generalization> *steps = nullptr);
  /// Whether the condition is about a term that is equal to that of one of the
  /// given ones, and of its kind; `steps` become the equations that show it.
  bool isGiven(const Condition &condition, llvm::ArrayRef<Condition> wanted,
               std::vector<Generalization> *steps = nullptr);
  bool mayTakeLong(Effort effort) const {
    return !beforeLongAttempt || beforeLongAttempt(effort);
  }
  ProofResult proveWithoutNormalForm(const Claim &claim,
                                     llvm::ArrayRef<Scalar> roots);
  ProofResult finish(ProofResult result);
  /// A claim, with the record that proves it if one was found.
  std::string printObligation(std::optional<RecordId> record,
                              const Claim &claim, const std::string &origin);
  /// An equation, with a record that proves it where there is one.
  std::string printEquation(const Generalization &equation,
                            const std::string &origin);
  /// Each of a sweep once, as scripts that follow each other.
  std::string printSteps(llvm::ArrayRef<Generalization> steps,
                         const std::string &origin);
  UnconfirmedStep describeStep(RecordId record) const;

  Samples samples;
  Z3Solver solver;
  llvm::SmallVector<Condition> hypotheses;
  std::unique_ptr<Normalizer> normalizer;
  /// Whether attempts end before they take long, as others follow.
  bool isShort = false, isNormalizerShort = false;
  /// Whether a long attempt at the obligation ended because it took too long.
  bool wasExhausted = false;
  /// Whether the solver gave up in this attempt at the obligation.
  bool hasGivenUp = false;
  std::unique_ptr<ProvedRecords> proved;
  std::unique_ptr<Replay> replay;
  /// Of obligations of all algebras' lives.
  ProvedPatterns patterns;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_PROVERIMPLEMENTATION_H
