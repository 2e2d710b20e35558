//===- PlanLinking.cpp - plans of devices to one SSA graph ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanLinking.h"

#include "Boundaries.h"
#include "FoldedGroups.h"
#include "LineageLinker.h"
#include "PlanExecution.h"
#include "ReferenceCheck.h"
#include "Verify/IR/SilencedThread.h"
#include "Verify/Schedule/Schedule.h"
#include "Verify/Transforms/Report.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Threading.h"

#include <atomic>

using namespace mlir;
using namespace verify;

/// How often a plan is linked with ranks as an axis, each time in fewer groups.
static constexpr unsigned mostFolded = 3;

namespace {
class PlanLinker {
public:
  PlanLinker(ModuleOp module, RandomMode random, RankFolding folding,
             const BesideLinking &beside = nullptr, bool areVerified = false)
      : module(module), random(random), folding(folding), beside(beside),
        areVerified(areVerified),
        reference(module.lookupSymbol<tv::PlanOp>("reference")),
        plan(module.lookupSymbol<tv::PlanOp>("plan")) {}

  /// Fails after an error. The plans are gone afterwards, unless they are kept.
  LogicalResult link() { return link(nullptr); }
  /// The same with the first ranks for all but in groups with a device of
  /// `apart`, to which those are added in which ranks are too different, and
  /// with the plans as before. False without a word, and with the module as
  /// before, where that fails; but where linking must fail, that is said.
  bool linkFolded(llvm::DenseSet<int64_t> &apart);
  /// Whether nothing was found so far that does not depend on how it is linked.
  bool maySucceed() const { return !missing && isBesideRight.value_or(true); }
  /// Does what is to be done beside, unless it was done; whether it succeeded.
  bool doBeside() {
    if (!isBesideRight)
      isBesideRight = !beside || succeeded(beside(plan, getRankGroups()));
    return *isBesideRight;
  }

private:
  LogicalResult link(std::unique_ptr<RankFold> ranks);
  /// The same as `linkFolded` with all groups folded that `apart` has no device
  /// of.
  bool tryFolded(const llvm::DenseSet<int64_t> &apart);
  LogicalResult fail(StringRef malformation) {
    // What is done beside tells first in what way a plan is malformed.
    if (!malformation.empty() && !fold && doBeside())
      setMalformation(module, malformation);
    return failure();
  }

  LogicalResult failIncomplete() {
    if (missing && !fold)
      missing->report();
    return fail("a part of a result is missing");
  }

  /// Those of which the first can stand for the others in a schedule.
  schedule::RankGroups getRankGroups() const {
    if (!fold || !fold->communicatesByRank())
      return {};
    return {fold->getGroups(),
            [&ranks = *fold](Operation *op) { return ranks.isCompared(op); }};
  }

  struct PlanCounts {
    int64_t ops = 0;
    /// Conversions between floating-point types, which are taken for
    /// identities.
    int64_t casts = 0;
  };
  PlanCounts count(tv::PlanOp plan) const {
    PlanCounts counts;
    counts.ops = 1;
    for (Operation &each : plan.getBody().front()) {
      if (fold && fold->isCompared(&each))
        continue;
      int64_t times = fold ? 1 + fold->countCopies(&each) : 1;
      each.walk([&](Operation *op) {
        counts.ops += times;
        auto copy = dyn_cast<tv::CopyOp>(op);
        if (!copy)
          return;
        auto from = cast<RankedTensorType>(copy.getOperand().getType());
        auto to = cast<RankedTensorType>(copy.getResult().getType());
        if (isa<FloatType>(from.getElementType()) &&
            isa<FloatType>(to.getElementType()) &&
            from.getElementType() != to.getElementType())
          counts.casts += times;
      });
    }
    return counts;
  }

  /// What of its ops is known before a plan is executed.
  struct KnownPlan {
    std::optional<SymbolTable> symbols;
    bool needsOrder = false;    ///< they start anything, or use memory again
    bool ordersStreams = false; ///< something that is started waits for other
  };

