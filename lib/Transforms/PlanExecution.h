//===- PlanExecution.h - runs a plan symbolically ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes all device programs of a plan once, in an order their communication
// allows, and builds the ops of the graph level on the way. What is executed
// again, for another micro-batch or by another device, on the same operands is
// not built again: its domain grows. What does not fit is built apart, so
// uniformity is checked and never assumed.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANEXECUTION_H
#define VERIFY_LIB_TRANSFORMS_PLANEXECUTION_H

#include "GrowingGraph.h"
#include "PlanInstances.h"
#include "PlanTrace.h"
#include "Verify/IR/NumberMap.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>

namespace verify {

class PlanExecution {
public:
  /// Builds at the end of `graph`. In a reference plan ops get no domain and
  /// nothing depends on a micro-batch. With `fold`, which may be null, the
  /// first ranks of folded groups are executed for all of them.
  /// With `ordersStreams` something that is started waits for other.
  PlanExecution(tv::PlanOp plan, const mlir::SymbolTable &symbols,
                bool ordersStreams, GrowingGraph &graph,
                BoundarySource &boundary, bool isReference,
                const RankFold *fold);

  /// Runs all programs to the end. Fails after an error at the op that cannot
  /// be executed: if the plan is broken, `getMalformation()` then says in what
  /// way; it is empty if the plan is not understood.
  llvm::LogicalResult run();
  llvm::StringRef getMalformation() const { return malformation; }
  /// The folded group, by its first device, that it failed in because its ranks
  /// are given what one value cannot stand for; none if it was anything else.
  std::optional<int64_t> getTooDifferent() const { return tooDifferent; }
  /// How often an op of a device was executed; less than there are executions
  /// where micro-batches are followed.
  uint64_t getExecutedOps() const { return executedOps; }

  llvm::ArrayRef<StatedPiece> getPieces() const { return pieces; }
  llvm::ArrayRef<PlanOutput> getOutputs() const { return outputs; }
  llvm::ArrayRef<FinalGradient> getGradients() const { return gradients; }
  /// Null where each device stands for itself.
  const RankFold *getFold() const { return fold; }
  /// Writes the domains of all ops that were built.
  void setDomains();

private:
  struct Frame {
    tv::CallOp call;
    mlir::Block::iterator next;
    /// What is not in the trace that it writes or follows.
    DenseValueMap<Bound> values;
    TracedExecution *execution = nullptr; ///< null if nothing asks for it
    /// The trace that this execution writes, and that which it follows.
    Trace *written = nullptr;
    Trace *followed = nullptr;
    size_t nextEffect = 0;
    int64_t microBatch = -1;
    /// Whether the execution that it mirrors has a trace.
    bool hasMirror = false;
  };
  /// What a program has started, where some of it waits for other.
  struct Item {
    tv::StartOp op;
    /// What has to be over before, unless it is there no more.
    llvm::SmallVector<tv::StartOp, 2> before;
    bool isPosted = false;
  };
  struct Device {
    int64_t number;
    mlir::Block::iterator next, end;
    DenseValueMap<Bound> values;
    std::unique_ptr<Frame> frame;
    /// What was saved, by execution and forward op, unless it is in a trace.
    std::map<std::pair<int64_t, int64_t>, SavedValues> saved;
    std::deque<TracedExecution> executions;
    /// By number of the call, which may be any.
    NumberMap<TracedExecution *> executionOf;
    std::map<int64_t, int64_t> loads; ///< executions, by loader
    std::map<std::vector<int64_t>, int64_t> collectives;
    bool waiting = false; ///< arrived at a collective
    /// What collectives gave that are complete, by op.
    llvm::DenseMap<mlir::Operation *, Bound> arrived;
    /// The place of each one in its channel or communicator that was started.
    llvm::DenseMap<mlir::Operation *, int64_t> started;
    /// What the program has started and is not over, in order.
    std::vector<Item> items;
    mlir::Operation *blockedAt = nullptr;
    unsigned outputCount = 0;
  };
  static constexpr unsigned none = Instance::none;
  /// What the key of an instance begins with, unless that is an op: none is at
  /// such an address.
  enum Function : uintptr_t {
    byRank,
    copies,
    derivative,
    joined,
    reception,
    reduction,
    reordered,
    sum
  };
  struct Contribution {
    Bound bound;
    mlir::Location location;
    /// The micro-batches in which it was added, where that was done again and
    /// again; none if it was done once.
    const Repetitions *again = nullptr;
  };
  struct Sent {
    Bound bound;
    mlir::Operation *op;
    int64_t device; ///< that was executed
    /// Of those for which that device stands; -1 if it stands for itself.
    int64_t rank = -1;
    bool isUniform = false; ///< All for which that device stands have it.
  };
  struct Channel {
    std::map<int64_t, Sent> messages; ///< under way, by number
    int64_t sent = 0, received = 0;
  };
  struct Arrival {
    int64_t device; ///< the member
    tv::CommunicateOp op;
    Bound bound;
    /// Who executes `executed` for it and others, as which rank; its own op and
    /// -1 if it stands for itself.
    int64_t executor;
    tv::CommunicateOp executed;
    int64_t rank = -1;
  };
  enum class Step { Done, Blocked, Failed };
  using Build = llvm::function_ref<mlir::LogicalResult(
      llvm::ArrayRef<mlir::Value>, llvm::SmallVectorImpl<mlir::Value> &)>;

