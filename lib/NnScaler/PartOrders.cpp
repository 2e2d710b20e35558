//===- PartOrders.cpp - parts by rank, and as a plan declares them --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What of an imported plan goes by rank and declares something else, and the
// exchange of the two orders.
//
//===----------------------------------------------------------------------===//

#include "Verify/NnScaler/Import.h"

#include "Verify/IR/TVDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

std::optional<PartOrderDifference>
nnscaler::findPartOrderDifference(ModuleOp module) {
  auto plan = module.lookupSymbol<tv::PlanOp>("plan");
  if (!plan)
    return std::nullopt;
  SmallVector<tv::SliceOp> parts;
  llvm::SmallSetVector<int64_t, 8> devices;
  for (auto segment : plan.getBody().getOps<tv::SegmentOp>())
    for (auto part : segment.getBody().getOps<tv::SliceOp>())
      if (part->hasAttr(declaredName)) {
        parts.push_back(part);
        devices.insert(segment.getDevice());
      }
  if (parts.empty())
    return std::nullopt;
  tv::SliceOp first = parts.front();
  SmallVector<int64_t> sorted(devices.getArrayRef());
  llvm::sort(sorted);
  int64_t declared = first->getAttrOfType<IntegerAttr>(declaredName).getInt();
  int64_t size = static_cast<int64_t>(first.getEnd() - first.getStart());
  PartOrderDifference difference = {plan.getLoc(), first.getLoc(), ""};
  llvm::raw_string_ostream text(difference.text);
  text << "the first op that keeps another part than it declares: device "
       << first->getParentOfType<tv::SegmentOp>().getDevice() << " keeps "
       << first.getStart() << ":" << first.getEnd() << " of dimension "
       << first.getDimension()
       << ", as its rank in the sorted group says, and the plan declares "
       << declared << ":" << declared + size << "; " << parts.size()
       << " such op" << (parts.size() == 1 ? "" : "s") << " on devices ";
  llvm::interleaveComma(sorted, text);
  return difference;
}

/// The ops that go by rank and declare something else; none if one of them does
/// not say what.
static std::optional<SmallVector<Operation *>> listDeclaring(tv::PlanOp plan) {
  SmallVector<Operation *> ops;
  bool isKnown = true;
  plan.walk([&](Operation *op) {
    Attribute declared = op->getDiscardableAttr(declaredName);
    if (!declared)
      return;
    isKnown &= isa<tv::SliceOp>(op) ? isa<IntegerAttr>(declared)
                                    : isa<tv::CommunicateOp>(op) &&
                                          isa<DenseI64ArrayAttr>(declared);
    ops.push_back(op);
  });
  return isKnown ? std::optional(ops) : std::nullopt;
}

bool nnscaler::declaresPartOrder(tv::PlanOp plan) {
  return listDeclaring(plan).has_value();
}

/// Gives an op this order of parts; the one that it had.
static Attribute exchangeOrder(Operation *op, Attribute order) {
  OpBuilder builder(op->getContext());
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op)) {
    Attribute before = builder.getDenseI64ArrayAttr(communicate.getGroup());
    communicate.setGroup(cast<DenseI64ArrayAttr>(order).asArrayRef());
    return before;
  }
  auto slice = cast<tv::SliceOp>(op);
  auto start = static_cast<int64_t>(slice.getStart());
  uint64_t size = slice.getEnd() - slice.getStart();
  slice.setStart(cast<IntegerAttr>(order).getInt());
  slice.setEnd(slice.getStart() + size);
  return builder.getI64IntegerAttr(start);
}

std::optional<PartOrders> nnscaler::useDeclaredPartOrder(tv::PlanOp plan) {
  std::optional<SmallVector<Operation *>> ops = listDeclaring(plan);
  if (!ops)
    return std::nullopt;
  PartOrders before;
  for (Operation *op : *ops)
    before.emplace_back(
        op, exchangeOrder(op, op->removeDiscardableAttr(declaredName)));
  return before;
}

void nnscaler::restorePartOrder(const PartOrders &before) {
  for (auto [op, order] : before)
    op->setDiscardableAttr(declaredName, exchangeOrder(op, order));
}
