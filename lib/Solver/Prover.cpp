//===- Prover.cpp - proofs of obligations ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the records of the normal form into queries and answers into verdicts.
// A record is proved once; later proofs take its claims as facts.
//
//===----------------------------------------------------------------------===//

#include "ProverImplementation.h"

#include "RingIdentities.h"
#include "Sweep.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace verify;

static ProofResult unknown(std::string reason) {
  return {Verdict::Unknown, std::move(reason), {}};
}

static constexpr const char *notGivenReason =
    "a step rests on a condition that was not given";

static ProofResult differing(llvm::SmallVector<AtomValue> sample) {
  return {
      Verdict::NotProved,
      "the sides differ at some numbers in the tensors that they start from",
      std::move(sample)};
}

/// Products of monomials, some tenths of a second, before it is asked whether
/// to go on.
static constexpr size_t freeSteps = 250000;
/// The same of an attempt after which others follow.
static constexpr size_t shortSteps = 16384;
/// Equations that are not proved, after which the sides are taken to have
/// little in common.
static constexpr size_t mostFailures = 32;
/// Equations that are tried before it is asked whether more may be.
static constexpr size_t quickEquations = 128;

/// Where no longer attempt is made.
static constexpr const char *notTriedReason = "the normal forms differ";

void Prover::Implementation::clear() {
  samples.clear();
  replay.reset();
  proved.reset();
  normalizer.reset();
  hypotheses.clear();
  smallCase = SmallCase::None;
  solver.clear();
}

void Prover::Implementation::setHypotheses(llvm::ArrayRef<Condition> wanted) {
  bool isFresh = normalizer && !normalizer->failure() &&
                 isNormalizerShort == isShort &&
                 llvm::ArrayRef(hypotheses) == wanted;
  if (isFresh)
    return;
  isNormalizerShort = isShort;
  hypotheses.assign(wanted.begin(), wanted.end());
  NormalizerLimits limits;
  limits.monomials = options.monomialLimit;
  if (smallCase == SmallCase::CountsSteps)
    limits.indicators = 0;
  limits.freeSteps = isShort ? shortSteps : freeSteps;
  limits.mostSteps = options.stepLimit;
  limits.beforeMoreSteps = [this] {
    return !isNormalizerShort && mayTakeLong(Effort::Long);
  };
  normalizer = std::make_unique<Normalizer>(terms, hypotheses, limits);
  proved = std::make_unique<ProvedRecords>();
  replay = std::make_unique<Replay>(terms, *normalizer);
}

std::optional<ProofResult> Prover::Implementation::refuse() const {
  if (!terms.error())
    return std::nullopt;
  return unknown(*terms.error());
}

Answer Prover::Implementation::ask(const Query &query, bool isLinear) {
  // What rests on no law is an identity of rings, or false.
  if (query.instances.empty() && query.facts.empty() &&
      llvm::all_of(query.claims, [&](const Claim &claim) {
        return isRingIdentity(terms, claim);
      })) {
    ++statistics.ringIdentities;
    return Answer::Unsatisfiable;
  }
  ++statistics.solverQueries;
  statistics.claims += query.claims.size();
  statistics.lawInstances += query.instances.size();
  Answer answer = solver.check(query, isLinear, isShort);
  hasGivenUp |= answer == Answer::Unknown && solver.isExhausted();
  return answer;
}

UnconfirmedStep Prover::Implementation::describeStep(RecordId record) const {
  UnconfirmedStep step{"", solver.getReason()};
  for (const Claim &claim : normalizer->getRecord(record).claims) {
    step.claim += step.claim.empty() ? "" : " and ";
    step.claim += terms.toString(claim.left, 6);
    switch (claim.kind) {
    case ClaimKind::Equal:
      step.claim += " = " + terms.toString(claim.right, 6);
      break;
    case ClaimKind::NonZero:
      step.claim += " is not 0";
      break;
    case ClaimKind::NonNegative:
      step.claim += " >= 0";
      break;
    case ClaimKind::Positive:
      step.claim += " > 0";
      break;
    }
  }
  return step;
}