  // PlanExecution.cpp
  Step advance(Device &device);
  Step execute(Device &device, mlir::Operation *op);
  DenseValueMap<Bound> &valuesOf(Device &device);
  Bound lookup(Device &device, mlir::Value value);
  llvm::SmallVector<Bound> lookup(Device &device, mlir::ValueRange values);
  void bind(Device &device, mlir::Operation *op, Bound bound,
            unsigned result = 0);
  /// Verifies an op, or what was added to the graph. Types that do not fit are
  /// the plan's fault, at this op, unless it is elements that the op is not
  /// defined on.
  llvm::LogicalResult check(mlir::Operation *op);
  llvm::LogicalResult checkNewOps();
  void noteWrongTypes(mlir::Operation *op);
  /// The first op of the plan that computes the same function: one with equal
  /// attributes and properties, but for what the plan states about it, and
  /// types of results.
  mlir::Operation *getFirstLike(mlir::Operation *op);
  /// What the plan states of that which an op without operands is for.
  tv::PieceAttr findStatedUse(mlir::Operation *op) const;
  /// What tells the function of an op that computes from others.
  llvm::SmallVector<uintptr_t, 3> getFunction(mlir::Operation *op);
  /// The results of `op` on `operands`: built by `build`, or found again, where
  /// the same `function` was built by any op. Where each operand is of another
  /// device, `owners` says of which.
  llvm::FailureOr<llvm::SmallVector<Bound>>
  instantiate(mlir::Operation *op, llvm::ArrayRef<uintptr_t> function,
              llvm::ArrayRef<int64_t> where, llvm::ArrayRef<Bound> operands,
              Build build, llvm::ArrayRef<int64_t> owners = {});
  /// The same for a function that only `op` has.
  llvm::FailureOr<llvm::SmallVector<Bound>>
  instantiate(mlir::Operation *op, llvm::ArrayRef<int64_t> where,
              llvm::ArrayRef<Bound> operands, Build build,
              llvm::ArrayRef<int64_t> owners = {}) {
    return instantiate(op, reinterpret_cast<uintptr_t>(op), where, operands,
                       build, owners);
  }
  /// More ops of one device than this that are one function of the same
  /// operands are not looked for among those of other devices.
  static constexpr unsigned maxAlike = 4;
  /// One that no other op executes on those devices. Unless it is `anywhere`,
  /// devices that stand for others have none together with the rest.
  Instance &findInstance(llvm::ArrayRef<uintptr_t> key,
                         llvm::ArrayRef<int64_t> where, mlir::Operation *source,
                         bool &isNew, bool anywhere = false);
  /// Whether a device stands for itself although others do not.
  bool isApart(int64_t device) const { return fold && !fold->isFolded(device); }
  /// Has devices execute it, as `source`.
  void extend(Instance &instance, llvm::ArrayRef<int64_t> where,
              mlir::Operation *source, int64_t microBatch);
  Step executeCompute(Device &device, mlir::Operation *op);
  /// The result of an op that computes, on `operands`.
  mlir::FailureOr<Bound> compute(Device &device, mlir::Operation *op,
                                 llvm::ArrayRef<Bound> operands);
  mlir::Value getSeed(Device &device, mlir::Operation *op);
  Step executeRandom(Device &device, tv::RandomOp op);
  /// Records that `device` reads a value that nobody computes.
  void placeInput(mlir::Value value, Device &device);
  Step executeLoad(Device &device, tv::LoadDataOp op);
  /// What was loaded, in the micro-batch that the group of a device works on.
  mlir::FailureOr<Bound> reorder(Device &device, tv::LoadDataOp op,
                                 Bound bound);
  /// What `loaded` names in each micro-batch, by which `dimension` is divided.
  mlir::LogicalResult
  buildReordered(tv::LoadDataOp op, mlir::Value value, int64_t dimension,
                 llvm::ArrayRef<int64_t> loaded,
                 llvm::SmallVectorImpl<mlir::Value> &results);
  Step executeBuffer(Device &device, mlir::Operation *op);
  bool readsParameter(mlir::Operation *op) const;
  Step executeScratch(Device &device, mlir::Operation *op,
                      tv::ScratchOp scratch);
  /// Overwrites the buffer `name` with what `op` gives.
  Step writeBuffer(mlir::Operation *op, mlir::FlatSymbolRefAttr name,
                   Bound bound);
  Step enter(Device &device, tv::CallOp call);
  Step leave(Device &device, tv::ReturnOp op);
  /// What was added to a buffer: each value once, with the micro-batches in
  /// which it was added; a value that was added twice in one micro-batch starts
  /// another round.
  struct Round {
    mlir::Value value;
    llvm::SmallVector<int64_t> microBatches; ///< as intervals
    int64_t invariant = 0; ///< times it was added without a micro-batch
    mlir::Location location;
  };
  /// Adds the one round of a value of which each was added in another
  /// micro-batch; false if that is not so.
  static bool addRound(llvm::ArrayRef<const Contribution *> contributions,
                       llvm::SmallVectorImpl<Round> &rounds);
  /// Adds those of any value.
  static void addRounds(llvm::ArrayRef<const Contribution *> contributions,
                        llvm::SmallVectorImpl<Round> &rounds);
  static llvm::SmallVector<Round>
  listRounds(llvm::ArrayRef<Contribution> contributions);
  mlir::FailureOr<mlir::Value> sumUp(llvm::ArrayRef<Round> rounds,
                                     mlir::RankedTensorType type,
                                     mlir::Location location,
                                     Instance &instance);
  mlir::FailureOr<mlir::Value> materialize(tv::BufferOp buffer, int64_t device,
                                           mlir::Location location);
  mlir::LogicalResult finish();

