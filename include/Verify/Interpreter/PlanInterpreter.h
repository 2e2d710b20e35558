//===- PlanInterpreter.h - executes a plan on numbers -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the program of every device of every replica, op by op, with tensors of
// numbers: messages carry tensors, collectives combine what the members hold,
// buffers hold what was written. It shares nothing with the symbolic execution
// of lib/Transforms, which it checks, and believes nothing that a plan states
// about its tensors but which slices loaders and parameter buffers hold.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_PLANINTERPRETER_H
#define VERIFY_INTERPRETER_PLANINTERPRETER_H

#include "Verify/Interpreter/InputValues.h"
#include "Verify/Interpreter/OpExecutor.h"
#include "llvm/ADT/MapVector.h"

#include <deque>
#include <list>
#include <map>
#include <set>

namespace verify {

/// A device of a replica.
struct Site {
  int64_t replica = 0;
  int64_t device = 0;
};

/// Gives a program the tensors it does not compute. All return null after an
/// error.
class PlanInputs {
public:
  virtual ~PlanInputs();
  /// Result `number` of the execution `microBatch` of a loader.
  virtual TensorRef load(tv::LoadDataOp op, unsigned number, Site site,
                         int64_t microBatch) = 0;
  virtual TensorRef parameter(tv::BufferOp op, Site site) = 0;
  virtual TensorRef random(tv::RandomOp op, Site site, int64_t microBatch) = 0;
  /// Whether each micro-batch has a draw of its own.
  virtual bool isDrawnForEach(tv::RandomOp op) const = 0;
  virtual TensorRef undefined(tv::UndefinedOp op, Site site,
                              int64_t execution) = 0;
};

/// A tensor as a device holds it: of a micro-batch, or of none.
struct Held {
  TensorRef tensor;
  int64_t microBatch = -1;
};

/// A result of the run on one device.
struct RunOutput {
  Site site;
  std::string name;
  unsigned ordinal = 0; ///< among the outputs of the device
  Held value;
  mlir::Location location;
};

/// What a gradient buffer holds at the end.
struct RunGradient {
  Site site;
  tv::BufferOp parameter;
  TensorRef value;
};

class PlanInterpreter {
public:
  /// `plan` holds no compositions.
  PlanInterpreter(tv::PlanOp plan, Workspace &workspace, PlanInputs &inputs);
  ~PlanInterpreter();

  /// Runs all programs to their end; fails after an error at the op that cannot
  /// be executed.
  llvm::LogicalResult run();

  llvm::ArrayRef<RunOutput> getOutputs() const { return outputs; }
  llvm::ArrayRef<RunGradient> getGradients() const { return gradients; }
  /// The first op that was evaluated outside of its domain, or null.
  mlir::Operation *getUndefined() const { return executor.getUndefined(); }

private:
  using Environment = llvm::DenseMap<mlir::Value, Held>;
  /// One execution of a segment.
  struct Frame {
    tv::CallOp call;
    mlir::Block::iterator next;
    Environment values;
    /// Of the first operand that is of one.
    int64_t microBatch = -1;
  };
  /// What a forward op leaves for its backward op.
  struct Saved {
    tv::SaveOp op;
    Environment values;
  };
  /// What a program has started and what is not over before it may begin.
  struct Task {
    tv::StartOp op;
    std::set<mlir::Operation *> awaited;
    bool hasBegun = false;
  };
  struct Process {
    Site site;
    mlir::Block::iterator next, end;
    Environment values;
    std::unique_ptr<Frame> frame;
    std::map<std::pair<int64_t, int64_t>, Saved> saved; ///< instance and op
    std::map<int64_t, int64_t> loads;                   ///< by loader
    std::map<std::vector<int64_t>, int64_t> collectives;
    std::map<mlir::Operation *, int64_t> undefined; ///< executions
    llvm::DenseMap<mlir::Operation *, TensorRef> buffers;
    std::map<mlir::Operation *, Held> contents; ///< of scratch memory
    bool isWaiting = false; ///< has posted its receive or collective
    /// What communication gave that it has posted and not used, by op.
    std::map<mlir::Operation *, Held> arrived;
    std::list<Task> tasks; ///< that are not over, in order
    std::map<mlir::Operation *, int64_t> places; ///< of what was started
    mlir::Operation *blockedAt = nullptr;
    unsigned outputCount = 0;
    bool isDone() const { return !frame && next == end; }
  };
  struct Message {
    Held value;
    mlir::Operation *op;
  };
  /// A way from one device to another: messages that nobody has asked for yet,
  /// or receives that nothing was sent for yet.
  struct Channel {
    std::map<int64_t, Message> messages;
    std::map<int64_t, std::pair<Process *, mlir::Operation *>> receives;
    int64_t sent = 0, received = 0;
  };
  struct Member {
    Process *process;
    tv::CommunicateOp op;
    Held value;
  };
  /// The backward of one op, ready to run.
  struct Backward {
    mlir::Block block;
    llvm::SmallVector<mlir::Value> arguments; ///< of the forward segment
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> forward;
    llvm::SmallVector<mlir::BlockArgument> gradients;
    llvm::SmallVector<mlir::Value> results; ///< null: the gradient is 0
    llvm::SmallVector<mlir::Operation *> ops;
  };
  enum class Step { Done, Blocked, Failed };

