//===- ParallelProofs.cpp - proofs of stages, on all cores ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelProofs.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace verify;

/// Most provers at a time: each takes some megabytes.
static constexpr unsigned proverLimit = 8;

/// Whether this thread works on a proof.
static thread_local bool isProving = false;

void verify::forEachInParallel(MLIRContext *context, size_t end,
                               llvm::function_ref<void(size_t)> work) {
  constexpr size_t together = 64;
  parallelFor(context, 0, llvm::divideCeil(end, together), [&](size_t part) {
    size_t first = part * together;
    for (size_t i = first; i < std::min(first + together, end); ++i)
      work(i);
  });
}

ParallelProofs::ParallelProofs(MLIRContext &context,
                               const ProverOptions &options, StageProofs kinds,
                               std::shared_ptr<SolverContext> solver)
    : options(options), kinds(kinds),
      workerLimit(std::min(context.getNumThreads(), proverLimit)),
      solver(std::move(solver)),
      silence(&context,
              [](Diagnostic &) { return success(/*IsSuccess=*/isProving); }),
      tasks(context.getThreadPool()) {}

ParallelProofs::~ParallelProofs() {
  cancel();
  tasks.wait();
}

unsigned ParallelProofs::add(OwningOpRef<tv::StageOp> stage) {
  Job &job = jobs.emplace_back();
  job.stage = std::move(stage);
  submit(job);
  return jobs.size() - 1;
}

void ParallelProofs::submit(Job &job) {
  std::lock_guard<std::mutex> lock(mutex);
  queue.push_back(&job);
  if (!isPaused)
    addWorker();
}

void ParallelProofs::addWorker() {
  if (workers == workerLimit)
    return;
  ++workers;
  tasks.async([this] {
    isProving = true;
    work();
    isProving = false;
  });
}

void ParallelProofs::work() {
  std::unique_lock<std::mutex> lock(mutex);
  ++working;
  std::unique_ptr<StageProver> prover;
  if (!idleProvers.empty()) {
    prover = std::move(idleProvers.back());
    idleProvers.pop_back();
  }
  while (!queue.empty() && !isCancelled && !isPaused) {
    Job &job = *queue.front();
    queue.pop_front();
    if (job.state != State::Waiting)
      continue;
    job.state = State::Running;
    lock.unlock();
    if (!prover)
      prover = std::make_unique<StageProver>(options, /*smtLibDirectory=*/"",
                                             kinds, solver);
    bool wasDenied = false;
    StageVerdict verdict = prove(*prover, *job.stage, wasDenied);
    lock.lock();
    job.verdict = std::move(verdict);
    job.state = job.verdict.isProved() ? State::Proved
                : wasDenied            ? State::Denied
                                       : State::Over;
    changed.notify_all();
  }
  if (prover)
    idleProvers.push_back(std::move(prover));
  --workers;
  --working;
  // What still waits is nobody's now.
  changed.notify_all();
}

StageVerdict ParallelProofs::prove(StageProver &prover, tv::StageOp stage,
                                   bool &wasDenied) {
  prover.setBeforeLongAttempt([&](Effort effort) {
    bool mayGoOn = isAllowed(effort);
    wasDenied |= !mayGoOn;
    return mayGoOn;
  });
  StageVerdict verdict = prover.prove(stage);
  prover.setBeforeLongAttempt(nullptr);
  return verdict;
}

bool ParallelProofs::isAllowed(Effort effort) {
  std::lock_guard<std::mutex> lock(mutex);
  return !isCancelled &&
         (effort == Effort::Long ? areLongAllowed : areVeryLongAllowed);
}

std::optional<StageVerdict> ParallelProofs::take(unsigned number) {
  Job &job = jobs[number];
  std::unique_lock<std::mutex> lock(mutex);
  // What nobody works on is left to who asks, so that a pass on a thread of the
  // pool waits for none that is not there. Who works goes on until nothing
  // waits.
  if (!isCancelled)
    changed.wait(lock, [&] {
      return job.state != State::Running &&
             (job.state != State::Waiting || working == 0);
    });
  bool isProved = job.state == State::Proved;
  // Who asks goes on with what was not proved.
  if (job.state != State::Running)
    job.state = State::Over;
  if (!isProved)
    return std::nullopt;
  return std::move(job.verdict);
}

void ParallelProofs::allow(Effort effort) {
  std::vector<Job *> again;
  {
    std::lock_guard<std::mutex> lock(mutex);
    bool &isKnown =
        effort == Effort::Long ? areLongAllowed : areVeryLongAllowed;
    if (isKnown || isCancelled)
      return;
    isKnown = true;
    for (Job &job : jobs)
      if (job.state == State::Denied) {
        job.state = State::Waiting;
        again.push_back(&job);
      }
  }
  for (Job *job : again)
    submit(*job);
}

void ParallelProofs::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  isPaused = true;
}

void ParallelProofs::resume() {
  std::lock_guard<std::mutex> lock(mutex);
  isPaused = false;
  for (size_t job = 0; job != queue.size() && workers != workerLimit; ++job)
    addWorker();
}

void ParallelProofs::cancel() {
  std::lock_guard<std::mutex> lock(mutex);
  isCancelled = true;
}