/// Checks records of an argument separately, needed ones first. Goes on
/// after a step that the solver does not confirm, to find all of them.
ProofResult
Prover::Implementation::checkOneByOne(llvm::ArrayRef<RecordId> records,
                                      bool isFirstAsked) {
  ProofResult result{Verdict::Proved, "", {}};
  llvm::DenseSet<RecordId> open;
  for (RecordId record : records) {
    if (proved->contains(record))
      continue;
    bool restsOnOpen = false;
    for (RecordId needed : normalizer->getRecord(record).needs) {
      restsOnOpen |= open.contains(needed);
      if (!proved->contains(needed) && !open.contains(needed))
        return unknown("a step of the normal form rests on itself");
    }
    Query query = makeLocalQuery(*normalizer, record);
    bool wasAsked = isFirstAsked && record == records.front();
    Answer answer = query.claims.empty() ? Answer::Unsatisfiable
                    : wasAsked           ? Answer::Unknown
                                         : ask(query, /*isLinear=*/true);
    if (answer != Answer::Unsatisfiable)
      answer = ask(query, /*isLinear=*/false);
    if (answer == Answer::Satisfiable)
      return unknown("the solver does not accept a step of the normal form");
    if (answer == Answer::Unknown) {
      if (!solver.wasAsked())
        return unknown(solver.getReason());
      // What a short attempt does not prove is tried in another way.
      if (isShort)
        return unknown("the solver gave up on a step (" + solver.getReason() +
                       ")");
      result.verdict = Verdict::ProvedByNormalization;
      result.reason = solver.getReason();
      result.unconfirmed.push_back(describeStep(record));
      restsOnOpen = true;
    }
    if (restsOnOpen)
      open.insert(record);
    else if (!addProved(record))
      return unknown(notGivenReason);
  }
  return result;
}

bool Prover::Implementation::addProved(RecordId record) {
  if (terms.error())
    return true;
  const Record &content = normalizer->getRecord(record);
  proved->add(record);
  replay->accept(content.claims);
  return llvm::all_of(content.instances, [&](InstanceId id) {
    LawInstance instance = normalizer->getLaws().get(id);
    return instance.law != Law::Hypothesis ||
           replay->isHypothesis(instance.conclusions[0], hypotheses);
  });
}

ProofResult Prover::Implementation::checkRecord(RecordId record) {
  Argument argument = collectArgument(terms, *normalizer, record, *proved);
  ProofResult result{Verdict::Proved, "", {}};
  llvm::ArrayRef<RecordId> rest = argument.records;
  while (!rest.empty()) {
    size_t count = countTogether(*normalizer, rest);
    Query query =
        count == argument.records.size()
            ? makeQuery(*normalizer, argument)
            : makeQuery(*normalizer,
                        takePart(*normalizer, *proved, rest.take_front(count)));
    bool isAccepted = query.claims.empty() ||
                      ask(query, /*isLinear=*/true) == Answer::Unsatisfiable;
    // Z3 simplifies some facts away that its linear arithmetic would need, such
    // as that a square is not negative.
    if (!isAccepted && query.claims.size() < 16)
      isAccepted = ask(query, /*isLinear=*/false) == Answer::Unsatisfiable;
    if (!isAccepted && solver.isExhausted() && !solver.wasAsked())
      return unknown(solver.getReason());
    if (!isAccepted) {
      result = checkOneByOne(rest, /*isFirstAsked=*/count == 1);
      break;
    }
    // What follows may rest on these.
    if (!llvm::all_of(rest.take_front(count),
                      [&](RecordId accepted) { return addProved(accepted); }))
      return unknown(notGivenReason);
    rest = rest.drop_front(count);
  }
  if (result.verdict == Verdict::Proved && !terms.error())
    proved->add(argument);
  // Without the solver's word, the values must at least agree somewhere.
  if (result.verdict == Verdict::ProvedByNormalization && !samples.haveAgreed())
    return unknown("the solver gave up (" + result.reason +
                   ") and no sample supports the claim");
  return result;
}

/// Asks the solver about a claim whose sides have different normal forms.
ProofResult
Prover::Implementation::proveWithoutNormalForm(const Claim &claim,
                                               llvm::ArrayRef<Scalar> roots) {
  if (normalizer->failure())
    return unknown(*normalizer->failure());
  // The solver could use that there are only a few positions.
  if (smallCase != SmallCase::None)
    return unknown(claim.kind == ClaimKind::Equal
                       ? notTriedReason
                       : "a condition does not follow from the signs of its "
                         "parts");
  Query query;
  query.claims.push_back(claim);
  llvm::SmallVector<RecordId> rests;
  addGeneralLaws(terms, *normalizer, hypotheses, claim, query, rests);
  switch (ask(query, /*isLinear=*/false)) {
  case Answer::Unknown:
    return unknown("the normal forms differ and the solver gave up (" +
                   solver.getReason() + ")");
  case Answer::Satisfiable: {
    llvm::ArrayRef<AtomValue> model = solver.getModel();
    return {Verdict::NotProved,
            "the normal forms differ and the solver has a model",
            llvm::SmallVector<AtomValue>(model)};
  }
  case Answer::Unsatisfiable:
    break;
  }
  // The claim is about normal forms; the terms must have them.
  for (Scalar root : roots) {
    std::optional<RecordId> record = normalizer->proveEqual(root, root);
    if (!record)
      return unknown("a term has no normal form");
    rests.push_back(*record);
  }
  for (RecordId record : rests) {
    ProofResult result = checkRecord(record);
    if (result.verdict != Verdict::Proved)
      return result;
  }
  replay->accept({claim});
  return {Verdict::Proved, "", {}};
}

