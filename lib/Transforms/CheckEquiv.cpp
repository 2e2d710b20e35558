//===- CheckEquiv.cpp - one verdict for each result -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "EquivalenceChecker.h"
#include "FoldedGroups.h"
#include "PlanLinking.h"
#include "Refutation.h"
#include "Verify/IR/Compositions.h"
#include "Verify/IR/SilencedThread.h"
#include "Verify/Output/TensorFile.h"
#include "Verify/Transforms/Report.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_CHECKEQUIVPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

/// Most results of which it is said one by one that they are unknown.
static constexpr size_t shownResults = 10;

/// How often groups of ranks are unfolded where something goes wrong in them,
/// before all are.
static constexpr unsigned mostUnfolded = 4;

/// Terms of a stage of a graph, which take a second. No plan of our tests needs
/// a third of these.
static constexpr size_t fewTerms = 1 << 20;

namespace {
struct CheckEquivPass : verify::impl::CheckEquivPassBase<CheckEquivPass> {
  using Base::Base;
  std::function<void(unsigned, unsigned)> progress;
  std::shared_ptr<SolverContext> solver;
  KeptPlansUser plans;

protected:
  void runOnOperation() override {
    runInContext();
    solver.reset();
  }

  void runInContext() {
    if (!solver)
      solver = std::make_shared<SolverContext>();
    if (auto modules = getOperation().getOps<ModuleOp>(); !modules.empty()) {
      (*modules.begin())
          .emitError("is in a module that is checked, and would "
                     "not be");
      return signalPassFailure();
    }
    if (std::string problem = TensorFile::findProblem(counterexample);
        !counterexample.empty() && !problem.empty()) {
      getOperation().emitError("option counterexample: ") << problem;
      return signalPassFailure();
    }
    FailureOr<std::optional<GraphAnswer>> folded = checkFolded();
    if (failed(folded))
      return signalPassFailure();
    // Stages on their own, without the graph they were cut from.
    auto graphs = getOperation().getOps<tv::GraphOp>();
    if (graphs.empty())
      return checkStages();
    // The answer is the worst of all graphs': one that is proved does not hide
    // another.
    std::optional<Answer> answer;
    for (tv::GraphOp graph : graphs) {
      Answer own = *folded && (*folded)->graph == graph ? (*folded)->answer
                                                        : check(graph);
      if (!answer || *answer == Answer::Proved || own == Answer::Refuted)
        answer = own;
    }
    if (answer == Answer::Proved && isExecutedOtherwise())
      answer = Answer::Unknown;
    setAnswer(getOperation(), *answer);
    if (answer != Answer::Proved || hasOutputFailed(getOperation()))
      signalPassFailure();
  }

  /// Whether a plan is executed otherwise than it was read
  /// (`tv.executed_otherwise`). Says so.
  bool isExecutedOtherwise() {
    Attribute stated = getOperation()->getAttr(executedOtherwiseName);
    if (!stated)
      return false;
    LocationAttr place;
    StringAttr reason;
    if (auto fields = dyn_cast<DictionaryAttr>(stated)) {
      place = fields.getAs<LocationAttr>("place");
      reason = fields.getAs<StringAttr>("reason");
    }
    emitError(place ? Location(place) : getOperation().getLoc())
        << "unknown whether the plan computes what the reference computes: "
        << (reason ? reason.getValue() : "it is executed otherwise");
    return true;
  }

  /// Of one stage, or of those of graphs.
  ProverOptions getProverOptions(bool ofGraph = false) {
    ProverOptions options;
    // What is written is written once.
    if (ofGraph && emitSmtLib.empty())
      options.termLimit = fewTerms;
    options.randomSeed = seed;
    options.setResourceLimit(resourceLimit);
    return options;
  }

  /// Names each step of a normal form that the solver did not confirm.
  static void listUnconfirmed(ArrayRef<UnconfirmedPart> parts) {
    for (const UnconfirmedPart &part : parts)
      emitRemark(part.location)
          << "proved by normalization only: " << part.obligation
          << " rests on a step that the solver does not confirm ("
          << part.step.reason << "): " << part.step.claim;
  }

  void checkStages() {
    // An empty file is what a failed step before this one leaves.
    if (getOperation().getOps<tv::StageOp>().empty()) {
      getOperation().emitError("has nothing to check: no tv.graph or tv.stage");
      return signalPassFailure();
    }
    bool isProved = true;
    StageProver prover(getProverOptions(), emitSmtLib, getProofs(), solver);
    for (auto stage : getOperation().getOps<tv::StageOp>()) {
      if (failed(expandCompositions(stage)))
        return signalPassFailure();
      StageVerdict verdict = prover.prove(stage);
      if (verdict.isProved()) {
        listUnconfirmed(verdict.unconfirmed);
        continue;
      }
      isProved = false;
      auto expects = stage.getBody().getOps<tv::ExpectOp>();
      emitError(expects.empty() ? stage.getLoc() : (*expects.begin()).getLoc())
          << "stage '" << stage.getSymName() << "' is "
          << verify::getName(verdict.verdict) << ": " << verdict.reason;
    }
    if (!isProved || isExecutedOtherwise() || prover.hasFailedToWrite())
      signalPassFailure();
  }

