//===- ReferenceCheck.cpp - whether both plans are of one model -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceCheck.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace verify;

namespace {
/// The whole shapes of a plan's parameters, by name.
using Shapes = llvm::MapVector<StringAttr, SmallVector<int64_t>>;
} // namespace

static Shapes getParameters(tv::PlanOp plan) {
  Shapes shapes;
  for (auto buffer : plan.getBody().getOps<tv::BufferOp>()) {
    if (buffer.getGradientOf())
      continue;
    SmallVector<int64_t> shape;
    for (size_t i = 2; i < buffer.getPiece().getBounds().size(); i += 3)
      shape.push_back(buffer.getPiece().getBounds()[i]);
    shapes.try_emplace(buffer.getNameAttr(), shape);
  }
  return shapes;
}

/// The numbered block of a name, `layers.2` of `layers.2.attention.wq`.
static StringRef getBlock(StringRef name) {
  size_t end = 0;
  for (size_t at = 0; at < name.size();) {
    size_t next = std::min(name.find('.', at), name.size());
    if (llvm::all_of(name.slice(at, next), llvm::isDigit))
      end = next;
    at = next + 1;
  }
  return name.take_front(end);
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

LogicalResult verify::checkReference(tv::PlanOp reference, tv::PlanOp plan) {
  Shapes there = getParameters(reference), here = getParameters(plan);
  llvm::StringSet<> blocksHere;
  for (auto &[name, shape] : here)
    blocksHere.insert(getBlock(name.getValue()));
  SmallVector<StringAttr> onlyThere, onlyHere, different;
  for (auto &[name, shape] : here) {
    auto *found = there.find(name);
    if (found == there.end())
      onlyHere.push_back(name);
    else if (found->second != shape)
      different.push_back(name);
  }
  for (auto &[name, shape] : there)
    if (!here.contains(name) && !blocksHere.contains(getBlock(name.getValue())))
      onlyThere.push_back(name);
  if (onlyThere.empty() && onlyHere.empty() && different.empty())
    return success();
  InFlightDiagnostic error =
      emitError(plan.getLoc())
      << "the reference program does not belong to this plan: ";
  StringRef separator = "";
  auto list = [&](ArrayRef<StringAttr> names, StringRef what) {
    if (names.empty())
      return false;
    error << separator << names.size() << " of its " << there.size()
          << " parameters " << what << " (";
    separator = ", ";
    return true;
  };
  if (list(different, "have another size"))
    error << "'" << different.front().getValue() << "' is "
          << printShape(there.find(different.front())->second) << " there and "
          << printShape(here.find(different.front())->second) << " here)";
  if (list(onlyThere, "are not in the plan"))
    error << "'" << onlyThere.front().getValue() << "')";
  if (!onlyHere.empty())
    error << separator << onlyHere.size() << " of the plan's " << here.size()
          << " parameters are not in the reference ('"
          << onlyHere.front().getValue() << "')";
  return error;
}
