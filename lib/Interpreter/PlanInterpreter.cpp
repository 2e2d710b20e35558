//===- PlanInterpreter.cpp - executes a plan on numbers -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/PlanInterpreter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

PlanInputs::~PlanInputs() = default;

PlanInterpreter::PlanInterpreter(tv::PlanOp plan, Workspace &workspace,
                                 PlanInputs &inputs)
    : plan(plan), workspace(workspace), inputs(inputs), executor(workspace),
      symbols(plan), replicaCount(plan.getMesh().getAxisSize("dp").value_or(1)),
      microBatchCount(plan.getMesh().getAxisSize("mb").value_or(1)) {}

PlanInterpreter::~PlanInterpreter() = default;

void PlanInterpreter::start() {
  for (int64_t replica = 0; replica < replicaCount; ++replica)
    for (auto program : plan.getBody().getOps<tv::ProgramOp>()) {
      Process &process = processes.emplace_back();
      process.site = {replica, static_cast<int64_t>(program.getDevice())};
      Block &body = program.getBody().front();
      process.next = body.begin();
      process.end = body.end();
      for (auto call : body.getOps<tv::CallOp>())
        if (std::optional<int64_t> mirror = call.getMirror())
          lastMirrors[{&body, static_cast<int64_t>(*mirror)}] = call;
    }
}

LogicalResult PlanInterpreter::checkSize() {
  llvm::DenseMap<Operation *, int64_t> stepsOf;
  auto count = [&](Block &block) -> FailureOr<int64_t> {
    int64_t total = 0;
    for (Operation &op : block) {
      FailureOr<int64_t> steps = executor.countSteps(&op);
      if (failed(steps))
        return failure();
      if (auto call = dyn_cast<tv::CallOp>(op))
        steps = stepsOf.lookup(symbols.lookup(call.getCallee()));
      if (llvm::AddOverflow(total, *steps, total))
        total = INT64_MAX;
    }
    return total;
  };
  for (auto segment : plan.getBody().getOps<tv::SegmentOp>()) {
    FailureOr<int64_t> steps = count(segment.getBody().front());
    if (failed(steps))
      return failure();
    stepsOf[segment] = *steps;
  }
  int64_t total = 0;
  for (auto program : plan.getBody().getOps<tv::ProgramOp>()) {
    FailureOr<int64_t> steps = count(program.getBody().front());
    if (failed(steps))
      return failure();
    if (llvm::AddOverflow(total, *steps, total))
      total = INT64_MAX;
  }
  if (llvm::MulOverflow(total, replicaCount, total))
    total = INT64_MAX;
  return workspace.requireSteps(total, plan.getLoc());
}

LogicalResult PlanInterpreter::run() {
  if (failed(checkSize()))
    return failure();
  start();
  // Each in turn, until it has to wait.
  bool progress = true;
  while (progress) {
    progress = false;
    for (Process &process : processes)
      while (!process.isDone()) {
        Step step = advance(process);
        if (step == Step::Blocked)
          step = advanceStreams(process);
        if (step == Step::Failed)
          return failure();
        if (step == Step::Blocked)
          break;
        progress = true;
      }
  }
  if (!llvm::all_of(processes,
                    [](const Process &process) { return process.isDone(); }))
    return reportDeadlock();
  for (auto &[ends, channel] : channels)
    if (!channel.messages.empty())
      return channel.messages.begin()->second.op->emitOpError("to device ")
             << std::get<2>(ends) << " is never received";
  return finish();
}

PlanInterpreter::Environment &PlanInterpreter::valuesOf(Process &process) {
  return process.frame ? process.frame->values : process.values;
}

Held PlanInterpreter::lookup(Process &process, Value value) {
  return valuesOf(process).lookup(value);
}

PlanInterpreter::Step PlanInterpreter::bind(Process &process, Value value,
                                            Held held) {
  if (!held.tensor)
    return Step::Failed;
  if (ArrayRef<int64_t>(held.tensor->shape) !=
      cast<RankedTensorType>(value.getType()).getShape()) {
    emitError(value.getLoc())
        << "a tensor of shape " << printIndex(held.tensor->shape)
        << " arrives where " << value.getType() << " is expected";
    return Step::Failed;
  }
  valuesOf(process)[value] = std::move(held);
  return Step::Done;
}

ArrayRef<Value> PlanInterpreter::getLastUses(Operation *op) {
  Block *block = op->getBlock();
  if (known.insert(block).second) {
    llvm::DenseSet<Value> used;
    for (Operation &user : llvm::reverse(*block)) {
      SmallVector<Value> values(user.getOperands());
      // What waits for other takes its operands later.
      auto wait = dyn_cast<tv::WaitOp>(user);
      if (tv::StartOp start = wait ? wait.getStart() : tv::StartOp())
        for (Operation &started : start.getBody().front())
          llvm::append_range(values, started.getOperands());
      if (auto save = dyn_cast<tv::SaveOp>(user))
        values = getConeValues(save);
      for (Value value : values)
        if (used.insert(value).second)
          lastUses[&user].push_back(value);
      // What nobody uses goes at once.
      for (Value result : user.getResults())
        if (used.insert(result).second)
          lastUses[&user].push_back(result);
    }
  }
  auto found = lastUses.find(op);
  return found == lastUses.end() ? ArrayRef<Value>() : found->second;
}

