//===- Simulation.h - runs the communication of a plan ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs all programs once, each as far as it gets. What a device may do stays
// possible until it does it, whatever the others do, so every other order ends
// where this one does (docs/Soundness.md, section 9). Each action is looked at
// a bounded number of times.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_SIMULATION_H
#define VERIFY_LIB_SCHEDULE_SIMULATION_H

#include "Skeleton.h"
#include "Verify/Schedule/Schedule.h"

#include <deque>

namespace verify::schedule {

class Simulation {
public:
  Simulation(const Skeleton &skeleton, const Options &options,
             Outcome &outcome);
  /// Runs everything to its end. Otherwise reports who waits for whom or what
  /// does not fit, and says so in `outcome.malformation`.
  mlir::LogicalResult run();

private:
  /// A call that is over.
  struct Execution {
    tv::CallOp call;
    int64_t microBatch;
  };
  /// A device that runs its program.
  struct Process {
    const Program *program;
    size_t nextStep = 0, nextAction = 0;
    /// Whether its next action is known to the others already: a message that
    /// was sent, or an arrival at a collective.
    bool hasPosted = false;
    /// Whether the collective that it arrived at is complete.
    bool isReleased = false;
    bool hasEntered = false; ///< its call
    bool isQueued = false;
    /// That of its call: of the operands, or of the call's mirror, or of the
    /// first tensor that arrives. -1 where it is not known, or not one.
    int64_t microBatch = -1;
    int64_t clock = 0;   ///< when it may do the next thing
    int64_t started = 0; ///< when it came to its action
    llvm::DenseMap<mlir::Value, int64_t> microBatches; ///< of values
    std::map<int64_t, Execution> executions; ///< by number of the call
    std::map<int64_t, int64_t> loads;        ///< executions, by loader
  };
  struct Message {
    mlir::Operation *op;
    int64_t microBatch;
    int64_t time;
  };
  struct Transfer {
    std::deque<Message> messages; ///< under way
    std::optional<unsigned> waitingSender, waitingReceiver;
  };
  struct Arrival {
    unsigned process;
    tv::CommunicateOp op;
    int64_t microBatch;
    int64_t time;
  };
  enum class Progress { Done, Waits, Fails };

  // Simulation.cpp
  Progress advance(unsigned number);
  Progress perform(unsigned number, const Action &action);
  Progress send(unsigned number, const Action &action);
  Progress receive(unsigned number, const Action &action);
  Progress meet(unsigned number, const Action &action);
  /// Lets all members of a collective go on.
  mlir::LogicalResult release(llvm::SmallVectorImpl<Arrival> &present);
  mlir::LogicalResult enter(Process &process, tv::CallOp call,
                            const Segment &segment);
  void leave(Process &process, tv::CallOp call);
  void load(Process &process, tv::LoadDataOp op);
  void wake(unsigned number, int64_t time);
  /// Where a process is in the middle of a call, that call.
  tv::CallOp getCall(const Process &process) const;
  const Action *getAction(const Process &process) const;
  bool isAtEnd(const Process &process) const {
    return process.nextStep == process.program->steps.size();
  }
  void record(const Process &process, EventKind kind, mlir::Operation *op,
              int64_t start, int64_t ready, int64_t end);
  /// The micro-batch of an action: of its call, or of its operand.
  int64_t getMicroBatch(const Process &process, mlir::Operation *op) const;
  /// Notes the micro-batch of what arrives with `op` and was given by `other`;
  /// fails if the call is of another one.
  mlir::LogicalResult accept(Process &process, mlir::Operation *op,
                             int64_t microBatch, mlir::Operation *other);

  // Counterexample.cpp
  mlir::LogicalResult reportTypes(tv::ReceiveOp op, const Message &message,
                                  int64_t sender);
  mlir::LogicalResult compareMembers(const Arrival &first,
                                     const Arrival &other);
  /// The devices that have to move before a waiting process can.
  llvm::SmallVector<int64_t> findMissing(unsigned number) const;
  /// The process of a device; null if it has no program.
  const Process *findProcess(int64_t device) const;
  /// Whether it waits for a device that has nothing left to run.
  bool awaitsEnded(unsigned number) const;
  /// Processes of which each waits for the next, and the last for the first.
  llvm::SmallVector<unsigned> findCycle() const;
  std::string describeWait(unsigned number) const;
  /// Adds where a process is, and what it waits for there.
  void attachWait(mlir::InFlightDiagnostic &error, unsigned number) const;
  mlir::LogicalResult reportDeadlock();
  mlir::LogicalResult reportEnded(unsigned number);
  void recordWaiting();
  int64_t deviceOf(unsigned number) const {
    return processes[number].program->device;
  }

  const Skeleton &skeleton;
  const Options &options;
  Outcome &outcome;
  std::vector<Process> processes;
  std::vector<Transfer> transfers;                     ///< by channel
  std::vector<llvm::SmallVector<Arrival, 0>> arrivals; ///< by communicator
  std::deque<unsigned> ready;
  std::map<int64_t, unsigned> processOf; ///< by device
  int64_t executed = 0;
};

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_SIMULATION_H