  // PlanDerivatives.cpp
  Step executeSave(Device &device, tv::SaveOp save);
  /// Of given values that are one graph value all but the first, which need
  /// gradients of their own, with what they are.
  llvm::SmallVector<llvm::SmallVector<std::pair<mlir::Value, Bound>, 1>>
  listAlike(Device &device, llvm::ArrayRef<mlir::Value> given);
  /// Copies in the place of values that need gradients of their own, and what
  /// is computed of those in the place of what was. Fails after an error.
  mlir::FailureOr<llvm::SmallDenseMap<mlir::Value, Bound>>
  tellApart(Device &device, tv::SaveOp save);
  /// That of the first output of a save, or of what is given, that is of one;
  /// -1 if all are the same in all.
  int64_t findMicroBatch(Device &device, tv::SaveOp save,
                         llvm::ArrayRef<mlir::Value> given);
  /// Whether what leads from the inputs of a save to its outputs is not to be
  /// found in the graph: a result on the way is one graph value with what is
  /// given, or they are of several micro-batches.
  bool isHidden(Device &device, tv::SaveOp save,
                llvm::ArrayRef<mlir::Operation *> ops,
                llvm::ArrayRef<mlir::Value> given);
  /// What reads a copy is computed once more.
  mlir::LogicalResult
  computeAgain(Device &device, tv::SaveOp save,
               llvm::ArrayRef<mlir::Operation *> ops,
               llvm::SmallDenseMap<mlir::Value, Bound> &copies);
  /// The gradients of an op, of `values`: its inputs, the gradients it takes,
  /// and its forward op's outputs, which were computed of `others`, too.
  mlir::LogicalResult
  buildBackward(tv::BackwardOp op, size_t inputCount,
                llvm::ArrayRef<mlir::Value> values,
                llvm::ArrayRef<Bound> others,
                llvm::SmallVectorImpl<mlir::Value> &results);
  Step executeBackward(Device &device, tv::BackwardOp op);

