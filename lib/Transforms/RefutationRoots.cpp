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

std::optional<Finding> Refutation::lookCloser(const FactorAnalysis &analysis) {
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
  if (isLong && diagnosis->getSteps(roots.front()) > closerSteps)
    return std::nullopt;
  Diagnosis closer(graph, getFine(analysis), seed);
  closer.limitSteps(isLong ? closerSteps : quickSteps);
  if (succeeded(closer.compare(close)))
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

std::optional<Finding> Refutation::diagnose(const FactorAnalysis &analysis) {
  if (isCoarse)
    if (std::optional<Finding> finding = lookCloser(analysis))
      return finding;
  return diagnosis->find(wrong);
}