  StageProofs getProofs() const {
    if (fullSize)
      return StageProofs::FullSize;
    return smallCase ? StageProofs::SmallCase : StageProofs::Any;
  }

  void addCounts(const CheckCounts &counts) {
    ModuleOp module = getOperation();
    addStatistic(module, "stages", counts.stages);
    addStatistic(module, "stage_ops", counts.stageOps);
    addStatistic(module, "distinct_stages", counts.distinctStages);
    addStatistic(module, "distinct_stage_ops", counts.distinctStageOps);
    addStatistic(module, "obligations_confirmed", counts.confirmed);
    addStatistic(module, "obligations_by_normalization",
                 counts.byNormalization);
    addStatistic(module, "expects_by_congruence", counts.byCongruence);
    addStatistic(module, "lemmas_not_used", counts.brokenLemmas);
    addStatistic(module, "opaque_tensors", counts.opaqueTensors);
  }

  /// Says of each result that is not proved why; returns how many there are.
  static size_t listUnknown(EquivalenceChecker &checker,
                            const std::optional<Refutation> &refutation,
                            tv::GraphOp graph) {
    size_t unknown = 0;
    for (tv::ExpectOp result : checker.getResults()) {
      const StageVerdict &verdict =
          checker.getStatuses().find(result)->second.verdict;
      if (verdict.isProved())
        continue;
      if (++unknown > shownResults)
        continue;
      InFlightDiagnostic error =
          emitError(result.getLoc())
          << "unknown whether the value of '"
          << result.getContract()->getName().getValue()
          << "' is that of the reference: " << verdict.reason;
      if (refutation)
        error.attachNote() << refutation->getFailure();
      if (tv::ExpectOp first = checker.getFirstUnproved();
          first && unknown == 1 && first != result)
        error.attachNote(first.getLoc())
            << "the first value that was not proved is " << describe(first)
            << " on "
            << describePlace(listDevices(first, {}), first, {}, graph.getMesh())
            << ": " << checker.getStatuses().find(first)->second.verdict.reason;
    }
    if (unknown > shownResults)
      emitError(graph.getLoc())
          << "unknown for " << unknown - shownResults << " more results";
    return unknown;
  }

  void reportProgress(unsigned done, unsigned total) {
    if (progress)
      progress(done, total);
  }

  struct GraphAnswer {
    tv::GraphOp graph;
    Answer answer;
  };

  /// The answer of a graph with folded ranks, if there is one and it needs
  /// little effort. Groups in which something goes wrong are unfolded; without
  /// an answer all are, and nothing is said. Fails where that does.
  FailureOr<std::optional<GraphAnswer>> checkFolded() {
    llvm::DenseSet<int64_t> apart;
    for (unsigned attempt = 0; attempt < mostUnfolded; ++attempt) {
      tv::GraphOp graph = getFoldedGraph(getOperation());
      if (!graph)
        return std::optional<GraphAnswer>();
      size_t before = apart.size();
      std::optional<Answer> answer = tryFolded(graph, apart);
      if (!answer && apart.size() == before && dropDoubtful(graph))
        answer = tryFolded(graph, apart);
      if (answer)
        return std::optional(GraphAnswer{graph, *answer});
      if (plans.giveBack)
        plans.giveBack();
      if (apart.size() == before)
        break;
      if (failed(unfoldRanks(getOperation(), apart)))
        return failure();
    }
    if (getFoldedGraph(getOperation()) && failed(unfoldRanks(getOperation())))
      return failure();
    return std::optional<GraphAnswer>();
  }

