//===- Simulation.h - runs the communication of a plan ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs all programs once, each as far as it gets. A device waits until others
// have posted what it needs, and nobody takes back what was posted. So what a
// device may do stays possible until it does it, and every other order ends
// where this one does (docs/Schedules.md). Each action is looked at a bounded
// number of times.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_SIMULATION_H
#define VERIFY_LIB_SCHEDULE_SIMULATION_H

#include "MissingCalls.h"
#include "Verify/IR/DenseValues.h"
#include "Verify/IR/NumberMap.h"
#include "Verify/Schedule/Schedule.h"
#include "WrongGroups.h"

#include "llvm/ADT/StringSet.h"

#include <deque>

namespace verify::schedule {

class Simulation {
public:
  /// Without `followsMicroBatches` nobody has one. Who waits for whom does not
  /// depend on them.
  Simulation(const Skeleton &skeleton, const Options &options, Outcome &outcome,
             bool followsMicroBatches);
  /// Runs everything to its end. Otherwise reports who waits for whom or what
  /// does not fit, and says so in `outcome.malformation`.
  mlir::LogicalResult run();

private:
  /// A call that is over.
  struct Execution {
    tv::CallOp call;
    int64_t microBatch;
  };
  /// What a device has come to and not completed yet.
  struct Posting {
    mlir::Operation *op; ///< that communicates or computes
    int64_t microBatch;  ///< of what it gives
    bool isInCall;
    int64_t time; ///< when it is posted
    /// How many sends or receives of its channel, or collectives of its
    /// communicator, the device has posted before; none as long as others do
    /// not see this one.
    std::optional<int64_t> order = std::nullopt;
    bool isMet = false; ///< all who take part have posted
    int64_t met = 0;    ///< when
    /// How many actions, from this one on, it was that met: all members entered
    /// these collectives one after the other.
    size_t count = 1;
    /// What arrives, and with which op it was given.
    int64_t arrivingMicroBatch = -1;
    mlir::Operation *other = nullptr;
    /// What has to be over before it is posted, or to be posted: that before it
    /// on its stream, what it comes after, and that before it in its channel.
    llvm::SmallVector<const Action *, 0> before = {};
    /// What waits until this is over, and what only until it is posted.
    llvm::SmallVector<const Action *, 0> followers = {}, successors = {};
    bool isWatched = false; ///< it is among those that followers wait for
  };
  /// A device that runs its program.
  struct Process {
    const Program *program;
    size_t nextStep = 0, nextAction = 0;
    bool isAtAction = false; ///< it has come to the next one
    bool hasEntered = false; ///< its call
    bool isReady = false;
    /// What its action has posted, unless that is only a start.
    std::optional<Posting> own;
    /// What was started and not waited for, by the op that was started.
    llvm::DenseMap<mlir::Operation *, Posting> started;
    /// The last one on each stream, and where it communicates in order, of all
    /// communication. What is there no more is over.
    llvm::DenseMap<unsigned, const Action *> lastOnStream;
    const Action *lastInOrder = nullptr;
    /// The last one of each channel or communicator, with streams.
    std::map<std::pair<ActionKind, unsigned>, const Action *> lastAtPlace;
    DenseValueMap<const Action *> actionOf; ///< by handle
    /// What it came to and is not posted, in order.
    std::vector<const Action *> unposted;
    /// What is posted, not known to be over, and waited for by others of it.
    std::vector<const Action *> watched;
    /// Collectives that it has posted, by communicator.
    llvm::DenseMap<unsigned, int64_t> collectives;
    /// That of its call: of the operands, or of the call's mirror, or of the
    /// first tensor that arrives. -1 where it is not known, or not one.
    int64_t microBatch = -1;
    size_t completed = 1; ///< actions, by the last one that was performed
    int64_t clock = 0;    ///< when it may do the next thing
    int64_t arrived = 0;  ///< when it came to its action
    /// Of the results of an op, which are all of one.
    llvm::DenseMap<mlir::Operation *, int64_t> microBatches;
    /// What wrote scratch memory last, and the micro-batch of that, by name.
    std::map<llvm::StringRef, std::pair<mlir::Operation *, int64_t>> held;
    NumberMap<Execution> executions;  ///< by number of the call
    std::map<int64_t, int64_t> loads; ///< executions, by loader
    /// That of a value; -1 where it is not known, or not one.
    int64_t getMicroBatch(mlir::Value value) const {
      auto found = microBatches.find(value.getDefiningOp());
      return found == microBatches.end() ? -1 : found->second;
    }
  };
  /// A posting as others see it. A send may be over before anybody takes what
  /// it gives.
  struct Party {
    unsigned process;
    mlir::Operation *op;
    int64_t order, microBatch, time;
    /// Of a collective: the one that it enters, which others may follow.
    const Action *action = nullptr;
  };
  struct Transfer {
    std::deque<Party> sends, receives; ///< that have not met
    int64_t sent = 0;                  ///< posted
    std::vector<int64_t> receiveTimes; ///< when each was posted
    std::optional<unsigned> waitingSender, waitingReceiver;
  };
  /// The collectives of a communicator that some members have posted and not
  /// all, from that number `first` on.
  struct Gathering {
    struct Meeting {
      llvm::SmallVector<Party, 0> present;
      /// How many collectives all who are present are about to enter, one after
      /// the other, that fit.
      size_t together = 0;
    };
    std::deque<Meeting> open;
    int64_t first = 0;
  };
  /// Of whose micro-batches the tensors are that arrive at members of a
  /// collective: the smallest that is known, and the one after it, if they work
  /// on different ones.
  class Givers {
  public:
    /// `members` stay where they are.
    explicit Givers(llvm::ArrayRef<Party> members);
    bool areMixed() const { return next; }
    /// The one for a member: of another micro-batch than its own, if there is
    /// one, whoever came first. Null if none is known.
    const Party *get(const Party &member) const {
      return next && member.microBatch == smallest->microBatch ? next
                                                               : smallest;
    }

