//===- LoadOrders.cpp - ranks that load in another order ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadOrders.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

/// Most parts of consecutive micro-batches that an order is made of.
static constexpr int64_t mostParts = 128;

const llvm::SmallBitVector &LoadOrders::findShared(tv::SegmentOp segment) {
  auto [found, isNew] = shared.try_emplace(segment);
  if (!isNew)
    return found->second;
  Block &body = segment.getBody().front();
  llvm::DenseSet<Value> used;
  for (Operation &op : llvm::reverse(body)) {
    auto collective = dyn_cast<tv::CommunicateOp>(op);
    bool isShared = collective && collective.getGroup().size() > 1 &&
                    collective.getKind() != tv::CollectiveKind::Broadcast;
    if (isShared || llvm::any_of(op.getResults(), [&](Value result) {
          return used.contains(result);
        }))
      used.insert_range(op.getOperands());
  }
  for (Value argument : body.getArguments())
    found->second.push_back(used.contains(argument));
  return found->second;
}

/// Which execution of the loader gives what is used together, by calls that do
/// so with what one of them gives for the first time. None where one does so
/// with several, or not all of `count` are used.
std::optional<LoadOrders::Order> LoadOrders::findOrder(tv::ProgramOp program,
                                                       int64_t count,
                                                       Segments findSegment) {
  Order order;
  llvm::DenseMap<Value, int64_t> executions;
  SmallVector<bool> isUsed;
  std::optional<int64_t> loader;
  for (Operation &op : program.getBody().front()) {
    if (auto load = dyn_cast<tv::LoadDataOp>(op)) {
      auto cell = static_cast<int64_t>(load.getCell());
      if (loader.value_or(cell) != cell)
        return std::nullopt;
      loader = cell;
      for (Value result : load.getResults())
        executions[result] = static_cast<int64_t>(isUsed.size());
      isUsed.push_back(false);
      continue;
    }
    tv::SegmentOp segment;
    if (auto call = dyn_cast<tv::CallOp>(op))
      segment = findSegment(call);
    if (segment &&
        segment.getBody().front().getNumArguments() != op.getNumOperands())
      return std::nullopt;
    llvm::SmallDenseSet<int64_t, 2> taken, together;
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      if (auto found = executions.find(operand); found != executions.end()) {
        taken.insert(found->second);
        if (segment && findShared(segment).test(number))
          together.insert(found->second);
      }
    if (together.size() > 1)
      return std::nullopt;
    for (int64_t own : together)
      if (!std::exchange(isUsed[own], true))
        order.push_back(own);
    if (taken.size() == 1)
      for (Value result : op.getResults())
        executions[result] = *taken.begin();
  }
  if (static_cast<int64_t>(order.size()) != count ||
      static_cast<int64_t>(isUsed.size()) != count)
    return std::nullopt;
  return order;
}

/// Parts of consecutive micro-batches.
static int64_t countParts(ArrayRef<int64_t> order) {
  int64_t parts = 1;
  for (auto [last, next] : llvm::zip(order.drop_back(), order.drop_front()))
    parts += next != last + 1;
  return parts;
}

void LoadOrders::compare(ArrayRef<tv::ProgramOp> programs, int64_t microBatches,
                         Segments findSegment) {
  llvm::MapVector<ArrayRef<int64_t>, unsigned> counts;
  SmallVector<Order> orders;
  for (tv::ProgramOp program : programs) {
    auto order = findOrder(program, microBatches, findSegment);
    if (!order)
      return;
    orders.push_back(std::move(*order));
  }
  for (ArrayRef<int64_t> order : orders)
    ++counts[order];
  if (counts.size() == 1)
    return;
  auto getRank = [](const auto &entry) {
    return std::pair(entry.second, llvm::is_sorted(entry.first));
  };
  ArrayRef<int64_t> common =
      llvm::max_element(counts, [&](const auto &left, const auto &right) {
        return getRank(left) < getRank(right);
      })->first;
  llvm::DenseMap<int64_t, Order> others;
  for (auto [each, order] : llvm::zip_equal(programs, orders)) {
    if (ArrayRef<int64_t>(order) == common)
      continue;
    tv::ProgramOp program = each;
    Order &own = others[program.getDevice()];
    own.resize(order.size());
    for (auto [expected, taken] : llvm::zip_equal(common, order))
      own[expected] = taken;
    if (countParts(own) > mostParts)
      return;
  }
  for (auto &[device, own] : others)
    loaded[device] = std::move(own);
}
