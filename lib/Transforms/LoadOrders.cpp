//===- LoadOrders.cpp - ranks that load in another order ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadOrders.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

/// Which execution of the loader gives what each call takes that takes anything
/// of one for the first time. None where anything takes of several at once, or
/// not all of `count` are taken.
static std::optional<SmallVector<int64_t>> findOrder(tv::ProgramOp program,
                                                     int64_t count) {
  SmallVector<int64_t> order;
  llvm::DenseMap<Value, int64_t> executions;
  SmallVector<bool> isTaken;
  std::optional<int64_t> loader;
  for (Operation &op : program.getBody().front()) {
    if (auto load = dyn_cast<tv::LoadDataOp>(op)) {
      auto cell = static_cast<int64_t>(load.getCell());
      if (loader.value_or(cell) != cell)
        return std::nullopt;
      loader = cell;
      for (Value result : load.getResults())
        executions[result] = static_cast<int64_t>(isTaken.size());
      isTaken.push_back(false);
      continue;
    }
    std::optional<int64_t> own;
    for (Value operand : op.getOperands()) {
      auto found = executions.find(operand);
      if (found == executions.end())
        continue;
      if (own.value_or(found->second) != found->second)
        return std::nullopt;
      own = found->second;
    }
    if (!own)
      continue;
    // What is made of it before a segment takes it.
    if (!isa<tv::CallOp>(op))
      for (Value result : op.getResults())
        executions[result] = *own;
    else if (!std::exchange(isTaken[*own], true))
      order.push_back(*own);
  }
  if (static_cast<int64_t>(order.size()) != count ||
      static_cast<int64_t>(isTaken.size()) != count)
    return std::nullopt;
  return order;
}

void LoadOrders::compare(ArrayRef<tv::ProgramOp> programs,
                         int64_t microBatches) {
  llvm::MapVector<ArrayRef<int64_t>, unsigned> counts;
  SmallVector<SmallVector<int64_t>> orders;
  for (tv::ProgramOp program : programs) {
    auto order = findOrder(program, microBatches);
    if (!order)
      return;
    orders.push_back(std::move(*order));
  }
  for (ArrayRef<int64_t> order : orders)
    ++counts[order];
  if (counts.size() == 1)
    return;
  // That of most; of several the one of the loader, or of the first rank.
  auto getRank = [](const auto &entry) {
    return std::pair(entry.second, llvm::is_sorted(entry.first));
  };
  ArrayRef<int64_t> common =
      llvm::max_element(counts, [&](const auto &left, const auto &right) {
        return getRank(left) < getRank(right);
      })->first;
  for (auto [each, order] : llvm::zip_equal(programs, orders)) {
    if (ArrayRef<int64_t>(order) == common)
      continue;
    tv::ProgramOp program = each;
    SmallVector<int64_t> &own = loaded[program.getDevice()];
    own.resize(order.size());
    for (auto [expected, taken] : llvm::zip_equal(common, order))
      own[expected] = taken;
  }
}