  // PlanInterpreter.cpp
  /// Fails at once if what the forward ops take is too much.
  llvm::LogicalResult checkSize();
  void start();
  Step advance(Process &process);
  Step execute(Process &process, mlir::Operation *op);
  Step enter(Process &process, tv::CallOp call);
  Step leave(Process &process, tv::ReturnOp op);
  Step executeLoad(Process &process, tv::LoadDataOp op);
  Step executeBuffer(Process &process, mlir::Operation *op);
  /// What a buffer of this device holds, to be changed; null after an
  /// error.
  TensorRef *findContent(Process &process, mlir::Operation *op,
                         mlir::FlatSymbolRefAttr name);
  /// The scratch memory of this device that a name means, or null.
  mlir::Operation *findScratch(Process &process, mlir::FlatSymbolRefAttr name);
  Step executeCompute(Process &process, mlir::Operation *op);
  Step bind(Process &process, mlir::Value value, Held held);
  static Environment &valuesOf(Process &process);
  static Held lookup(Process &process, mlir::Value value);
  llvm::ArrayRef<mlir::Value> getLastUses(mlir::Operation *op);
  llvm::LogicalResult finish();

  // PlanBackward.cpp
  /// The ops of its segment that lead from a save's inputs to its outputs.
  llvm::ArrayRef<mlir::Operation *> getCone(tv::SaveOp op);
  /// The values that the cone of `op` needs or makes.
  llvm::SmallVector<mlir::Value> getConeValues(tv::SaveOp op);
  Step executeSave(Process &process, tv::SaveOp op);
  Step executeBackward(Process &process, tv::BackwardOp op);
  mlir::FailureOr<Backward *> getBackward(tv::BackwardOp op, tv::SaveOp save);
  llvm::LogicalResult buildBackward(tv::BackwardOp op, tv::SaveOp save,
                                    Backward &backward);
  /// Lists the ops after `last`, null for all, that its results need.
  static void keepNeeded(Backward &backward, mlir::Operation *last);

  // PlanMessages.cpp
  /// How often a device has taken part before in what a send, receive or
  /// collective is.
  int64_t takePlace(Process &process, mlir::Operation *op);
  /// Takes part in it.
  llvm::LogicalResult post(Process &process, mlir::Operation *op,
                           int64_t number);
  llvm::LogicalResult postCollective(Process &process, tv::CommunicateOp op,
                                     int64_t number);
  /// A receive or collective that is waited for at once.
  Step executeWhole(Process &process, mlir::Operation *op);
  /// What a posted op gave, once it is there.
  std::optional<Held> takeArrived(Process &process, mlir::Operation *op);
  llvm::LogicalResult complete(llvm::MutableArrayRef<Member> members);
  /// Replicas major, then the group's order. Fails, after an error, if they do
  /// not do the same.
  static llvm::LogicalResult sortMembers(llvm::MutableArrayRef<Member> members);
  llvm::LogicalResult reportDeadlock();

  // PlanStreams.cpp
  Step executeStart(Process &process, tv::StartOp op);
  Step executeWait(Process &process, tv::WaitOp op);
  /// Begins and ends what a process has started, as far as it goes: `Done` if
  /// there was anything.
  Step advanceStreams(Process &process);
  /// Has a task read what it reads and take part in what it is.
  Step begin(Process &process, Task &task);
  /// Puts what a task gave where it belongs, if that is there.
  Step end(Process &process, Task &task);

  tv::PlanOp plan;
  Workspace &workspace;
  PlanInputs &inputs;
  OpExecutor executor;
  mlir::SymbolTable symbols;
  int64_t replicaCount, microBatchCount;
  std::deque<Process> processes;
  /// Replica, sender, receiver.
  std::map<std::tuple<int64_t, int64_t, int64_t>, Channel> channels;
  std::map<std::pair<std::vector<int64_t>, int64_t>, llvm::SmallVector<Member>>
      pending;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> lastUses;
  llvm::DenseSet<mlir::Block *> known; ///< blocks whose last uses are known
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> cones;
  std::map<std::pair<mlir::Operation *, mlir::Operation *>,
           std::unique_ptr<Backward>>
      backwards;
  /// For each program, the last call that uses an instance's saved values.
  std::map<std::pair<mlir::Block *, int64_t>, mlir::Operation *> lastMirrors;
  std::vector<RunOutput> outputs;
  std::vector<RunGradient> gradients;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_PLANINTERPRETER_H
