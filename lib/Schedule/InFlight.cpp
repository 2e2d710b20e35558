//===- InFlight.cpp - memory that is used meanwhile -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment is looked at once: what it does to memory, in order, where a view
// may be of a buffer or of what an argument is a view of. The program of a
// device is then followed with arguments replaced by what its calls pass. What
// is started counts as overwriting a buffer where it starts: whatever uses the
// buffer next comes after it.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "DeviceOrder.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

namespace {
/// Memory that a tensor may be a view of: a buffer, or that of an argument.
struct Origin {
  Operation *buffer;
  unsigned argument = 0;
  /// The op that read the buffer, and how often that had been overwritten by
  /// then; none where that differs between executions of a segment.
  Operation *reader = nullptr;
  std::optional<unsigned> version = std::nullopt;
  bool operator==(const Origin &other) const {
    return buffer == other.buffer && argument == other.argument &&
           reader == other.reader && version == other.version;
  }
};
using Origins = SmallVector<Origin, 1>;

enum class AccessType { Read, Use, Write, Free, Start, Wait };

/// What an op does to memory: it reads a buffer, or uses a view of one. A start
/// reads `read` and `used` and writes `written` until it is over.
struct MemoryAccess {
  AccessType type;
  Operation *op;
  Origins read, used;
  Operation *written = nullptr;
  tv::StartOp start;
};

/// What a block does to memory, in order.
struct Summary {
  SmallVector<MemoryAccess> accesses;
  SmallVector<Origins> results; ///< of a segment
};

/// An access of what may be under way, by its number.
struct UnderWay {
  unsigned number;
  bool writes;
};

class InFlightChecker {
public:
  InFlightChecker(const Skeleton &skeleton, StringRef &malformation)
      : symbols(skeleton.plan), malformation(malformation),
        replicaCount(
            tv::PlanOp(skeleton.plan).getMesh().getAxisSize("dp").value_or(1)) {
  }

  LogicalResult check(const Program &program);

private:
  FailureOr<const Summary *> summarize(const Segment &segment);
  /// Adds what an op does; of a call, nothing but the results.
  LogicalResult summarize(Operation *op, int64_t device, Summary &summary);
  /// Notes what the result of a read is a view of.
  Origin addRead(tv::ReadOp op, Operation *buffer);
  /// The gradient buffer of a name; null if it is that of a parameter.
  FailureOr<Operation *> findBuffer(Operation *op, FlatSymbolRefAttr name,
                                    int64_t device);
  /// Whether the result may be the memory of the operands, or a part of it.
  bool isView(Operation *op) const;
  LogicalResult follow(const MemoryAccess &access, const Origins &used,
                       Operation *call);
  /// Checks that nothing else uses a buffer that an op uses, which is started
  /// as `number`, or is one of the program.
  LogicalResult checkAlone(const MemoryAccess &access, Operation *call,
                           Operation *buffer, bool writes,
                           std::optional<unsigned> number);
  /// Checks that scratch memory that is read was written.
  LogicalResult checkHolds(const MemoryAccess &access, Operation *call,
                           const Origin &origin);
  /// Checks that a buffer still holds what a view of it was read for.
  LogicalResult checkCurrent(const MemoryAccess &access, Operation *call,
                             const Origin &origin);
  unsigned getVersion(const Origin &origin) const {
    return origin.version.value_or(versionRead.lookup(origin.reader));
  }
  /// `origins` with arguments replaced by what is passed for them.
  Origins replace(const Origins &origins, ArrayRef<Origins> arguments) const;
  LogicalResult report(const MemoryAccess &access, Operation *call,
                       Operation *buffer, bool writes, const UnderWay &other);
  void addOrigins(Value value, Origins &origins) const {
    for (const Origin &origin : originsOf.lookup(value))
      if (!llvm::is_contained(origins, origin))
        origins.push_back(origin);
  }

  SymbolTable symbols;
  StringRef &malformation;
  int64_t replicaCount;
  int64_t device = 0;
  llvm::DenseMap<Value, Origins> originsOf;
  std::map<const Segment *, Summary> summaryOf;
  // Of the program that is followed.
  DeviceOrder order;
  llvm::DenseMap<Operation *, SmallVector<UnderWay, 1>> underWay; ///< by buffer
  /// What overwrote each buffer, one after the other.
  llvm::DenseMap<Operation *, SmallVector<Operation *, 0>> writers;
  /// What each execution saved for the backward of an op, by their numbers.
  std::map<std::pair<int64_t, int64_t>, Origins> saved;
  /// By op, in the execution that is followed.
  llvm::DenseMap<Operation *, unsigned> versionRead;
};
} // namespace

