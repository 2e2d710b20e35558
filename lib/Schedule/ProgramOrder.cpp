//===- ProgramOrder.cpp - in what order one device does things ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mirror that no number of an execution matches is not guessed at: it is an
// error where a derivative is taken, and nothing where there is only a
// transfer.
//
//===----------------------------------------------------------------------===//

#include "ProgramOrder.h"

#include "Verify/IR/NumberMap.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

namespace {
/// An execution of a segment, by the number of its call.
struct Execution {
  tv::CallOp call;
  const Segment *segment;
  /// The backward segments that have mirrored it, each with its call.
  llvm::MapVector<const Segment *, tv::CallOp> backwards;
};
} // namespace

/// The call of a step that runs a segment.
static tv::CallOp getCall(const Step &step) {
  return step.segment ? cast<tv::CallOp>(step.op) : tv::CallOp();
}

//===----------------------------------------------------------------------===//
// Executions
//===----------------------------------------------------------------------===//

static LogicalResult reportTooEarly(const Program &program, tv::CallOp call,
                                    int64_t mirror) {
  InFlightDiagnostic error = call.emitOpError("on device ");
  error << program.device << " runs backward execution " << call.getInstance();
  for (const Step &step : program.steps)
    if (tv::CallOp later = getCall(step);
        later && later.getInstance() == mirror) {
      error << " before its forward execution " << mirror;
      error.attachNote(later.getLoc()) << "execution " << mirror << " is here";
      return error;
    }
  error << " without its forward execution " << mirror;
  return error;
}

/// Enters a backward execution at the forward one that it mirrors.
static LogicalResult checkBackward(const Program &program, const Step &step,
                                   std::map<int64_t, Execution> &executions,
                                   StringRef &malformation) {
  tv::CallOp call = getCall(step);
  std::optional<int64_t> mirror = call.getMirror();
  if (!mirror) {
    malformation = "a backward op runs before its forward op";
    return call.emitOpError("takes derivatives and mirrors no execution");
  }
  auto forward = executions.find(*mirror);
  if (forward == executions.end()) {
    malformation = "a backward op runs before its forward op";
    return reportTooEarly(program, call, *mirror);
  }
  auto [first, isFirst] =
      forward->second.backwards.insert({step.segment, call});
  if (isFirst)
    return success();
  malformation = "a backward runs twice";
  InFlightDiagnostic error = call.emitOpError("on device ");
  error << program.device << " runs the backward of execution " << *mirror
        << " a second time";
  error.attachNote(first->second.getLoc()) << "the first time is here";
  error.attachNote(forward->second.call.getLoc())
      << "execution " << *mirror << " is here";
  return error;
}

/// Checks that no two executions are of one segment on the very same tensors
/// and both have a backward: one that recomputes has the only backward of the
/// two.
static LogicalResult
checkRepetitions(const Program &program,
                 const std::map<int64_t, Execution> &executions,
                 StringRef &malformation) {
  std::map<std::vector<void *>, tv::CallOp> known;
  for (const auto &[number, execution] : executions) {
    tv::CallOp call = execution.call;
    if (execution.backwards.empty() || call.getOperands().empty())
      continue;
    tv::SegmentOp segment = execution.segment->op;
    std::vector<void *> key = {segment.getOperation()};
    for (Value operand : call.getOperands())
      key.push_back(operand.getAsOpaquePointer());
    auto [first, isNew] = known.try_emplace(std::move(key), call);
    if (isNew)
      continue;
    malformation = "an execution runs twice";
    InFlightDiagnostic error = call.emitOpError("on device ");
    error << program.device << " runs execution " << number
          << " on the tensors of execution " << first->second.getInstance();
    error.attachNote(first->second.getLoc())
        << "execution " << first->second.getInstance() << " is here";
    return error;
  }
  return success();
}