  // PlanReplay.cpp
  /// Has a new frame follow a trace, or else write one.
  void startTrace(Device &device, Frame &frame, llvm::ArrayRef<Bound> operands);
  /// Finds the trace to follow, or has the frame write one if there is none.
  void findTrace(Frame &frame, SegmentTraces &ofSegment, TraceKey key);
  /// An execution has a number that was used before: what is saved twice is an
  /// error, and nothing follows either of the two.
  static void leaveTrace(Device &device, int64_t instance,
                         TracedExecution &execution);
  /// Whether an op gives the same graph values for the same operands, and does
  /// nothing else.
  bool givesResultsOnly(mlir::Operation *op) const;
  /// Notes what an op of a frame did.
  void trace(Device &device, mlir::Operation *op);
  /// Whether no op of a segment can see a gradient.
  bool seesNoGradient(mlir::Block &segment) const;
  /// Makes an addition of the trace that a frame follows.
  void add(const Frame &frame, const Trace::Addition &addition);
  /// Makes all of them in another micro-batch. Costs nothing for each, unless
  /// a gradient was overwritten since that was last done.
  void addAgain(Trace &trace, int64_t microBatch);
  /// Moves a frame on to its next op.
  void moveOn(Device &device, mlir::Operation *op);
  /// Whether a frame's result is that of the trace it follows.
  bool isAsTraced(const Frame &frame, mlir::Value result, Bound bound) const;
  /// Goes on op by op after `op`, whose result is not that of the trace.
  mlir::LogicalResult abandonTrace(Device &device, mlir::Operation *op);
  void endTrace(Device &device);
  /// Notes the micro-batches of all executions that followed a trace.
  void extendTraced();
  /// What op `forward` saved in an execution.
  std::optional<SavedValues> findSaved(Device &device, int64_t execution,
                                       int64_t forward);

