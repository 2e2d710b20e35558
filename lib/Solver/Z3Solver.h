//===- Z3Solver.h - queries to Z3 -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One context and two solvers: one that only does linear arithmetic and
// congruence, which is all that checking an argument takes, and one that may
// reason about products.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_Z3SOLVER_H
#define VERIFY_LIB_SOLVER_Z3SOLVER_H

#include "Verify/Solver/Solver.h"
#include "Z3Terms.h"

#include "llvm/ADT/ScopeExit.h"

#include <atomic>

namespace verify {

/// What a query asks: do the claims follow from instances and facts?
struct Query {
  llvm::SmallVector<LawInstance> instances;
  llvm::SmallVector<Claim> facts;
  llvm::SmallVector<Claim> claims;
};

class SolverContext::Implementation {
public:
  /// The context, made when it is first needed, by who has it.
  z3::context &get() {
    if (!context) {
      isBeingMade = true;
      auto isOver = llvm::make_scope_exit([this] { isBeingMade = false; });
      context.emplace();
    }
    return *context;
  }
  /// Whether it is soon there: anybody may ask.
  bool isAboutToBeThere() const { return isBeingMade; }

private:
  std::optional<z3::context> context;
  std::atomic<bool> isBeingMade = false;
};

/// The answer of the solver to the negation of the claims.
enum class Answer : uint8_t { Unsatisfiable, Satisfiable, Unknown };

/// A Z3 context with its solvers. Exceptions of Z3 become unknown answers.
class Z3Solver {
public:
  Z3Solver(const TermAlgebra &terms, const ProverOptions &options,
           std::shared_ptr<SolverContext> shared);

  /// Forgets all terms, but keeps Z3's context, which takes long to make.
  void clear();

  /// Whether all claims follow. An attempt that is short ends sooner.
  Answer check(const Query &query, bool isLinear, bool isShort = false);
  /// Why the last answer was unknown.
  const std::string &getReason() const { return reason; }
  /// Whether it was so for want of resources, and whether Z3 said it: it is not
  /// asked what is too large, nor once it gave up too often.
  bool isExhausted() const { return isOutOfResources; }
  bool wasAsked() const { return hasAsked; }
  /// Values of the atoms of `roots` in the model of the last answer.
  llvm::ArrayRef<AtomValue> getModel() const { return model; }

private:
  Answer checkOnce(const Query &query, bool isLinear, bool isShort);
  /// Does not ask, and says why.
  Answer refuse(const llvm::Twine &why);
  Answer checkUnguarded(const Query &query, z3::solver &solver);
  void readModel(const z3::model &values);

  /// A solver and the resource units that it may take for a query.
  struct LimitedSolver {
    z3::solver solver;
    unsigned resourceLimit;
  };
  /// The solver of a kind, made when it is first needed, with one of so many
  /// shares of the resources of a query.
  z3::solver &getSolver(bool isLinear, unsigned shares);

  /// What this solver has in a context. To be used, and destroyed, by who has
  /// the context.
  struct Session {
    explicit Session(std::shared_ptr<SolverContext> owner);
    ~Session();

    std::shared_ptr<SolverContext> owner;
    z3::context &context;
    std::optional<LimitedSolver> linear, nonlinear;
    std::optional<Z3Terms> encoder;
  };
  /// Waits for the session's context, or takes another one.
  SolverContext::Lock enter();
  void beginSession(std::shared_ptr<SolverContext> owner);
  /// Whether the session is in a context of its own, without queries so far.
  bool isUnused() const;
  /// Begins one in a context of its own.
  void beginAlone();
  /// Gives the session up, without waiting for who has its context.
  void leave();

  const TermAlgebra &terms;
  ProverOptions options;
  std::shared_ptr<SolverContext> shared; ///< until it has a session
  /// Made when it is first needed.
  std::unique_ptr<Session> session;
  /// Given up, in the context of others.
  std::unique_ptr<Session> left;
  /// Whether the last query was the first one in its context.
  bool isFirst = false;
  /// Whether the terms that are encoded have been cleared.
  bool areTermsOver = false;
  /// Resources of long attempts that led to no answer, until the terms are
  /// cleared.
  uint64_t spent = 0;
  std::string reason;
  bool isOutOfResources = false, hasAsked = false;
  llvm::SmallVector<AtomValue> model;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_Z3SOLVER_H