bool InFlightChecker::isView(Operation *op) const {
  if (auto copy = dyn_cast<tv::CopyOp>(op))
    return copy.getOperand().getType() == copy.getResult().getType();
  if (isa<tv::ConcatOp, tv::PadOp>(op))
    return op->getOperand(0).getType() == op->getResult(0).getType();
  // One that permutes, and one that has nothing to add up.
  if (isa<tv::EinsumOp, tv::ReduceOp>(op)) {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    return op->getNumOperands() == 1 &&
           (!from.hasStaticShape() || !to.hasStaticShape() ||
            from.getNumElements() == to.getNumElements());
  }
  // A group of one has nothing to do, and the root of a broadcast has its
  // result already.
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return communicate.getKind() == tv::CollectiveKind::Broadcast ||
           (communicate.getGroup().size() == 1 &&
            !(communicate.getReplicas() && replicaCount > 1));
  // The derivative of a sum hands on what it gets.
  return isa<tv::ReshapeOp, tv::TransposeOp, tv::SliceOp, tv::BroadcastOp,
             tv::BackwardOp>(op);
}

FailureOr<Operation *> InFlightChecker::findBuffer(Operation *op,
                                                   FlatSymbolRefAttr name,
                                                   int64_t device) {
  if (auto scratch = name ? symbols.lookup<tv::ScratchOp>(name.getAttr())
                          : tv::ScratchOp()) {
    if (static_cast<int64_t>(scratch.getDevice()) != device)
      return op->emitOpError("uses memory of device ")
             << scratch.getDevice() << " on device " << device;
    if (isa<tv::AddToOp>(op))
      return op->emitOpError("adds to scratch memory");
    return scratch.getOperation();
  }
  auto buffer =
      name ? symbols.lookup<tv::BufferOp>(name.getAttr()) : tv::BufferOp();
  if (!buffer || isa<tv::FreeOp>(op))
    return op->emitOpError("names no buffer: ") << name;
  if (static_cast<int64_t>(buffer.getDevice()) != device)
    return op->emitOpError("uses a buffer of device ")
           << buffer.getDevice() << " on device " << device;
  if (buffer.getGradientOf())
    return buffer.getOperation();
  // Nothing writes to a parameter.
  if (!isa<tv::ReadOp>(op))
    return op->emitOpError("writes to a parameter, which no step may");
  return static_cast<Operation *>(nullptr);
}

LogicalResult InFlightChecker::summarize(Operation *op, int64_t device,
                                         Summary &summary) {
  auto start = dyn_cast<tv::StartOp>(op);
  MemoryAccess access{AccessType::Use, op, {}, {}, nullptr, start};
  if (start) {
    access.type = AccessType::Start;
    for (auto read : start.getBody().getOps<tv::ReadOp>()) {
      FailureOr<Operation *> buffer =
          findBuffer(read, read.getBufferAttr(), device);
      if (failed(buffer))
        return failure();
      if (*buffer)
        access.read.push_back(addRead(read, *buffer));
    }
    for (Value operand : start.getStarted()->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        addOrigins(operand, access.used);
    if (start.getInto()) {
      FailureOr<Operation *> buffer =
          findBuffer(op, start.getIntoAttr(), device);
      if (failed(buffer))
        return failure();
      access.written = *buffer;
    }
    summary.accesses.push_back(std::move(access));
    return success();
  }
  if (auto wait = dyn_cast<tv::WaitOp>(op)) {
    access.type = AccessType::Wait;
    access.start = wait.getStart();
    Operation *started = access.start.getStarted();
    if (wait.getResult() && isView(started))
      for (Value operand : started->getOperands())
        addOrigins(operand, originsOf[wait.getResult()]);
    summary.accesses.push_back(std::move(access));
    return success();
  }
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(op)) {
    FailureOr<Operation *> buffer =
        findBuffer(op, op->getAttrOfType<FlatSymbolRefAttr>("buffer"), device);
    if (failed(buffer))
      return failure();
    for (Value operand : op->getOperands())
      addOrigins(operand, access.used);
    if (auto read = dyn_cast<tv::ReadOp>(op); read && *buffer) {
      access.type = AccessType::Read;
      access.read.push_back(addRead(read, *buffer));
    } else if (!read) {
      access.type = isa<tv::FreeOp>(op) ? AccessType::Free : AccessType::Write;
      access.written = *buffer;
    }
    if (*buffer)
      summary.accesses.push_back(std::move(access));
    return success();
  }
  for (Value operand : op->getOperands())
    addOrigins(operand, access.used);
  if (isView(op))
    for (Value result : op->getResults())
      originsOf[result] = access.used;
  // A return hands over and reads nothing.
  bool isOfBackward = isa<tv::SaveOp, tv::BackwardOp>(op);
  if ((!access.used.empty() || isOfBackward) && !isa<tv::ReturnOp>(op))
    summary.accesses.push_back(std::move(access));
  return success();
}

