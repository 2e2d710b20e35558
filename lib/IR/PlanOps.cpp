//===- PlanOps.cpp - checks of the plan level -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be seen without running the plan: names, devices, numbers of
// operands, and types. Whether it runs to its end is seen by running it.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/NumberMap.h"
#include "Verify/IR/TVOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

#define GET_OP_CLASSES
#include "Verify/IR/TVOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Checks that `device` is one of the replica.
static LogicalResult verifyDevice(Operation *op, int64_t device) {
  MeshAttr mesh = op->getParentOfType<PlanOp>().getMesh();
  int64_t count = mesh.getAxisSize("device").value_or(0);
  if (device < 0 || device >= count)
    return op->emitOpError("names device ")
           << device << ", the mesh has " << count;
  return success();
}

/// The device of the segment or program around `op`.
static int64_t deviceOf(Operation *op) {
  if (auto segment = op->getParentOfType<SegmentOp>())
    return segment.getDevice();
  return op->getParentOfType<ProgramOp>().getDevice();
}

/// Checks the other end of a transfer.
static LogicalResult verifyPeer(Operation *op, int64_t peer) {
  if (failed(verifyDevice(op, peer)))
    return failure();
  if (peer == deviceOf(op))
    return op->emitOpError("is a transfer of device ") << peer << " to itself";
  return success();
}

LogicalResult SendOp::verify() { return verifyPeer(*this, getPeer()); }

LogicalResult ReceiveOp::verify() { return verifyPeer(*this, getPeer()); }

//===----------------------------------------------------------------------===//
// PlanOp, SegmentOp, ProgramOp
//===----------------------------------------------------------------------===//

LogicalResult PlanOp::verifyRegions() {
  if (!getMesh().getAxisSize("device"))
    return emitOpError("has no axis 'device'");
  for (AxisAttr axis : getMesh().getAxes())
    if (!llvm::is_contained({"dp", "device", "mb"}, axis.getName().getValue()))
      return emitOpError("cannot have an axis ") << axis.getName();
  llvm::SmallSet<int64_t, 8> devices;
  for (Operation &op : getBody().front()) {
    if (!isa<BufferOp, ScratchOp, SegmentOp, ProgramOp>(op))
      return op.emitOpError("does not belong into a plan");
    if (auto program = dyn_cast<ProgramOp>(op);
        program && !devices.insert(program.getDevice()).second)
      return program.emitOpError("is a second program of device ")
             << program.getDevice();
  }
  return success();
}

/// Checks what names an op: such numbers are keys of tables, which keep some
/// for themselves.
static LogicalResult verifyNumber(Operation *op, int64_t number) {
  if (!isNumberOfSaved(number))
    return op->emitOpError("names number ") << number << ", of over 62 bits";
  return success();
}

/// Checks that a segment or program holds no ops of the graph level.
static LogicalResult verifyBody(Block &body) {
  for (Operation &op : body) {
    bool isGraphLevel =
        isa<GraphOp, StageOp, InputOp, DistributeOp, ExpectOp>(op) ||
        op.hasTrait<RunsAlongAxes>();
    if (isGraphLevel || !isa_and_nonnull<TVDialect>(op.getDialect()))
      return op.emitOpError("does not belong into a segment or program");
    if (auto save = dyn_cast<SaveOp>(op);
        save && failed(verifyNumber(save, save.getOp())))
      return failure();
    if (auto backward = dyn_cast<BackwardOp>(op);
        backward && failed(verifyNumber(backward, backward.getForward())))
      return failure();
  }
  return success();
}

/// Checks that what lies between starts at the inputs of a save, and not at a
/// value that an input is a copy of: a copy is the value itself once programs
/// are executed, so the derivative would go by both.
static LogicalResult verifySaved(SaveOp save) {
  llvm::SmallPtrSet<Value, 4> inputs, sources;
  for (Value value : save.getInputs()) {
    inputs.insert(value);
    // What dominates nothing may go round in circles.
    llvm::SmallPtrSet<Value, 4> copies;
    while (auto copy = value.getDefiningOp<CopyOp>()) {
      if (!copies.insert(value).second)
        return save.emitOpError("saves a copy of itself");
      value = copy.getOperand();
    }
    sources.insert(value);
  }
  SmallVector<Value> worklist(save.getOutputs());
  llvm::SmallPtrSet<Value, 16> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (inputs.contains(value) || !seen.insert(value).second)
      continue;
    if (sources.contains(value))
      return save.emitOpError(
          "saves a result that reads what an input is a copy of");
    // What is started takes its operands inside.
    if (Operation *op = value.getDefiningOp())
      op->walk([&](Operation *inner) {
        llvm::append_range(worklist, inner->getOperands());
      });
  }
  return success();
}

