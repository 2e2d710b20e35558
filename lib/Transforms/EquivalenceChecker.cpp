//===- EquivalenceChecker.cpp - statuses of all expects -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EquivalenceChecker.h"

#include "InferredLineage.h"

using namespace mlir;
using namespace verify;

/// A stage with more ops than this is not worth a proof: too much lies between
/// tensors that correspond.
static constexpr size_t stageLimit = 1024;
/// Ops of different stages that may fail. One lemma that does not hold widens
/// the stages after it; where those fail too, and so on, the plan is wrong in a
/// way that could not be executed, and more attempts only take time.
static constexpr size_t unprovedLimit = 3000;
/// How many may have taken as many steps as they may, several seconds each,
/// and were not proved. What follows from them takes no fewer.
static constexpr unsigned tooLongLimit = 4;
/// After ops of so many the plan is executed on inputs of all kinds; before, on
/// those alone that are executed in no time: nothing may rest on what was not
/// proved.
static constexpr size_t fewUnproved = 1000;
/// How often a result that is not proved is tried with a wider stage; a lemma
/// once.
static constexpr unsigned mostWidened = 3;
/// How often one is tried with a stage that is wider in some places, and most
/// ops of the reference that compute the value of one lemma from others'.
static constexpr unsigned mostPartlyWidened = 3;
static constexpr size_t closeOps = 4;

/// The keys of so many stages are kept at a time.
static constexpr size_t plannedAtOnce = 4096;

/// Fewer distinct stages than this are proved before threads have begun.
static constexpr size_t fewStages = 16;

EquivalenceChecker::EquivalenceChecker(
    tv::GraphOp graph, const ProverOptions &options, StringRef smtLibDirectory,
    StringRef cacheDirectory, StageProofs kinds,
    std::shared_ptr<SolverContext> solver,
    llvm::function_ref<void(unsigned, unsigned)> progress)
    : graph(graph), options(options), kinds(kinds),
      isWritten(!smtLibDirectory.empty()), solver(std::move(solver)),
      prover(options, smtLibDirectory, kinds, this->solver), progress(progress),
      stages(graph) {
  // What is written has to be proved.
  if (!cacheDirectory.empty() && !isWritten)
    cache.emplace(cacheDirectory, options, kinds);
  for (tv::ExpectOp expect : stages.getExpects())
    if (expect.getContract())
      results.push_back(expect);
}

std::optional<StageOutline> EquivalenceChecker::outline(tv::ExpectOp expect) {
  auto wider = widened.find(expect);
  return wider == widened.end()
             ? stages.outline(expect, stageLimit)
             : stages.outline(expect, stageLimit, wider->second.excluded);
}

std::string EquivalenceChecker::plan(tv::ExpectOp expect, PlannedStage &stage) {
  std::optional<StageOutline> outline = this->outline(expect);
  if (!outline)
    return "";
  stage.size = outline->size();
  stage.hasUndefined = outline->hasUndefined();
  for (auto [begin, lemma] : outline->begins)
    if (lemma)
      stage.assumed.push_back(lemma);
  return stages.getKey(*outline);
}

const EquivalenceChecker::PlannedStage &
EquivalenceChecker::getPlan(tv::ExpectOp expect) {
  auto [found, isNew] = numbers.try_emplace(expect, planned.size());
  if (!isNew)
    return planned[found->second];
  PlannedStage &stage = planned.emplace_back();
  if (std::string key = plan(expect, stage); !key.empty())
    stage.proof = &proofs[key];
  return stage;
}

DefinednessProver &EquivalenceChecker::getDefinedness() {
  if (!defined)
    defined.emplace(graph);
  return *defined;
}