Origin InFlightChecker::addRead(tv::ReadOp op, Operation *buffer) {
  Origin origin{buffer, 0, op, std::nullopt};
  originsOf[op.getResult()] = {origin};
  return origin;
}

FailureOr<const Summary *> InFlightChecker::summarize(const Segment &segment) {
  auto [found, isNew] = summaryOf.try_emplace(&segment);
  Summary &summary = found->second;
  if (!isNew)
    return &summary;
  tv::SegmentOp op = segment.op;
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments())
    originsOf[argument] = {
        {nullptr, argument.getArgNumber(), nullptr, std::nullopt}};
  for (Operation &inner : body) {
    if (failed(summarize(&inner, op.getDevice(), summary)))
      return failure();
    if (isa<tv::ReturnOp>(inner))
      for (Value result : inner.getOperands())
        addOrigins(result, summary.results.emplace_back());
  }
  return &summary;
}

Origins InFlightChecker::replace(const Origins &origins,
                                 ArrayRef<Origins> arguments) const {
  Origins replaced;
  for (const Origin &origin : origins) {
    if (origin.buffer) {
      replaced.push_back(origin);
      replaced.back().version = getVersion(origin);
    } else if (origin.argument < arguments.size()) {
      replaced.append(arguments[origin.argument]);
    }
  }
  return replaced;
}

LogicalResult InFlightChecker::check(const Program &program) {
  device = program.device;
  order = DeviceOrder();
  underWay.clear();
  writers.clear();
  saved.clear();
  for (const Step &step : program.steps) {
    if (!step.segment) {
      Summary own;
      if (failed(summarize(step.op, device, own)))
        return failure();
      for (const MemoryAccess &access : own.accesses)
        if (failed(follow(access, access.used, nullptr)))
          return failure();
      continue;
    }
    FailureOr<const Summary *> summary = summarize(*step.segment);
    if (failed(summary))
      return failure();
    SmallVector<Origins> arguments;
    for (Value operand : step.op->getOperands())
      addOrigins(operand, arguments.emplace_back());
    for (const MemoryAccess &access : (*summary)->accesses)
      if (failed(follow(access, replace(access.used, arguments), step.op)))
        return failure();
    for (auto [result, origins] :
         llvm::zip(step.op->getResults(), (*summary)->results))
      originsOf[result] = replace(origins, arguments);
  }
  for (auto &[buffer, users] : underWay)
    for (const UnderWay &user : users)
      if (!order.isOver(user.number)) {
        malformation = "what is started is not waited for";
        return order.getStart(user.number).emitOpError("on device ")
               << device << " is never waited for";
      }
  return success();
}

LogicalResult InFlightChecker::follow(const MemoryAccess &access,
                                      const Origins &used, Operation *call) {
  if (access.type == AccessType::Wait) {
    order.wait(access.start);
    return success();
  }
  if (auto save = dyn_cast<tv::SaveOp>(access.op); save && call) {
    for (const Origin &origin : used)
      if (isa<tv::BufferOp>(origin.buffer))
        return save.emitOpError("saves a view of a gradient buffer, which is "
                                "not understood by the schedule check");
    int64_t instance = cast<tv::CallOp>(call).getInstance();
    saved[{instance, save.getOp()}] = used;
  }
  if (auto backward = dyn_cast<tv::BackwardOp>(access.op); backward && call)
    if (std::optional<uint64_t> mirror = cast<tv::CallOp>(call).getMirror())
      if (auto found = saved.find({*mirror, backward.getForward()});
          found != saved.end())
        for (const Origin &origin : found->second)
          if (failed(checkAlone(access, call, origin.buffer, false, {})) ||
              failed(checkCurrent(access, call, origin)))
            return failure();
  std::optional<unsigned> number;
  if (access.type == AccessType::Start)
    number = order.start(access.start);
  for (const Origin &origin : access.read) {
    versionRead[origin.reader] = writers[origin.buffer].size();
    if (failed(checkHolds(access, call, origin)))
      return failure();
  }
  for (const Origins &origins : {access.read, used})
    for (const Origin &origin : origins)
      if (failed(checkAlone(access, call, origin.buffer, false, number)))
        return failure();
  for (const Origin &origin : used)
    if (failed(checkCurrent(access, call, origin)))
      return failure();
  if (access.written) {
    if (failed(checkAlone(access, call, access.written, true, number)))
      return failure();
    writers[access.written].push_back(access.op);
  }
  if (!number)
    return success();
  for (const Origins &origins : {access.read, used})
    for (const Origin &origin : origins)
      if (origin.buffer != access.written)
        underWay[origin.buffer].push_back({*number, false});
  if (access.written)
    underWay[access.written].push_back({*number, true});
  return success();
}