PlanInterpreter::Step PlanInterpreter::advance(Process &process) {
  Frame *frame = process.frame.get();
  Operation *op = frame ? &*frame->next : &*process.next;
  process.blockedAt = nullptr;
  Step step = execute(process, op);
  if (step == Step::Blocked)
    process.blockedAt = op;
  if (step != Step::Done)
    return step;
  if (isa<tv::CallOp>(op))
    return step; // Its last uses are those of the return.
  if (isa<tv::ReturnOp>(op)) {
    op = &*process.next;
    ++process.next;
  } else {
    ++(frame ? frame->next : process.next);
  }
  for (Value value : getLastUses(op))
    valuesOf(process).erase(value);
  return step;
}

PlanInterpreter::Step PlanInterpreter::execute(Process &process,
                                               Operation *op) {
  if (process.frame ? isa<tv::CallOp, tv::OutputOp, tv::LoadDataOp>(op)
                    : isa<tv::ReturnOp, tv::SaveOp, tv::BackwardOp>(op)) {
    op->emitOpError("does not belong here");
    return Step::Failed;
  }
  if (auto call = dyn_cast<tv::CallOp>(op))
    return enter(process, call);
  if (auto end = dyn_cast<tv::ReturnOp>(op))
    return leave(process, end);
  if (auto load = dyn_cast<tv::LoadDataOp>(op))
    return executeLoad(process, load);
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::FreeOp>(op))
    return executeBuffer(process, op);
  if (auto save = dyn_cast<tv::SaveOp>(op))
    return executeSave(process, save);
  if (auto backward = dyn_cast<tv::BackwardOp>(op))
    return executeBackward(process, backward);
  if (isa<tv::SendOp>(op))
    return succeeded(post(process, op, takePlace(process, op))) ? Step::Done
                                                                : Step::Failed;
  if (isa<tv::ReceiveOp, tv::CommunicateOp>(op))
    return executeWhole(process, op);
  if (auto start = dyn_cast<tv::StartOp>(op))
    return executeStart(process, start);
  if (auto wait = dyn_cast<tv::WaitOp>(op))
    return executeWait(process, wait);
  if (auto output = dyn_cast<tv::OutputOp>(op)) {
    outputs.push_back({process.site, output.getName().str(),
                       process.outputCount++,
                       lookup(process, output.getValue()), op->getLoc()});
    return Step::Done;
  }
  return executeCompute(process, op);
}

PlanInterpreter::Step PlanInterpreter::enter(Process &process,
                                             tv::CallOp call) {
  auto segment = symbols.lookup<tv::SegmentOp>(call.getCallee());
  Block *body = segment ? &segment.getBody().front() : nullptr;
  if (!body || body->getNumArguments() != call.getNumOperands()) {
    call.emitOpError("does not name a segment with ")
        << call.getNumOperands() << " operands";
    return Step::Failed;
  }
  auto frame = std::make_unique<Frame>();
  frame->call = call;
  frame->next = body->begin();
  for (auto [argument, operand] :
       llvm::zip(body->getArguments(), call.getOperands())) {
    Held held = lookup(process, operand);
    if (frame->microBatch < 0)
      frame->microBatch = held.microBatch;
    frame->values[argument] = std::move(held);
  }
  process.frame = std::move(frame);
  return Step::Done;
}

