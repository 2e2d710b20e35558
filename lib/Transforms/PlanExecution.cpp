//===- PlanExecution.cpp - runs a plan symbolically -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecution.h"

#include "Verify/IR/Gradients.h"
#include "Verify/IR/Prefetch.h"
#include "Verify/IR/SilencedThread.h"

using namespace mlir;
using namespace verify;

BoundarySource::~BoundarySource() = default;

PlanExecution::PlanExecution(tv::PlanOp plan, const SymbolTable &symbols,
                             bool ordersStreams, GrowingGraph &graph,
                             BoundarySource &boundary, bool isReference,
                             const RankFold *fold)
    : plan(plan), graph(graph), builder(graph.getBuilder()), boundary(boundary),
      isReference(isReference), fold(fold),
      microBatchCount(plan.getMesh().getAxisSize("mb").value_or(1)),
      ordersStreams(ordersStreams),
      pieceName(builder.getStringAttr(verify::pieceName)),
      piecesName(builder.getStringAttr(verify::piecesName)),
      declaredName(builder.getStringAttr(verify::declaredName)),
      symbols(symbols) {}

LogicalResult PlanExecution::run() {
  for (auto program : plan.getBody().getOps<tv::ProgramOp>()) {
    if (fold && fold->isCovered(program.getDevice()))
      continue;
    Device &device = devices.emplace_back();
    device.number = program.getDevice();
    devicesOfNumber[device.number].push_back(&device);
    device.next = program.getBody().front().begin();
    device.end = program.getBody().front().end();
  }
  // Devices run in turn, each until it has to wait.
  bool progress = true;
  while (progress) {
    progress = false;
    for (Device &device : devices) {
      while (device.frame || device.next != device.end) {
        Step step = advance(device);
        if (step == Step::Failed)
          return failure();
        if (step == Step::Blocked) {
          FailureOr<bool> moved = advanceItems(device);
          if (failed(moved))
            return failure();
          if (!*moved)
            break;
        }
        progress = true;
      }
    }
  }
  for (Device &device : devices)
    if (device.frame || device.next != device.end)
      return reportDeadlock();
  for (auto &[ends, channel] : channels)
    if (!channel.messages.empty()) {
      malformation = "what one device sends, another does not receive";
      return channel.messages.begin()->second.op->emitOpError("to device ")
             << ends.second << " is never received";
    }
  return finish();
}

DenseValueMap<Bound> &PlanExecution::valuesOf(Device &device) {
  Frame *frame = device.frame.get();
  return !frame           ? device.values
         : frame->written ? frame->written->values
                          : frame->values;
}

Bound PlanExecution::lookup(Device &device, Value value) {
  const DenseValueMap<Bound> &values = valuesOf(device);
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  if (!device.frame || !device.frame->followed)
    return {};
  Bound traced = device.frame->followed->values.lookup(value);
  if (traced.microBatch >= 0)
    traced.microBatch = device.frame->microBatch;
  return traced;
}

SmallVector<Bound> PlanExecution::lookup(Device &device, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return lookup(device, value); });
}

void PlanExecution::bind(Device &device, Operation *op, Bound bound,
                         unsigned result) {
  valuesOf(device)[op->getResult(result)] = bound;
  tv::PieceAttr piece;
  if (auto list =
          dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(piecesName)))
    piece = result < list.size() ? dyn_cast<tv::PieceAttr>(list[result])
                                 : tv::PieceAttr();
  else
    piece = dyn_cast_or_null<tv::PieceAttr>(op->getDiscardableAttr(pieceName));
  // Other micro-batches mostly give the same value. In the reference the last
  // value counts.
  if (!piece || (!isReference &&
                 !bindings.insert({op->getResult(result), bound.value}).second))
    return;
  // Gradients of parameters are terms until they are reduced.
  bool isTerm =
      llvm::any_of(op->getResult(result).getUsers(),
                   [](Operation *user) { return isa<tv::AddToOp>(user); });
  if (!isTerm)
    pieces.push_back({bound.value, piece, device.number, op->getLoc(),
                      fold ? fold->getStated(op, result) : RankFold::Spread()});
}