  /// Gives ops their numbers in the order of their blocks, which is otherwise
  /// done by whoever first asks which of two comes first. Leaves those that
  /// were compared, at which one thread at most looks, and which start what
  /// those do with which they were.
  void numberOps(tv::PlanOp plan, KnownPlan &known) const {
    plan.getBody().front().recomputeOpOrder();
    std::atomic<bool> needsOrder = false, ordersStreams = false;
    SmallVector<Operation *> ops;
    for (Operation &op : plan.getBody().front()) {
      if (isa<tv::ScratchOp>(op))
        needsOrder = true;
      // Telling a thread about an op takes a lock.
      if (op.getNumRegions() && !(fold && fold->isCompared(&op)))
        ops.push_back(&op);
    }
    parallelForEach(plan.getContext(), ops, [&](Operation *each) {
      bool isFound = false, isOrdered = false;
      each->walk<WalkOrder::PreOrder>([&](Operation *op) {
        isFound |= isa<tv::StartOp, tv::WaitOp>(op);
        if (auto start = dyn_cast<tv::StartOp>(op))
          isOrdered |= !start.isPlain();
        for (Region &region : op->getRegions())
          for (Block &block : region)
            block.recomputeOpOrder();
      });
      if (isFound)
        needsOrder = true;
      if (isOrdered)
        ordersStreams = true;
    });
    known.needsOrder = needsOrder;
    known.ordersStreams = ordersStreams;
  }

  /// Both plans, executed into a graph.
  struct Executed {
    Executed(tv::PlanOp reference, const KnownPlan &known, GrowingGraph &graph)
        : referenceBoundary(graph.getBuilder()),
          reference(reference, *known.symbols, known.ordersStreams, graph,
                    referenceBoundary, true, nullptr) {}
    ReferenceBoundary referenceBoundary;
    PlanExecution reference;
    std::optional<PlanBoundary> planBoundary;
    std::optional<PlanExecution> plan;
  };

  LogicalResult execute(Executed &executed, GrowingGraph &graph) {
    if (failed(executed.reference.run()))
      return failure();
    executed.planBoundary.emplace(graph.getBuilder(),
                                  executed.referenceBoundary, plan, random,
                                  fold.get());
    executed.plan.emplace(plan, *knownPlan.symbols, knownPlan.ordersStreams,
                          graph, *executed.planBoundary, false, fold.get());
    return executed.plan->run();
  }

  bool isPlanValid() {
    return succeeded(fold ? fold->verify(plan) : mlir::verify(plan));
  }
  bool isValid() {
    return areVerified || (succeeded(mlir::verify(reference)) && isPlanValid());
  }
  /// Verifies both plans, unless that was done, and counts their ops.
  void verifySilently() {
    if (isVerified)
      return;
    SilencedThread silence(module.getContext());
    isVerified = isValid();
    referenceCounts = count(reference);
    planCounts = count(plan);
  }
  /// Executes both plans and verifies them, at the same time. What was imported
  /// may not have been verified; executing it says more of what does not fit,
  /// so verifying says nothing unless that succeeds.
  LogicalResult executeAndVerify(Executed &executed, GrowingGraph &graph) {
    // Whoever is done with executing takes a share in verifying.
    auto readOnly = [&] {
      (void)doBeside();
      verifySilently();
      return success();
    };
    if (failed(
            sideBySide([&] { return execute(executed, graph); }, readOnly))) {
      if (executed.plan)
        tooDifferent = executed.plan->getTooDifferent();
      return fail(executed.plan ? executed.plan->getMalformation() : "");
    }
    if (!doBeside())
      return failure();
    return success(isVerified || isValid());
  }

  /// Does both, on two threads if there are so many.
  LogicalResult sideBySide(llvm::function_ref<LogicalResult()> first,
                           llvm::function_ref<LogicalResult()> second) {
    return failableParallelForEachN(
        module.getContext(), 0, 2,
        [&](size_t number) { return number ? second() : first(); });
  }

  /// Whether both may be linked.
  LogicalResult checkPlans();
  void addStatistics(int64_t executedOps, LinkCounts linked);

