//===- Diagnosis.cpp - where a plan goes wrong first ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

#include "WitnessInputs.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace verify;

/// Most ops of the reference that are compared with those of the plan.
static constexpr size_t referenceLimit = 400;
/// Most ops between a wrong value and the last ones that are right.
static constexpr size_t regionLimit = 600;
/// Ops that may be executed to explain a finding, besides as many as have to be
/// executed for it.
static constexpr size_t helpfulOps = 300;
/// Values that may turn out to need more.
static constexpr unsigned helplessLimit = 64;

Diagnosis::Diagnosis(tv::GraphOp graph, const FactorAnalysis &factors,
                     WitnessSeed seed)
    : graph(graph), factors(factors), seed(std::move(seed)), matcher(graph) {}

//===----------------------------------------------------------------------===//
// The first value that differs
//===----------------------------------------------------------------------===//

llvm::SetVector<Operation *> verify::collectCone(SmallVector<Value> values) {
  llvm::SetVector<Operation *> cone;
  SmallVector<Value> worklist = std::move(values);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && cone.insert(op))
      llvm::append_range(worklist, op->getOperands());
  }
  return cone;
}

llvm::SetVector<Operation *> verify::getCone(ArrayRef<tv::ExpectOp> expects) {
  SmallVector<Value> operands;
  for (tv::ExpectOp expect : expects)
    llvm::append_range(operands, expect->getOperands());
  return collectCone(std::move(operands));
}

SmallVector<tv::ExpectOp> verify::listCompared(tv::GraphOp graph,
                                               ArrayRef<tv::ExpectOp> results) {
  SmallVector<Value> values;
  for (tv::ExpectOp result : results)
    llvm::append_range(values, result.getValues());
  llvm::SetVector<Operation *> cone = collectCone(std::move(values));
  SmallVector<tv::ExpectOp> candidates(results);
  llvm::DenseSet<Operation *> known(results.begin(), results.end());
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (!expect.getContract() && !known.contains(expect) &&
        cone.contains(expect.getValues().front().getDefiningOp()))
      candidates.push_back(expect);
  return candidates;
}

LogicalResult Diagnosis::compare(ArrayRef<tv::ExpectOp> results) {
  return compare(results, listCompared(graph, results));
}

LogicalResult Diagnosis::compare(ArrayRef<tv::ExpectOp> results,
                                 ArrayRef<tv::ExpectOp> candidates,
                                 Observer *observer) {
  DoubleAlgebra algebra(seed.getRemainders());
  FailureOr<WitnessRange> range = getWitnessRange(factors);
  if (failed(range)) {
    failureReason = noDataReason;
    return failure();
  }
  WitnessInputs source(algebra, seed, *range);
  DenseEvaluator evaluator(factors, algebra, source);
  evaluator.limitSteps(mostSteps);
  evaluator.ignoreDomains();
  if (observer && !factors.getFailure())
    observer->begin(evaluator.findEqualValues(candidates));
  // Most values come out alike in many layers and on many devices.
  std::map<std::vector<uint64_t>, std::optional<Difference>> compared;
  auto compareOne = [&](tv::ExpectOp expect) {
    auto [found, isNew] =
        compared.try_emplace(evaluator.getComparisonKey(expect));
    if (isNew && failureReason.empty())
      found->second = findDifference(expect, evaluator, algebra);
    if (found->second) {
      found->second->steps = evaluator.getSteps();
      found->second->earlier = differences.size() + agreeing.size();
      differences[expect] = *found->second;
    } else if (failureReason.empty())
      agreeing.insert(expect);
    if (observer && expect.getContract())
      observer->compared(expect, found->second && !found->second->isFaint);
  };
  if (failed(evaluator.runInPassing(candidates, compareOne)))
    failureReason = evaluator.getFailure();
  else
    equalValues = evaluator.getEqualValues();
  acceptRounding(results, candidates);
  isTooCostly = evaluator.wasTooCostly();
  return success(failureReason.empty());
}

tv::ExpectOp Diagnosis::findFirst(ArrayRef<tv::ExpectOp> different) const {
  auto getEarlier = [&](tv::ExpectOp expect) {
    return differences.find(expect)->second.earlier;
  };
  return *llvm::min_element(different,
                            [&](tv::ExpectOp left, tv::ExpectOp right) {
                              return getEarlier(left) < getEarlier(right);
                            });
}