void EquivalenceChecker::planInParallel() {
  numbers.reserve(stages.getExpects().size());
  std::vector<std::string> keys;
  for (ArrayRef<tv::ExpectOp> expects = stages.getExpects(); !expects.empty();
       expects = expects.drop_front(keys.size())) {
    keys.assign(std::min(expects.size(), plannedAtOnce), "");
    size_t first = planned.size();
    planned.resize(first + keys.size());
    // What is asked of every lemma that is proved is found beside, once.
    size_t others = !defined;
    forEachInParallel(
        graph.getContext(), others + keys.size(), [&](size_t task) {
          if (task < others)
            return void(defined.emplace(graph));
          size_t number = task - others;
          keys[number] = plan(expects[number], planned[first + number]);
        });
    for (auto [number, key] : llvm::enumerate(keys)) {
      numbers.try_emplace(expects[number], first + number);
      if (!key.empty())
        planned[first + number].proof = &proofs[key];
    }
  }
}

OwningOpRef<tv::StageOp> EquivalenceChecker::build(tv::ExpectOp expect) {
  // Not in the module: threads may work on those that were built before.
  OpBuilder builder(graph->getContext());
  return stages.build(*outline(expect), builder);
}

StageVerdict EquivalenceChecker::proveNow(tv::ExpectOp expect, Proof &proof) {
  if (proof.number && parallel)
    if (std::optional<StageVerdict> verdict = parallel->take(*proof.number)) {
      if (cache)
        cache->add(*build(expect), *verdict);
      return *verdict;
    }
  if (proof.earlier)
    return *proof.earlier;
  OwningOpRef<tv::StageOp> stage = build(expect);
  if (cache && !proof.number)
    if (std::optional<StageVerdict> earlier = cache->find(*stage))
      return *earlier;
  StageVerdict verdict = prover.prove(*stage);
  if (cache)
    cache->add(*stage, verdict);
  return verdict;
}

const StageVerdict &EquivalenceChecker::prove(tv::ExpectOp expect,
                                              const PlannedStage &stage) {
  ++counts.stages;
  counts.stageOps += stage.size;
  Proof &proof = *stage.proof;
  if (proof.verdict)
    return *proof.verdict;
  ++counts.distinctStages;
  counts.distinctStageOps += stage.size;
  StageVerdict verdict = proveNow(expect, proof);
  counts.tooLarge += verdict.isTooLarge;
  if (verdict.isProved()) {
    counts.confirmed += verdict.confirmed;
    counts.byNormalization += verdict.byNormalization;
    counts.byCongruence += verdict.byCongruence;
    llvm::append_range(unconfirmed, verdict.unconfirmed);
  }
  counts.opaqueTensors += verdict.opaqueTensors;
  return proof.verdict.emplace(std::move(verdict));
}

void EquivalenceChecker::proveInParallel() {
  MLIRContext &context = *graph->getContext();
  if (!context.isMultithreadingEnabled() || context.getNumThreads() < 2 ||
      isWritten)
    return;
  auto submit = [&](tv::ExpectOp expect) {
    OwningOpRef<tv::StageOp> stage = build(expect);
    Proof &proof = *getPlan(expect).proof;
    if (cache)
      proof.earlier = cache->find(*stage);
    if (!proof.earlier)
      proof.number = parallel->add(std::move(stage));
  };
  planInParallel();
  // In the order in which they are decided: what is said of a proof names the
  // first expect that it is of.
  SmallVector<tv::ExpectOp> found, worklist;
  llvm::DenseSet<Operation *> done;
  llvm::DenseSet<Proof *> different;
  for (tv::ExpectOp result : results) {
    worklist.push_back(result);
    while (!worklist.empty()) {
      tv::ExpectOp expect = worklist.back();
      const PlannedStage &stage = getPlan(expect);
      size_t open = worklist.size();
      if (!done.contains(expect))
        for (tv::ExpectOp assumed : stage.assumed)
          if (!done.contains(assumed))
            worklist.push_back(assumed);
      if (worklist.size() > open)
        continue;
      worklist.pop_back();
      if (!done.insert(expect).second || !stage.proof || stage.hasUndefined ||
          !different.insert(stage.proof).second)
        continue;
      // Threads begin while others are looked for.
      if (parallel) {
        submit(expect);
        continue;
      }
      found.push_back(expect);
      if (found.size() < fewStages)
        continue;
      parallel =
          std::make_unique<ParallelProofs>(context, options, kinds, solver);
      llvm::for_each(found, submit);
    }
  }
}

