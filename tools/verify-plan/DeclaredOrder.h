//===- DeclaredOrder.h - the verdict on another order of parts --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TOOLS_VERIFY_PLAN_DECLAREDORDER_H
#define VERIFY_TOOLS_VERIFY_PLAN_DECLAREDORDER_H

#include "Verify/NnScaler/Import.h"
#include "Verify/Transforms/Passes.h"
#include "Verify/Transforms/Report.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/ThreadPool.h"

#include <future>
#include <string>

/// What becomes of a pair of plans that was imported by rank if parts are as
/// the plan declares them. A plan that is wrong as the runtime executes it may
/// declare what is right.
class DeclaredOrder {
public:
  struct Options {
    std::string referencePath, planPath;
    verify::CanonicalizeSSAPassOptions link;
    verify::CheckEquivPassOptions check;
    /// That of the other verification.
    std::shared_ptr<verify::SolverContext> solver;
  };
  /// `files` are what the plans were imported from.
  DeclaredOrder(verify::nnscaler::PartOrderDifference difference,
                Options options,
                std::optional<verify::nnscaler::PairFiles> files);

  /// Sees to it that the plans of a module are there when they are needed. With
  /// `isBeside` copies them on a thread of its own, that goes on with them;
  /// they may not change until `waitUntilCopied`.
  void begin(mlir::ModuleOp module, bool isBeside);
  /// Goes on, on a thread of its own, with what the module kept, if it did and
  /// that was not done. Returns whether the thread is at work.
  bool takePlans();
  /// Ends that, and puts it back, as it was.
  void giveBackPlans();
  void waitUntilCopied();
  /// Whether something was begun that is not over.
  bool isUnderWay() const;
  /// Says what the verdict on that order is. Waits for what was begun;
  /// otherwise does it now, with what the module kept, and notes its time under
  /// `scope`.
  void explain(mlir::TimingScope &scope);

private:
  using Answer = std::optional<verify::Answer>;
  /// The plans of a module, or copies of them, in the order of parts that is
  /// declared; null if they do not say.
  mlir::OwningOpRef<mlir::ModuleOp> take(mlir::ModuleOp module, bool copies);
  /// Has a thread of its own give the verdict.
  void checkOnThread(std::shared_ptr<verify::SolverContext> solver,
                     bool areVerified);
  /// None where it is not decided. `scope` may be null, and so may `solver`.
  Answer check(mlir::ModuleOp declared, mlir::TimingScope *scope,
               std::shared_ptr<verify::SolverContext> solver, bool areVerified);
  /// The same of what is imported once more.
  Answer importAndCheck(mlir::TimingScope &scope);

  verify::nnscaler::PartOrderDifference difference;
  Options options;
  std::optional<verify::nnscaler::PairFiles> files;
  /// What keeps the plans until they are needed; null if nothing does.
  mlir::ModuleOp keeper;
  mlir::OwningOpRef<mlir::ModuleOp> declared;
  verify::nnscaler::PartOrders before; ///< of its plan
  /// Whether no op became invalid by having the other order.
  bool isStillValid = false;
  std::shared_future<void> copied;
  std::shared_future<Answer> verdict;
  /// Its one thread is not one of the context, which others wait for.
  std::optional<llvm::DefaultThreadPool> thread;
};

#endif // VERIFY_TOOLS_VERIFY_PLAN_DECLAREDORDER_H