llvm::BitVector Diagnosis::findSuspicious(ArrayRef<tv::ExpectOp> wrong) const {
  llvm::BitVector holds(factors.getValueCount());
  for (const auto &[value, expect] : holding)
    holds.set(factors.getNumber(value));
  // Those that hold are passed over.
  auto follow = [&](unsigned value) {
    return holds.test(value) ? std::nullopt : std::optional(value);
  };
  std::vector<unsigned> worklist;
  for (tv::ExpectOp result : wrong)
    for (Value value : tv::ExpectOp(result).getValues())
      if (std::optional<unsigned> number = follow(factors.getNumber(value)))
        worklist.push_back(*number);
  return factors.findCone(std::move(worklist), follow);
}

SmallVector<tv::ExpectOp> Diagnosis::findRoots(ArrayRef<tv::ExpectOp> wrong) {
  holding.clear();
  differing.clear();
  for (Operation *op : agreeing)
    if (auto expect = cast<tv::ExpectOp>(op); expect.getValues().size() == 1)
      holding.try_emplace(expect.getValues().front(), expect);
  llvm::MapVector<Value, SmallVector<tv::ExpectOp, 1>> claims;
  for (auto &[op, difference] : differences)
    for (Value value : cast<tv::ExpectOp>(op).getValues()) {
      differing.insert(value);
      claims[value].push_back(cast<tv::ExpectOp>(op));
    }
  for (Value value : differing)
    holding.erase(value);
  // In the order of the block, those that nothing that differs leads to.
  llvm::BitVector suspicious = findSuspicious(wrong);
  SmallVector<tv::ExpectOp> roots;
  auto spread = [&](const llvm::BitVector &sources) {
    llvm::BitVector tainted(suspicious.size());
    for (unsigned value : suspicious.set_bits()) {
      bool isTainted =
          llvm::any_of(factors.getOperands(value),
                       [&](unsigned operand) { return tainted.test(operand); });
      if (isTainted || sources.test(value))
        tainted.set(value);
      if (!isTainted && sources.test(value))
        llvm::append_range(roots, claims[factors.getValue(value)]);
    }
    return tainted;
  };
  // Of the values of one claim some may be right, and others wrong because of
  // what leads to them.
  llvm::BitVector alone(suspicious.size());
  for (auto &[op, difference] : differences)
    if (auto expect = cast<tv::ExpectOp>(op); expect.getValues().size() == 1)
      alone.set(factors.getNumber(expect.getValues().front()));
  llvm::BitVector tainted = spread(alone);
  for (auto &[value, own] : claims) {
    llvm::erase_if(own, [&](tv::ExpectOp expect) {
      return expect.getValues().size() > 1 &&
             llvm::any_of(expect.getValues(), [&](Value each) {
               return tainted.test(factors.getNumber(each));
             });
    });
    llvm::sort(own, [](tv::ExpectOp left, tv::ExpectOp right) {
      return left->isBeforeInBlock(right);
    });
    if (!own.empty())
      alone.set(factors.getNumber(value));
  }
  roots.clear();
  (void)spread(alone);
  return roots;
}

bool verify::areAlike(tv::ExpectOp left, tv::ExpectOp right) {
  if (left.getContract() || right.getContract())
    return left.getContract() == right.getContract();
  return getPlaceKey(left.getLoc()) == getPlaceKey(right.getLoc());
}

std::optional<Finding> Diagnosis::find(ArrayRef<tv::ExpectOp> wrong) {
  region.clear();
  referenceRegion.clear();
  matches.clear();
  SmallVector<tv::ExpectOp> roots = findRoots(wrong);
  if (roots.empty())
    return std::nullopt;
  Finding finding;
  finding.expect = roots.front();
  finding.roots = roots;
  for (tv::ExpectOp root : roots)
    if (root.getReference() == finding.expect.getReference() &&
        areAlike(root, finding.expect))
      finding.alike.push_back(root);
    else if (++finding.otherValues == 1)
      finding.other = root;
  finding.laterValues = differences.size() - roots.size();
  const Difference &difference = differences.find(finding.expect)->second;
  finding.element = difference.element;
  finding.microBatches = difference.microBatches;
  explain(finding);
  return finding;
}

//===----------------------------------------------------------------------===//
// Around the first value that differs
//===----------------------------------------------------------------------===//

