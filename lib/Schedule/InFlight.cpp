//===- InFlight.cpp - memory that is used meanwhile -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment is looked at once: what it does to memory, in order, where a view
// may be of a buffer or of what an argument is a view of. The program of a
// device is then followed with arguments replaced by what its calls pass.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

namespace {
/// Memory that a tensor may be a view of: a buffer, or that of an argument.
struct Origin {
  Operation *buffer;
  unsigned argument;
  bool operator==(const Origin &other) const {
    return buffer == other.buffer && argument == other.argument;
  }
};
using Origins = SmallVector<Origin, 1>;

enum class AccessType { Read, Write, Save, Start, Wait };

/// What an op does to memory. A start reads `read` and writes `written` until
/// its wait.
struct MemoryAccess {
  AccessType type;
  Operation *op;
  Origins read;
  Operation *written = nullptr;
  tv::StartOp start;
};

/// What a block does to memory, in order.
struct Summary {
  SmallVector<MemoryAccess> accesses;
  SmallVector<Origins> results; ///< of a segment
};

/// The accesses of what is under way.
struct UnderWay {
  tv::StartOp start;
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
  /// The gradient buffer of a name; null if it is that of a parameter.
  FailureOr<Operation *> findBuffer(Operation *op, FlatSymbolRefAttr name,
                                    int64_t device);
  /// Whether the result may be the memory of the operands, or a part of it.
  bool isView(Operation *op) const;
  LogicalResult follow(const MemoryAccess &access, const Origins &read,
                       Operation *call);
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
  llvm::MapVector<Operation *, SmallVector<UnderWay, 1>>
      underWay; ///< by buffer
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
  auto buffer =
      name ? symbols.lookup<tv::BufferOp>(name.getAttr()) : tv::BufferOp();
  if (!buffer)
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
  MemoryAccess access{AccessType::Read, op, {}, nullptr, start};
  for (Value operand : (start ? start.getStarted() : op)->getOperands())
    addOrigins(operand, access.read);
  if (start) {
    access.type = AccessType::Start;
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
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp>(op)) {
    FailureOr<Operation *> buffer =
        findBuffer(op, op->getAttrOfType<FlatSymbolRefAttr>("buffer"), device);
    if (failed(buffer))
      return failure();
    if (!*buffer)
      return success();
    if (isa<tv::ReadOp>(op)) {
      access.read = originsOf[op->getResult(0)] = {{*buffer, 0}};
    } else {
      access.type = AccessType::Write;
      access.written = *buffer;
    }
    summary.accesses.push_back(std::move(access));
    return success();
  }
  if (isView(op))
    for (Value result : op->getResults())
      originsOf[result] = access.read;
  if (isa<tv::SaveOp>(op))
    access.type = AccessType::Save;
  // A return hands over and reads nothing.
  if (!access.read.empty() && !isa<tv::ReturnOp>(op))
    summary.accesses.push_back(std::move(access));
  return success();
}

FailureOr<const Summary *> InFlightChecker::summarize(const Segment &segment) {
  auto [found, isNew] = summaryOf.try_emplace(&segment);
  Summary &summary = found->second;
  if (!isNew)
    return &summary;
  tv::SegmentOp op = segment.op;
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments())
    originsOf[argument] = {{nullptr, argument.getArgNumber()}};
  for (Operation &inner : body) {
    if (failed(summarize(&inner, op.getDevice(), summary)))
      return failure();
    if (isa<tv::ReturnOp>(inner))
      for (Value result : inner.getOperands())
        addOrigins(result, summary.results.emplace_back());
  }
  return &summary;
}

/// `origins` with arguments replaced by what is passed for them.
static Origins replace(const Origins &origins, ArrayRef<Origins> arguments) {
  Origins replaced;
  for (const Origin &origin : origins) {
    if (origin.buffer) {
      replaced.push_back(origin);
      continue;
    }
    if (origin.argument < arguments.size())
      replaced.append(arguments[origin.argument]);
  }
  return replaced;
}

LogicalResult InFlightChecker::check(const Program &program) {
  device = program.device;
  underWay.clear();
  for (const Step &step : program.steps) {
    if (!step.segment) {
      Summary own;
      if (failed(summarize(step.op, device, own)))
        return failure();
      for (const MemoryAccess &access : own.accesses)
        if (failed(follow(access, access.read, nullptr)))
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
      if (failed(follow(access, replace(access.read, arguments), step.op)))
        return failure();
    for (auto [result, origins] :
         llvm::zip(step.op->getResults(), (*summary)->results))
      originsOf[result] = replace(origins, arguments);
  }
  for (auto &[buffer, users] : underWay)
    if (!users.empty()) {
      malformation = "what is started is not waited for";
      return users.front().start.emitOpError("on device ")
             << device << " is never waited for";
    }
  return success();
}

LogicalResult InFlightChecker::follow(const MemoryAccess &access,
                                      const Origins &read, Operation *call) {
  if (access.type == AccessType::Wait) {
    for (auto &[buffer, users] : underWay)
      llvm::erase_if(users, [&](const UnderWay &user) {
        return user.start == access.start;
      });
    return success();
  }
  if (access.type == AccessType::Save && !read.empty())
    return access.op->emitOpError("saves a view of a gradient buffer, which is "
                                  "not understood by the schedule check");
  auto meets = [&](Operation *buffer, bool writes) -> LogicalResult {
    for (const UnderWay &other : underWay[buffer])
      if (writes || other.writes)
        return report(access, call, buffer, writes, other);
    return success();
  };
  for (const Origin &origin : read)
    if (failed(meets(origin.buffer, false)))
      return failure();
  if (access.written && failed(meets(access.written, true)))
    return failure();
  if (access.type != AccessType::Start)
    return success();
  for (const Origin &origin : read)
    if (origin.buffer != access.written)
      underWay[origin.buffer].push_back({access.start, false});
  if (access.written)
    underWay[access.written].push_back({access.start, true});
  return success();
}

LogicalResult InFlightChecker::report(const MemoryAccess &access,
                                      Operation *call, Operation *buffer,
                                      bool writes, const UnderWay &other) {
  tv::StartOp start = other.start;
  StringRef user = "communication";
  malformation = "memory is used while communication uses it";
  if (!start.startsCommunication()) {
    user = "another stream";
    malformation = "memory is used while another stream uses it";
  }
  InFlightDiagnostic error = access.op->emitOpError("on device ");
  error << device << (writes ? " writes to '" : " reads '")
        << cast<tv::BufferOp>(buffer).getName() << "' while " << user << " "
        << (other.writes ? "writes to it" : "reads it");
  if (call)
    error.attachNote(call->getLoc())
        << "in execution " << cast<tv::CallOp>(call).getInstance();
  error.attachNote(start.getLoc()) << "it was started here";
  Operation *wait = *start->user_begin();
  error.attachNote(wait->getLoc())
      << "and is waited for here, which has to come before";
  return error;
}

LogicalResult verify::schedule::checkInFlight(const Skeleton &skeleton,
                                              StringRef &malformation) {
  if (!skeleton.startsCommunication && !skeleton.startsComputation)
    return success();
  InFlightChecker checker(skeleton, malformation);
  for (const Program &program : skeleton.programs)
    if (failed(checker.check(program)))
      return failure();
  return success();
}
