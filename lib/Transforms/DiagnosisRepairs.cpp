//===- DiagnosisRepairs.cpp - what would make a value right ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differences that are told by mending them: a copy of the graph is changed in
// one place and executed, and the value that differed is right.
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

using namespace mlir;
using namespace verify;

bool Diagnosis::isRepaired(tv::ExpectOp expect, Repair repair) {
  OwningOpRef<tv::GraphOp> repaired(graph.clone());
  Block &body = repaired->getBody().front();
  OpCopies copies;
  for (auto [original, copy] : llvm::zip_equal(graph.getBody().front(), body))
    copies[&original] = &copy;
  repair(copies);
  FactorAnalysis exact(body, graph.getMesh(),
                       {FactorAnalysis::Positions::Exact, /*fixedWidth=*/1});
  if (exact.getFailure())
    return false;
  auto copy = cast<tv::ExpectOp>(copies[expect]);
  DoubleAlgebra algebra;
  FailureOr<WitnessRange> range = getWitnessRange(*repaired, exact);
  if (failed(range))
    return false;
  WitnessInputs source(algebra, seed, *range);
  DenseEvaluator evaluator(body, exact, algebra, source);
  if (failed(evaluator.run(copy)))
    return false;
  auto difference = evaluator.compare(copy, [&](Scalar reference, Scalar plan) {
    return isFarApart(algebra.toDouble(reference), algebra.toDouble(plan));
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
    SmallVector<int64_t> missing;
    for (int64_t number = 0; number < count; ++number)
      if (!accumulate.getOver().contains(number))
        missing.push_back(number);
    bool isOne = missing.size() == 1;
    finding.kind = DifferenceKind::MissingMicroBatch;
    finding.op = accumulate;
    finding.explanation =
        "what is accumulated from " + describe(accumulate) + " lacks " +
        (isOne ? "micro-batch " : "micro-batches ") + describeRanges(missing) +
        " of 0-" + std::to_string(count - 1) + "; with " +
        (isOne ? "it" : "them") + " the value is right";
    return true;
  }
  return false;
}