void Diagnosis::collectRegion(tv::ExpectOp expect) {
  SmallVector<Value> worklist(expect.getValues());
  llvm::SetVector<Value> ends;
  ends.insert(expect.getReference());
  DenseValueSet boundary;
  while (!worklist.empty() && region.size() < regionLimit) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !region.insert(op))
      continue;
    if (auto found = holding.find(value); found != holding.end()) {
      boundary.insert(found->second.getReference());
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
  // The reference, breadth first, up to the values that are known to hold.
  std::vector<Value> queue = {expect.getReference()};
  for (size_t at = 0;
       at < queue.size() && referenceRegion.size() < referenceLimit; ++at) {
    Operation *op = queue[at].getDefiningOp();
    if (!op || !referenceRegion.insert(op) || boundary.contains(queue[at]))
      continue;
    queue.insert(queue.end(), op->operand_begin(), op->operand_end());
  }
  addSimilarOps(expect.getReference().getDefiningOp());
  auto inOrder = [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  };
  for (auto *ops : {&region, &referenceRegion}) {
    SmallVector<Operation *> sorted = ops->takeVector();
    llvm::sort(sorted, inOrder);
    ops->insert(sorted.begin(), sorted.end());
  }
}

void Diagnosis::addSimilarOps(Operation *expected) {
  // The same ops of the model elsewhere, where operands may come from: of deep
  // models those that are nearest.
  llvm::DenseSet<std::tuple<StringRef, const void *, unsigned>> places;
  for (Operation *op : region)
    places.insert(getPlaceKey(op->getLoc()).asTuple());
  SmallVector<Operation *> before, after;
  for (Operation &op : graph.getBody().front())
    if (op.getNumResults() == 1 && !op.hasAttr("domain") &&
        places.contains(getPlaceKey(op.getLoc()).asTuple()))
      (expected && expected->isBeforeInBlock(&op) ? after : before)
          .push_back(&op);
  std::reverse(before.begin(), before.end());
  for (size_t distance = 0; distance < std::max(before.size(), after.size()) &&
                            referenceRegion.size() < 2 * referenceLimit;
       ++distance)
    for (ArrayRef<Operation *> ops : {before, after})
      if (distance < ops.size())
        referenceRegion.insert(ops[distance]);
}

llvm::SetVector<Value> Diagnosis::chooseWhatHelps(Finding &finding) {
  llvm::SetVector<Value> kept;
  kept.insert(finding.expect.getReference());
  for (Operation *op : region)
    kept.insert(op->getResult(0));
  SmallVector<Value> helpful;
  for (Operation *op : region)
    if (auto add = dyn_cast<tv::AddOp>(op))
      helpful.append(listTerms(add));
  for (Operation *op : region)
    helpful.append(matcher.getCounterparts(op->getResult(0)));
  for (tv::ExpectOp root : finding.roots)
    if (getPlaceKey(root.getLoc()) == getPlaceKey(finding.expect.getLoc()))
      llvm::append_range(helpful, root.getValues());
  for (Operation *op : referenceRegion)
    helpful.push_back(op->getResult(0));
  // A value that is wrong in an early layer needs no execution of the later
  // ones, though they run the same ops of the model.
  llvm::DenseSet<Operation *> executed;
  auto execute = [&](Value value, size_t limit) {
    SmallVector<Operation *> more;
    SmallVector<Value> worklist = {value};
    while (!worklist.empty() && more.size() <= limit) {
      Operation *op = worklist.pop_back_val().getDefiningOp();
      if (!op || !executed.insert(op).second)
        continue;
      more.push_back(op);
      llvm::append_range(worklist, op->getOperands());
    }
    bool isInside = more.size() <= limit;
    if (!isInside)
      for (Operation *op : more)
        executed.erase(op);
    return isInside;
  };
  for (Value value : kept)
    (void)execute(value, std::numeric_limits<size_t>::max());
  size_t limit = 2 * executed.size() + helpfulOps;
  unsigned helpless = 0;
  for (Value value : helpful) {
    if (execute(value, limit - executed.size()))
      kept.insert(value);
    else if (++helpless == helplessLimit)
      break;
  }
  return kept;
}