LogicalResult SegmentOp::verifyRegions() {
  llvm::SmallSet<int64_t, 8> saved;
  for (auto save : getBody().front().getOps<SaveOp>()) {
    if (!saved.insert(save.getOp()).second)
      return save.emitOpError("saves op ") << save.getOp() << " twice";
    if (failed(verifySaved(save)))
      return failure();
  }
  if (failed(verifyDevice(*this, getDevice())))
    return failure();
  return verifyBody(getBody().front());
}

LogicalResult ProgramOp::verifyRegions() {
  if (failed(verifyDevice(*this, getDevice())))
    return failure();
  if (getBody().getNumArguments())
    return emitOpError("has arguments, which nobody passes");
  return verifyBody(getBody().front());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto segment =
      symbolTable.lookupNearestSymbolFrom<SegmentOp>(*this, getCalleeAttr());
  if (!segment)
    return emitOpError("names no segment: ") << getCalleeAttr();
  int64_t device = (*this)->getParentOfType<ProgramOp>().getDevice();
  if (static_cast<int64_t>(segment.getDevice()) != device)
    return emitOpError("runs a segment of device ")
           << segment.getDevice() << " on device " << device;
  Block &body = segment.getBody().front();
  if (getOperandTypes() != TypeRange(body.getArgumentTypes()))
    return emitOpError("passes other operands than ")
           << getCalleeAttr() << " takes: " << body.getArgumentTypes();
  TypeRange results = body.getTerminator()->getOperandTypes();
  if (getResultTypes() != results)
    return emitOpError("expects other results than ")
           << getCalleeAttr() << " gives: " << results;
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  if (!getType().getTensor().hasStaticShape())
    return emitOpError("has no static shape: ") << getType().getTensor();
  return verifyDevice(*this, getDevice());
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FlatSymbolRefAttr name = getGradientOfAttr();
  if (!name)
    return success();
  auto parameter = symbolTable.lookupNearestSymbolFrom<BufferOp>(*this, name);
  if (!parameter || parameter.getGradientOf())
    return emitOpError("names no parameter: ") << name;
  if (parameter.getDevice() != getDevice() || parameter.getType() != getType())
    return emitOpError("differs from its parameter in device or type");
  if (getElementKind(getType().getTensor()) != ElementKind::Real)
    return emitOpError("is a gradient, its elements are not real numbers");
  return success();
}

LogicalResult ScratchOp::verify() {
  if (!getType().getTensor().hasStaticShape())
    return emitOpError("has no static shape: ") << getType().getTensor();
  return verifyDevice(*this, getDevice());
}

/// Checks a use of scratch memory with a value of `type`, if there is one.
static LogicalResult verifyScratch(Operation *op, ScratchOp scratch,
                                   Type type) {
  if (static_cast<int64_t>(scratch.getDevice()) != deviceOf(op))
    return op->emitOpError("uses memory of device ")
           << scratch.getDevice() << " on device " << deviceOf(op);
  if (type && scratch.getType().getTensor() != type)
    return op->emitOpError("uses memory of ")
           << scratch.getType().getTensor() << " as " << type;
  if (isa<AddToOp>(op))
    return op->emitOpError("adds to scratch memory");
  return success();
}

/// Checks a use of the buffer `name` with a value of `type`.
static LogicalResult verifyBuffer(Operation *op, SymbolTableCollection &symbols,
                                  FlatSymbolRefAttr name, Type type,
                                  bool isWritten) {
  if (auto scratch = symbols.lookupNearestSymbolFrom<ScratchOp>(op, name))
    return verifyScratch(op, scratch, type);
  auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(op, name);
  if (!buffer)
    return op->emitOpError("names no buffer: ") << name;
  if (static_cast<int64_t>(buffer.getDevice()) != deviceOf(op))
    return op->emitOpError("uses a buffer of device ")
           << buffer.getDevice() << " on device " << deviceOf(op);
  if (buffer.getType().getTensor() != type)
    return op->emitOpError("uses a buffer of ")
           << buffer.getType().getTensor() << " as " << type;
  if (isWritten && !buffer.getGradientOf())
    return op->emitOpError("writes to a parameter, which no step may");
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyBuffer(*this, symbolTable, getBufferAttr(),
                      getResult().getType(),
                      /*isWritten=*/false);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyBuffer(*this, symbolTable, getBufferAttr(), getValue().getType(),
                      /*isWritten=*/true);
}

LogicalResult AddToOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyBuffer(*this, symbolTable, getBufferAttr(), getValue().getType(),
                      /*isWritten=*/true);
}