ProofResult Prover::Implementation::finish(ProofResult result) {
  if (std::optional<ProofResult> refused = refuse())
    result = *refused;
  ++statistics.obligations;
  switch (result.verdict) {
  case Verdict::Proved:
    ++statistics.proved;
    break;
  case Verdict::ProvedByNormalization:
    ++statistics.provedByNormalization;
    break;
  case Verdict::NotProved:
    ++statistics.notProved;
    break;
  case Verdict::Unknown:
    ++statistics.unknown;
    result.isTooLong =
        wasExhausted || hasGivenUp || (normalizer && normalizer->isExhausted());
    break;
  }
  return result;
}

ProofResult Prover::Implementation::prove(Scalar left, Scalar right,
                                          llvm::ArrayRef<Condition> wanted) {
  wasExhausted = hasGivenUp = false;
  if (std::optional<ProofResult> refused = refuse())
    return finish(*refused);
  if (left == right) {
    ++statistics.identical;
    return finish({Verdict::Proved, "", {}});
  }
  if (!haveOneSort(left, right))
    return finish(unknown("an equation between scalars of different sorts"));
  if (areDifferencesExpected)
    if (auto difference = samples.findDifference(left, right, wanted))
      return finish(differing(std::move(*difference)));
  bool isProved = false, isCutShort = false;
  {
    llvm::SaveAndRestore shortAttempts(isShort, true);
    isProved = proveGeneral(left, right, wanted).has_value();
    // Where the steps did not suffice, more of them may.
    isCutShort = hasGivenUp || (normalizer && normalizer->failure());
    if (!isProved)
      if (auto difference = samples.findDifference(left, right, wanted))
        return finish(differing(std::move(*difference)));
    if (!isProved && sweep(left, right, wanted)) {
      ++statistics.swept;
      isProved = true;
    }
    hasGivenUp = false;
  }
  bool hasCommon = generalize(terms, left, right, wanted).hasReplaced;
  if (!isProved && isCutShort && hasCommon)
    isProved = proveGeneral(left, right, wanted).has_value();
  if (isProved)
    return finish({Verdict::Proved, "", {}});
  if (hasCommon && !mayTakeLong(Effort::VeryLong))
    return finish(unknown(notTriedReason));
  return finish(proveEquation(left, right, wanted, /*isQuick=*/false));
}

std::optional<Generalization>
Prover::Implementation::proveGeneral(Scalar left, Scalar right,
                                     llvm::ArrayRef<Condition> wanted,
                                     llvm::StringSet<> *failed) {
  for (CommonPart part : {CommonPart::Terms, CommonPart::Operands}) {
    Generalization general = generalize(terms, left, right, wanted, part);
    if (proveGeneral(general, failed))
      return general;
    // Long attempts were short ones before, and are made of one equation.
    if (!general.hasReplaced || !isShort)
      break;
  }
  return std::nullopt;
}

bool Prover::Implementation::proveGeneral(const Generalization &general,
                                          llvm::StringSet<> *failed) {
  std::string pattern = getPattern(terms, general.left, general.right,
                                   general.hypotheses, smallCase);
  if (patterns.contains(pattern)) {
    ++statistics.repeated;
    return true;
  }
  if (failed && failed->contains(pattern))
    return false;
  auto prove = [&] {
    return proveEquation(general.left, general.right, general.hypotheses,
                         /*isQuick=*/true)
               .verdict == Verdict::Proved;
  };
  // What others proved with the same normal forms counts to their steps.
  const Normalizer *shared = normalizer.get();
  bool isProved = prove();
  if (!isProved && shared && normalizer.get() == shared && shared->failure())
    isProved = prove();
  if (isProved && !terms.error()) {
    ++statistics.generalized;
    patterns.add(pattern);
    return true;
  }
  if (failed)
    failed->insert(pattern);
  return false;
}

