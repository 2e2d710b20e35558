//===- DiagnosisRepairs.cpp - what would make a value right ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differences that are told by mending them: a copy of what a value depends on
// is changed in one place and executed, and the value that differed is right.
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"
#include "PlanValues.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace verify;

/// Most values that are looked at in a sum.
static constexpr size_t termLimit = 32;
/// Most additions that are left out to see what comes of it.
static constexpr size_t repairLimit = 8;

/// A graph of an expect and what it depends on.
static OwningOpRef<tv::GraphOp>
copyCone(tv::GraphOp graph, tv::ExpectOp expect,
         llvm::DenseMap<Operation *, Operation *> &copies) {
  llvm::SetVector<Operation *> cone = getCone(expect);
  cone.insert(expect);
  OwningOpRef<tv::GraphOp> copy(
      cast<tv::GraphOp>(graph->cloneWithoutRegions()));
  auto builder = OpBuilder::atBlockEnd(&copy->getBody().emplaceBlock());
  IRMapping values;
  for (Operation &op : graph.getBody().front())
    if (cone.contains(&op))
      copies[&op] = builder.clone(op, values);
  return copy;
}

bool Diagnosis::isRepaired(tv::ExpectOp expect, Repair repair) {
  OpCopies copies;
  OwningOpRef<tv::GraphOp> repaired = copyCone(graph, expect, copies);
  Block &body = repaired->getBody().front();
  repair(copies);
  FactorAnalysis exact(body, graph.getMesh(), factors.getOptions());
  if (exact.getFailure())
    return false;
  if (factors.isGrouped())
    exact.group();
  auto copy = cast<tv::ExpectOp>(copies[expect]);
  DoubleAlgebra algebra(seed.getRemainders());
  FailureOr<WitnessRange> range = getWitnessRange(exact);
  if (failed(range))
    return false;
  WitnessInputs source(algebra, seed, *range);
  DenseEvaluator evaluator(exact, algebra, source);
  evaluator.limitSteps(mostSteps);
  evaluator.ignoreDomains();
  if (failed(evaluator.run(copy))) {
    isTooCostly |= evaluator.wasTooCostly();
    return false;
  }
  // Of what is small nothing is taken for rounding: it is said to be repaired
  // only if it is.
  double scale = differences.lookup(expect).isFaint ? 0 : 1;
  auto difference = evaluator.compare(copy, [&](Scalar reference, Scalar plan) {
    return isFarApart(algebra.toDouble(reference), algebra.toDouble(plan),
                      scale);
  });
  return !difference && evaluator.getFailure().empty();
}

/// Makes accumulations add up all micro-batches, in which what they add up then
/// runs.
static void complete(ArrayRef<tv::AccumulateOp> accumulates, int64_t count) {
  SmallVector<Operation *> worklist;
  for (tv::AccumulateOp accumulate : accumulates) {
    StringAttr axis = accumulate.getOver().getAxis();
    accumulate.setOverAttr(
        tv::AxisSetAttr::get(axis.getContext(), axis, {0, count}));
    worklist.push_back(accumulate);
  }
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
    if (!seen.insert(op).second || !domain)
      continue;
    SmallVector<tv::AxisSetAttr> sets;
    for (tv::AxisSetAttr set : domain.getSets())
      if (set.getAxis().getValue() != "mb")
        sets.push_back(set);
    op->setAttr("domain", tv::DomainAttr::get(op->getContext(), sets));
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.push_back(producer);
  }
}

/// `micro-batches 0-2, 5`.
static std::string describeMicroBatches(ArrayRef<int64_t> numbers) {
  return (numbers.size() == 1 ? "micro-batch " : "micro-batches ") +
         describeRanges(numbers);
}

/// The micro-batches of `count` that are accumulated, or those that are not.
static SmallVector<int64_t> listMicroBatches(tv::AccumulateOp accumulate,
                                             int64_t count, bool areIn) {
  SmallVector<int64_t> numbers;
  for (int64_t number = 0; number < count; ++number)
    if (accumulate.getOver().contains(number) == areIn)
      numbers.push_back(number);
  return numbers;
}