  /// The answer of a graph with folded ranks; none, and nothing said, where it
  /// needs more effort, or where devices that stand for others may have wrong
  /// parts, which are added to `apart`.
  std::optional<Answer> tryFolded(tv::GraphOp graph,
                                  llvm::DenseSet<int64_t> &apart) {
    auto report = [&](unsigned done, unsigned total) {
      reportProgress(done, total);
    };
    EquivalenceChecker checker(graph, getProverOptions(/*ofGraph=*/true),
                               emitSmtLib, cache, getProofs(), solver, report);
    std::optional<Refutation> refutation;
    bool isRefuted = false;
    checker.run([&](tv::ExpectOp place, Search search) {
      bool isBusy = plans.take && plans.take();
      llvm::DenseSet<int64_t> folded;
      if (!addFoldedUnder(place, folded) || !restsOnParts(place)) {
        refutation.emplace(graph, seed, /*confirmsEarly=*/!isBusy);
        if (refutation->find(place, search)) {
          isRefuted = !refutation->addFolded(apart);
          return true;
        }
      }
      if (!isDoubtful(place))
        apart.insert(folded.begin(), folded.end());
      return true;
    });
    if (isRefuted) {
      reportCounts(checker, graph);
      return refute(*refutation, graph);
    }
    if (checker.getResults().empty() || checker.isStopped() ||
        !checker.isProved())
      return std::nullopt;
    {
      SilencedThread silence(&getContext());
      if (failed(
              checkLedger(checker.getStatuses(), checker.getDefined(), graph)))
        return std::nullopt;
    }
    reportCounts(checker, graph);
    return Answer::Proved;
  }

  /// Reports what was found, and writes its inputs if that is asked for.
  Answer refute(Refutation &refutation, tv::GraphOp graph) {
    refutation.report();
    if (counterexample.empty())
      return Answer::Refuted;
    llvm::Expected<bool> isComplete = refutation.writeInputs(counterexample);
    if (llvm::Error error = isComplete.takeError()) {
      emitError(graph.getLoc()) << "the inputs of the counterexample are not "
                                   "written: "
                                << llvm::toString(std::move(error));
      setOutputFailed(getOperation());
    } else {
      emitRemark(graph.getLoc())
          << "the inputs of the counterexample are in '" << counterexample
          << "'" << (*isComplete ? "" : ", but for the draws of single devices")
          << "; both programs run on them with --run --inputs="
          << counterexample
          << ", or in a module with --tv-interpret=inputs=" << counterexample;
    }
    return Answer::Refuted;
  }

  void reportCounts(EquivalenceChecker &checker, tv::GraphOp graph) {
    if (!checker.getCacheProblem().empty())
      emitWarning(graph.getLoc())
          << "proofs are not kept: " << checker.getCacheProblem();
    addCounts(checker.getCounts());
    listUnconfirmed(checker.getUnconfirmed());
    if (checker.hasFailedToWrite())
      setOutputFailed(getOperation());
  }

  /// A plan would be given what it has to compute, if it was of anything else
  /// than inputs. An error if it is.
  static LogicalResult requireInputs(tv::GraphOp graph) {
    for (auto given : graph.getBody().getOps<tv::DistributeOp>())
      if (!given.getReference().getDefiningOp<tv::InputOp>())
        return given.emitOpError("gives the plan what the reference computes; "
                                 "it is given parts of inputs alone");
    return success();
  }

  Answer check(tv::GraphOp graph) {
    if (failed(expandCompositions(graph)) || failed(requireInputs(graph)))
      return Answer::Unknown;
    auto report = [&](unsigned done, unsigned total) {
      reportProgress(done, total);
    };
    ProverOptions options = getProverOptions(/*ofGraph=*/true);
    std::optional<EquivalenceChecker> checker;
    auto start = [&] {
      checker.emplace(graph, options, emitSmtLib, cache, getProofs(), solver,
                      report);
    };
    start();
    if (checker->getResults().empty()) {
      graph.emitOpError("has no result to prove: no tv.expect with a contract");
      return Answer::Unknown;
    }
    // As soon as something does not hold, execution tells quickly whether the
    // plan is wrong; if it does not, proofs go on, wider.
    std::optional<Refutation> refutation;
    checker->run([&](tv::ExpectOp place, Search search) {
      bool isBusy = plans.take && plans.take();
      refutation.emplace(graph, seed, /*confirmsEarly=*/!isBusy);
      return refutation->find(place, search);
    });
    // Large stages mostly are of what does not hold, and nothing rests on it.
    if (!checker->isStopped() && !checker->isProved() &&
        checker->getCounts().tooLarge > 0) {
      options.termLimit = ProverOptions().termLimit;
      start();
      checker->run([](tv::ExpectOp, Search) { return false; });
    }
    reportCounts(*checker, graph);
    if (checker->isStopped())
      return refute(*refutation, graph);
    bool isProved = listUnknown(*checker, refutation, graph) == 0 &&
                    succeeded(checkLedger(checker->getStatuses(),
                                          checker->getDefined(), graph));
    return isProved ? Answer::Proved : Answer::Unknown;
  }
};
} // namespace

std::unique_ptr<Pass>
verify::createCheckEquivPass(const CheckEquivPassOptions &options,
                             std::function<void(unsigned, unsigned)> progress,
                             std::shared_ptr<SolverContext> solver,
                             KeptPlansUser plans) {
  auto pass = std::make_unique<CheckEquivPass>(options);
  pass->progress = std::move(progress);
  pass->solver = std::move(solver);
  pass->plans = std::move(plans);
  return pass;
}
