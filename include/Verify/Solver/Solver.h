//===- Solver.h - proofs of obligations -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether two terms are equal wherever hypotheses hold. The normal form
// finds an argument; Z3 checks it and alone says that it is one. No type of Z3
// appears here.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SOLVER_SOLVER_H
#define VERIFY_SOLVER_SOLVER_H

#include "Verify/Scalar/Terms.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace verify {

/// What is known of an obligation. `ProvedByNormalization`: the normal forms
/// are the same, but the solver gave up on a step between them.
enum class Verdict : uint8_t {
  Proved,
  ProvedByNormalization,
  NotProved,
  Unknown
};

/// The name of a verdict: `proved by normalization`.
llvm::StringRef getName(Verdict verdict);

/// The value of an atom in a candidate counterexample.
struct AtomValue {
  Scalar atom;
  /// A rational, `true`, `false` or `-inf`.
  std::string value;
};

/// A step of a normal form that the solver neither confirms nor denies.
struct UnconfirmedStep {
  /// What it claims: `exp(a) * exp(b) = exp(a + b)`.
  std::string claim;
  /// What the solver said.
  std::string reason;
};

/// A verdict with what supports it.
struct ProofResult {
  Verdict verdict = Verdict::Unknown;
  /// Why the verdict is unknown or the claim not proved.
  std::string reason;
  /// For `NotProved`, values of atoms at which the sides seem to differ. Only a
  /// candidate: it may rest on rounding or on made-up functions.
  llvm::SmallVector<AtomValue> candidate;
  /// For `ProvedByNormalization`, each step that it rests on.
  std::vector<UnconfirmedStep> unconfirmed = {};
  /// For `Unknown`, whether a normal form took too many steps.
  bool isTooLong = false;
};

/// Whether terms stand for larger ones, with more positions, so that what holds
/// of them has to hold for a reason that does not depend on how many there are
/// (docs/Soundness.md).
enum class SmallCase : uint8_t {
  None, ///< they stand for themselves
  Smooth,
  /// A function is applied to a sum of comparisons or other steps, which takes
  /// fewer values here than there.
  CountsSteps
};

/// How long an attempt may take.
enum class Effort : uint8_t {
  Long,    ///< a normal form that is large, but one of many of a right plan
  VeryLong ///< what is tried where something does not hold
};

/// What limits a proof; all of it deterministic.
struct ProverOptions {
  unsigned randomSeed = 0;
  /// Z3's resource limit for one query; 0 for none.
  unsigned resourceLimit = 5000000;
  /// Z3's resource limit for one query that needs nonlinear reasoning, whose
  /// units take up to a hundred times longer.
  unsigned nonlinearResourceLimit = 50000;
  /// Units that long attempts may spend in vain until the prover is cleared,
  /// those of either kind as many as the limit of a query.
  uint64_t resourceBudget = 30000000;
  /// Formulas of a query: Z3 heeds no limit while it simplifies them, which
  /// takes a second or two for so many. A quarter in a short attempt.
  size_t formulaLimit = size_t(1) << 14;
  /// The most monomials of a normal form.
  size_t monomialLimit = 20000;
  /// Products of monomials after which an attempt at a normal form ends, which
  /// may then have taken seconds and half a gibibyte.
  size_t stepLimit = 500000;
  /// The most terms of a stage, before any attempt: some gigabytes.
  size_t termLimit = 1 << 24;
  /// Points at which both sides are evaluated before a proof is tried.
  unsigned samples = 10;

  /// Limits queries of both kinds in the proportion of the defaults, and lets
  /// some of them be in vain.
  void setResourceLimit(unsigned limit);

  /// `random-seed=0 resource-limit=5000000 ...`, for reports.
  std::string toString() const;
};

/// The name and version of the solver.
std::string getSolverVersion();

/// Counts over the life of a prover.
struct ProverStatistics {
  size_t obligations = 0;
  /// Both sides were the same term.
  size_t identical = 0;
  /// Proved for any value of the terms that both sides have in common.
  size_t generalized = 0;
  /// The same as one that was proved so, of other unknowns.
  size_t repeated = 0;
  /// Proved by equations from operands up, or as a given condition in another
  /// form.
  size_t swept = 0;
  size_t proved = 0;
  size_t provedByNormalization = 0;
  size_t notProved = 0;
  size_t unknown = 0;
  /// Obligations whose sides were also compared at a sample.
  size_t sampled = 0;
  size_t solverQueries = 0;
  /// What would have been queries, but holds in every ring of real terms.
  size_t ringIdentities = 0;
  size_t claims = 0;
  size_t lawInstances = 0;
};

/// What the solver keeps its terms in. Making one takes some milliseconds and
/// 17 MB, so provers on several threads share one, a query at a time.
class SolverContext {
public:
  SolverContext();
  ~SolverContext();

  using Lock = std::unique_lock<std::recursive_timed_mutex>;
  /// Waits until nobody else has the context.
  Lock enter() { return Lock(mutex); }
  /// Waits for as long as said, or until what is being made is there; the lock
  /// is not held where that was in vain.
  Lock enter(std::chrono::milliseconds patience);

  class Implementation;
  /// What is in the context, and how many queries it had: to be used by who
  /// has it.
  Implementation &get() { return *implementation; }
  size_t queries = 0;

private:
  std::recursive_timed_mutex mutex;
  std::unique_ptr<Implementation> implementation;
};

/// Proves equations between terms of one algebra. Keeps what it has proved, so
/// obligations that share terms and hypotheses share the work.
class Prover {
public:
  /// Makes a context of its own where none is given, and where others use that
  /// for long.
  explicit Prover(TermAlgebra &terms, ProverOptions options = {},
                  std::shared_ptr<SolverContext> context = nullptr);
  ~Prover();

  /// Whether `left = right` wherever all hypotheses hold.
  ProofResult prove(Scalar left, Scalar right,
                    llvm::ArrayRef<Condition> hypotheses);
  /// `NotProved` where the sides differ at a sample; nothing is tried.
  std::optional<ProofResult>
  compareAtSamples(Scalar left, Scalar right,
                   llvm::ArrayRef<Condition> hypotheses);
  /// Whether the condition holds wherever all hypotheses do.
  ProofResult proveCondition(const Condition &condition,
                             llvm::ArrayRef<Condition> hypotheses);
  /// The obligation `left = right` as SMT-LIB 2 text, with the laws its proof
  /// uses; a solver that answers `unsat` to every query confirms the proof.
  std::string toSmtLib(Scalar left, Scalar right,
                       llvm::ArrayRef<Condition> hypotheses);
  /// The same for a condition.
  std::string toSmtLib(const Condition &condition,
                       llvm::ArrayRef<Condition> hypotheses);

  /// `ask` is called before an attempt goes on that may take long; where it
  /// says no, the answer is *unknown*.
  void setBeforeLongAttempt(std::function<bool(Effort)> ask);

  /// From now on looks for a sample at which the sides differ before anything
  /// else, which is faster where they do, and does not try for very long.
  void expectDifferences();

  const ProverOptions &getOptions() const;
  const ProverStatistics &getStatistics() const;
  /// Forgets all that depends on terms; to be called when they are cleared.
  void clear();
  /// What the terms stand for, until `clear`.
  void setSmallCase(SmallCase smallCase);

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace verify

#endif // VERIFY_SOLVER_SOLVER_H
