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
  SmallVector<Value> stays(kept);
  for (tv::ExpectOp expect : targets)
    llvm::append_range(stays, expect->getOperands());
  return runInOrder(listNumbers(stays), {}, nullptr);
}

LogicalResult
DenseEvaluator::runInPassing(ArrayRef<tv::ExpectOp> targets,
                             llvm::function_ref<void(tv::ExpectOp)> ready) {
  return runInOrder({}, targets, ready);
}

std::vector<unsigned> DenseEvaluator::listNumbers(ValueRange values) const {
  std::vector<unsigned> numbers;
  // None is known.
  if (factors.getFailure())
    return numbers;
  for (Value value : values)
    numbers.push_back(factors.getNumber(value));
  return numbers;
}

llvm::BitVector
DenseEvaluator::findCone(std::vector<unsigned> worklist,
                         ArrayRef<tv::ExpectOp> compared) const {
  for (tv::ExpectOp expect : compared)
    llvm::append_range(worklist, listNumbers(expect->getOperands()));
  return factors.findCone(std::move(worklist),
                          [](unsigned operand) { return operand; });
}

std::shared_ptr<const ValueNumbering>
DenseEvaluator::findEqualValues(ArrayRef<tv::ExpectOp> targets) {
  knownEqual = std::make_shared<const ValueNumbering>(findCone({}, targets),
                                                      factors, source);
  return knownEqual;
}

bool DenseEvaluator::areApart(ValueRange left, ValueRange right) const {
  if (!knownEqual)
    return false;
  auto findLeaders = [&](ValueRange values) {
    auto getLeader = [&](unsigned value) {
      return std::optional(knownEqual->getLeader(value));
    };
    std::vector<unsigned> leaders;
    for (unsigned value : listNumbers(values))
      leaders.push_back(*getLeader(value));
    return factors.findCone(std::move(leaders), getLeader);
  };
  llvm::BitVector first = findLeaders(left), second = findLeaders(right);
  size_t fewer = std::min(first.count(), second.count());
  first &= second;
  return 4 * first.count() < fewer;
}

void DenseEvaluator::adopt(Value value, const DenseEvaluator &other,
                           llvm::function_ref<Scalar(Scalar)> copy) {
  const DenseTensor *known = other.tensors.find(value);
  if (!known || tensors.find(value))
    return;
  DenseTensor tensor = *known;
  for (Scalar &element : tensor.elements)
    element = copy(element);
  tensor.isOwned = true;
  tensors.insert(getLeader(value), std::move(tensor));
}

bool DenseEvaluator::covers(const ValueNumbering &known,
                            ArrayRef<unsigned> stays,
                            ArrayRef<tv::ExpectOp> compared) const {
  // With a value it covers all that leads there.
  auto isCovered = [&](unsigned value) { return known.covers(value); };
  return llvm::all_of(stays, isCovered) &&
         llvm::all_of(compared, [&](tv::ExpectOp expect) {
           return llvm::all_of(listNumbers(expect->getOperands()), isCovered);
         });
}

std::vector<unsigned>
DenseEvaluator::listNeeded(std::vector<unsigned> worklist) const {
  const ValueNumbering &numbering = *tensors.getNumbering();
  llvm::BitVector needed =
      factors.findCone(std::move(worklist), [&](unsigned operand) {
        return numbering.getLeader(operand);
      });
  auto numbers = needed.set_bits();
  return {numbers.begin(), numbers.end()};
}