LogicalResult FreeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto scratch =
      symbolTable.lookupNearestSymbolFrom<ScratchOp>(*this, getBufferAttr());
  if (!scratch)
    return emitOpError("names no scratch memory: ") << getBufferAttr();
  return verifyScratch(*this, scratch, Type());
}

//===----------------------------------------------------------------------===//
// StartOp, WaitOp
//===----------------------------------------------------------------------===//

Operation *StartOp::getStarted() {
  // Plans of frontends have not been verified.
  if (!llvm::hasSingleElement(getBody()))
    return nullptr;
  Block &block = getBody().front();
  if (block.getNumArguments() != 0 || block.empty() ||
      isa<ReadOp>(block.back()) ||
      !llvm::all_of(llvm::drop_end(block), llvm::IsaPred<ReadOp>))
    return nullptr;
  return &block.back();
}

bool StartOp::startsCommunication() {
  return isa_and_nonnull<SendOp, ReceiveOp, CommunicateOp>(getStarted());
}

bool StartOp::startsComputation() {
  Operation *started = getStarted(); // What is differentiated is in segments.
  return isa_and_nonnull<SemanticsOpInterface>(started) &&
         !started->hasTrait<RunsAlongAxes>() && started->getNumResults() == 1 &&
         started->getNumRegions() == 0 &&
         isa<ProgramOp>((*this)->getParentOp());
}

bool StartOp::isPlain() {
  return !getStream() && getAfter().empty() &&
         getBody().getOps<ReadOp>().empty();
}

WaitOp StartOp::getWait() {
  for (Operation *user : getHandle().getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      return wait;
  return {};
}

LogicalResult StartOp::verifyRegions() {
  Operation *started = getStarted();
  if (!startsCommunication() && !startsComputation())
    return emitOpError("starts something else than one communication op, or "
                       "one computation of a program");
  if (getInto() && started->getNumResults() == 0)
    return emitOpError("has no result to put into ") << getIntoAttr();
  if (!isPlain() && !isa<ProgramOp>((*this)->getParentOp()))
    return emitOpError("names a stream or a handle, or reads a buffer, outside "
                       "of a program");
  for (Value handle : getAfter()) {
    auto start = handle.getDefiningOp<StartOp>();
    if (!start || start->getBlock() != (*this)->getBlock())
      return emitOpError("comes after a handle of another block");
  }
  return success();
}

LogicalResult StartOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Operation *started = getStarted();
  if (!getInto() || !started || started->getNumResults() == 0)
    return success();
  return verifyBuffer(*this, symbolTable, getIntoAttr(),
                      started->getResult(0).getType(), /*isWritten=*/true);
}

StartOp WaitOp::getStart() {
  auto start = getHandle().getDefiningOp<StartOp>();
  return start && start->getBlock() == (*this)->getBlock() ? start : StartOp();
}

LogicalResult WaitOp::verify() {
  StartOp start = getStart();
  if (!start)
    return emitOpError("waits for a handle of another block");
  Operation *started = start.getStarted();
  if (!started)
    return success();
  SmallVector<Type> expected;
  if (!start.getInto())
    llvm::append_range(expected, started->getResultTypes());
  if ((*this)->getResultTypes() != TypeRange(expected))
    return emitOpError("has another result than what was started");
  return success();
}

//===----------------------------------------------------------------------===//
// Other ops of a device
//===----------------------------------------------------------------------===//

LogicalResult LoadDataOp::verify() {
  if (getNames().size() != getNumResults() ||
      getPieces().size() != getNumResults())
    return emitOpError("gives ")
           << getNumResults() << " tensors, with " << getNames().size()
           << " names and " << getPieces().size() << " pieces";
  return success();
}

LogicalResult RandomOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (getElementKind(type) != ElementKind::Real || isExtended(type))
    return emitOpError("draws something that is no real number");
  ArrayRef<int64_t> bounds = getPiece().getBounds();
  bool fits = bounds.size() == 3 * type.getShape().size();
  for (size_t i = 0; fits && i < bounds.size(); i += 3)
    fits = bounds[i + 1] - bounds[i] == type.getDimSize(i / 3);
  if (!fits || getPiece().getParts() != 1)
    return emitOpError("draws ") << type << " for another piece of a tensor";
  return success();
}

LogicalResult SeedOp::verify() {
  if (getElementKind(getResult().getType()) != ElementKind::Real)
    return emitOpError("is a gradient, its elements are not real numbers");
  return success();
}