  private:
    const Party *smallest = nullptr, *next = nullptr;
  };
  enum class Progress { Done, Waits, Fails };

  // Simulation.cpp
  Progress advance(unsigned number);
  Progress perform(unsigned number, const Action &action);
  static EventKind getEventKind(const Action &action);
  mlir::LogicalResult complete(Process &process, const Posting &posting,
                               const Action &action);
  /// Finds that of a call; fails where it has several and may not.
  mlir::LogicalResult findMicroBatch(Process &process, tv::CallOp call);
  mlir::LogicalResult enter(Process &process, tv::CallOp call,
                            const Segment &segment);
  void leave(Process &process, tv::CallOp call, const Segment &segment);
  void load(Process &process, tv::LoadDataOp op);
  /// Follows the micro-batches of what is in scratch memory.
  void use(Process &process, mlir::Operation *op);
  /// Notes what `writer` puts into scratch memory.
  void hold(Process &process, mlir::Operation *writer,
            mlir::FlatSymbolRefAttr name, int64_t microBatch);
  void wake(unsigned number);
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

  // Postings.cpp
  const Posting *findPosting(const Process &process,
                             const Action &action) const;
  Posting *findPosting(Process &process, const Action &action);
  /// The posting of a party; null if it is over.
  Posting *findPosting(const Party &party);
  /// Has a process take part in something that it has come to: at once, or when
  /// its turn comes.
  mlir::LogicalResult begin(unsigned number, const Action &action);
  /// What of a process comes before an action that it is at, and is not over.
  llvm::SmallVector<const Action *> findEarlier(const Process &process,
                                                const Action &action,
                                                int64_t &time) const;
  /// The one before it in its channel or communicator, if that is not posted.
  const Action *findUnposted(const Process &process,
                             const Action &action) const;
  /// Has a process look at an action until it is over.
  void watch(Process &process, const Action &action);
  /// Posts all of a process that follows what is over.
  mlir::LogicalResult proceed(unsigned number);
  /// Notes that `before` need not be waited for any more, from `time` on.
  mlir::LogicalResult release(unsigned number, const Action &first,
                              const Action &before, int64_t time);
  /// Has a process woken when an action that it has posted is over.
  void await(unsigned number, const Action &action);
  /// Lets others know that a process takes part from now on.
  mlir::LogicalResult post(unsigned number, const Action &action,
                           Posting &posting);
  /// Gives a posting its place among those before it.
  static Party take(unsigned number, Posting &posting, int64_t order);
  mlir::LogicalResult postSend(unsigned number, Posting &posting,
                               unsigned channel);
  mlir::LogicalResult postReceive(unsigned number, Posting &posting,
                                  unsigned channel);
  mlir::LogicalResult postCollective(unsigned number, Posting &posting,
                                     const Action &action);
  /// How many collectives from these on two members enter alike, one after the
  /// other.
  size_t countAlike(const Action &first, const Action &other);
  /// Has the n-th send of a channel meet the n-th receive.
  mlir::LogicalResult meet(const Party &send, const Party &receive,
                           unsigned channel);
  /// Lets all members of `count` collectives go on.
  mlir::LogicalResult release(llvm::ArrayRef<Party> members, size_t count,
                              const Givers &givers);
  /// Whether nobody has to be waited for any more.
  bool isOver(const Posting &posting, const Action &action) const;
  /// When what is over came to its end.
  int64_t getEnd(const Posting &posting, const Action &action) const;