  ModuleOp module;
  RandomMode random;
  RankFolding folding;
  BesideLinking beside;
  const bool areVerified;            ///< from the beginning
  std::optional<bool> isBesideRight; ///< none before it was done
  tv::PlanOp reference, plan;
  std::unique_ptr<RankFold> fold;
  std::optional<MissingPart> missing;
  /// The group that could not be folded when that was last tried.
  std::optional<int64_t> tooDifferent;
  tv::GraphOp graphOp;
  bool isChecked = false, isVerified = false;
  PlanCounts referenceCounts, planCounts;
  KnownPlan knownReference, knownPlan;
};
} // namespace

LogicalResult PlanLinker::checkPlans() {
  for (tv::AxisAttr axis : reference.getMesh().getAxes())
    if (axis.getSize() != 1)
      return reference.emitError("the reference is a plan for ")
             << reference.getMesh()
             << ", and not for one device and one micro-batch";
  // What is started gives its values only where nothing races with it, which
  // may not have been checked before, or not of these ops.
  for (tv::PlanOp each : {reference, plan}) {
    StringRef malformation;
    KnownPlan &known = each == plan ? knownPlan : knownReference;
    auto number = [&] { return numberOps(each, known), success(); };
    auto index = [&] {
      if (!known.symbols)
        known.symbols.emplace(each);
      return success();
    };
    (void)sideBySide(number, index);
    if (known.needsOrder && failed(schedule::checkMemory(each, malformation)))
      return fail(each == plan ? malformation : "");
  }
  if (isChecked)
    return success();
  isChecked = succeeded(checkReference(reference, plan));
  return success(isChecked);
}

void PlanLinker::addStatistics(int64_t executedOps, LinkCounts linked) {
  int64_t graphOps = 0;
  for (Operation &op : graphOp.getBody().front())
    graphOps += op.hasAttr("domain") && !isa<tv::ExpectOp>(op);
  int64_t foldedGroups =
      fold ? static_cast<int64_t>(fold->getGroups().size()) : 0;
  std::pair<StringRef, int64_t> counts[] = {
      {"reference_casts", referenceCounts.casts},
      {"plan_casts", planCounts.casts},
      {"plan_ops", planCounts.ops},
      {"executed_ops", executedOps},
      {"lemmas", linked.lemmas},
      {"graph_ops", graphOps},
      {"folded_ranks", foldedGroups ? fold->getSize() : 0},
      {"folded_groups", foldedGroups}};
  for (auto [name, count] : counts)
    setStatistic(module, name, count);
}