  // PlanCommunication.cpp
  Step executeSend(Device &device, tv::SendOp op);
  Step executeReceive(Device &device, tv::ReceiveOp op);
  /// What message `number` of its channel holds, if that is there.
  mlir::FailureOr<std::optional<Bound>>
  takeMessage(Device &device, tv::ReceiveOp op, int64_t number);
  /// Takes a message from its channel; what it holds has to be of the type that
  /// is expected.
  mlir::FailureOr<Sent> take(tv::ReceiveOp op, int64_t source, Channel &channel,
                             int64_t number);
  /// Where something that a device has is read: at one of its ranks, unless
  /// `rank` is negative.
  tv::DomainAttr getSource(int64_t device, int64_t rank);
  /// What was sent to a device.
  mlir::FailureOr<Bound> receive(int64_t device, mlir::Operation *op,
                                 const Sent &sent);
  void send(Device &device, tv::SendOp op, int64_t number);
  /// How often a device has taken part in the channel or communicator of an op
  /// before.
  int64_t takePlace(Device &device, mlir::Operation *op);
  /// Enters a collective; completes it if all members have.
  mlir::LogicalResult arrive(Device &device, tv::CommunicateOp op,
                             int64_t number);
  mlir::LogicalResult arrive(const Arrival &arrival, int64_t number);
  Step executeCommunicate(Device &device, tv::CommunicateOp op);
  /// Those who take part in a collective, in the order of its group.
  struct Members {
    tv::CommunicateOp first;
    llvm::SmallVector<int64_t> group;
    llvm::SmallVector<Bound> operands;
    llvm::SmallVector<tv::CommunicateOp> ops;
  };
  mlir::LogicalResult listMembers(llvm::MutableArrayRef<Arrival> arrivals,
                                  Members &members);
  /// Part `number` of `value` along `dimension`, as many as there are members.
  mlir::FailureOr<mlir::Value> sliceForMember(const Members &members,
                                              mlir::Value value,
                                              int64_t dimension,
                                              int64_t number);
  mlir::LogicalResult
  buildCollective(const Members &members, llvm::ArrayRef<mlir::Value> values,
                  llvm::SmallVectorImpl<mlir::Value> &results);
  /// What each member of an all-to-all gets.
  mlir::FailureOr<llvm::SmallVector<Bound>>
  exchangeParts(const Members &members);
  /// What each member of a reduce-scatter keeps of the sum.
  mlir::LogicalResult keepParts(const Members &members,
                                llvm::MutableArrayRef<Bound> gathered);
  mlir::LogicalResult complete(llvm::MutableArrayRef<Arrival> arrivals);
  /// Gives all members what the root has. A device that stands for others goes
  /// on when all of them have something.
  mlir::LogicalResult completeBroadcast(llvm::ArrayRef<Arrival> arrivals);
  mlir::LogicalResult reportDeadlock();
  /// The devices that have to move before the blocked `device` can.
  llvm::SmallVector<Device *> findAwaited(const Device &device);
  Bound moveTo(Bound bound, int64_t microBatch, mlir::Operation *op,
               llvm::ArrayRef<int64_t> where);
  /// All micro-batches where none is named.
  tv::DomainAttr getDomain(llvm::ArrayRef<int64_t> where,
                           llvm::ArrayRef<int64_t> microBatches, bool isApart);