PlanExecution::Step PlanExecution::advance(Device &device) {
  Block::iterator &next = device.frame ? device.frame->next : device.next;
  Operation *op = &*next;
  Frame *frame = device.frame.get();
  device.blockedAt = nullptr;
  Step step = execute(device, op);
  if (step == Step::Blocked)
    device.blockedAt = op;
  if (step != Step::Done)
    return step;
  ++executedOps;
  // `tv.call` and `tv.return` change the frame and advance themselves.
  if (device.frame.get() != frame || isa<tv::CallOp, tv::ReturnOp>(op))
    return step;
  if (!frame) {
    ++next;
    return step;
  }
  if (frame->followed &&
      !llvm::all_of(op->getResults(),
                    [&](Value result) {
                      return isAsTraced(*frame, result, lookup(device, result));
                    }) &&
      failed(abandonTrace(device, op)))
    return Step::Failed;
  trace(device, op);
  moveOn(device, op);
  return step;
}

PlanExecution::Step PlanExecution::execute(Device &device, Operation *op) {
  // Calls are not nested, and what refers to the call is in a segment.
  if (device.frame ? isa<tv::CallOp>(op)
                   : isa<tv::ReturnOp, tv::SaveOp, tv::BackwardOp>(op)) {
    op->emitOpError("does not belong here");
    return Step::Failed;
  }
  if (auto call = dyn_cast<tv::CallOp>(op))
    return enter(device, call);
  if (auto end = dyn_cast<tv::ReturnOp>(op))
    return leave(device, end);
  if (auto load = dyn_cast<tv::LoadDataOp>(op))
    return executeLoad(device, load);
  if (auto random = dyn_cast<tv::RandomOp>(op))
    return executeRandom(device, random);
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(op))
    return executeBuffer(device, op);
  if (auto backward = dyn_cast<tv::BackwardOp>(op))
    return executeBackward(device, backward);
  if (auto receive = dyn_cast<tv::ReceiveOp>(op))
    return executeReceive(device, receive);
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return executeCommunicate(device, communicate);
  if (auto send = dyn_cast<tv::SendOp>(op))
    return executeSend(device, send);
  if (auto start = dyn_cast<tv::StartOp>(op))
    return executeStart(device, start);
  if (auto wait = dyn_cast<tv::WaitOp>(op))
    return executeWait(device, wait);
  if (auto save = dyn_cast<tv::SaveOp>(op))
    return executeSave(device, save);
  if (auto output = dyn_cast<tv::OutputOp>(op)) {
    outputs.push_back({lookup(device, output.getValue()),
                       output.getName().str(), device.number,
                       device.outputCount++, op->getLoc()});
    return Step::Done;
  }
  return executeCompute(device, op);
}

void PlanExecution::noteWrongTypes(Operation *op) {
  // Nothing is wrong with a sum of infinities; it is only not supported.
  SilencedThread silence(op->getContext());
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  hasWrongElements |= isa<tv::SemanticsOpInterface>(op) &&
                      llvm::all_of(op->getOperandTypes(), isTensor) &&
                      llvm::all_of(op->getResultTypes(), isTensor) &&
                      failed(verifyElements(op));
  if (!hasWrongElements)
    malformation = "shapes do not fit";
}

LogicalResult PlanExecution::check(Operation *op) {
  LogicalResult isVerified = mlir::verify(op, /*verifyRecursively=*/false);
  if (failed(isVerified))
    noteWrongTypes(op);
  return isVerified;
}

LogicalResult PlanExecution::checkNewOps() {
  LogicalResult areVerified = graph.verifyNewOps();
  if (failed(areVerified))
    noteWrongTypes(&*graph.getNewOps().begin());
  return areVerified;
}

PlanExecution::Step PlanExecution::enter(Device &device, tv::CallOp call) {
  prefetch(call->getNextNode());
  auto segment = symbols.lookup<tv::SegmentOp>(call.getCalleeAttr().getAttr());
  Block *body = segment ? &segment.getBody().front() : nullptr;
  if (!body || body->getNumArguments() != call.getNumOperands() ||
      static_cast<int64_t>(segment.getDevice()) != device.number) {
    call.emitOpError("does not name a segment of this device with ")
        << call.getNumOperands() << " operands";
    return Step::Failed;
  }
  if (call.getOperandTypes() != TypeRange(body->getArgumentTypes())) {
    malformation = "shapes do not fit";
    call.emitOpError("passes other operands than ")
        << call.getCalleeAttr() << " takes: " << body->getArgumentTypes();
    return Step::Failed;
  }
  auto frame = std::make_unique<Frame>();
  frame->call = call;
  frame->next = body->begin();
  SmallVector<Bound> operands = lookup(device, call.getOperands());
  startTrace(device, *frame, operands);
  // Those of a trace that is followed are the same.
  if (!frame->followed) {
    DenseValueMap<Bound> &values =
        frame->written ? frame->written->values : frame->values;
    for (auto [argument, operand] : llvm::zip(body->getArguments(), operands))
      values[argument] = operand;
  }
  device.frame = std::move(frame);
  return Step::Done;
}