bool Diagnosis::findMissingMicroBatch(Finding &finding) {
  int64_t count = graph.getMesh().getAxisSize("mb").value_or(1);
  // One, and all that lack the same.
  SmallVector<SmallVector<tv::AccumulateOp>> candidates;
  for (Operation *op : region) {
    auto accumulate = dyn_cast<tv::AccumulateOp>(op);
    if (!accumulate || accumulate.getOver().getAxis().getValue() != "mb" ||
        accumulate.getOver().size() == count)
      continue;
    candidates.push_back({accumulate});
  }
  SmallVector<tv::AccumulateOp> all;
  for (const SmallVector<tv::AccumulateOp> &single : candidates)
    all.append(single);
  if (all.size() > 1)
    candidates.push_back(all);
  for (const SmallVector<tv::AccumulateOp> &candidate : candidates) {
    auto repair = [&](const OpCopies &copies) {
      complete(llvm::map_to_vector(candidate,
                                   [&](tv::AccumulateOp accumulate) {
                                     return cast<tv::AccumulateOp>(
                                         copies.lookup(accumulate));
                                   }),
               count);
    };
    if (!isRepaired(finding.expect, repair))
      continue;
    tv::AccumulateOp accumulate = candidate.front();
    SmallVector<int64_t> missing =
        listMicroBatches(accumulate, count, /*areIn=*/false);
    finding.kind = DifferenceKind::MissingMicroBatch;
    finding.op = accumulate;
    finding.explanation = "what is accumulated from " + describe(accumulate) +
                          " lacks " + describeMicroBatches(missing) + " of 0-" +
                          std::to_string(count - 1) + "; with " +
                          (missing.size() == 1 ? "it" : "them") +
                          " the value is right";
    return true;
  }
  return false;
}

/// Leaves out what an accumulation has of micro-batches but `rest`.
static void reduceTo(tv::AccumulateOp accumulate, ArrayRef<int64_t> rest) {
  StringAttr axis = accumulate.getOver().getAxis();
  if (!rest.empty()) {
    accumulate.setOverAttr(tv::AxisSetAttr::get(
        axis.getContext(), axis, toIntervals(SmallVector<int64_t>(rest))));
    return;
  }
  Value value = accumulate.getResult();
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto add = dyn_cast<tv::AddOp>(user))
      add.getResult().replaceAllUsesWith(
          add.getLeft() == value ? add.getRight() : add.getLeft());
}

