//===- RefutationRoots.cpp - where it goes wrong first --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refutation.h"

using namespace mlir;
using namespace verify;

/// Scalar operations that take a fraction of a second, on values in runs.
static constexpr int64_t closerSteps = Refutation::quickSteps / 4;
/// How many times as many a closer look takes at least, where it takes many:
/// 11 to 65 were seen.
static constexpr int64_t closerFactor = 8;

std::optional<Finding> Refutation::lookCloser(const FactorAnalysis &analysis,
                                              const WitnessSeed &inputs) {
  // Groups are a rough look.
  if (analysis.isGrouped())
    return std::nullopt;
  // Where it shows is known; what leads there is looked at more closely.
  SmallVector<tv::ExpectOp> roots = diagnosis->findRoots(wrong);
  if (roots.empty())
    return std::nullopt;
  SmallVector<tv::ExpectOp> close, different;
  for (tv::ExpectOp root : roots)
    if (areAlike(root, roots.front()))
      close.push_back(root);
  // Of long sequences as much again would be seconds for a few more words.
  bool isLong = seed.positions != LongPositions::All;
  if (isLong && diagnosis->getSteps(roots.front()) > closerSteps / closerFactor)
    return std::nullopt;
  Diagnosis closer(graph, getFine(analysis), inputs);
  closer.limitSteps(isLong ? closerSteps : quickSteps);
  LogicalResult isCompared = closer.compare(close);
  closer.setAside(remainder);
  if (succeeded(isCompared))
    for (tv::ExpectOp root : close)
      if (closer.isDifferent(root))
        different.push_back(root);
  std::optional<Finding> finding = closer.find(different);
  if (!finding)
    return std::nullopt;
  // Fewer positions may be told apart in time for an explanation.
  if (closer.wasTooCostly() && finding->kind == DifferenceKind::Other)
    return std::nullopt;
  for (tv::ExpectOp root : roots)
    if (!llvm::is_contained(close, root) && ++finding->otherValues == 1)
      finding->other = root;
  return finding;
}

/// Whether equal parts may look like it: a term is a fraction of a sum of equal
/// terms, and terms of other devices are the same.
static bool isAmbiguous(DifferenceKind kind) {
  switch (kind) {
  case DifferenceKind::MissingSum:
  case DifferenceKind::ExtraSum:
  case DifferenceKind::WrongGroup:
  case DifferenceKind::WrongSlice:
  case DifferenceKind::ScaleFactor:
  case DifferenceKind::WrongOperand:
    return true;
  case DifferenceKind::Other:
  case DifferenceKind::Undefined:
  case DifferenceKind::MissingMicroBatch:
  case DifferenceKind::EarlyReduction:
  case DifferenceKind::MixedMicroBatches:
  case DifferenceKind::OutsideDomain:
  case DifferenceKind::WrongConstant:
  case DifferenceKind::ExchangedOperands:
    return false;
  }
  return true;
}

std::optional<Finding>
Refutation::diagnoseWithOtherParts(const FactorAnalysis &analysis,
                                   const Finding &finding) {
  WitnessSeed inputs = seed;
  inputs.constant = nullptr;
  if (std::optional<Finding> closer = lookCloser(analysis, inputs))
    return closer;
  Diagnosis other(graph, analysis, inputs);
  SmallVector<tv::ExpectOp> different;
  LogicalResult isCompared = other.compare(finding.alike);
  other.setAside(remainder);
  if (succeeded(isCompared))
    for (tv::ExpectOp expect : finding.alike)
      if (other.isDifferent(expect))
        different.push_back(expect);
  return other.find(different);
}

std::optional<Finding> Refutation::diagnose(const FactorAnalysis &analysis) {
  // Positions that a closer look tells apart are not equal on all devices.
  if (isCoarse && !seed.constant)
    if (std::optional<Finding> finding = lookCloser(analysis, seed))
      return finding;
  std::optional<Finding> finding = diagnosis->find(wrong);
  if (!finding || !seed.constant || !isAmbiguous(finding->kind))
    return finding;
  std::optional<Finding> other = diagnoseWithOtherParts(analysis, *finding);
  if (!other || other->expect != finding->expect)
    other.emplace();
  // The elements stay those of the inputs that are reported.
  finding->kind = other->kind;
  finding->op = other->op;
  finding->explanation = std::move(other->explanation);
  finding->related = std::move(other->related);
  return finding;
}