DenseEvaluator::Order DenseEvaluator::planOrder(ArrayRef<unsigned> stays,
                                                ArrayRef<tv::ExpectOp> compared,
                                                ArrayRef<unsigned> checked) {
  const ValueNumbering &numbering = *tensors.getNumbering();
  Order order;
  order.needed.resize(factors.getValueCount());
  std::vector<unsigned> wanted = checked.vec();
  // An expect is compared after the last value that it waits for.
  for (tv::ExpectOp expect : compared) {
    unsigned last = 0;
    for (unsigned operand : listNumbers(expect->getOperands())) {
      wanted.push_back(numbering.getLeader(operand));
      last = std::max(last, wanted.back());
    }
    order.readyAfter[last].push_back(expect);
  }
  for (unsigned value : stays) {
    wanted.push_back(numbering.getLeader(value));
    order.needed.set(wanted.back());
  }
  order.values = listNeeded(std::move(wanted));
  // Backwards, so that the first use that is found is the last one.
  for (unsigned value : llvm::reverse(order.values)) {
    auto use = [&](unsigned used) {
      if (order.needed.test(used))
        return;
      order.needed.set(used);
      order.lastUses.emplace_back(value, factors.getValue(used));
    };
    if (auto found = order.readyAfter.find(value);
        found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        for (unsigned operand : listNumbers(expect->getOperands()))
          use(numbering.getLeader(operand));
    // One that nothing uses is evaluated for its domain alone.
    use(value);
    for (unsigned operand : factors.getOperands(value))
      use(numbering.getLeader(operand));
  }
  return order;
}

//===--- Domains ----------------------------------------------------------===//

std::vector<unsigned>
DenseEvaluator::listChecked(const llvm::BitVector &cone,
                            ArrayRef<unsigned> stays,
                            ArrayRef<tv::ExpectOp> compared) {
  if (!checksDomains)
    return {};
  const ValueNumbering &numbering = *tensors.getNumbering();
  llvm::BitVector checked(factors.getValueCount());
  // Ops that share a relation have the same attributes.
  llvm::DenseMap<const IndexRelation *, DomainCondition> known;
  for (unsigned value : cone.set_bits()) {
    unsigned leader = numbering.getLeader(value);
    Operation *op = factors.getValue(leader).getDefiningOp();
    if (!op || isa<tv::InputOp, tv::DistributeOp>(op))
      continue;
    auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
    if (semantics && !factors.isOpaque(op)) {
      auto [found, isNew] = known.try_emplace(&factors.getRelation(leader));
      if (isNew)
        found->second =
            getDomainCondition(semantics, factors.getRelation(leader));
      if (found->second.isMet)
        continue;
    }
    checked.set(leader);
  }
  if (signs && checked.any()) {
    Order order = planOrder(stays, compared, {});
    SmallVector<tv::SemanticsOpInterface> unused;
    for (unsigned value : checked.set_bits())
      if (auto semantics =
              factors.getValue(value).getDefiningOp<tv::SemanticsOpInterface>();
          semantics && !factors.isOpaque(semantics) &&
          !order.needed.test(value))
        unused.push_back(semantics);
    for (Operation *op : signs->findDefined(unused))
      checked.reset(factors.getNumber(op->getResult(0)));
  }
  auto numbers = checked.set_bits();
  return {numbers.begin(), numbers.end()};
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
  SmallVector<Value> decisive;
  SmallVector<DomainCondition> conditions;
  for (tv::SemanticsOpInterface op : ops) {
    conditions.push_back(getDomainCondition(op, factors.getRelation(op)));
    for (unsigned number : conditions.back().operands.set_bits())
      decisive.push_back(op->getOperand(number));
  }
  // What it does not get to remains in doubt.
  (void)execute(planOrder(listNumbers(decisive), {}, {}), nullptr);
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
DenseEvaluator::runInOrder(ArrayRef<unsigned> stays,
                           ArrayRef<tv::ExpectOp> compared,
                           llvm::function_ref<void(tv::ExpectOp)> ready) {
  failureReason.clear();
  steps = 0;
  undefinedOp = nullptr;
  if (factors.getFailure())
    return fail(*factors.getFailure());
  if (factors.isGrouped() && !algebra.isApproximate())
    return fail("positions are looked at together that differ");
  // A target exists only where all that it depends on is defined, used or not:
  // of each of these values, or one that is equal to it, that is looked at.
  llvm::BitVector cone;
  bool isKnown = knownEqual && covers(*knownEqual, stays, compared);
  if (!isKnown || checksDomains)
    cone = findCone(stays, compared);
  tensors.reset(
      isKnown ? knownEqual
              : std::make_shared<const ValueNumbering>(cone, factors, source),
      algebra);
  return execute(planOrder(stays, compared, listChecked(cone, stays, compared)),
                 ready);
}

LogicalResult
DenseEvaluator::execute(const Order &order,
                        llvm::function_ref<void(tv::ExpectOp)> ready) {
  isTooCostly = false;
  if (!usesRuns && failed(checkCost(order)))
    return failure();
  ArrayRef<std::pair<unsigned, Value>> lastUses = order.lastUses;
  for (unsigned number : order.values) {
    Value value = factors.getValue(number);
    if (stopped && *stopped)
      return fail("it was stopped");
    bool isFailed = failed(evaluate(value));
    if (!undefinedOp && algebra.status().isUndefined)
      undefinedOp = value.getDefiningOp();
    if (isFailed)
      return failure();
    if (auto found = order.readyAfter.find(number);
        found != order.readyAfter.end())
      for (tv::ExpectOp expect : found->second)
        ready(expect);
    for (; !lastUses.empty() && lastUses.back().first == number;
         lastUses = lastUses.drop_back())
      tensors.drop(lastUses.back().second, algebra);
  }
  return success();
}