  // PlanRanks.cpp
  /// The graph op of an op that starts elsewhere on each rank: a part of what
  /// all of them have together.
  mlir::LogicalResult buildByRank(mlir::Operation *op,
                                  llvm::ArrayRef<mlir::Value> values,
                                  llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::FailureOr<mlir::Value> lookUpByRank(tv::EmbeddingOp op,
                                            llvm::ArrayRef<mlir::Value> values);
  /// What the ranks of a group get from what they do together.
  mlir::LogicalResult
  buildAlongRanks(tv::CommunicateOp op, mlir::Value value,
                  llvm::SmallVectorImpl<mlir::Value> &results);
  /// How many of the ranks for which a device stands send, receive or
  /// broadcast: the first one alone where each does it with devices of its own
  /// number.
  size_t countCommunicating() const {
    return fold->communicatesByRank() ? 1 : fold->getSize();
  }
  /// Those who send to or receive from others for `device`, each with the
  /// other.
  llvm::SmallVector<std::pair<int64_t, int64_t>>
  listTransfers(int64_t device, mlir::Operation *op, int64_t peer) const;
  /// Has all ranks for which `device` stands send.
  void sendByRank(Device &device, tv::SendOp op);
  /// Receives what is sent to each rank for which `device` stands, once it is
  /// there.
  Step receiveByRank(Device &device, tv::ReceiveOp op);
  /// Notes whether the result of an op that was built is the same on all ranks.
  void noteUniform(mlir::Operation *op);
  bool isUniform(mlir::Value value) const;
  /// What was sent to each rank for which `device` stands, as one value.
  mlir::FailureOr<Bound> join(int64_t device, mlir::Operation *op,
                              llvm::ArrayRef<Sent> sent);
  /// Completes the collective of all ranks for which `device` stands.
  mlir::LogicalResult completeAlongRanks(Device &device, tv::CommunicateOp op);

  // PlanStreams.cpp
  Step executeStart(Device &device, tv::StartOp op);
  Step executeWait(Device &device, tv::WaitOp op);
  /// Whether a device has an item for what was started.
  static Item *findItem(Device &device, tv::StartOp op);
  /// Begins what need not wait any more, and ends what is over; gives whether
  /// there was any.
  mlir::FailureOr<bool> advanceItems(Device &device);
  /// Begins an item: reads what it reads and takes part in what it is.
  Step begin(Device &device, Item &item);
  /// What was started gave, if it is over; nothing else if that is a send.
  mlir::FailureOr<std::optional<Bound>> takeResult(Device &device,
                                                   mlir::Operation *started);
  /// What a blocked device waits for.
  static mlir::Operation *getAwaited(const Device &device);

  tv::PlanOp plan;
  GrowingGraph &graph;
  mlir::OpBuilder &builder;
  BoundarySource &boundary;
  bool isReference;
  const RankFold *fold;
  llvm::StringRef malformation;
  /// Whether an op was given elements that it is not defined on.
  bool hasWrongElements = false;
  std::optional<int64_t> tooDifferent;
  uint64_t executedOps = 0;
  int64_t microBatchCount;
  bool ordersStreams; ///< something that is started waits for other
  mlir::StringAttr pieceName, piecesName, declaredName;
  const mlir::SymbolTable &symbols; ///< of the plan
  std::deque<Device> devices;
  llvm::DenseMap<int64_t, llvm::SmallVector<Device *, 1>> devicesOfNumber;
  std::deque<Instance> instances;
  llvm::BumpPtrAllocator keys; ///< of the instances
  /// The number of the last instance that was built or found.
  unsigned lastInstance = 0;
  std::deque<Trace> traces;
  TraceOfKey traceOfKey;
  llvm::DenseMap<mlir::Block *, SegmentTraces> tracesOfSegment;
  llvm::DenseMap<uint64_t, unsigned> instanceOfHash;
  llvm::DenseMap<llvm::hash_code, llvm::SmallVector<mlir::Operation *, 1>>
      firstsOfHash;
  std::map<std::pair<int64_t, int64_t>, Channel> channels;
  std::map<std::pair<std::vector<int64_t>, int64_t>, llvm::SmallVector<Arrival>>
      pending;
  /// What ranks for which a device stands got from a broadcast, by rank, until
  /// all have something.
  std::map<std::pair<int64_t, mlir::Operation *>,
           llvm::SmallVector<std::optional<Sent>>>
      broadcast;
  llvm::DenseMap<mlir::Operation *, mlir::Value> parameters;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Contribution>> buffers;
  uint64_t overwrittenGradients = 0;                 ///< how often one was
  llvm::DenseMap<mlir::Operation *, Bound> contents; ///< of scratch memory
  /// Values that are known to be the same on all ranks.
  DenseValueSet uniform;
  /// Results of ops of the plan that state a piece, with the graph values that
  /// they were.
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> bindings;
  llvm::SmallVector<StatedPiece> pieces;
  llvm::SmallVector<PlanOutput> outputs;
  llvm::SmallVector<FinalGradient> gradients;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANEXECUTION_H
