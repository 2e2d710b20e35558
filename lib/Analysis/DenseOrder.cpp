//===- DenseOrder.cpp - which values are executed, and when ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DenseEvaluator.h"

#include "DenseRelation.h"
#include "Domains.h"
#include "ValueNumbering.h"
#include "Verify/Scalar/SignAlgebra.h"

using namespace mlir;
using namespace verify;

LogicalResult DenseEvaluator::run(ArrayRef<tv::ExpectOp> targets,
                                  ArrayRef<Value> kept) {
  DenseValueSet stays(kept.begin(), kept.end());
  for (tv::ExpectOp expect : targets)
    stays.insert(expect->operand_begin(), expect->operand_end());
  return runInOrder(stays, {}, nullptr);
}

LogicalResult
DenseEvaluator::runInPassing(ArrayRef<tv::ExpectOp> targets,
                             llvm::function_ref<void(tv::ExpectOp)> ready) {
  return runInOrder({}, targets, ready);
}

/// The values that others depend on, these included; at most `count`.
static void addCone(DenseValueSet &values, size_t count) {
  SmallVector<Value> worklist(values.begin(), values.end());
  values.reserve(count);
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp())
      for (Value operand : op->getOperands())
        if (values.insert(operand).second)
          worklist.push_back(operand);
}

std::shared_ptr<const ValueNumbering>
DenseEvaluator::findEqualValues(ArrayRef<tv::ExpectOp> targets) {
  DenseValueSet cone;
  for (tv::ExpectOp expect : targets)
    cone.insert(expect->operand_begin(), expect->operand_end());
  addCone(cone, factors.getValueCount());
  knownEqual =
      std::make_shared<const ValueNumbering>(body, cone, factors, source);
  return knownEqual;
}

std::vector<Operation *>
DenseEvaluator::listNeeded(SmallVector<Operation *> worklist) const {
  const ValueNumbering &numbering = *tensors.getNumbering();
  llvm::DenseSet<Operation *> seen;
  std::vector<std::pair<unsigned, Operation *>> numbered;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!op || !seen.insert(op).second)
      continue;
    numbered.emplace_back(factors.getNumber(op->getResult(0)), op);
    for (Value operand : op->getOperands())
      worklist.push_back(numbering.getLeader(operand).getDefiningOp());
  }
  llvm::sort(numbered);
  std::vector<Operation *> ops;
  ops.reserve(numbered.size());
  for (auto [number, op] : numbered)
    ops.push_back(op);
  return ops;
}

