//===- DenseOrder.cpp - which values are executed, and when ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DenseEvaluator.h"

#include "ValueNumbering.h"

using namespace mlir;
using namespace verify;

LogicalResult DenseEvaluator::run(ArrayRef<tv::ExpectOp> targets,
                                  ArrayRef<Value> kept) {
  llvm::DenseSet<Value> stays(kept.begin(), kept.end());
  for (tv::ExpectOp expect : targets)
    stays.insert(expect->operand_begin(), expect->operand_end());
  return runInOrder(stays, {}, nullptr);
}

LogicalResult
DenseEvaluator::runInPassing(ArrayRef<tv::ExpectOp> targets,
                             llvm::function_ref<void(tv::ExpectOp)> ready) {
  return runInOrder({}, targets, ready);
}

/// The values that others depend on, these included.
static void addCone(Block &body, llvm::DenseSet<Value> &values) {
  for (Operation &op : llvm::reverse(body))
    if (op.getNumResults() == 1 && values.contains(op.getResult(0)))
      values.insert(op.operand_begin(), op.operand_end());
}

void DenseEvaluator::planOrder(const llvm::DenseSet<Value> &cone,
                               const llvm::DenseSet<Value> &stays,
                               ArrayRef<tv::ExpectOp> compared, Order &order) {
  const ValueNumbering &numbering = *tensors.getNumbering();
  // An expect is compared after the last op that it waits for.
  for (tv::ExpectOp expect : compared) {
    Operation *last = nullptr;
    for (Value operand : expect->getOperands())
      if (Operation *op = numbering.getLeader(operand).getDefiningOp())
        if (!last || last->isBeforeInBlock(op))
          last = op;
    order.readyAfter[last].push_back(expect);
  }
  llvm::DenseSet<Value> leaders;
  for (Value value : cone)
    leaders.insert(numbering.getLeader(value));
  for (Value value : stays)
    order.needed.insert(numbering.getLeader(value));
  // Backwards, so that the first use that is found is the last one.
  for (Operation &op : llvm::reverse(body)) {
    auto use = [&](ValueRange operands) {
      for (Value operand : operands)
        if (Value leader = numbering.getLeader(operand);
            order.needed.insert(leader).second)
          order.lastUses[&op].push_back(leader);
    };
    if (auto found = order.readyAfter.find(&op);
        found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        use(expect->getOperands());
    if (op.getNumResults() != 1)
      continue;
    // One that nothing uses is evaluated for its domain alone.
    bool isUsed = order.needed.contains(op.getResult(0));
    if (!isUsed && !(checksDomains && leaders.contains(op.getResult(0))))
      continue;
    if (order.needed.insert(op.getResult(0)).second)
      order.lastUses[&op].push_back(op.getResult(0));
    use(op.getOperands());
  }
}

LogicalResult
DenseEvaluator::runInOrder(const llvm::DenseSet<Value> &stays,
                           ArrayRef<tv::ExpectOp> compared,
                           llvm::function_ref<void(tv::ExpectOp)> ready) {
  failureReason.clear();
  steps = 0;
  undefinedOp = nullptr;
  if (factors.getFailure())
    return fail(*factors.getFailure());
  // Whatever a target depends on exists only where all of it is defined, so
  // each of these values is evaluated, or one that is equal to it.
  llvm::DenseSet<Value> cone = stays;
  for (tv::ExpectOp expect : compared)
    cone.insert(expect->operand_begin(), expect->operand_end());
  addCone(body, cone);
  tensors.reset(knownEqual ? knownEqual
                           : std::make_shared<const ValueNumbering>(
                                 body, cone, factors, source),
                algebra);
  Order order;
  planOrder(cone, stays, compared, order);
  isTooCostly = false;
  if (!usesRuns && failed(checkCost(order)))
    return failure();
  for (BlockArgument argument : body.getArguments())
    if (order.needed.contains(argument) && failed(evaluate(argument)))
      return failure();
  for (Operation &op : body) {
    if (op.getNumResults() != 1 || !order.needed.contains(op.getResult(0)))
      continue;
    bool isFailed = failed(evaluate(op.getResult(0)));
    if (!undefinedOp && algebra.status().isUndefined)
      undefinedOp = &op;
    if (isFailed)
      return failure();
    if (auto found = order.readyAfter.find(&op);
        found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        ready(expect);
    for (Value value : order.lastUses.lookup(&op))
      tensors.drop(value, algebra);
  }
  return success();
}
