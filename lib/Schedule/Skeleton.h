//===- Skeleton.h - what a plan communicates, and nothing else --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of segments and programs that another device or a later op of the
// same device can notice. A segment is looked at once, however often it is
// called. Forms that start and end apart become actions of their own here.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_SKELETON_H
#define VERIFY_LIB_SCHEDULE_SKELETON_H

#include "Verify/Schedule/Schedule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>
#include <set>

namespace verify::schedule {

// Numbers that a plan gives are keys of ordered maps: a hash map of LLVM has
// two numbers that it cannot hold.

/// A way from one device to another, first in, first out.
struct Channel {
  int64_t sender, receiver;
  int64_t copies = 1; ///< how many it stands for, this one included
};

/// The members of a collective, as one number each.
struct Communicator {
  /// Of the replica, sorted; of a group of which one device stands for all,
  /// that one.
  llvm::SmallVector<int64_t> members;
  bool isAcrossReplicas;
  int64_t copies = 1; ///< how many it stands for, this one included
};

enum class ActionKind { Send, Receive, Collective, Computation };

/// What an action does: all, or it posts and does not wait, or it waits for
/// what was posted.
enum class Phase { Whole, Start, Wait };

/// An op that another device takes part in, or a computation that is started.
struct Action {
  ActionKind kind;
  mlir::Operation *op; ///< what is done, also where it is waited for
  unsigned place;      ///< the number of its channel or communicator
  Phase phase = Phase::Whole;
  /// Where the device is: the op itself, or the one that starts it or waits.
  mlir::Operation *at = nullptr;
  /// The stream of a start that names one, by number in its program.
  std::optional<unsigned> stream = std::nullopt;
  /// How many actions of a segment, from this one on, are collectives of its
  /// communicator with nothing in between that others notice.
  size_t together = 1;
};

enum class AccessKind {
  Reduction, ///< read, and what is read goes into a collective
  Addition,
  Renewal ///< overwritten with something else than its own reduction
};

/// What an op does to a gradient buffer.
struct GradientAccess {
  AccessKind kind;
  mlir::Operation *op;
  tv::BufferOp buffer;
};

struct Segment {
  tv::SegmentOp op;
  bool isBackward = false; ///< it says so, or differentiates
  bool differentiates = false;
  bool computes = false;   ///< does more than communicate
  bool writes = false;     ///< to memory, a gradient's or another
  int64_t savedValues = 0; ///< different ones, but for parameters
  llvm::SmallVector<Action> actions;
  llvm::SmallVector<GradientAccess> accesses;
};

/// One op of a device program: a call, an action, or neither. There are many,
/// so what few have lies elsewhere, in the skeleton.
struct Step {
  mlir::Operation *op;
  const Segment *segment = nullptr;
  const Action *action = nullptr;
  llvm::ArrayRef<GradientAccess> accesses = {};
};

struct Program {
  tv::ProgramOp op;
  int64_t device;
  llvm::SmallVector<Step> steps;
};

struct Skeleton {
  tv::PlanOp plan;
  llvm::SmallVector<Program> programs;
  std::deque<Segment> segments;
  std::deque<Action> actions; ///< of the steps that are no calls
  std::deque<llvm::SmallVector<GradientAccess>> accesses; ///< of those steps
  llvm::SmallVector<Channel> channels;
  llvm::SmallVector<Communicator> communicators;
  int64_t actionCount = 0;          ///< that are executed, in all programs
  bool startsCommunication = false; ///< anywhere, to wait for it apart
  bool startsComputation = false;
  bool ordersStreams = false; ///< by names or handles
};

/// Builds a skeleton, of the devices that stand for others if there are any.
/// Reports the first op that is not understood; if the plan is wrong there,
/// `malformation` says in what way.
class SkeletonBuilder {
public:
  /// `ranks` may be null.
  SkeletonBuilder(tv::PlanOp plan, const RankGroups *ranks);
  mlir::FailureOr<Skeleton> build();
  llvm::StringRef getMalformation() const { return malformation; }
  /// The device that stands for one: mostly itself.
  int64_t getStandIn(int64_t device) const {
    auto found = standIns.find(device);
    return found == standIns.end() ? device : found->second;
  }

private:
  bool isCovered(int64_t device) const { return getStandIn(device) != device; }
  /// How many devices one stands for, itself included, of all that communicate
  /// with each other; none where they do not stand for as many. Others wait in
  /// vain for one that another stands for.
  std::optional<int64_t> countCopies(llvm::ArrayRef<int64_t> devices) const;
  mlir::LogicalResult buildSegment(tv::SegmentOp op);
  mlir::LogicalResult buildProgram(tv::ProgramOp op);
  /// The action of a communication op, which runs on `device`.
  mlir::FailureOr<Action> buildAction(mlir::Operation *op, int64_t device);
  /// The action of an op that communicates, or starts something or waits for
  /// it.
  mlir::FailureOr<Action> buildPhase(mlir::Operation *op, int64_t device);
  /// Checks what a start comes after, and finds its stream.
  mlir::LogicalResult placeOnStream(tv::StartOp op, Action &action);
  /// Checks that a handle is waited for once, and that all that names it comes
  /// after the start.
  mlir::LogicalResult checkHandle(tv::StartOp op, int64_t device);
  mlir::FailureOr<unsigned> findChannel(mlir::Operation *op, int64_t sender,
                                        int64_t receiver);
  mlir::FailureOr<unsigned> findCommunicator(tv::CommunicateOp op,
                                             int64_t device);
  /// Adds what an op does to gradients, as far as that matters.
  mlir::LogicalResult
  buildAccesses(mlir::Operation *op,
                llvm::SmallVectorImpl<GradientAccess> &accesses);
  /// Adds what an op does to the gradient buffer `name`.
  mlir::LogicalResult
  buildAccess(mlir::Operation *op, mlir::FlatSymbolRefAttr name,
              llvm::SmallVectorImpl<GradientAccess> &accesses);
  /// Whether `value` goes into a collective of several members, in its block.
  bool isReduced(mlir::Value value) const;
  /// Whether `value` comes out of a collective that `buffer` was read for.
  bool isReductionOf(mlir::Value value, tv::BufferOp buffer) const;
  bool hasSeveralMembers(tv::CommunicateOp op) const;
  mlir::LogicalResult checkDevice(mlir::Operation *op, int64_t device);

  Skeleton skeleton;
  mlir::SymbolTable symbols;
  int64_t deviceCount, replicaCount;
  llvm::StringRef malformation;
  const RankGroups *ranks;
  std::map<int64_t, int64_t> standIns; ///< of the devices of groups
  /// The devices of each group, sorted, by the one that stands for them.
  std::map<int64_t, std::vector<int64_t>> groupOf;
  llvm::DenseMap<mlir::Operation *, const Segment *> segmentOf;
  std::map<std::pair<int64_t, int64_t>, unsigned> channelOf;
  std::map<std::pair<std::vector<int64_t>, bool>, unsigned> communicatorOf;
  llvm::StringMap<unsigned> streamOf; ///< in the program
};

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_SKELETON_H
