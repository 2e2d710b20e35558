//===- EquivalenceChecker.h - statuses of all expects -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides every expect that the results of the contract rest on. A lemma that
// does not hold is not assumed by anything, so the stages that would have used
// it are built again without it, wider.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_EQUIVALENCECHECKER_H
#define VERIFY_LIB_TRANSFORMS_EQUIVALENCECHECKER_H

#include "DefinednessProver.h"
#include "ParallelProofs.h"
#include "Verify/Analysis/ProofCache.h"
#include "Verify/Analysis/StageBuilder.h"
#include "Verify/Analysis/StageProver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>

namespace verify {

/// What was found about one expect.
struct ExpectStatus {
  StageVerdict verdict;
  /// The expects its stage assumed.
  llvm::SmallVector<tv::ExpectOp> assumed;
};

using ExpectStatuses = llvm::MapVector<mlir::Operation *, ExpectStatus>;

/// Numbers for the report.
struct CheckCounts {
  unsigned stages = 0;
  unsigned distinctStages = 0;
  uint64_t stageOps = 0;
  uint64_t distinctStageOps = 0;
  unsigned confirmed = 0;
  unsigned byNormalization = 0;
  unsigned byCongruence = 0;
  unsigned brokenLemmas = 0;
  unsigned opaqueTensors = 0;
  /// Distinct stages that were given up because they take too many terms.
  unsigned tooLarge = 0;
};

/// How inputs are looked for on which a plan is wrong, the best last. `Quick`
/// takes those that are fastest to run, unless the graph is small;
/// `QuickIfSlow` does so where executions take long.
enum class Search : uint8_t { Quick, QuickIfSlow, Full };

class EquivalenceChecker {
public:
  EquivalenceChecker(tv::GraphOp graph, const ProverOptions &options,
                     llvm::StringRef smtLibDirectory,
                     llvm::StringRef cacheDirectory, StageProofs kinds,
                     std::shared_ptr<SolverContext> solver,
                     llvm::function_ref<void(unsigned, unsigned)> progress);

  /// Whether the plan is wrong, looking near `place` first.
  using Question = llvm::function_ref<bool(tv::ExpectOp place, Search search)>;

  /// Decides all results of the contract and the lemmas they rest on. Asks
  /// `isRefuted`, and stops if it is so: quickly where a proof takes long, or
  /// the first of them does not hold and executions take long, too, and in full
  /// where a result does not hold, much does not, or a proof takes very long.
  void run(Question isRefuted);
  /// Why proofs cannot be kept; empty if they can.
  llvm::StringRef getCacheProblem() const {
    return cache ? cache->getProblem() : "";
  }
  bool isStopped() const { return stopped; }
  /// Whether all results are proved.
  bool isProved() const;
  /// The first expect that was decided and not proved; null if there is none.
  tv::ExpectOp getFirstUnproved() const { return firstUnproved; }

  const StageBuilder &getBuilder() const { return stages; }
  /// The results of the contract, in order.
  llvm::ArrayRef<tv::ExpectOp> getResults() const { return results; }
  /// Every expect that was decided; others were not needed.
  const ExpectStatuses &getStatuses() const { return statuses; }
  /// Tensors of the reference that are defined wherever its results are.
  const DefinedTensors &getDefined() { return getDefinedness().getTensors(); }
  const CheckCounts &getCounts() const { return counts; }
  bool hasFailedToWrite() const { return prover.hasFailedToWrite(); }
  /// The steps that proofs by normalization rest on, of all stages.
  llvm::ArrayRef<UnconfirmedPart> getUnconfirmed() const { return unconfirmed; }

private:
  DefinednessProver &getDefinedness();
  /// What is known of stages that are equal but for names.
  struct Proof {
    std::optional<StageVerdict> verdict;
    /// What the cache holds, where that was looked up before.
    std::optional<StageVerdict> earlier;
    /// Its number among those that threads work on.
    std::optional<unsigned> number;
    /// Whether it counts as not proved.
    bool isUnproved = false;
  };
  /// The stage of an expect, without its ops.
  struct PlannedStage {
    /// None if the stage is too large.
    Proof *proof = nullptr;
    size_t size = 0;
    bool hasUndefined = false;
    /// The expects that it assumes.
    llvm::SmallVector<tv::ExpectOp> assumed;
  };