LogicalResult PlanLinker::link(std::unique_ptr<RankFold> ranks) {
  // What was verified beside a fold that came to nothing was not all.
  isVerified &= !fold;
  fold = std::move(ranks);
  if (failed(checkPlans()))
    return failure();
  auto moduleEnd = OpBuilder::atBlockEnd(module.getBody());
  graphOp = tv::GraphOp::create(moduleEnd, plan.getLoc(), "graph",
                                fold ? fold->getMesh() : plan.getMesh());
  GrowingGraph graph(graphOp);
  auto executed = std::make_unique<Executed>(reference, knownReference, graph);
  if (failed(executeAndVerify(*executed, graph)))
    return failure();
  executed->plan->setDomains();
  LineageLinker linker(executed->reference, *executed->plan, plan,
                       graph.getBuilder());
  if (failed(sideBySide([&] { return linker.findLemmas(), success(); },
                        [&] { return graph.verify(); })))
    return failure();
  if (failed(linker.checkOutputNames()))
    return failure();
  if (failed(linker.findResults())) {
    missing = linker.getMissingPart();
    return failIncomplete();
  }
  for (tv::PlanOp each : {reference, plan}) {
    if (Attribute assumed = each->getAttr(assumptionName)) {
      auto words = dyn_cast<StringAttr>(assumed);
      StringRef text =
          words ? words.getValue() : "what the frontend does not say in words";
      if (!llvm::is_contained(getAssumptions(module), text))
        addAssumption(module, text);
    }
    if (Attribute stated = each->getAttr(executedOtherwiseName))
      module->setAttr(executedOtherwiseName, stated);
  }
  int64_t executedOps = executed->plan->getExecutedOps();
  LinkCounts linked;
  SmallVector<tv::PlanOp> linkedPlans;
  for (tv::PlanOp each : {reference, plan})
    if (!fold && !each->hasAttr(keptPlanName)) {
      each->remove();
      linkedPlans.push_back(each);
    }
  auto release = [&] {
    executed.reset();
    for (tv::PlanOp each : linkedPlans)
      each->destroy();
    return success();
  };
  (void)sideBySide([&] { return linked = linker.write(), success(); }, release);
  addStatistics(executedOps, linked);
  return graph.verifyAdded();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool PlanLinker::linkFolded(llvm::DenseSet<int64_t> &apart) {
  for (unsigned attempt = 0; attempt < mostFolded; ++attempt) {
    tooDifferent.reset();
    if (tryFolded(apart))
      return true;
    if (!maySucceed() || !tooDifferent || !apart.insert(*tooDifferent).second)
      return false;
  }
  return false;
}

bool PlanLinker::tryFolded(const llvm::DenseSet<int64_t> &apart) {
  // What a device draws for itself is no function of its coordinates.
  std::unique_ptr<RankFold> ranks;
  if (random == RandomMode::ByElement && folding != RankFolding::None)
    ranks = RankFold::find(plan, apart, folding == RankFolding::All);
  if (!ranks)
    return false;
  bool isLinked;
  {
    SilencedThread silence(module.getContext());
    isLinked = succeeded(link(std::move(ranks)));
  }
  // What first ranks show rests on a valid plan.
  if (!isLinked && !isVerified && isBesideRight.value_or(false))
    isBesideRight.reset();
  if (isLinked)
    setFoldedGroups(graphOp, fold->getGroups());
  else if (graphOp)
    graphOp.erase();
  graphOp = {};
  // What devices hold does not depend on whether one stands for others.
  if (missing) {
    fold.reset();
    (void)failIncomplete();
  }
  return isLinked;
}

LogicalResult verify::linkPlans(ModuleOp module, RandomMode random,
                                RankFolding folding,
                                const BesideLinking &beside, bool areVerified) {
  PlanLinker linker(module, random, folding, beside, areVerified);
  std::vector<Diagnostic> said;
  bool isLinked;
  {
    // What is done beside has the first word, and the only one if it fails.
    ScopedDiagnosticHandler listener(
        module.getContext(),
        [&, own = llvm::get_threadid()](Diagnostic &diagnostic) {
          if (!beside || llvm::get_threadid() != own)
            return failure();
          said.push_back(std::move(diagnostic));
          return success();
        });
    llvm::DenseSet<int64_t> apart;
    isLinked = linker.linkFolded(apart) ||
               (linker.maySucceed() && succeeded(linker.link()));
  }
  if (!linker.doBeside())
    return failure();
  for (Diagnostic &diagnostic : said)
    module.getContext()->getDiagEngine().emit(std::move(diagnostic));
  return success(isLinked);
}

tv::GraphOp verify::getFoldedGraph(ModuleOp module) {
  for (auto graph : module.getOps<tv::GraphOp>())
    if (hasFoldedGroups(graph) && module.lookupSymbol<tv::PlanOp>("plan") &&
        module.lookupSymbol<tv::PlanOp>("reference"))
      return graph;
  return {};
}

/// Takes away the folded graph, and what was made of it.
static void eraseFolded(ModuleOp module) {
  getFoldedGraph(module).erase();
  for (auto stage : llvm::make_early_inc_range(module.getOps<tv::StageOp>()))
    stage.erase();
}

LogicalResult verify::unfoldRanks(ModuleOp module) {
  eraseFolded(module);
  return linkPlans(module, RandomMode::ByElement, RankFolding::None,
                   /*beside=*/nullptr, /*areVerified=*/false);
}

LogicalResult verify::unfoldRanks(ModuleOp module,
                                  llvm::DenseSet<int64_t> &apart) {
  eraseFolded(module);
  PlanLinker linker(module, RandomMode::ByElement, RankFolding::ButExceptions);
  return success(linker.linkFolded(apart) ||
                 (linker.maySucceed() && succeeded(linker.link())));
}