bool Diagnosis::findRepeatedMicroBatch(Finding &finding) {
  int64_t count = graph.getMesh().getAxisSize("mb").value_or(1);
  llvm::SmallMapVector<Value, SmallVector<tv::AccumulateOp, 2>, 4> ofTerm;
  for (Operation *op : region)
    if (auto accumulate = dyn_cast<tv::AccumulateOp>(op);
        accumulate && accumulate.getOver().getAxis().getValue() == "mb")
      ofTerm[accumulate.getOperand()].push_back(accumulate);
  for (auto &[term, accumulates] : ofTerm)
    for (tv::AccumulateOp accumulate : accumulates) {
      SmallVector<int64_t> twice, rest;
      for (int64_t number :
           listMicroBatches(accumulate, count, /*areIn=*/true)) {
        bool isInOther = llvm::any_of(accumulates, [&](tv::AccumulateOp other) {
          return other != accumulate && other.getOver().contains(number);
        });
        (isInOther ? twice : rest).push_back(number);
      }
      auto repair = [&](const OpCopies &copies) {
        reduceTo(cast<tv::AccumulateOp>(copies.lookup(accumulate)), rest);
      };
      if (twice.empty() || !isRepaired(finding.expect, repair))
        continue;
      finding.kind = DifferenceKind::ExtraSum;
      finding.op = accumulate;
      finding.explanation =
          "what is accumulated from " + describe(accumulate) + " has " +
          describeMicroBatches(twice) + " in it twice; with " +
          (twice.size() == 1 ? "it" : "them") + " once the value is right";
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Terms that count twice
//===----------------------------------------------------------------------===//

namespace {
/// A value that is added up, and where.
struct Term {
  OpOperand *use;
  /// Those that it is a sum of follow it, up to here.
  size_t end = 0;
};
} // namespace

/// Appends what a sum has in it because of `use`, that itself first.
static void collectTerms(OpOperand &use, SmallVectorImpl<Term> &terms) {
  if (terms.size() == termLimit)
    return;
  size_t place = terms.size();
  terms.push_back({&use});
  Operation *op = use.get().getDefiningOp();
  auto reduction = dyn_cast_or_null<tv::AllReduceOp>(op);
  if (isa_and_nonnull<tv::AddOp, tv::CopyOp, tv::MoveOp>(op) ||
      (reduction && reduction.getKind() == tv::ReductionKind::Sum))
    for (OpOperand &operand : op->getOpOperands())
      collectTerms(operand, terms);
  terms[place].end = terms.size();
}

bool Diagnosis::findEarlyReduction(Finding &finding) {
  int64_t count = graph.getMesh().getAxisSize("mb").value_or(1);
  for (Operation *op : region) {
    if (!isa<tv::AddOp>(op))
      continue;
    for (unsigned i : {0, 1}) {
      auto late = op->getOperand(i).getDefiningOp<tv::AccumulateOp>();
      if (!late || late.getOver().getAxis().getValue() != "mb")
        continue;
      SmallVector<Term> terms;
      collectTerms(op->getOpOperand(1 - i), terms);
      for (Term term : terms) {
        auto early = term.use->get().getDefiningOp<tv::AccumulateOp>();
        auto reduction = dyn_cast<tv::AllReduceOp>(term.use->getOwner());
        if (!early || !reduction || early.getOperand() != late.getOperand())
          continue;
        SmallVector<int64_t> missing =
            listMicroBatches(late, count, /*areIn=*/true);
        finding.kind = DifferenceKind::EarlyReduction;
        finding.op = reduction;
        finding.explanation = describe(reduction) + " adds up before " +
                              describeMicroBatches(missing) + " of 0-" +
                              std::to_string(count - 1) +
                              (missing.size() == 1 ? " is" : " are") +
                              " accumulated; what " + describe(late) +
                              " gives after it is not added up";
        return true;
      }
    }
  }
  return false;
}

namespace {
/// What a device that loads in another order than its group has loaded.
struct OtherLoad {
  tv::AllSliceOp taken;  ///< in each micro-batch
  tv::AllGatherOp whole; ///< in the order of the loader
  /// The first micro-batch for which another one was loaded, and which.
  int64_t microBatch = 0, loaded = 0;
};
} // namespace

/// What `PlanExecution::reorder` builds, if `op` is the last of it.
static std::optional<OtherLoad> findOtherLoad(Operation *op) {
  auto own = dyn_cast<tv::AllSliceOp>(op);
  if (!own || own.getAxis() != "mb")
    return std::nullopt;
  auto joined = own.getOperand().getDefiningOp<tv::AllGatherOp>();
  int64_t size = own.getResult().getType().getDimSize(own.getDimension());
  if (!joined || joined.getAxis() || size == 0)
    return std::nullopt;
  int64_t next = 0;
  for (Value run : joined.getOperands()) {
    auto slice = run.getDefiningOp<tv::SliceOp>();
    auto whole = slice ? slice.getOperand().getDefiningOp<tv::AllGatherOp>()
                       : tv::AllGatherOp();
    if (!whole || whole.getAxis() != own.getAxis())
      return std::nullopt;
    auto start = static_cast<int64_t>(slice.getStart());
    if (start != next)
      return OtherLoad{own, whole, next / size, start / size};
    next = static_cast<int64_t>(slice.getEnd());
  }
  return std::nullopt;
}

bool Diagnosis::findOtherLoads(Finding &finding) {
  SmallVector<OtherLoad> loads;
  for (Operation *op : region)
    if (auto load = findOtherLoad(op))
      loads.push_back(*load);
  // It need not matter.
  if (loads.empty() || !isRepaired(finding.expect, [&](const OpCopies &copies) {
        for (OtherLoad load : loads)
          copies.lookup(load.taken)
              ->getResult(0)
              .replaceAllUsesWith(copies.lookup(load.whole)->getOperand(0));
      }))
    return false;
  OtherLoad first = loads.front();
  SmallVector<int64_t> devices = getDevices(first.taken);
  finding.kind = DifferenceKind::MixedMicroBatches;
  finding.op = first.taken;
  finding.explanation = "what " + describeDevices(devices) +
                        (devices.size() == 1 ? " loads" : " load") +
                        " for micro-batch " + std::to_string(first.loaded) +
                        " is taken together with what others load for "
                        "micro-batch " +
                        std::to_string(first.microBatch);
  for (Operation *reader : first.taken.getResult().getUsers())
    if (!isa<tv::ExpectOp>(reader)) {
      finding.related.push_back(
          {reader->getLoc(), "it is read here, by " + describe(reader)});
      break;
    }
  return true;
}

SmallVector<Value> verify::listTerms(tv::AddOp add) {
  SmallVector<Term> terms;
  for (OpOperand &operand : add->getOpOperands())
    collectTerms(operand, terms);
  return llvm::map_to_vector(terms, [](Term term) { return term.use->get(); });
}

/// Appends the operands of additions without which a sum has once what both of
/// its operands have in them.
static void findRepetitions(tv::AddOp add,
                            llvm::function_ref<bool(Value, Value)> areEqual,
                            llvm::SetVector<OpOperand *> &found) {
  SmallVector<Term> left, right;
  collectTerms(add->getOpOperand(0), left);
  collectTerms(add->getOpOperand(1), right);
  auto append = [&](OpOperand *use) {
    auto reader = dyn_cast<tv::AddOp>(use->getOwner());
    // What is left takes the place of the sum.
    if (reader && reader->getOperand(1 - use->getOperandNumber()).getType() ==
                      reader.getType())
      found.insert(use);
  };
  for (size_t i = 0; i < left.size();) {
    bool isRepeated = false;
    for (size_t j = 0; j < right.size();) {
      OpOperand *one = left[i].use, *other = right[j].use;
      if (!areEqual(one->get(), other->get())) {
        ++j;
        continue;
      }
      isRepeated = true;
      j = right[j].end;
      // The last one that is added is most likely the one too many.
      if (other->getOwner()->isBeforeInBlock(one->getOwner()))
        std::swap(one, other);
      append(other);
      if (other->getOwner() != add)
        append(one);
    }
    i = isRepeated ? left[i].end : i + 1;
  }
}

/// The terms of which the only value of an expect is a sum, with `rest` in
/// place of `removed`; none if it is not known to be one.
static SmallVector<Value> listTermsWithout(tv::ExpectOp expect, Value removed,
                                           Value rest) {
  // A term may exist on more coordinates than what reads it does.
  if (expect.getValues().size() != 1 ||
      !expect.getLineage().getSumAxes().empty())
    return {};
  SmallVector<Value> terms = {rest};
  for (Value value = removed; value != expect.getValues().front();) {
    Operation *reader = nullptr;
    for (Operation *user : value.getUsers()) {
      if (isa<tv::ExpectOp>(user))
        continue;
      // It may be read twice by one.
      if (reader)
        return {};
      reader = user;
    }
    auto reduction = dyn_cast_or_null<tv::AllReduceOp>(reader);
    bool addsUp = reduction ? reduction.getKind() == tv::ReductionKind::Sum &&
                                  reduction.getAxes().empty()
                            : isa_and_nonnull<tv::AddOp>(reader);
    if (!addsUp || !llvm::all_equal(reader->getOperandTypes()) ||
        reader->getResult(0).getType() != value.getType())
      return {};
    for (Value operand : reader->getOperands())
      if (operand != value)
        terms.push_back(operand);
    value = reader->getResult(0);
  }
  return terms;
}

std::optional<bool> Diagnosis::isRightWithout(tv::ExpectOp expect,
                                              OpOperand &use,
                                              DenseEvaluator &evaluator) {
  Operation *add = use.getOwner();
  SmallVector<Value> terms = listTermsWithout(
      expect, add->getResult(0), add->getOperand(1 - use.getOperandNumber()));
  if (terms.empty())
    return std::nullopt;
  double scale = differences.lookup(expect).isFaint ? 0 : 1;
  bool isRight = true;
  auto compareOne = [&](const Coordinates &, ArrayRef<int64_t>,
                        Scalar reference, Scalar plan, int64_t) {
    isRight &= !isFarApart(DoubleAlgebra::getDouble(reference),
                           DoubleAlgebra::getDouble(plan), scale);
    return isRight ? DenseEvaluator::Visit::Continue
                   : DenseEvaluator::Visit::Stop;
  };
  if (failed(evaluator.visit({terms, expect.getReference(), expect.getLineage(),
                              expect.getDomain()},
                             /*skipsUnknown=*/false, compareOne)))
    return std::nullopt;
  return isRight;
}

bool Diagnosis::findRepeatedTerm(Finding &finding, DenseEvaluator &evaluator) {
  auto areEqual = [&](Value left, Value right) {
    return matcher.areEqual(left, right);
  };
  llvm::SetVector<OpOperand *> repetitions;
  for (Operation *op : region)
    if (auto add = dyn_cast<tv::AddOp>(op);
        add && repetitions.size() < repairLimit)
      findRepetitions(add, areEqual, repetitions);
  // One of them, or the same mistake on several devices.
  SmallVector<SmallVector<OpOperand *>> candidates;
  for (OpOperand *use : repetitions)
    candidates.push_back({use});
  if (candidates.size() > 1)
    candidates.push_back(llvm::to_vector(repetitions));
  for (const SmallVector<OpOperand *> &candidate : candidates) {
    auto leaveOut = [&](const OpCopies &copies) {
      for (OpOperand *use : candidate) {
        Operation *add = copies.lookup(use->getOwner());
        add->getResult(0).replaceAllUsesWith(
            add->getOperand(1 - use->getOperandNumber()));
      }
    };
    std::optional<bool> isRight;
    if (candidate.size() == 1)
      isRight = isRightWithout(finding.expect, *candidate.front(), evaluator);
    if (!(isRight ? *isRight : isRepaired(finding.expect, leaveOut)))
      continue;
    describeRepetition(finding, *candidate.front());
    return true;
  }
  return false;
}

void Diagnosis::describeRepetition(Finding &finding, OpOperand &use) {
  Operation *add = use.getOwner();
  Value rest = add->getOperand(1 - use.getOperandNumber());
  std::string where = " on " + describeDevices(getDevices(add->getResult(0)));
  finding.op = add;
  if (matcher.areEqual(use.get(), rest)) {
    finding.kind = DifferenceKind::ScaleFactor;
    finding.explanation = "the result of " + describe(add) + " is added twice" +
                          where + ", which makes it 2 times what it should be";
    return;
  }
  finding.kind = DifferenceKind::ExtraSum;
  finding.explanation = describe(add) + " adds a value" + where +
                        " that is in the sum already: it counts twice; without "
                        "it the value is right";
  if (Operation *producer = use.get().getDefiningOp())
    finding.related.push_back(
        {producer->getLoc(),
         "the value that counts twice, given by " + describe(producer)});
}
