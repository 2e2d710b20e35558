//===- DeclaredOrder.cpp - the verdict on another order of parts ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeclaredOrder.h"

#include "Verify/IR/SilencedThread.h"
#include "Verify/IR/TVOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

DeclaredOrder::DeclaredOrder(verify::nnscaler::PartOrderDifference difference,
                             Options options,
                             std::optional<verify::nnscaler::PairFiles> files)
    : difference(std::move(difference)), options(std::move(options)),
      files(std::move(files)) {}

/// The reference and the plan; none if one is missing.
static SmallVector<verify::tv::PlanOp, 2> getPlans(ModuleOp module) {
  SmallVector<verify::tv::PlanOp, 2> plans;
  for (StringRef name : {"reference", "plan"})
    if (auto plan = module.lookupSymbol<verify::tv::PlanOp>(name))
      plans.push_back(plan);
  return plans.size() == 2 ? plans : SmallVector<verify::tv::PlanOp, 2>();
}

OwningOpRef<ModuleOp> DeclaredOrder::take(ModuleOp module, bool copies) {
  SmallVector<verify::tv::PlanOp, 2> plans = getPlans(module);
  if (plans.empty() || !verify::nnscaler::declaresPartOrder(plans.back()))
    return nullptr;
  OwningOpRef<ModuleOp> taken(ModuleOp::create(module.getLoc()));
  for (verify::tv::PlanOp plan : plans) {
    Operation *own = copies ? plan->clone() : plan;
    if (!copies)
      own->remove();
    own->removeAttr(verify::keptPlanName);
    taken->push_back(own);
  }
  before = *verify::nnscaler::useDeclaredPartOrder(getPlans(*taken).back());
  verify::SilencedThread silence(module.getContext());
  isStillValid = llvm::all_of(before, [](const auto &exchanged) {
    Operation *op = exchanged.first;
    return succeeded(op->getName().verifyInvariants(op));
  });
  return taken;
}

DeclaredOrder::Answer
DeclaredOrder::check(ModuleOp declared, TimingScope *scope,
                     std::shared_ptr<verify::SolverContext> solver,
                     bool areVerified) {
  verify::SilencedThread silence(declared.getContext());
  PassManager manager(declared.getContext());
  manager.addPass(verify::createCanonicalizeSSAPass(
      options.link, /*beside=*/nullptr, areVerified));
  // On a thread of its own it leaves the others to the other check.
  verify::KeptPlansUser plans;
  if (!scope)
    plans = {[] { return true; }, [] {}};
  manager.addPass(verify::createCheckEquivPass(options.check,
                                               /*progress=*/nullptr,
                                               std::move(solver), plans));
  if (scope)
    manager.enableTiming(*scope);
  manager.enableVerifier(false);
  bool isDone = succeeded(manager.run(declared));
  Answer answer = verify::getAnswer(declared);
  // A pass that fails has proved nothing.
  if (!isDone && answer == verify::Answer::Proved)
    answer.reset();
  return answer;
}

DeclaredOrder::Answer DeclaredOrder::importAndCheck(TimingScope &scope) {
  verify::nnscaler::ImportOptions byIndexMap;
  byIndexMap.partOrder = verify::nnscaler::PartOrder::IndexMap;
  MLIRContext *context = difference.plan.getContext();
  {
    verify::SilencedThread silence(context);
    declared = verify::nnscaler::importPair(context, options.referencePath,
                                            options.planPath, byIndexMap, scope,
                                            &files);
  }
  return declared ? check(*declared, &scope, options.solver,
                          /*areVerified=*/false)
                  : std::nullopt;
}

static void keep(ArrayRef<verify::tv::PlanOp> plans) {
  for (verify::tv::PlanOp plan : plans)
    plan->setAttr(verify::keptPlanName, UnitAttr::get(plan.getContext()));
}

void DeclaredOrder::begin(ModuleOp module, bool isBeside) {
  if (!isBeside) {
    SmallVector<verify::tv::PlanOp, 2> plans = getPlans(module);
    if (plans.empty() || !verify::nnscaler::declaresPartOrder(plans.back()))
      return;
    keep(plans);
    keeper = module;
    return;
  }
  thread.emplace(llvm::hardware_concurrency(1));
  copied = thread->async(
      [this, module] { declared = take(module, /*copies=*/true); });
  checkOnThread(nullptr, /*areVerified=*/false);
}

void DeclaredOrder::checkOnThread(std::shared_ptr<verify::SolverContext> solver,
                                  bool areVerified) {
  verdict = thread->async([this, solver = std::move(solver), areVerified] {
    return declared ? check(*declared, nullptr, solver, areVerified)
                    : std::nullopt;
  });
}

bool DeclaredOrder::takePlans() {
  if (!keeper || declared)
    return isUnderWay();
  declared = take(keeper, /*copies=*/false);
  if (!declared)
    return false;
  // They may have to be given back.
  keep(getPlans(*declared));
  thread.emplace(llvm::hardware_concurrency(1));
  // They were linked.
  checkOnThread(options.solver, /*areVerified=*/isStillValid);
  return true;
}

void DeclaredOrder::giveBackPlans() {
  if (!keeper || !declared)
    return;
  verdict.wait();
  SmallVector<verify::tv::PlanOp, 2> plans = getPlans(*declared);
  if (plans.empty())
    llvm::reportFatalInternalError("plans that are kept are gone");
  verify::nnscaler::restorePartOrder(before);
  for (verify::tv::PlanOp plan : plans) {
    plan->remove();
    keeper.push_back(plan);
  }
  // There is a verdict.
  keeper = nullptr;
}

void DeclaredOrder::waitUntilCopied() {
  if (copied.valid())
    copied.wait();
  if (declared || keeper)
    files.reset();
}

bool DeclaredOrder::isUnderWay() const {
  return verdict.valid() &&
         verdict.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void DeclaredOrder::explain(TimingScope &scope) {
  if (keeper && !declared)
    declared = take(keeper, /*copies=*/false);
  Answer answer = !declared         ? importAndCheck(scope)
                  : verdict.valid() ? verdict.get()
                                    : check(*declared, &scope, options.solver,
                                            /*areVerified=*/isStillValid);
  emitRemark(difference.plan)
      << "with --nnscaler-part-order=index-map, the order that the plan "
         "declares, the same plan is "
      << (answer == verify::Answer::Proved    ? "proved"
          : answer == verify::Answer::Refuted ? "refuted as well"
                                              : "not decided");
}
