//===- MissingCalls.cpp - what one of two devices leaves out --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MissingCalls.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

namespace {
/// What calls of like segments of two devices have in common: the cell, or else
/// the line.
struct CallKey {
  uint64_t cell;
  FileLineColLoc line; ///< of the model, if it is known
  FunctionType type;
  bool computes, isBackward;

  bool operator==(const CallKey &other) const {
    return (cell == other.cell || (line && line == other.line)) &&
           type == other.type && computes == other.computes &&
           isBackward == other.isBackward;
  }
};

struct KeyedCall {
  tv::CallOp op;
  const Segment *segment;
  CallKey key;
};
} // namespace

static SmallVector<KeyedCall> listCalls(const Program &program) {
  SmallVector<KeyedCall> calls;
  for (const Step &step : program.steps)
    if (auto call = dyn_cast<tv::CallOp>(step.op); call && step.segment)
      calls.push_back(
          {call,
           step.segment,
           {tv::SegmentOp(step.segment->op).getCell(),
            call.getLoc()->findInstanceOf<FileLineColLoc>(),
            FunctionType::get(call.getContext(), call.getOperandTypes(),
                              call.getResultTypes()),
            step.segment->computes, step.segment->isBackward}});
  return calls;
}

/// Whether two lists go on alike, or both end.
static bool goOnAlike(ArrayRef<KeyedCall> left, ArrayRef<KeyedCall> right) {
  if (left.empty() || right.empty())
    return left.empty() && right.empty();
  return left.front().key == right.front().key;
}

/// Whether a call enters a collective of a group that has `device` in it. What
/// does not is no other device's to run.
static bool meets(const KeyedCall &call, int64_t device,
                  ArrayRef<Communicator> communicators) {
  return llvm::any_of(call.segment->actions, [&](const Action &action) {
    return action.kind == ActionKind::Collective &&
           llvm::is_contained(communicators[action.place].members, device);
  });
}

/// The call of `calls` after `common` that `others` leave out.
static std::optional<MissingCall>
findAfter(size_t common, const Program &program, ArrayRef<KeyedCall> calls,
          const Program &other, ArrayRef<KeyedCall> others,
          ArrayRef<Communicator> communicators) {
  if (common >= calls.size() ||
      !meets(calls[common], other.device, communicators) ||
      !goOnAlike(calls.drop_front(common + 1), others.drop_front(common)))
    return std::nullopt;
  auto isLikeIt = [&](const KeyedCall &call) {
    return call.key == calls[common].key;
  };
  MissingCall missing = {calls[common].op,
                         program.device,
                         llvm::count_if(calls.take_front(common + 1), isLikeIt),
                         llvm::count_if(calls, isLikeIt),
                         other.device,
                         llvm::count_if(others, isLikeIt)};
  return missing.count > missing.otherCount ? std::optional(missing)
                                            : std::nullopt;
}

std::optional<MissingCall>
verify::schedule::findMissingCall(const Program &first, const Program &second,
                                  ArrayRef<Communicator> communicators) {
  SmallVector<KeyedCall> calls = listCalls(first), others = listCalls(second);
  size_t common = 0;
  while (common < calls.size() && common < others.size() &&
         calls[common].key == others[common].key)
    ++common;
  if (auto missing =
          findAfter(common, first, calls, second, others, communicators))
    return missing;
  return findAfter(common, second, others, first, calls, communicators);
}

std::string MissingCall::describe() const {
  return llvm::formatv("instance {0} on device {1}, number {2} of {3} like it, "
                       "is left out by device {4}, which runs {5}",
                       tv::CallOp(call).getInstance(), device, number, count,
                       otherDevice, otherCount);
}