bool Prover::Implementation::sweep(Scalar left, Scalar right,
                                   llvm::ArrayRef<Condition> wanted,
                                   std::vector<Generalization> *steps) {
  llvm::StringSet<> failed;
  size_t tried = 0, allowed = quickEquations;
  auto prove = [&](Scalar first, Scalar second,
                   llvm::ArrayRef<Condition> conditions) {
    if (tried == allowed) {
      if (!mayTakeLong(Effort::Long))
        return Sweep::Result::Enough;
      allowed += quickEquations;
    }
    size_t repeated = statistics.repeated;
    auto proved = proveGeneral(first, second, conditions, &failed);
    // One that was proved before takes no time.
    tried += statistics.repeated == repeated;
    if (proved && steps)
      steps->push_back(std::move(*proved));
    return proved                         ? Sweep::Result::Proved
           : failed.size() > mostFailures ? Sweep::Result::Enough
                                          : Sweep::Result::NotProved;
  };
  return Sweep(terms, samples, wanted).run(left, right, prove);
}

bool Prover::Implementation::isGiven(const Condition &condition,
                                     llvm::ArrayRef<Condition> wanted,
                                     std::vector<Generalization> *steps) {
  llvm::SaveAndRestore shortAttempts(isShort, true);
  return llvm::any_of(wanted, [&](const Condition &given) {
    if (given.kind != condition.kind ||
        !samples.mayBeEqual(given.term, condition.term))
      return false;
    if (steps)
      steps->clear();
    auto proved = proveGeneral(condition.term, given.term, wanted);
    if (proved && steps)
      steps->push_back(*proved);
    return proved || sweep(condition.term, given.term, wanted, steps);
  });
}

bool Prover::Implementation::haveOneSort(Scalar left, Scalar right) const {
  return terms.getSort(left) == terms.getSort(right) ||
         (terms.isRealOrExtended(left) && terms.isRealOrExtended(right));
}

std::optional<ProofResult>
Prover::Implementation::compareAtSamples(Scalar left, Scalar right,
                                         llvm::ArrayRef<Condition> wanted) {
  if (left == right || terms.error() || !haveOneSort(left, right))
    return std::nullopt;
  if (auto difference = samples.findDifference(left, right, wanted))
    return differing(std::move(*difference));
  return std::nullopt;
}

ProofResult Prover::Implementation::proveEquation(
    Scalar left, Scalar right, llvm::ArrayRef<Condition> wanted, bool isQuick) {
  if (auto difference = samples.findDifference(left, right, wanted))
    return differing(std::move(*difference));
  statistics.sampled += samples.haveAgreed();
  setHypotheses(wanted);
  std::optional<RecordId> record = normalizer->proveEqual(left, right);
  wasExhausted |= normalizer->isExhausted();
  if (normalizer->failure())
    return unknown(*normalizer->failure());
  bool isExtended = terms.isExtended(left) || terms.isExtended(right);
  if (!record && (isExtended || isQuick))
    return unknown("the normal forms differ");
  ProofResult result;
  if (record)
    result = checkRecord(*record);
  else if (!mayTakeLong(Effort::VeryLong))
    return unknown(notTriedReason);
  else
    result = proveWithoutNormalForm({ClaimKind::Equal,
                                     normalizer->getNormalForm(left),
                                     normalizer->getNormalForm(right)},
                                    {left, right});
  if (result.verdict == Verdict::Proved && !replay->proves(left, right))
    result = unknown("the accepted steps do not make up the equation");
  return result;
}

ProofResult
Prover::Implementation::proveCondition(const Condition &condition,
                                       llvm::ArrayRef<Condition> wanted) {
  wasExhausted = hasGivenUp = false;
  if (std::optional<ProofResult> refused = refuse())
    return finish(*refused);
  if (terms.getSort(condition.term) != ScalarSort::Real)
    return finish(unknown("a condition on a scalar that is not real"));
  if (auto violation = samples.findViolation(condition, wanted))
    return finish({Verdict::NotProved, "the condition fails at a sample",
                   std::move(*violation)});
  if (isGiven(condition, wanted)) {
    ++statistics.swept;
    return finish({Verdict::Proved, "", {}});
  }
  setHypotheses(wanted);
  std::optional<RecordId> record = normalizer->proveCondition(condition);
  if (normalizer->failure())
    return finish(unknown(*normalizer->failure()));
  Claim claim = toClaim(condition);
  claim.left = normalizer->getNormalForm(condition.term);
  ProofResult result = record ? checkRecord(*record)
                              : proveWithoutNormalForm(claim, {condition.term});
  if (result.verdict == Verdict::Proved && !replay->proves(condition))
    result = unknown("the accepted steps do not make up the condition");
  return finish(result);
}
