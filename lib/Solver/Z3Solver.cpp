//===- Z3Solver.cpp - queries to Z3 ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asserts instances and facts, then the negation of the claims. Only `unsat`
// counts as a proof.
//
//===----------------------------------------------------------------------===//

#include "Z3Solver.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace verify;

/// A short attempt has one of so many shares of the resources, and of the
/// formulas that a query may have.
static constexpr unsigned resourceShares = 8, formulaShares = 4;
/// The same of a query that is asked again where there were none before.
static constexpr unsigned repeatedShares = 4;

/// Formulas of a query that is put where there were none before at once, as
/// that takes less time than the query.
static constexpr size_t aloneFormulas = 1024;

std::string verify::getSolverVersion() { return Z3_get_full_version(); }

std::string ProverOptions::toString() const {
  return ("random-seed=" + llvm::Twine(randomSeed) +
          " resource-limit=" + llvm::Twine(resourceLimit) +
          " nonlinear-resource-limit=" + llvm::Twine(nonlinearResourceLimit) +
          " resource-budget=" + llvm::Twine(resourceBudget) +
          " formula-limit=" + llvm::Twine(formulaLimit) + " monomial-limit=" +
          llvm::Twine(monomialLimit) + " step-limit=" + llvm::Twine(stepLimit) +
          " samples=" + llvm::Twine(samples))
      .str();
}

void ProverOptions::setResourceLimit(unsigned limit) {
  constexpr unsigned share = 100;
  resourceLimit = limit;
  // 0 stands for no limit.
  nonlinearResourceLimit = limit ? std::max(limit / share, 1U) : 0;
  constexpr uint64_t queries = 6;
  resourceBudget = std::max(resourceBudget, queries * limit);
}

static void configure(z3::context &context, z3::solver &solver, unsigned seed,
                      unsigned resourceLimit, bool isLinear) {
  z3::params params(context);
  params.set("random_seed", seed);
  params.set("rlimit", resourceLimit);
  // The older arithmetic: the newer one (6) takes up to a hundred times longer
  // on these queries, and parts of it do not heed the resource limit.
  params.set("arith.solver", 2U);
  params.set("arith.nl", !isLinear);
  solver.set(params);
}

SolverContext::SolverContext()
    : implementation(std::make_unique<Implementation>()) {}

SolverContext::~SolverContext() = default;

SolverContext::Lock SolverContext::enter(std::chrono::milliseconds patience) {
  Lock lock(mutex, patience);
  // To make another one would take as long.
  while (!lock && implementation->isAboutToBeThere())
    std::ignore = lock.try_lock_for(patience);
  return lock;
}

Z3Solver::Z3Solver(const TermAlgebra &terms, const ProverOptions &options,
                   std::shared_ptr<SolverContext> shared)
    : terms(terms), options(options), shared(std::move(shared)) {}

Z3Solver::Session::Session(std::shared_ptr<SolverContext> owner)
    : owner(std::move(owner)), context(this->owner->get().get()) {}

Z3Solver::Session::~Session() {
  SolverContext::Lock lock = owner->enter();
  encoder.reset();
  linear.reset();
  nonlinear.reset();
}

void Z3Solver::beginSession(std::shared_ptr<SolverContext> owner) {
  SolverContext::Lock lock = owner->enter();
  session = std::make_unique<Session>(std::move(owner));
}

bool Z3Solver::isUnused() const {
  // Others count their queries in what they share.
  return session && session->owner.use_count() == 1 &&
         session->owner->queries == 0;
}

void Z3Solver::beginAlone() {
  leave();
  beginSession(std::make_shared<SolverContext>());
}

void Z3Solver::leave() {
  // Only the first session is in a context of others.
  if (session && session->owner.use_count() > 1)
    left = std::move(session);
  session.reset();
}

SolverContext::Lock Z3Solver::enter() {
  // About as long as it takes to make another one.
  constexpr std::chrono::milliseconds patience(10);
  SolverContext *wanted = session ? session->owner.get() : shared.get();
  if (wanted) {
    SolverContext::Lock lock = wanted->enter(patience);
    if (lock) {
      if (!session)
        beginSession(std::move(shared));
      return lock;
    }
  }
  beginAlone();
  return session->owner->enter();
}

void Z3Solver::clear() {
  // Who has the context forgets the terms with the next query.
  areTermsOver = true;
  spent = 0;
}

