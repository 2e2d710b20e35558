//===- SegmentCopies.cpp - segments of a device that do the same ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SegmentCopies.h"

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;

static uintptr_t toNumber(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// What an op is but for its operands and the number of what it differentiates.
static void append(Operation &op, SegmentCopies::FirstLike getFirstLike,
                   std::vector<uintptr_t> &content) {
  if (auto node = dyn_cast<tv::NodeLoc>(op.getLoc())) {
    content.push_back(toNumber(node.getName().getAsOpaquePointer()));
    content.push_back(toNumber(node.getPlace().getAsOpaquePointer()));
  } else {
    content.push_back(toNumber(Location(op.getLoc()).getAsOpaquePointer()));
  }
  if (auto save = dyn_cast<tv::SaveOp>(op)) {
    content.push_back(toNumber(save->getName().getAsOpaquePointer()));
    content.push_back(save.getInputs().size());
  } else if (auto backward = dyn_cast<tv::BackwardOp>(op)) {
    content.push_back(toNumber(backward->getName().getAsOpaquePointer()));
    content.push_back(toNumber(backward.getWrtAttr().getAsOpaquePointer()));
    content.push_back(toNumber(backward.getOutputsAttr().getAsOpaquePointer()));
    for (Type type : backward->getResultTypes())
      content.push_back(toNumber(type.getAsOpaquePointer()));
  } else {
    content.push_back(toNumber(getFirstLike(&op)));
  }
}

const SegmentCopies::Segment &SegmentCopies::read(Block &segment,
                                                  FirstLike getFirstLike) {
  std::unique_ptr<Segment> &known = segments[&segment];
  if (known)
    return *known;
  known = std::make_unique<Segment>();
  std::vector<uintptr_t> content;
  llvm::DenseMap<Value, unsigned> values;
  for (Value argument : segment.getArguments()) {
    content.push_back(toNumber(argument.getType().getAsOpaquePointer()));
    values.try_emplace(argument, values.size());
  }
  for (Operation &op : segment) {
    known->places.try_emplace(&op, known->places.size());
    append(op, getFirstLike, content);
    content.push_back(op.getNumOperands());
    for (Value operand : op.getOperands())
      content.push_back(values.lookup(operand));
    for (Value result : op.getResults())
      values.try_emplace(result, values.size());
  }
  known->content =
      contents.try_emplace(std::move(content), contents.size()).first->second;
  return *known;
}

bool SegmentCopies::areCopies(Operation *left, Operation *right,
                              FirstLike getFirstLike) {
  Block *one = left->getBlock(), *other = right->getBlock();
  if (one == other || !isa_and_nonnull<tv::SegmentOp>(one->getParentOp()) ||
      !isa_and_nonnull<tv::SegmentOp>(other->getParentOp()))
    return false;
  const Segment &first = read(*one, getFirstLike);
  const Segment &second = read(*other, getFirstLike);
  return first.content == second.content &&
         first.places.lookup(left) == second.places.lookup(right);
}