PlanExecution::Step PlanExecution::leave(Device &device, tv::ReturnOp op) {
  SmallVector<Bound> results = lookup(device, op.getOperands());
  tv::CallOp call = device.frame->call;
  trace(device, op);
  endTrace(device);
  device.frame.reset();
  if (results.size() != call.getNumResults()) {
    call.emitOpError("expects another number of results than its segment has");
    return Step::Failed;
  }
  for (auto [result, bound] : llvm::zip(call.getResults(), results))
    device.values[result] = bound;
  ++device.next;
  return Step::Done;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether a copy gives the very same values, of the same type. A conversion
/// stays, so that what comes after it has the type that the plan says.
static bool isPlainCopy(Operation *op) {
  auto copy = dyn_cast<tv::CopyOp>(op);
  if (!copy || copy.getOperand().getType() != copy.getResult().getType())
    return false;
  // Where one op takes both, or two copies of one value, each needs a gradient
  // of its own.
  auto source = [](Value value) {
    auto producer = value.getDefiningOp<tv::CopyOp>();
    return producer ? producer.getOperand() : value;
  };
  for (OpOperand &use : copy.getResult().getUses())
    for (OpOperand &other : use.getOwner()->getOpOperands())
      if (&other != &use && !isa<tv::SaveOp>(use.getOwner()) &&
          (other.get() == copy.getOperand() ||
           source(other.get()) == copy.getOperand()))
        return false;
  return true;
}

FailureOr<Bound> PlanExecution::compute(Device &device, Operation *op,
                                        ArrayRef<Bound> operands) {
  auto build = [&](ArrayRef<Value> values,
                   SmallVectorImpl<Value> &results) -> LogicalResult {
    if (fold && fold->startsByRank(op))
      return buildByRank(op, values, results);
    // What the plan states about an op is not part of what it computes.
    NamedAttrList attributes(op->getDiscardableAttrDictionary());
    attributes.erase(pieceName);
    attributes.erase(declaredName);
    Operation *clone = Operation::create(
        op->getLoc(), op->getName(), op->getResultTypes(), values,
        std::move(attributes), op->getPropertiesStorage());
    builder.insert(clone);
    auto composition = dyn_cast<tv::CompositionOpInterface>(clone);
    if (!composition) {
      results.push_back(clone->getResult(0));
      return success();
    }
    if (failed(check(clone)))
      return failure();
    FailureOr<SmallVector<Value>> parts = composition.decompose(builder);
    if (failed(parts))
      return failure();
    clone->erase();
    results = *parts;
    return success();
  };
  FailureOr<SmallVector<Bound>> results =
      instantiate(op, getFunction(op), device.number, operands, build);
  if (failed(results))
    return failure();
  if (device.frame && device.frame->written)
    device.frame->written->instances.push_back({op, lastInstance});
  return results->front();
}

PlanExecution::Step PlanExecution::executeCompute(Device &device,
                                                  Operation *op) {
  if (isPlainCopy(op)) {
    bind(device, op, lookup(device, op->getOperand(0)));
    return Step::Done;
  }
  if (op->getNumResults() != 1) {
    op->emitOpError("does not belong into a device program");
    return Step::Failed;
  }
  if (isa<tv::SeedOp>(op)) {
    if (failed(check(op)))
      return Step::Failed;
    bind(device, op, {getSeed(device, op), -1});
    return Step::Done;
  }
  FailureOr<Bound> result =
      compute(device, op, lookup(device, op->getOperands()));
  if (failed(result))
    return Step::Failed;
  bind(device, op, *result);
  return Step::Done;
}