z3::solver &Z3Solver::getSolver(bool isLinear, unsigned shares) {
  std::optional<LimitedSolver> &limited =
      isLinear ? session->linear : session->nonlinear;
  unsigned limit =
      isLinear ? options.resourceLimit : options.nonlinearResourceLimit;
  // 0 stands for no limit.
  if (limit)
    limit = std::max(limit / shares, 1U);
  if (!limited)
    limited.emplace(LimitedSolver{
        z3::solver(session->context, z3::solver::simple()), ~limit});
  if (limited->resourceLimit != limit)
    configure(session->context, limited->solver, options.randomSeed, limit,
              isLinear);
  limited->resourceLimit = limit;
  return limited->solver;
}

void Z3Solver::readModel(const z3::model &values) {
  model.clear();
  for (Scalar atom : session->encoder->getAtoms()) {
    std::optional<z3::expr> symbol = session->encoder->findAtom(atom);
    if (!symbol || !values.has_interp(symbol->decl()))
      continue;
    model.push_back({atom, values.eval(*symbol, true).to_string()});
  }
}

Answer Z3Solver::checkUnguarded(const Query &query, z3::solver &solver) {
  Z3Terms &encoder = *session->encoder;
  z3::expr_vector formulas(session->context), claims(session->context);
  for (const LawInstance &instance : query.instances)
    formulas.push_back(encoder.encode(instance));
  for (const Claim &fact : query.facts)
    formulas.push_back(encoder.encode(fact));
  for (const Claim &claim : query.claims)
    claims.push_back(encoder.encode(claim));
  formulas.push_back(!z3::mk_and(claims));
  encoder.takeDefinitions(formulas);
  // All at once, because a call of the simplifier has a price of its own.
  solver.add(encoder.normalize(z3::mk_and(formulas)));
  switch (solver.check()) {
  case z3::unsat:
    return Answer::Unsatisfiable;
  case z3::sat:
    readModel(solver.get_model());
    return Answer::Satisfiable;
  case z3::unknown:
    reason = "Z3: " + solver.reason_unknown();
    // What Z3 says of its limit, and of what that interrupted.
    isOutOfResources = llvm::StringRef(reason).contains("resource limit") ||
                       llvm::StringRef(reason).contains("canceled") ||
                       reason == "Z3: unknown";
    return Answer::Unknown;
  }
  return Answer::Unknown;
}

Answer Z3Solver::checkOnce(const Query &query, bool isLinear, bool isShort) {
  SolverContext::Lock lock = enter();
  if (areTermsOver || !session->encoder)
    session->encoder.emplace(session->context, terms);
  areTermsOver = false;
  isFirst = session->owner->queries++ == 0;
  reason.clear();
  isOutOfResources = false;
  model.clear();
  Answer answer = Answer::Unknown;
  try {
    unsigned shares =
        (isShort ? resourceShares : 1) * (isFirst ? 1 : repeatedShares);
    z3::solver &solver = getSolver(isLinear, shares);
    solver.push();
    answer = checkUnguarded(query, solver);
    solver.pop();
  } catch (const z3::exception &exception) {
    reason = std::string("Z3: ") + exception.msg();
    answer = Answer::Unknown;
    // A fresh solver next time, with nothing left of this query.
    (isLinear ? session->linear : session->nonlinear).reset();
    session->encoder->dropDefinitions();
  }
  return answer;
}

Answer Z3Solver::refuse(const llvm::Twine &why) {
  reason = why.str();
  isOutOfResources = true;
  hasAsked = false;
  model.clear();
  return Answer::Unknown;
}

Answer Z3Solver::check(const Query &query, bool isLinear, bool isShort) {
  size_t formulas =
      query.instances.size() + query.facts.size() + query.claims.size();
  bool isTooLarge =
      formulas > options.formulaLimit / (isShort ? formulaShares : 1);
  if (isTooLarge)
    return refuse("Z3 is not asked about " + llvm::Twine(formulas) +
                  " formulas at once");
  if (!isShort && spent >= options.resourceBudget)
    return refuse("Z3 gave up too often");
  hasAsked = true;
  // It would be asked again there.
  if (formulas > aloneFormulas && !isUnused())
    beginAlone();
  Answer answer = checkOnce(query, isLinear, isShort);
  // An answer must not be worse for the queries that came before.
  if (answer == Answer::Unknown && !isFirst) {
    beginAlone();
    answer = checkOnce(query, isLinear, isShort);
  }
  // Of either kind as long.
  if (answer == Answer::Unknown && isOutOfResources && !isShort)
    spent += options.resourceLimit;
  return answer;
}
