//===- ParallelProofs.cpp - proofs of stages, on all cores ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelProofs.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace verify;

/// Whether this thread works on a proof.
static thread_local bool isProving = false;

ParallelProofs::ParallelProofs(MLIRContext &context,
                               const ProverOptions &options, bool isFullSize)
    : options(options), isFullSize(isFullSize),
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
  tasks.async([this, &job] {
    isProving = true;
    run(job);
    isProving = false;
  });
}

std::unique_ptr<StageProver> ParallelProofs::takeProver() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idleProvers.empty()) {
      std::unique_ptr<StageProver> prover = std::move(idleProvers.back());
      idleProvers.pop_back();
      return prover;
    }
  }
  return std::make_unique<StageProver>(options, /*smtLibDirectory=*/"",
                                       isFullSize);
}

bool ParallelProofs::isAllowed(Effort effort) {
  std::lock_guard<std::mutex> lock(mutex);
  return !isCancelled &&
         (effort == Effort::Long ? areLongAllowed : areVeryLongAllowed);
}

void ParallelProofs::run(Job &job) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isCancelled || job.state != State::Waiting)
      return;
    job.state = State::Running;
  }
  std::unique_ptr<StageProver> prover = takeProver();
  bool wasDenied = false;
  prover->setBeforeLongAttempt([&](Effort effort) {
    bool mayGoOn = isAllowed(effort);
    wasDenied |= !mayGoOn;
    return mayGoOn;
  });
  StageVerdict verdict = prover->prove(*job.stage);
  prover->setBeforeLongAttempt(nullptr);
  std::lock_guard<std::mutex> lock(mutex);
  job.verdict = std::move(verdict);
  job.state = job.verdict.isProved() ? State::Proved
              : wasDenied            ? State::Denied
                                     : State::Over;
  idleProvers.push_back(std::move(prover));
  changed.notify_all();
}

std::optional<StageVerdict> ParallelProofs::take(unsigned number) {
  Job &job = jobs[number];
  std::unique_lock<std::mutex> lock(mutex);
  if (!isCancelled)
    changed.wait(lock, [&] {
      return job.state != State::Waiting && job.state != State::Running;
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

void ParallelProofs::cancel() {
  std::lock_guard<std::mutex> lock(mutex);
  isCancelled = true;
}