LogicalResult BackwardOp::verify() {
  if (getWrt().size() != getNumResults() ||
      getOutputs().size() != getGradients().size())
    return emitOpError("takes ")
           << getGradients().size() << " gradients of " << getOutputs().size()
           << " results and gives " << getNumResults() << " of "
           << getWrt().size() << " operands";
  for (ArrayRef<int64_t> numbers : {getWrt(), getOutputs()}) {
    llvm::SmallSet<int64_t, 8> seen;
    for (int64_t number : numbers)
      if (number < 0 || !seen.insert(number).second)
        return emitOpError("names operand or result ")
               << number << (number < 0 ? "" : " twice");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// CommunicateOp
//===----------------------------------------------------------------------===//

/// Checks the group, and that the device takes part.
static LogicalResult verifyGroup(CommunicateOp op) {
  llvm::SmallSet<int64_t, 8> members;
  for (int64_t member : op.getGroup()) {
    if (failed(verifyDevice(op, member)))
      return failure();
    if (!members.insert(member).second)
      return op.emitOpError("names device ") << member << " twice";
  }
  if (!members.contains(deviceOf(op)))
    return op.emitOpError("runs on device ")
           << deviceOf(op) << ", which is not in its group";
  CollectiveKind kind = op.getKind();
  bool isBroadcast = kind == CollectiveKind::Broadcast,
       isReduction = kind == CollectiveKind::AllReduce && !op.getReplicas();
  if (op.getRoot()
          ? !members.contains(*op.getRoot()) || !(isBroadcast || isReduction)
          : isBroadcast)
    return op.emitOpError("needs a root in its group if it broadcasts; else "
                          "only an all-reduce of one replica may have one");
  if (isReduction && op.getRoot() &&
      deviceOf(op) != static_cast<int64_t>(*op.getRoot()) &&
      !op.getResult().use_empty())
    return op.emitOpError("has a result on device ")
           << deviceOf(op) << " that is used, and gives it to device "
           << *op.getRoot() << " alone";
  return success();
}

/// Checks that a dimension is there if and only if the collective needs one.
static LogicalResult verifyDimension(CommunicateOp op, StringRef name,
                                     std::optional<uint64_t> dimension,
                                     bool isNeeded) {
  if (dimension.has_value() != isNeeded)
    return op.emitOpError(isNeeded ? "needs '" : "has no use for '")
           << name << "'";
  int64_t rank = cast<RankedTensorType>(op.getValue().getType()).getRank();
  int64_t number = static_cast<int64_t>(dimension.value_or(0));
  if (isNeeded && (number < 0 || number >= rank))
    return op.emitOpError("has no dimension ") << number;
  return success();
}

LogicalResult CommunicateOp::verify() {
  CollectiveKind kind = getKind();
  bool gathers =
      kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll;
  bool splits =
      kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
  if (failed(verifyGroup(*this)) ||
      failed(verifyDimension(*this, "dimension", getDimension(),
                             gathers || splits)) ||
      failed(verifyDimension(*this, "split_dimension", getSplitDimension(),
                             kind == CollectiveKind::AllToAll)))
    return failure();
  bool reduces = kind == CollectiveKind::AllReduce ||
                 kind == CollectiveKind::ReduceScatter;
  if (!reduces && getReduction() != ReductionKind::Sum)
    return emitOpError("has nothing to combine by ")
           << stringifyReductionKind(getReduction());
  bool isLinear = getReduction() == ReductionKind::Sum ||
                  getReduction() == ReductionKind::Average;
  if (getReplicas() && !isLinear)
    return emitOpError("combines replicas by ")
           << stringifyReductionKind(getReduction())
           << ", which is not supported";
  int64_t count = getGroup().size();
  MeshAttr mesh = (*this)->getParentOfType<PlanOp>().getMesh();
  if (getReplicas() &&
      llvm::MulOverflow(count, mesh.getAxisSize("dp").value_or(1), count))
    return emitOpError("has more than 2^63 members");
  auto operand = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (!operand.hasStaticShape() || !result.hasStaticShape())
    return emitOpError("needs tensors of static shape");
  SmallVector<int64_t> shape(operand.getShape());
  if (splits) {
    bool isExchange = kind == CollectiveKind::AllToAll;
    int64_t &size = shape[isExchange ? *getSplitDimension() : *getDimension()];
    if (size % count)
      return emitOpError("cannot cut a dimension of size ")
             << size << " into " << count << " parts";
    size /= count;
  }
  if (int64_t *size = gathers ? &shape[*getDimension()] : nullptr;
      size && llvm::MulOverflow(*size, count, *size))
    return emitOpError("gives more than 2^63 elements");
  auto expected = RankedTensorType::get(shape, operand.getElementType());
  if (result != expected)
    return emitOpError("gives ") << expected << ", not " << result;
  return success();
}