PlanInterpreter::Step PlanInterpreter::leave(Process &process,
                                             tv::ReturnOp op) {
  SmallVector<Held> results;
  for (Value operand : op.getOperands())
    results.push_back(lookup(process, operand));
  tv::CallOp call = process.frame->call;
  process.frame.reset();
  if (results.size() != call.getNumResults()) {
    call.emitOpError("expects another number of results than its segment has");
    return Step::Failed;
  }
  for (auto [result, held] : llvm::zip(call.getResults(), results))
    if (bind(process, result, held) != Step::Done)
      return Step::Failed;
  // Saved values go with the last execution that uses them.
  if (std::optional<int64_t> mirror = call.getMirror()) {
    auto instance = static_cast<int64_t>(*mirror);
    auto last = lastMirrors.find({call->getBlock(), instance});
    if (last != lastMirrors.end() && last->second == call)
      process.saved.erase(process.saved.lower_bound({instance, INT64_MIN}),
                          process.saved.upper_bound({instance, INT64_MAX}));
  }
  return Step::Done;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

PlanInterpreter::Step PlanInterpreter::executeLoad(Process &process,
                                                   tv::LoadDataOp op) {
  int64_t microBatch = process.loads[op.getCell()]++;
  if (microBatch >= microBatchCount) {
    op.emitOpError("loads more than ")
        << microBatchCount
        << (microBatchCount == 1 ? " micro-batch" : " micro-batches")
        << " on device " << process.site.device;
    return Step::Failed;
  }
  for (unsigned number = 0; number < op.getNumResults(); ++number)
    if (bind(process, op.getResult(number),
             {inputs.load(op, number, process.site, microBatch), microBatch}) !=
        Step::Done)
      return Step::Failed;
  return Step::Done;
}

TensorRef *PlanInterpreter::findContent(Process &process, Operation *op,
                                        FlatSymbolRefAttr name) {
  auto buffer =
      name ? symbols.lookup<tv::BufferOp>(name.getAttr()) : tv::BufferOp();
  if (!buffer || isa<tv::FreeOp>(op) ||
      static_cast<int64_t>(buffer.getDevice()) != process.site.device) {
    op->emitOpError("names no buffer of this device: ") << name;
    return nullptr;
  }
  if (!isa<tv::ReadOp>(op) && !buffer.getGradientOf()) {
    op->emitOpError("writes to a parameter, which no step may");
    return nullptr;
  }
  TensorRef &content = process.buffers[buffer];
  if (!content && !buffer.getGradientOf())
    content = inputs.parameter(buffer, process.site);
  else if (!content)
    content = workspace.fill(buffer.getType().getTensor().getShape(),
                             workspace.algebra.rational(0), buffer.getLoc());
  return content ? &content : nullptr;
}

Operation *PlanInterpreter::findScratch(Process &process,
                                        FlatSymbolRefAttr name) {
  auto scratch =
      name ? symbols.lookup<tv::ScratchOp>(name.getAttr()) : tv::ScratchOp();
  bool isHere = scratch && static_cast<int64_t>(scratch.getDevice()) ==
                               process.site.device;
  return isHere ? scratch.getOperation() : nullptr;
}

PlanInterpreter::Step PlanInterpreter::executeBuffer(Process &process,
                                                     Operation *op) {
  auto name = op->getAttrOfType<FlatSymbolRefAttr>("buffer");
  if (auto *scratch = findScratch(process, name)) {
    if (auto write = dyn_cast<tv::WriteOp>(op)) {
      process.contents[scratch] = lookup(process, write.getValue());
      return Step::Done;
    }
    if (isa<tv::FreeOp>(op)) {
      process.contents.erase(scratch);
      return Step::Done;
    }
    auto held = process.contents.find(scratch);
    if (isa<tv::AddToOp>(op) || held == process.contents.end()) {
      op->emitOpError("uses scratch memory that holds nothing");
      return Step::Failed;
    }
    return bind(process, op->getResult(0), held->second);
  }
  TensorRef *found = findContent(process, op, name);
  if (!found)
    return Step::Failed;
  TensorRef &content = *found;
  if (auto read = dyn_cast<tv::ReadOp>(op))
    return bind(process, read.getResult(), {content, -1});
  TensorRef value = lookup(process, op->getOperand(0)).tensor;
  if (value->shape != content->shape) {
    op->emitOpError("writes a tensor of another shape than the buffer's");
    return Step::Failed;
  }
  content = isa<tv::AddToOp>(op) ? workspace.add({content, value}, op->getLoc())
                                 : value;
  return content ? Step::Done : Step::Failed;
}

PlanInterpreter::Step PlanInterpreter::executeCompute(Process &process,
                                                      Operation *op) {
  if (op->getNumResults() != 1) {
    op->emitOpError("does not belong into a device program");
    return Step::Failed;
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<TensorRef> operands;
  int64_t microBatch = -1;
  for (Value operand : op->getOperands()) {
    Held held = lookup(process, operand);
    if (microBatch < 0)
      microBatch = held.microBatch;
    operands.push_back(std::move(held.tensor));
  }
  TensorRef result;
  if (isa<tv::SeedOp>(op)) {
    result = workspace.fill(type.getShape(), workspace.algebra.rational(1),
                            op->getLoc());
  } else if (auto random = dyn_cast<tv::RandomOp>(op)) {
    bool isForEach = microBatch < 0 && inputs.isDrawnForEach(random);
    if (isForEach && process.frame)
      microBatch = process.frame->microBatch;
    if (isForEach && microBatch < 0 && microBatchCount == 1)
      microBatch = 0;
    result = inputs.random(random, process.site, microBatch);
  } else if (auto undefined = dyn_cast<tv::UndefinedOp>(op)) {
    int64_t execution = process.undefined[op]++;
    result = inputs.undefined(undefined, process.site, execution);
    microBatch = execution % microBatchCount;
  } else {
    result = executor.execute(op, operands);
  }
  return bind(process, op->getResult(0), {result, microBatch});
}

LogicalResult PlanInterpreter::finish() {
  for (Process &process : processes)
    for (auto buffer : plan.getBody().getOps<tv::BufferOp>()) {
      if (!buffer.getGradientOf() ||
          static_cast<int64_t>(buffer.getDevice()) != process.site.device)
        continue;
      auto parameter = symbols.lookup<tv::BufferOp>(*buffer.getGradientOf());
      if (!parameter)
        return buffer.emitOpError("names no parameter");
      TensorRef value = process.buffers.lookup(buffer);
      if (!value)
        value = workspace.fill(buffer.getType().getTensor().getShape(),
                               workspace.algebra.rational(0), buffer.getLoc());
      if (!value)
        return failure();
      gradients.push_back({process.site, parameter, value});
    }
  return success();
}
