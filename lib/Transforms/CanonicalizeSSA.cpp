//===- CanonicalizeSSA.cpp - plans of devices to one SSA graph ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Passes.h"

#include "Boundaries.h"
#include "LineageLinker.h"
#include "PlanExecution.h"
#include "ReferenceCheck.h"
#include "Verify/Schedule/Schedule.h"
#include "Verify/Transforms/BatchSize.h"
#include "Verify/Transforms/Report.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_CANONICALIZESSAPASS
#include "Verify/Transforms/Passes.h.inc"
} // namespace verify

namespace {
struct CanonicalizeSSAPass
    : verify::impl::CanonicalizeSSAPassBase<CanonicalizeSSAPass> {
  using CanonicalizeSSAPassBase::CanonicalizeSSAPassBase;

protected:
  void runOnOperation() override {
    auto reference = getOperation().lookupSymbol<tv::PlanOp>("reference");
    auto plan = getOperation().lookupSymbol<tv::PlanOp>("plan");
    if (!reference && !plan)
      return;
    if (!reference || !plan) {
      getOperation().emitError("needs both plans, @reference and @plan");
      return signalPassFailure();
    }
    if (std::optional<std::string> adapted = adaptBatchSize(reference, plan))
      addAssumption(getOperation(), *adapted);
    if (failed(link(reference, plan)))
      return signalPassFailure();
  }

  LogicalResult fail(StringRef malformation) {
    if (!malformation.empty())
      setMalformation(getOperation(), malformation);
    return failure();
  }

  struct Counts {
    int64_t ops = 0;
    /// Conversions between floating-point types, which are taken for
    /// identities.
    int64_t casts = 0;
  };
  static Counts count(tv::PlanOp plan) {
    Counts counts;
    plan.walk([&](Operation *op) {
      ++counts.ops;
      auto copy = dyn_cast<tv::CopyOp>(op);
      if (!copy)
        return;
      auto from = cast<RankedTensorType>(copy.getOperand().getType());
      auto to = cast<RankedTensorType>(copy.getResult().getType());
      counts.casts += isa<FloatType>(from.getElementType()) &&
                      isa<FloatType>(to.getElementType()) &&
                      from.getElementType() != to.getElementType();
    });
    return counts;
  }

  /// Whether a plan starts anything or uses memory again.
  static bool needsOrder(tv::PlanOp plan) {
    return plan
        .walk([](Operation *op) {
          return isa<tv::StartOp, tv::WaitOp, tv::ScratchOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Gives ops their numbers in the order of their blocks, which is otherwise
  /// done by whoever first asks which of two comes first.
  static void numberOps(tv::PlanOp plan) {
    for (Operation &op : plan.getBody().front())
      for (Region &region : op.getRegions())
        for (Block &block : region)
          block.recomputeOpOrder();
    plan.getBody().front().recomputeOpOrder();
  }

  /// Both plans, executed into a graph.
  struct Executed {
    Executed(tv::PlanOp reference, GrowingGraph &graph)
        : referenceBoundary(graph.getBuilder()),
          reference(reference, graph, referenceBoundary, true) {}
    ReferenceBoundary referenceBoundary;
    PlanExecution reference;
    std::optional<PlanBoundary> planBoundary;
    std::optional<PlanExecution> plan;
    Counts referenceCounts, planCounts;
  };

  LogicalResult execute(Executed &executed, tv::PlanOp plan,
                        GrowingGraph &graph) {
    if (failed(executed.reference.run()))
      return failure();
    executed.planBoundary.emplace(graph.getBuilder(),
                                  executed.referenceBoundary, plan, random);
    executed.plan.emplace(plan, graph, *executed.planBoundary, false);
    return executed.plan->run();
  }

  /// Executes both plans and verifies them, at the same time. What was imported
  /// may not have been verified; executing it says more of what does not fit,
  /// so verifying says nothing unless that succeeds.
  LogicalResult executeAndVerify(Executed &executed, tv::PlanOp reference,
                                 tv::PlanOp plan, GrowingGraph &graph) {
    auto isValid = [&] {
      return succeeded(mlir::verify(reference)) &&
             succeeded(mlir::verify(plan));
    };
    bool isVerified = false;
    auto verifySilently = [&] {
      ScopedDiagnosticHandler silence(
          &getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
            return success(llvm::get_threadid() == thread);
          });
      isVerified = isValid();
      executed.referenceCounts = count(reference);
      executed.planCounts = count(plan);
      return success();
    };
    numberOps(reference);
    numberOps(plan);
    if (failed(sideBySide([&] { return execute(executed, plan, graph); },
                          verifySilently)))
      return fail(executed.plan ? executed.plan->getMalformation() : "");
    return success(isVerified || isValid());
  }

  LogicalResult link(tv::PlanOp reference, tv::PlanOp plan) {
    for (tv::AxisAttr axis : reference.getMesh().getAxes())
      if (axis.getSize() != 1)
        return reference.emitOpError("is a plan for ")
               << reference.getMesh() << "; the reference is a plan for one "
               << "device and one micro-batch";
    // What is started gives its values only where nothing races with it, which
    // may not have been checked before, or not of these ops.
    for (tv::PlanOp each : {reference, plan}) {
      StringRef malformation;
      if (needsOrder(each) && failed(schedule::checkMemory(each, malformation)))
        return fail(each == plan ? malformation : "");
    }
    if (failed(checkReference(reference, plan)))
      return failure();
    auto moduleEnd = OpBuilder::atBlockEnd(getOperation().getBody());
    auto graphOp =
        tv::GraphOp::create(moduleEnd, plan.getLoc(), "graph", plan.getMesh());
    GrowingGraph graph(graphOp);
    auto executed = std::make_unique<Executed>(reference, graph);
    if (failed(executeAndVerify(*executed, reference, plan, graph)))
      return failure();
    executed->plan->setDomains();
    addStatistic(getOperation(), "reference_casts",
                 executed->referenceCounts.casts);
    addStatistic(getOperation(), "plan_casts", executed->planCounts.casts);
    addStatistic(getOperation(), "plan_ops", executed->planCounts.ops);
    addStatistic(getOperation(), "executed_ops",
                 executed->plan->getExecutedOps());
    LineageLinker linker(executed->reference, *executed->plan, plan,
                         graph.getBuilder());
    if (failed(sideBySide([&] { return linker.findLemmas(), success(); },
                          [&] { return graph.verify(); })))
      return failure();
    if (failed(linker.findResults()))
      return fail("a part of a result is missing");
    reference->remove();
    plan->remove();
    LinkCounts linked;
    (void)sideBySide([&] { return linked = linker.write(), success(); },
                     [&] {
                       executed.reset();
                       reference->destroy();
                       plan->destroy();
                       return success();
                     });
    int64_t graphOps = 0;
    for (Operation &op : graphOp.getBody().front())
      graphOps += op.hasAttr("domain") && !isa<tv::ExpectOp>(op);
    addStatistic(getOperation(), "lemmas", linked.lemmas);
    addStatistic(getOperation(), "graph_ops", graphOps);
    return graph.verifyAdded();
  }

  /// Does both, on two threads if there are so many.
  LogicalResult sideBySide(llvm::function_ref<LogicalResult()> first,
                           llvm::function_ref<LogicalResult()> second) {
    return failableParallelForEachN(&getContext(), 0, 2, [&](size_t number) {
      return number ? second() : first();
    });
  }
};
} // namespace
