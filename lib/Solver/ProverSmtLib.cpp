//===- ProverSmtLib.cpp - obligations for other solvers -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProverImplementation.h"

#include "SmtLib.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace verify;

std::string Prover::Implementation::toSmtLib(Scalar left, Scalar right,
                                             llvm::ArrayRef<Condition> wanted) {
  std::string origin = "obligation of Verify: " + terms.toString(left, 6) +
                       " = " + terms.toString(right, 6);
  if (std::optional<ProofResult> refused = refuse())
    return "; " + origin + "\n; not encoded: " + refused->reason + "\n";
  // Equal by reflexivity, whatever the term is.
  if (left == right)
    return "; " + origin +
           "\n; both sides are the same term\n(set-logic ALL)\n(set-info "
           ":status unsat)\n(declare-const common Real)\n(assert (not (= "
           "common "
           "common)))\n(check-sat)\n";
  Generalization general = generalize(terms, left, right, wanted);
  if (general.hasReplaced) {
    setHypotheses(general.hypotheses);
    if (normalizer->proveEqual(general.left, general.right))
      return printEquation(general, origin + ", for any value of what both "
                                             "sides have in common");
  }
  std::optional<RecordId> record;
  auto find = [&] {
    setHypotheses(wanted);
    record = normalizer->proveEqual(left, right);
    return record.has_value();
  };
  std::vector<Generalization> steps;
  if (general.hasReplaced || !find()) {
    {
      llvm::SaveAndRestore shortAttempts(isShort, true);
      if (sweep(left, right, wanted, &steps))
        return printSteps(steps, origin);
    }
    find();
  }
  bool isExtended = terms.isExtended(left) || terms.isExtended(right);
  if (!record && !normalizer->failure() && isExtended)
    return "; " + origin +
           "\n; not encoded: sides that may be infinite have "
           "different normal forms\n";
  return printObligation(record, {ClaimKind::Equal, left, right}, origin);
}

std::string
Prover::Implementation::printEquation(const Generalization &equation,
                                      const std::string &origin) {
  setHypotheses(equation.hypotheses);
  return printObligation(normalizer->proveEqual(equation.left, equation.right),
                         {ClaimKind::Equal, equation.left, equation.right},
                         origin);
}

std::string
Prover::Implementation::printSteps(llvm::ArrayRef<Generalization> steps,
                                   const std::string &origin) {
  std::string text = "; " + origin +
                     "\n; by equations from operands up, each of which makes "
                     "terms of both sides one\n";
  llvm::StringSet<> written;
  for (const Generalization &step : steps) {
    // Others are the same, of other unknowns.
    if (!written
             .insert(getPattern(terms, step.left, step.right, step.hypotheses,
                                smallCase))
             .second)
      continue;
    if (written.size() > 1)
      text += "(reset)\n";
    text += printEquation(step, "equation " + std::to_string(written.size()));
  }
  return text;
}

std::string Prover::Implementation::toSmtLib(const Condition &condition,
                                             llvm::ArrayRef<Condition> wanted) {
  std::string origin = "obligation of Verify: the plan is defined: " +
                       terms.toString(condition.term, 6);
  if (std::optional<ProofResult> refused = refuse())
    return "; " + origin + "\n; not encoded: " + refused->reason + "\n";
  std::vector<Generalization> steps;
  if (isGiven(condition, wanted, &steps))
    return printSteps(steps, origin + "\n; as its term is that of a condition "
                                      "under which the reference is defined");
  setHypotheses(wanted);
  std::optional<RecordId> record = normalizer->proveCondition(condition);
  return printObligation(record, toClaim(condition), origin);
}

std::string
Prover::Implementation::printObligation(std::optional<RecordId> record,
                                        const Claim &claim,
                                        const std::string &origin) {
  if (normalizer->failure())
    return "; " + origin + "\n; not encoded: " + *normalizer->failure() + "\n";
  if (record) {
    Query query =
        makeQuery(*normalizer, collectArgument(terms, *normalizer, *record,
                                               ProvedRecords()));
    return printSmtLib(terms, query, claim, /*isProved=*/true,
                       {origin,
                        "each step replaces equals by equals; all of them "
                        "follow from the laws below"});
  }
  Query query;
  Claim normal = claim;
  normal.left = normalizer->getNormalForm(claim.left);
  if (claim.kind == ClaimKind::Equal)
    normal.right = normalizer->getNormalForm(claim.right);
  query.claims.push_back(normal);
  llvm::SmallVector<RecordId> rests;
  addGeneralLaws(terms, *normalizer, hypotheses, normal, query, rests);
  return printSmtLib(terms, query, std::nullopt, /*isProved=*/false,
                     {origin, "the normal forms do not decide it"});
}