bool EquivalenceChecker::isProved() const {
  return llvm::all_of(results, [&](tv::ExpectOp result) {
    const auto *found = statuses.find(result);
    return found != statuses.end() && found->second.verdict.isProved();
  });
}

void EquivalenceChecker::run(Question isRefuted) {
  statuses.reserve(stages.getExpects().size());
  proveInParallel();
  // A wrong plan is executed before a proof of it takes long.
  prover.setBeforeLongAttempt([&](Effort effort) {
    ask(isRefuted, effort == Effort::VeryLong ? Search::Full : Search::Quick);
    if (parallel && !stopped)
      parallel->allow(effort);
    return !stopped;
  });
  for (tv::ExpectOp expect : results)
    if (!stopped)
      decide(expect, isRefuted);
  for (tv::ExpectOp expect : results)
    if (!statuses.contains(expect)) {
      ExpectStatus status;
      status.verdict.reason = "too much of what leads there was not proved";
      statuses.insert({expect, std::move(status)});
    }
  prover.setBeforeLongAttempt(nullptr);
  parallel.reset();
}

void EquivalenceChecker::askAfter(tv::ExpectOp unproved, Question isRefuted) {
  if (!firstFailed)
    firstFailed = unproved;
  bool isMuch = unprovedOps + widenedOps > fewUnproved;
  ask(isRefuted,
      unproved.getContract() || isMuch ? Search::Full : Search::QuickIfSlow);
}

void EquivalenceChecker::ask(Question isRefuted, Search search) {
  if (stopped || (asked && *asked >= search))
    return;
  asked = search;
  // Of a wrong plan nothing more needs to be proved.
  if (parallel)
    parallel->pause();
  stopped = isRefuted(firstFailed ? firstFailed : current, search);
  if (parallel && !stopped)
    parallel->resume();
}

void EquivalenceChecker::expectDifferences() {
  // What threads prove is proved without, and may be another argument.
  parallel.reset();
  prover.expectDifferences();
}

void EquivalenceChecker::addUnproved(tv::ExpectOp expect,
                                     const PlannedStage &stage) {
  // Nothing is wrong where a guess is.
  if (!firstUnproved && !isGuess(expect))
    firstUnproved = expect;
  expectDifferences();
  if (!stage.proof || stage.proof->isUnproved)
    return;
  stage.proof->isUnproved = true;
  const std::optional<StageVerdict> &verdict = stage.proof->verdict;
  tooLong += verdict && verdict->isTooLong;
  if (!isGuess(expect))
    unprovedOps += stage.size;
}

bool EquivalenceChecker::isHopeless() const {
  return unprovedOps > unprovedLimit || tooLong >= tooLongLimit;
}

bool EquivalenceChecker::exclude(tv::ExpectOp expect,
                                 ArrayRef<tv::ExpectOp> lemmas) {
  Widened &wider = widened[expect];
  bool isWider = false;
  for (tv::ExpectOp lemma : lemmas)
    isWider |= wider.excluded.insert(lemma).second;
  return isWider;
}

bool EquivalenceChecker::dropGuesses(tv::ExpectOp expect,
                                     const PlannedStage &stage) {
  if (widenedOps > unprovedLimit)
    return false;
  SmallVector<tv::ExpectOp> guesses;
  llvm::copy_if(stage.assumed, std::back_inserter(guesses), isGuess);
  if (guesses.empty())
    return false;
  widenedOps += stage.size;
  return exclude(expect, guesses);
}

/// Whether a value of the reference is computed by few ops of `known` ones and
/// of what is given.
static bool isComputedOf(const DenseValueSet &known, Value value) {
  llvm::SmallPtrSet<Operation *, 8> ops;
  bool isFound = false;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (next != value && known.contains(next)) {
      isFound = true;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (isa_and_present<tv::InputOp>(op))
      continue;
    bool isNew = op && ops.insert(op).second;
    if (!op || ops.size() > closeOps)
      return false;
    if (isNew)
      llvm::append_range(worklist, op->getOperands());
  }
  return isFound;
}