  // Counterexample.cpp
  mlir::LogicalResult reportTypes(tv::ReceiveOp op, tv::SendOp send,
                                  int64_t sender);
  /// Whether two members may enter these at the same point.
  static bool areAlike(const Action &first, const Action &other);
  /// Says in what two members differ that are not alike.
  mlir::LogicalResult reportDifference(const Party &first, const Party &other);
  /// Reports what was posted and met nobody, although all are at their ends.
  mlir::LogicalResult reportLeft();
  /// What a process is at, or has started, and what that waits for: itself, or
  /// what comes before it and is posted.
  struct Blocked {
    unsigned process;
    const Action *action, *obstacle;
    bool isBehind() const { return action->op != obstacle->op; }
    bool operator==(const Blocked &other) const {
      return process == other.process && obstacle->op == other.obstacle->op;
    }
  };
  Blocked findBlocked(unsigned number, const Action *action) const;
  /// What the process of a device has come to that another one waits for and
  /// that is not posted; null if there is none.
  const Action *findCounterpart(const Process &process,
                                const Action &awaited) const;
  /// The devices that have to move before something can be over.
  llvm::SmallVector<int64_t> findMissing(const Blocked &blocked) const;
  /// What keeps the first of them from moving; none if that has ended.
  std::optional<Blocked> findNext(const Blocked &blocked) const;
  /// The process of a device; null if it has no program.
  const Process *findProcess(int64_t device) const;
  /// Whether it waits for a device that has nothing left to run.
  bool awaitsEnded(const Blocked &blocked) const;
  /// Of which each waits for the next, and the last for the first, or for a
  /// device that has ended.
  llvm::SmallVector<Blocked> findCycle() const;
  std::string describeWait(const Blocked &blocked) const;
  /// Adds where a process is, or what it has started, and what that waits for.
  void attachWait(mlir::InFlightDiagnostic &error,
                  const Blocked &blocked) const;
  /// Adds where what a device waits for was started, if that is elsewhere, and
  /// what comes before it.
  void attachStart(mlir::InFlightDiagnostic &error,
                   const Blocked &blocked) const;
  /// Adds what a device has started that another one waits for, if it has.
  void attachLater(mlir::InFlightDiagnostic &error, const Blocked &waiting,
                   unsigned number) const;
  /// The call that a device of the cycle leaves out and a member of its group,
  /// which waits for it, does not.
  std::optional<MissingCall>
  findMissingInCycle(llvm::ArrayRef<Blocked> cycle) const;
  mlir::LogicalResult reportDeadlock();
  /// Reports a wrong group, of which it is a consequence that the others wait.
  mlir::LogicalResult reportGroup(const WrongGroup &wrong,
                                  llvm::ArrayRef<Blocked> waiting);
  /// Adds that a device has ended that another one waits for, and the call that
  /// it leaves out.
  void attachEnd(mlir::InFlightDiagnostic &error, mlir::Location location,
                 const Process &waiting, const Process &ended) const;
  mlir::LogicalResult reportEnded(const Blocked &blocked);
  void recordWaiting();
  int64_t deviceOf(unsigned number) const {
    return processes[number].program->device;
  }

  const Skeleton &skeleton;
  const Options &options;
  Outcome &outcome;
  bool followsMicroBatches;
  std::vector<Process> processes;
  std::vector<Transfer> transfers;   ///< by channel
  std::vector<Gathering> gatherings; ///< by communicator
  /// What `countAlike` has answered.
  llvm::DenseMap<std::pair<const Action *, const Action *>, size_t> alike;
  std::deque<unsigned> ready;
  std::map<int64_t, unsigned> processOf; ///< by device
  llvm::StringSet<> scratch;             ///< the names of that memory
  int64_t executed = 0;
};

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_SIMULATION_H
