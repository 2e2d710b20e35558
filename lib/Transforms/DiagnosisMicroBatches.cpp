//===- DiagnosisMicroBatches.cpp - which micro-batch is which -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

using namespace mlir;
using namespace verify;

/// The micro-batch of a value that is moved to another one.
static tv::AxisSetAttr getMovedFrom(Operation *op) {
  auto move = dyn_cast_or_null<tv::MoveOp>(op);
  return move ? move.getSource().getSet("mb") : tv::AxisSetAttr();
}

/// Whether a term of an output is one of a micro-batch that gives another one.
static bool findOutputOfOneTwice(Finding &finding) {
  bool isAnyMoved = llvm::any_of(finding.expect.getValues(), [](Value value) {
    return static_cast<bool>(getMovedFrom(value.getDefiningOp()));
  });
  if (!isAnyMoved || !finding.expect.getContract())
    return false;
  // What is made of several is only said to be of one.
  SmallVector<Value> terms;
  for (Value value : finding.expect.getValues()) {
    Operation *op = value.getDefiningOp();
    terms.push_back(getMovedFrom(op) ? op->getOperand(0) : value);
  }
  if (llvm::any_of(collectCone(terms), [](Operation *op) {
        return static_cast<bool>(getMovedFrom(op));
      }))
    return false;
  for (Value value : finding.expect.getValues()) {
    Operation *move = value.getDefiningOp();
    tv::AxisSetAttr from = getMovedFrom(move);
    if (!from)
      continue;
    auto more = llvm::count_if(finding.expect.getValues(), [&](Value each) {
      return getMovedFrom(each.getDefiningOp()) == from;
    });
    finding.kind = DifferenceKind::MixedMicroBatches;
    finding.op = move;
    finding.explanation =
        "micro-batch " + describeRanges(from.getBounds().front()) +
        " gives it " +
        (more == 1 ? "twice, and another one does not"
                   : std::to_string(more + 1) + " times, and " +
                         std::to_string(more) + " others do not");
    return true;
  }
  return false;
}

bool Diagnosis::findMixedMicroBatches(Finding &finding) {
  if (findOtherLoads(finding) || findOutputOfOneTwice(finding))
    return true;
  for (Operation *op : region) {
    // Micro-batches may be added up.
    if (isa<tv::AddOp, tv::AccumulateOp>(op))
      continue;
    for (Value operand : op->getOperands()) {
      // Execution makes such a move only where another operand is of another
      // micro-batch.
      auto move = operand.getDefiningOp<tv::MoveOp>();
      tv::AxisSetAttr read =
          move ? move.getSource().getSet("mb") : tv::AxisSetAttr();
      tv::AxisSetAttr own =
          move ? move.getDomainAttr().getSet("mb") : tv::AxisSetAttr();
      if (!read || !own || read == own)
        continue;
      finding.kind = DifferenceKind::MixedMicroBatches;
      finding.op = op;
      finding.explanation = "in micro-batch " +
                            describeRanges(own.getBounds().front()) + ", " +
                            describe(op) + " takes a value of micro-batch " +
                            describeRanges(read.getBounds().front()) + " on " +
                            describeDevices(getDevices(move));
      return true;
    }
  }
  return false;
}

bool Diagnosis::noteOddMicroBatch(Finding &finding) {
  tv::AxisSetAttr fewest;
  Operation *op = nullptr;
  unsigned alone = 0;
  for (Value value : finding.expect.getValues()) {
    Operation *own = value.getDefiningOp();
    auto domain =
        own ? own->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
    tv::AxisSetAttr set = domain ? domain.getSet("mb") : tv::AxisSetAttr();
    alone += set && set.size() == 1;
    if (!set || (fewest && set.size() >= fewest.size()))
      continue;
    fewest = set;
    op = own;
  }
  // Of two micro-batches either may be.
  if (finding.expect.getValues().size() < 2 || alone != 1)
    return false;
  finding.op = op;
  finding.explanation = "the term of micro-batch " +
                        describeRanges(fewest.getBounds().front()) +
                        " is computed otherwise than those of the others, "
                        "and either may be wrong";
  return true;
}
