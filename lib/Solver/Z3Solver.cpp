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

using namespace verify;

static void configure(z3::context &context, z3::solver &solver, unsigned seed,
                      unsigned resourceLimit, bool isLinear) {
  z3::params params(context);
  params.set("random_seed", seed);
  params.set("rlimit", resourceLimit);
  if (isLinear)
    params.set("arith.nl", false);
  solver.set(params);
}

Z3Solver::Z3Solver(const TermAlgebra &terms, const ProverOptions &options)
    : linear(context, z3::solver::simple()),
      nonlinear(context, z3::solver::simple()), encoder(context, terms) {
  configure(context, linear, options.randomSeed, options.resourceLimit, true);
  configure(context, nonlinear, options.randomSeed,
            options.nonlinearResourceLimit, false);
}

void Z3Solver::readModel(const z3::model &values) {
  model.clear();
  for (Scalar atom : encoder.getAtoms()) {
    std::optional<z3::expr> symbol = encoder.findAtom(atom);
    if (!symbol || !values.has_interp(symbol->decl()))
      continue;
    model.push_back({atom, values.eval(*symbol, true).to_string()});
  }
}

Answer Z3Solver::checkUnguarded(const Query &query, z3::solver &solver) {
  for (const LawInstance &instance : query.instances)
    solver.add(encoder.encode(instance));
  for (const Claim &fact : query.facts)
    solver.add(encoder.encode(fact));
  z3::expr_vector claims(context);
  for (const Claim &claim : query.claims)
    claims.push_back(encoder.encode(claim));
  solver.add(!z3::mk_and(claims));
  encoder.assertDefinitions(solver);
  switch (solver.check()) {
  case z3::unsat:
    return Answer::Unsatisfiable;
  case z3::sat:
    readModel(solver.get_model());
    return Answer::Satisfiable;
  case z3::unknown:
    reason = "Z3: " + solver.reason_unknown();
    return Answer::Unknown;
  }
  return Answer::Unknown;
}

Answer Z3Solver::check(const Query &query, bool isLinear) {
  ++queries;
  reason.clear();
  model.clear();
  z3::solver &solver = isLinear ? linear : nonlinear;
  Answer answer = Answer::Unknown;
  try {
    solver.push();
    answer = checkUnguarded(query, solver);
    solver.pop();
  } catch (const z3::exception &exception) {
    reason = std::string("Z3: ") + exception.msg();
    answer = Answer::Unknown;
    try {
      solver.reset();
    } catch (const z3::exception &) {
      reason += " (and the solver could not be reset)";
    }
  }
  return answer;
}