LogicalResult InFlightChecker::checkAlone(const MemoryAccess &access,
                                          Operation *call, Operation *buffer,
                                          bool writes,
                                          std::optional<unsigned> number) {
  SmallVector<UnderWay, 1> &users = underWay[buffer];
  llvm::erase_if(
      users, [&](const UnderWay &user) { return order.isOver(user.number); });
  for (const UnderWay &other : users)
    if ((writes || other.writes) &&
        !(number && order.isBefore(other.number, *number)))
      return report(access, call, buffer, writes, other);
  return success();
}

/// The name of a buffer or of scratch memory.
static StringRef getName(Operation *memory) {
  return memory->getAttrOfType<StringAttr>("name").getValue();
}

LogicalResult InFlightChecker::checkHolds(const MemoryAccess &access,
                                          Operation *call,
                                          const Origin &origin) {
  ArrayRef<Operation *> all = writers[origin.buffer];
  if (isa<tv::BufferOp>(origin.buffer) ||
      (!all.empty() && !isa<tv::FreeOp>(all.back())))
    return success();
  malformation = "memory is read that holds nothing";
  InFlightDiagnostic error = access.op->emitOpError("on device ");
  error << device << " reads '" << getName(origin.buffer)
        << "', which holds nothing";
  if (call)
    error.attachNote(call->getLoc())
        << "in execution " << cast<tv::CallOp>(call).getInstance();
  if (!all.empty())
    error.attachNote(all.back()->getLoc()) << "it was freed here";
  return error;
}

LogicalResult InFlightChecker::checkCurrent(const MemoryAccess &access,
                                            Operation *call,
                                            const Origin &origin) {
  ArrayRef<Operation *> all = writers[origin.buffer];
  if (unsigned version = getVersion(origin); version < all.size()) {
    malformation = "memory is overwritten before it is read";
    InFlightDiagnostic error = access.op->emitOpError("on device ");
    bool isFreed = isa<tv::FreeOp>(all[version]);
    error << device << " reads '" << getName(origin.buffer)
          << "' through a tensor that was read before it was "
          << (isFreed ? "freed" : "overwritten");
    if (call)
      error.attachNote(call->getLoc())
          << "in execution " << cast<tv::CallOp>(call).getInstance();
    error.attachNote(origin.reader->getLoc()) << "it was read here";
    error.attachNote(all[version]->getLoc())
        << (isFreed ? "and freed here" : "and overwritten here");
    return error;
  }
  return success();
}

LogicalResult InFlightChecker::report(const MemoryAccess &access,
                                      Operation *call, Operation *buffer,
                                      bool writes, const UnderWay &other) {
  tv::StartOp start = order.getStart(other.number);
  StringRef user = "communication";
  malformation = "memory is used while communication uses it";
  if (!start.startsCommunication()) {
    user = "another stream";
    malformation = "memory is used while another stream uses it";
  }
  InFlightDiagnostic error = access.op->emitOpError("on device ");
  error << device << (writes ? " writes to '" : " reads '") << getName(buffer)
        << "' while " << user << " "
        << (other.writes ? "writes to it" : "reads it");
  if (call)
    error.attachNote(call->getLoc())
        << "in execution " << cast<tv::CallOp>(call).getInstance();
  error.attachNote(start.getLoc()) << "it was started here";
  error.attachNote(start.getWait().getLoc())
      << "and is waited for here, which has to come before";
  if (access.type == AccessType::Start)
    error.attachNote(access.op->getLoc())
        << "or this has to come after it, by its handle or on its stream";
  return error;
}

LogicalResult verify::schedule::checkInFlight(const Skeleton &skeleton,
                                              StringRef &malformation) {
  bool hasScratch =
      !tv::PlanOp(skeleton.plan).getBody().getOps<tv::ScratchOp>().empty();
  if (!skeleton.startsCommunication && !skeleton.startsComputation &&
      !hasScratch)
    return success();
  InFlightChecker checker(skeleton, malformation);
  for (const Program &program : skeleton.programs)
    if (failed(checker.check(program)))
      return failure();
  return success();
}
