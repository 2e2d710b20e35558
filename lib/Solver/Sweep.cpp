//===- Sweep.cpp - equations proved from their operands up ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

/// Terms of both sides, a second or so, where no sweep is made.
static constexpr size_t mostTerms = size_t(1) << 18;
/// Terms of one signature that a term is compared with.
static constexpr size_t mostCandidates = 4;

Sweep::Sweep(TermAlgebra &terms, Samples &samples,
             llvm::ArrayRef<Condition> hypotheses)
    : terms(terms), samples(samples), hypotheses(hypotheses) {}

bool Sweep::run(Scalar left, Scalar right, Prove prove) {
  llvm::SmallVector<Scalar> nodes = terms.collectNodes({left, right});
  if (nodes.size() > mostTerms)
    return false;
  for (Scalar node : nodes) {
    if (isOver)
      return false;
    // What both sides have may have to change, too: one of them may have it
    // beside what it is equal to.
    Scalar replacement = merge(rewrite(node), prove);
    if (replacement == node)
      continue;
    replacements[node.bits] = replacement;
    rewriteHypotheses(node, replacement);
  }
  auto find = [&](Scalar side) {
    auto place = replacements.find(side.bits);
    return place == replacements.end() ? side : place->second;
  };
  return find(left) == find(right);
}

Scalar Sweep::rewrite(Scalar term) {
  llvm::SmallVector<Scalar> operands;
  bool isChanged = false;
  for (Scalar operand : terms.getOperands(term)) {
    auto place = replacements.find(operand.bits);
    bool isReplaced = place != replacements.end();
    operands.push_back(isReplaced ? place->second : operand);
    isChanged |= isReplaced;
  }
  return isChanged ? terms.withOperands(term, operands) : term;
}

Scalar Sweep::merge(Scalar rewritten, Prove prove) {
  auto signature = samples.getSignature(rewritten);
  if (!signature)
    return rewritten;
  llvm::SmallVector<Scalar, 1> &candidates = known[*signature];
  for (Scalar candidate : candidates) {
    if (candidate == rewritten)
      return rewritten;
    if (terms.getSort(candidate) != terms.getSort(rewritten) ||
        !samples.mayBeEqual(candidate, rewritten))
      continue;
    switch (prove(rewritten, candidate, hypotheses)) {
    case Result::Proved:
      return candidate;
    case Result::NotProved:
      break;
    case Result::Enough:
      isOver = true;
      return rewritten;
    }
  }
  if (candidates.size() < mostCandidates)
    candidates.push_back(rewritten);
  return rewritten;
}

void Sweep::rewriteHypotheses(Scalar term, Scalar replacement) {
  for (Condition &hypothesis : hypotheses)
    if (hypothesis.term == term)
      hypothesis.term = replacement;
}