  /// The stage of an expect, as long as what it may assume stays the same.
  const PlannedStage &getPlan(tv::ExpectOp expect);
  /// Fills in all but the proof, and gives what decides it. Empty if the stage
  /// is too large.
  std::string plan(tv::ExpectOp expect, PlannedStage &stage);
  /// Has threads plan the stages of all expects, while none is decided.
  void planInParallel();
  std::optional<StageOutline> outline(tv::ExpectOp expect);
  /// Has threads prove what all results rest on, if all lemmas hold.
  void proveInParallel();
  void decide(tv::ExpectOp wanted, Question isRefuted);
  /// Notes that an expect was not proved, and how large its stage is.
  void addUnproved(tv::ExpectOp expect, const PlannedStage &stage);
  /// Whether so much was not proved that the rest is not tried.
  bool isHopeless() const;
  /// Has the stage of an expect begin before these lemmas; false if it did.
  bool exclude(tv::ExpectOp expect, llvm::ArrayRef<tv::ExpectOp> lemmas);
  /// Prepares a stage that assumes no guesses; false if it assumed none, or too
  /// much was tried again.
  bool dropGuesses(tv::ExpectOp expect, const PlannedStage &stage);
  /// Prepares a stage of an expect that begins earlier, for where one device
  /// has a tensor of known lineage and another one recomputes it. False if
  /// there is none, the plan is wrong, or the expect is a guess.
  bool widen(tv::ExpectOp expect, const PlannedStage &stage,
             Question isRefuted);
  /// From now on looks for differences first.
  void expectDifferences();
  /// Looks for a counterexample as an expect was not proved.
  void askAfter(tv::ExpectOp unproved, Question isRefuted);
  /// Looks for one near what was not proved first, or else what is being
  /// decided, unless it was looked for as well or better before.
  void ask(Question isRefuted, Search search);
  const StageVerdict &prove(tv::ExpectOp expect, const PlannedStage &stage);
  StageVerdict proveNow(tv::ExpectOp expect, Proof &proof);
  mlir::OwningOpRef<tv::StageOp> build(tv::ExpectOp expect);

  tv::GraphOp graph;
  ProverOptions options;
  StageProofs kinds;
  bool isWritten;
  std::shared_ptr<SolverContext> solver;
  StageProver prover;
  std::optional<ProofCache> cache;
  llvm::function_ref<void(unsigned, unsigned)> progress;
  StageBuilder stages;
  std::optional<DefinednessProver> defined; ///< none before it is asked for
  llvm::SmallVector<tv::ExpectOp> results;
  llvm::MapVector<mlir::Operation *, ExpectStatus> statuses;
  llvm::StringMap<Proof> proofs;
  std::deque<PlannedStage> planned;
  llvm::DenseMap<mlir::Operation *, size_t> numbers; ///< of those planned
  CheckCounts counts;
  std::vector<UnconfirmedPart> unconfirmed;
  struct Widened {
    /// How often it was built without all lemmas that it assumed, and, before
    /// that, without some.
    unsigned count = 0, partly = 0;
    /// What the first stage assumed.
    llvm::SmallVector<tv::ExpectOp> first;
    StageBuilder::Expects excluded;
  };
  /// Expects whose first stages were not proved.
  llvm::DenseMap<mlir::Operation *, Widened> widened;
  /// What is being decided.
  tv::ExpectOp current;
  tv::ExpectOp firstUnproved;
  /// The first that was not proved, though it may be with a wider stage.
  tv::ExpectOp firstFailed;
  /// Ops of distinct stages that were not proved.
  size_t unprovedOps = 0;
  /// Ops of stages that were tried again, wider.
  size_t widenedOps = 0;
  /// Distinct stages that were not proved in as many steps as they may take.
  unsigned tooLong = 0;
  std::optional<Search> asked;
  bool stopped = false;
  /// Null where there are no threads, or where they are of no use any more.
  std::unique_ptr<ParallelProofs> parallel;
};

/// Checks a finished argument again, apart from what built it: every result
/// rests on proved expects only, each of which speaks of the same value, the
/// same lineage and at least the domain it is used on, and none rests on
/// itself. `defined` are the tensors that are defined where the results are.
/// Fails, after an error, where the argument has a gap.
llvm::LogicalResult checkLedger(const ExpectStatuses &statuses,
                                const DefinedTensors &defined,
                                tv::GraphOp graph);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_EQUIVALENCECHECKER_H