/// Those of some lemmas whose values are computed of others' values. A stage
/// that begins with both is not to know it.
static SmallVector<tv::ExpectOp> findLater(ArrayRef<tv::ExpectOp> lemmas) {
  DenseValueSet known;
  for (tv::ExpectOp lemma : lemmas)
    known.insert(lemma.getReference());
  SmallVector<tv::ExpectOp> later;
  llvm::copy_if(lemmas, std::back_inserter(later), [&](tv::ExpectOp lemma) {
    return isComputedOf(known, lemma.getReference());
  });
  return later;
}

bool EquivalenceChecker::widen(tv::ExpectOp expect, const PlannedStage &stage,
                               Question isRefuted) {
  // What a guess stands for hides how other ops follow from it. One that does
  // not hold is gone without.
  if (isGuess(expect))
    return false;
  if (dropGuesses(expect, stage))
    return true;
  askAfter(expect, isRefuted);
  if (stopped)
    return false;
  Widened &wider = widened[expect];
  if (widenedOps > unprovedLimit)
    return false;
  SmallVector<tv::ExpectOp> excluded;
  if (wider.count == 0 && wider.partly < mostPartlyWidened)
    excluded = findLater(stage.assumed);
  if (!excluded.empty()) {
    if (wider.partly++ == 0)
      wider.first = stage.assumed;
  } else {
    if (wider.count == (expect.getContract() ? mostWidened : 1))
      return false;
    excluded = stage.assumed;
    // What some lemmas hid is no reason to keep others.
    if (wider.count++ == 0 && wider.partly > 0) {
      wider.excluded.clear();
      excluded = wider.first;
    }
  }
  expectDifferences();
  widenedOps += stage.size;
  return exclude(expect, excluded);
}

void EquivalenceChecker::decide(tv::ExpectOp wanted, Question isRefuted) {
  // An expect is decided after those its stage assumes. Stages are built on a
  // worklist, not by recursion: chains are as long as the model is deep.
  SmallVector<tv::ExpectOp> worklist = {wanted};
  while (!worklist.empty() && !stopped && !isHopeless()) {
    tv::ExpectOp expect = worklist.back();
    if (statuses.contains(expect)) {
      worklist.pop_back();
      continue;
    }
    current = expect;
    bool isResult = static_cast<bool>(expect.getContract());
    const PlannedStage &stage = getPlan(expect);
    bool isReady = true;
    for (tv::ExpectOp assumed : stage.assumed)
      if (!statuses.contains(assumed)) {
        worklist.push_back(assumed);
        isReady = false;
      }
    if (!isReady)
      continue;
    ExpectStatus status;
    status.assumed = stage.assumed;
    if (stage.hasUndefined)
      status.verdict.reason = "it rests on a value that nothing produces";
    else if (stage.proof)
      status.verdict = prove(expect, stage);
    else
      status.verdict.reason =
          "too many ops since the last tensors of known lineage";
    // A wider stage takes no fewer terms.
    if (!status.verdict.isProved() && stage.proof &&
        !status.verdict.isTooLarge && widen(expect, stage, isRefuted)) {
      numbers.erase(expect);
      continue;
    }
    if (!status.verdict.isProved()) {
      addUnproved(expect, stage);
      // Stages that were to assume it begin earlier.
      numbers.clear();
      planned.clear();
      stages.setBroken(expect);
      counts.brokenLemmas += !isResult;
      if (!isGuess(expect))
        askAfter(expect, isRefuted);
    }
    if (status.verdict.isProved() &&
        !getDefinedness().proves(expect.getReference(), stages)) {
      // It holds, where it is defined. Others begin earlier.
      counts.brokenLemmas += !isResult;
      numbers.clear();
      planned.clear();
      stages.setBroken(expect);
    }
    statuses.insert({expect, std::move(status)});
    worklist.pop_back();
    if (progress)
      progress(statuses.size(), stages.getExpects().size());
  }
}
