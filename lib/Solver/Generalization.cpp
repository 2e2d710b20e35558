//===- Generalization.cpp - obligations without common parts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generalization.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace verify;

/// Tensor number of the atoms that stand for terms; no tensor has it.
static constexpr uint32_t standIn = ~0u;

static bool contains(const llvm::BitVector &set, Scalar term) {
  return term.bits < set.size() && set[term.bits];
}

static bool isLeaf(const TermAlgebra &terms, Scalar term) {
  return terms.getOperands(term).empty();
}

namespace {
/// Rewrites terms, each once.
class Rewriter {
public:
  Rewriter(TermAlgebra &terms, const llvm::BitVector &common)
      : terms(terms), common(common) {}

  Scalar rewrite(Scalar root) {
    // Operands are numbered below their users: an order without recursion.
    for (Scalar term : collect(root)) {
      Scalar result = term;
      if (!isLeaf(terms, term) && contains(common, term)) {
        result = terms.atom(standIn, {static_cast<int64_t>(term.bits)},
                            terms.getSort(term));
        hasReplaced = true;
      } else if (!isLeaf(terms, term)) {
        llvm::SmallVector<Scalar> operands;
        for (Scalar operand : terms.getOperands(term))
          operands.push_back(rewritten.lookup(operand.bits));
        result = terms.withOperands(term, operands);
      }
      rewritten[term.bits] = result;
    }
    return rewritten.lookup(root.bits);
  }
  bool hasReplaced = false;

private:
  /// The terms that are left to rewrite, operands first; nothing below a common
  /// term.
  llvm::SmallVector<Scalar> collect(Scalar root) {
    llvm::DenseSet<uint64_t> seen;
    llvm::SmallVector<Scalar> worklist = {root}, found;
    while (!worklist.empty()) {
      Scalar term = worklist.pop_back_val();
      if (rewritten.contains(term.bits) || !seen.insert(term.bits).second)
        continue;
      found.push_back(term);
      if (!contains(common, term))
        worklist.append(terms.getOperands(term).begin(),
                        terms.getOperands(term).end());
    }
    llvm::sort(found, [](Scalar left, Scalar right) {
      return left.bits < right.bits;
    });
    return found;
  }

  TermAlgebra &terms;
  const llvm::BitVector &common;
  llvm::DenseMap<uint64_t, Scalar> rewritten;
};
} // namespace

std::optional<Generalization>
verify::generalize(TermAlgebra &terms, Scalar left, Scalar right,
                   llvm::ArrayRef<Condition> hypotheses) {
  llvm::BitVector common = terms.findNodes({left});
  common &= terms.findNodes({right});
  Rewriter rewriter(terms, common);
  Generalization result{rewriter.rewrite(left), rewriter.rewrite(right), {}};
  if (!rewriter.hasReplaced)
    return std::nullopt;
  llvm::BitVector occurring = terms.findNodes({result.left, result.right});
  for (const Condition &hypothesis : hypotheses) {
    Condition condition{hypothesis.kind, rewriter.rewrite(hypothesis.term)};
    if (contains(occurring, condition.term) &&
        !llvm::is_contained(result.hypotheses, condition))
      result.hypotheses.push_back(condition);
  }
  return result;
}