void Diagnosis::explain(Finding &finding) {
  collectRegion(finding.expect);
  if (findUndefined(finding) || findWrongParameter(finding) ||
      findEarlyReduction(finding) || findMissingMicroBatch(finding) ||
      findRepeatedMicroBatch(finding) || findMixedMicroBatches(finding))
    return;
  llvm::SetVector<Value> kept = chooseWhatHelps(finding);
  DoubleAlgebra algebra(seed.getRemainders());
  FailureOr<WitnessRange> range = getWitnessRange(factors);
  if (failed(range))
    return;
  WitnessInputs source(algebra, seed, *range);
  DenseEvaluator evaluator(factors, algebra, source);
  evaluator.limitSteps(mostSteps);
  evaluator.ignoreDomains();
  evaluator.setEqualValues(equalValues);
  if (failed(evaluator.run(finding.expect, kept.getArrayRef()))) {
    isTooCostly |= evaluator.wasTooCostly();
    return;
  }
  matcher.setExecution(factors, algebra, evaluator);
  if (!findRepeatedTerm(finding, evaluator) && !classifyStated(finding))
    classifyRegion(finding);
  if (finding.op)
    noteParameters(finding, finding.op);
}

bool Diagnosis::findUndefined(Finding &finding) {
  for (Operation *op : region) {
    auto undefined = dyn_cast<tv::UndefinedOp>(op);
    if (!undefined)
      continue;
    finding.kind = DifferenceKind::Undefined;
    finding.op = op;
    SmallVector<int64_t> devices;
    for (Value counterpart : matcher.getCounterparts(undefined))
      llvm::append_range(devices, getDevices(counterpart));
    finding.explanation = ("nothing produces " + undefined.getName() + " on " +
                           describeDevices(devices))
                              .str();
    for (Operation *reader : undefined.getResult().getUsers())
      if (!isa<tv::ExpectOp>(reader)) {
        finding.related.push_back(
            {reader->getLoc(), "it is read here, by " + describe(reader)});
        if (describe(op) != describe(reader))
          finding.explanation +=
              "; " + describe(op) +
              (op->hasAttr(takenName) ? " takes it" : " should do so");
        break;
      }
    return true;
  }
  return false;
}

static StringRef getParameterName(Value value) {
  auto input = value.getDefiningOp<tv::InputOp>();
  bool isParameter =
      input && input.getContract().getRole() == tv::ContractRole::Parameter;
  return isParameter ? input.getContract().getName().getValue() : StringRef();
}

std::optional<OtherParameter> verify::findOtherParameter(tv::ExpectOp expect) {
  if (expect.getValues().size() != 1)
    return std::nullopt;
  Operation *op = expect.getValues().front().getDefiningOp();
  Operation *reference = expect.getReference().getDefiningOp();
  if (!op || !reference || op->getName() != reference->getName() ||
      op->getNumOperands() != reference->getNumOperands())
    return std::nullopt;
  for (auto [own, other] :
       llvm::zip_equal(op->getOperands(), reference->getOperands())) {
    auto part = own.getDefiningOp<tv::DistributeOp>();
    OtherParameter found = {part ? getParameterName(part.getReference())
                                 : StringRef(),
                            getParameterName(other)};
    if (!found.read.empty() && !found.expected.empty() &&
        found.read != found.expected)
      return found;
  }
  return std::nullopt;
}

bool Diagnosis::readsInstead(StringRef read, StringRef expected) {
  auto reads = [](Operation *op, unsigned number, StringRef name) {
    Value operand = op->getOperand(number);
    if (auto part = operand.getDefiningOp<tv::DistributeOp>())
      operand = part.getReference();
    return getParameterName(operand) == name;
  };
  for (Operation *op : region)
    for (unsigned number = 0; number < op->getNumOperands(); ++number)
      if (reads(op, number, read) && !isa<tv::DistributeOp>(op) &&
          llvm::any_of(referenceRegion, [&](Operation *candidate) {
            return candidate->getName() == op->getName() &&
                   number < candidate->getNumOperands() &&
                   getPlaceKey(candidate->getLoc()) ==
                       getPlaceKey(op->getLoc()) &&
                   reads(candidate, number, expected);
          }))
        return true;
  return false;
}

bool Diagnosis::findWrongParameter(Finding &finding) {
  std::optional<OtherParameter> other = findOtherParameter(finding.expect);
  if (!other)
    return false;
  finding.op = finding.expect.getValues().front().getDefiningOp();
  finding.kind = DifferenceKind::WrongOperand;
  finding.explanation = describe(finding.op) + " reads parameter '" +
                        other->read.str() + "', the reference '" +
                        other->expected.str() + "'";
  if (readsInstead(other->expected, other->read)) {
    finding.kind = DifferenceKind::ExchangedOperands;
    finding.explanation += ", and the other way round";
  }
  return true;
}