void DenseEvaluator::planOrder(const DenseValueSet &stays,
                               ArrayRef<tv::ExpectOp> compared,
                               const llvm::DenseSet<Operation *> &checked,
                               Order &order) {
  const ValueNumbering &numbering = *tensors.getNumbering();
  SmallVector<Operation *> wanted(checked.begin(), checked.end());
  // An expect is compared after the last op that it waits for.
  for (tv::ExpectOp expect : compared) {
    Operation *last = nullptr;
    for (Value operand : expect->getOperands())
      if (Operation *op = numbering.getLeader(operand).getDefiningOp()) {
        wanted.push_back(op);
        if (!last || last->isBeforeInBlock(op))
          last = op;
      }
    order.readyAfter[last].push_back(expect);
  }
  for (Value value : stays) {
    Value leader = numbering.getLeader(value);
    order.needed.insert(leader);
    wanted.push_back(leader.getDefiningOp());
  }
  order.ops = listNeeded(std::move(wanted));
  order.needed.reserve(order.needed.size() + order.ops.size());
  // Backwards, so that the first use that is found is the last one.
  for (Operation *op : llvm::reverse(order.ops)) {
    auto use = [&](ValueRange operands) {
      for (Value operand : operands)
        if (Value leader = numbering.getLeader(operand);
            order.needed.insert(leader).second)
          order.lastUses[op].push_back(leader);
    };
    if (auto found = order.readyAfter.find(op); found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        use(expect->getOperands());
    // One that nothing uses is evaluated for its domain alone.
    if (order.needed.insert(op->getResult(0)).second)
      order.lastUses[op].push_back(op->getResult(0));
    use(op->getOperands());
  }
}

//===--- Domains ----------------------------------------------------------===//

llvm::DenseSet<Operation *>
DenseEvaluator::listChecked(const DenseValueSet &cone,
                            const DenseValueSet &stays,
                            ArrayRef<tv::ExpectOp> compared) {
  llvm::DenseSet<Operation *> checked;
  if (!checksDomains)
    return checked;
  // Ops that share a relation have the same attributes.
  llvm::DenseMap<const IndexRelation *, DomainCondition> known;
  for (Value value : cone) {
    Operation *op = getLeader(value).getDefiningOp();
    if (!op || isa<tv::InputOp, tv::DistributeOp>(op))
      continue;
    auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
    if (semantics && !factors.isOpaque(op)) {
      auto [found, isNew] = known.try_emplace(&factors.getRelation(op));
      if (isNew)
        found->second = getDomainCondition(semantics, factors);
      if (found->second.isMet)
        continue;
    }
    checked.insert(op);
  }
  if (!signs || checked.empty())
    return checked;
  Order order;
  planOrder(stays, compared, {}, order);
  SmallVector<tv::SemanticsOpInterface> unused;
  for (Operation *op : checked)
    if (auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
        semantics && !factors.isOpaque(op) &&
        !order.needed.contains(op->getResult(0)))
      unused.push_back(semantics);
  for (Operation *op : signs->findDefined(unused))
    checked.erase(op);
  return checked;
}

/// What elements of a tensor in signs may be, where `domain` is.
static uint8_t collectSigns(const DenseTensor &tensor,
                            const FactorAnalysis &factors, uint64_t axes,
                            tv::DomainAttr domain) {
  auto places =
      static_cast<int64_t>(listPlaces(factors, axes, {}, &tensor).size());
  int64_t size = tensor.size / std::max<int64_t>(places, 1);
  uint8_t found = 0;
  for (const MeshPlace &place : listPlaces(factors, axes, domain)) {
    int64_t at = tensor.getOffset(place), end = at + size;
    for (size_t run = tensor.findRun(at); at < end; ++run) {
      found |= SignAlgebra::getSigns(tensor.elements[run]);
      at = tensor.getEnd(run);
    }
  }
  return found;
}

SmallVector<Operation *>
DenseEvaluator::findDefined(ArrayRef<tv::SemanticsOpInterface> ops) {
  SmallVector<Operation *> defined;
  if (ops.empty() || !knownEqual)
    return defined;
  tensors.reset(knownEqual, algebra);
  DenseValueSet decisive;
  SmallVector<DomainCondition> conditions;
  for (tv::SemanticsOpInterface op : ops) {
    conditions.push_back(getDomainCondition(op, factors));
    for (unsigned number : conditions.back().operands.set_bits())
      decisive.insert(op->getOperand(number));
  }
  Order order;
  planOrder(decisive, {}, {}, order);
  // What it does not get to remains in doubt.
  (void)execute(order, nullptr);
  for (auto [op, condition] : llvm::zip_equal(ops, conditions)) {
    auto getSigns = [&, op = op](unsigned number) -> uint8_t {
      Value operand = op->getOperand(number);
      const DenseTensor *tensor = tensors.find(operand);
      bool isElsewhere = factors.getRelation(op).runsAlongAxes();
      auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
      return tensor ? collectSigns(*tensor, factors,
                                   factors.getVaryingAxes(operand),
                                   isElsewhere ? tv::DomainAttr() : domain)
                    : 0;
    };
    if (isDefinedFor(op, factors, condition, getSigns))
      defined.push_back(op);
  }
  return defined;
}

//===--- Execution --------------------------------------------------------===//

LogicalResult
DenseEvaluator::runInOrder(const DenseValueSet &stays,
                           ArrayRef<tv::ExpectOp> compared,
                           llvm::function_ref<void(tv::ExpectOp)> ready) {
  failureReason.clear();
  steps = 0;
  undefinedOp = nullptr;
  if (factors.getFailure())
    return fail(*factors.getFailure());
  // A target exists only where all that it depends on is defined, used or not:
  // of each of these values, or one that is equal to it, that is looked at.
  DenseValueSet cone;
  if (!knownEqual || checksDomains) {
    cone = stays;
    for (tv::ExpectOp expect : compared)
      cone.insert(expect->operand_begin(), expect->operand_end());
    addCone(cone, factors.getValueCount());
  }
  tensors.reset(knownEqual ? knownEqual
                           : std::make_shared<const ValueNumbering>(
                                 body, cone, factors, source),
                algebra);
  Order order;
  planOrder(stays, compared, listChecked(cone, stays, compared), order);
  return execute(order, ready);
}

LogicalResult
DenseEvaluator::execute(const Order &order,
                        llvm::function_ref<void(tv::ExpectOp)> ready) {
  isTooCostly = false;
  if (!usesRuns && failed(checkCost(order)))
    return failure();
  for (BlockArgument argument : body.getArguments())
    if (order.needed.contains(argument) && failed(evaluate(argument)))
      return failure();
  for (Operation *op : order.ops) {
    if (stopped && *stopped)
      return fail("it was stopped");
    bool isFailed = failed(evaluate(op->getResult(0)));
    if (!undefinedOp && algebra.status().isUndefined)
      undefinedOp = op;
    if (isFailed)
      return failure();
    if (auto found = order.readyAfter.find(op); found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        ready(expect);
    for (Value value : order.lastUses.lookup(op))
      tensors.drop(value, algebra);
  }
  return success();
}
