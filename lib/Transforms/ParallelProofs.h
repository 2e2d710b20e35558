//===- ParallelProofs.h - proofs of stages, on all cores --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves stages before they are asked for, with the threads of the context.
// Only proofs come out of it: what is not proved, or takes long, is left to
// whoever asks, so that the order of threads decides nothing but the time.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PARALLELPROOFS_H
#define VERIFY_LIB_TRANSFORMS_PARALLELPROOFS_H

#include "Verify/Analysis/StageProver.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace verify {

/// Has threads call `work` with each number below `end`, many at a time: to
/// give a thread something takes longer than most of it.
void forEachInParallel(mlir::MLIRContext *context, size_t end,
                       llvm::function_ref<void(size_t)> work);

class ParallelProofs {
public:
  /// The context has to have threads.
  ParallelProofs(mlir::MLIRContext &context, const ProverOptions &options,
                 StageProofs kinds, std::shared_ptr<SolverContext> solver);
  /// Gives up what was not begun, and waits for the rest.
  ~ParallelProofs();

  /// Begins a proof. Nothing may change `stage` until it is over.
  unsigned add(mlir::OwningOpRef<tv::StageOp> stage);
  /// Waits for proof `number`. None if there is none yet; it may be asked for
  /// once.
  std::optional<StageVerdict> take(unsigned number);
  /// Lets attempts go on that take long, those included that were given up for
  /// it.
  void allow(Effort effort);
  /// Begins nothing until `resume`: what is begun goes on.
  void pause();
  void resume();
  /// Gives up what was not begun.
  void cancel();

private:
  enum class State : uint8_t { Waiting, Running, Denied, Proved, Over };
  struct Job {
    mlir::OwningOpRef<tv::StageOp> stage;
    State state = State::Waiting;
    StageVerdict verdict;
  };

  void submit(Job &job);
  /// Asks for one more worker, if there may be more. The mutex is held.
  void addWorker();
  /// Works on what waits until there is nothing.
  void work();
  /// `wasDenied`: whether an attempt was given up because it takes long.
  StageVerdict prove(StageProver &prover, tv::StageOp stage, bool &wasDenied);
  /// Whether an attempt may go on.
  bool isAllowed(Effort effort);

  ProverOptions options;
  StageProofs kinds;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::deque<Job *> queue;
  unsigned workers = 0; ///< that were asked for
  unsigned working = 0; ///< of these, those that have begun
  const unsigned workerLimit;
  std::shared_ptr<SolverContext> solver;
  std::vector<std::unique_ptr<StageProver>> idleProvers;
  bool areLongAllowed = false, areVeryLongAllowed = false;
  bool isCancelled = false, isPaused = false;
  /// What threads say of attempts is said again by who asks.
  mlir::ScopedDiagnosticHandler silence;
  llvm::ThreadPoolTaskGroup tasks;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PARALLELPROOFS_H