LogicalResult verify::schedule::checkExecutions(const Program &program,
                                                StringRef &malformation) {
  std::map<int64_t, Execution> executions;
  llvm::SmallPtrSet<const Segment *, 8> differentiated;
  for (const Step &step : program.steps) {
    tv::CallOp call = getCall(step);
    if (!call)
      continue;
    if (step.segment->differentiates &&
        failed(checkBackward(program, step, executions, malformation)))
      return failure();
    auto [known, isNew] = executions.insert(
        {call.getInstance(), Execution{call, step.segment, {}}});
    if (isNew)
      continue;
    malformation = "an execution runs twice";
    InFlightDiagnostic error = call.emitOpError("on device ");
    error << program.device << " runs execution " << call.getInstance()
          << " a second time";
    error.attachNote(known->second.call.getLoc()) << "the first time is here";
    return error;
  }
  for (const auto &[number, execution] : executions)
    if (!execution.backwards.empty())
      differentiated.insert(execution.segment);
  for (auto &[number, execution] : executions) {
    // What is saved by a segment without any backward is saved for nobody.
    if (!execution.segment->savedValues || !execution.backwards.empty() ||
        !differentiated.contains(execution.segment))
      continue;
    malformation = "a backward is missing";
    return execution.call.emitOpError("on device ")
           << program.device << " runs execution " << number
           << ", whose backward never runs";
  }
  return checkRepetitions(program, executions, malformation);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult verify::schedule::checkGradients(const Program &program,
                                               StringRef &malformation) {
  llvm::DenseMap<Operation *, Operation *> reduced; ///< by buffer, the read
  auto check = [&](const GradientAccess &access,
                   Operation *call) -> LogicalResult {
    switch (access.kind) {
    case AccessKind::Reduction:
      reduced.try_emplace(access.buffer, access.op);
      return success();
    case AccessKind::Renewal:
      reduced.erase(access.buffer);
      return success();
    case AccessKind::Addition:
      break;
    }
    Operation *reduction = reduced.lookup(access.buffer);
    if (!reduction)
      return success();
    malformation = "a gradient is reduced before it is complete";
    tv::BufferOp buffer = access.buffer;
    InFlightDiagnostic error = reduction->emitOpError("on device ");
    error << program.device << " reads gradient '" << buffer.getName()
          << "' for its reducer before it is complete";
    error.attachNote(access.op->getLoc()) << "this is added to it later";
    if (call)
      error.attachNote(call->getLoc())
          << "by execution " << cast<tv::CallOp>(call).getInstance();
    return error;
  };
  for (const Step &step : program.steps) {
    for (const GradientAccess &access : step.accesses)
      if (failed(check(access, nullptr)))
        return failure();
    if (step.segment)
      for (const GradientAccess &access : step.segment->accesses)
        if (failed(check(access, step.op)))
          return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Live activations
//===----------------------------------------------------------------------===//

LiveActivations verify::schedule::countLiveActivations(const Program &program) {
  /// What an execution has saved, and until when that is needed.
  struct Saved {
    const Step *lastUse; ///< the last backward that mirrors it
    int64_t values;      ///< that are kept now
  };
  NumberMap<Saved> executions;
  for (const Step &step : program.steps)
    if (step.segment && step.segment->differentiates)
      if (std::optional<int64_t> mirror = getCall(step).getMirror())
        executions.tryEmplace(*mirror, {&step, 0}).first->lastUse = &step;
  LiveActivations live, peak;
  for (const Step &step : program.steps) {
    tv::CallOp call = getCall(step);
    if (!call)
      continue;
    Saved *own = step.segment->savedValues ? executions.find(call.getInstance())
                                           : nullptr;
    if (own && !own->values) {
      own->values = step.segment->savedValues;
      ++live.executions;
      live.values += own->values;
      peak.executions = std::max(peak.executions, live.executions);
      peak.values = std::max(peak.values, live.values);
    }
    std::optional<int64_t> mirror = call.getMirror();
    Saved *mirrored = mirror ? executions.find(*mirror) : nullptr;
    if (!mirrored || mirrored->lastUse != &step || !mirrored->values)
      continue;
    --live.executions;
    live.values -= mirrored->values;
    mirrored->values = 0;
  }
  return peak;
}
