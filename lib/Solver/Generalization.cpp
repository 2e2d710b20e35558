//===- Generalization.cpp - obligations without common parts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generalization.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <queue>

using namespace verify;

/// Tensor number of the atoms that stand for terms; no tensor has it.
static constexpr uint32_t standIn = ~0u;

namespace {
/// Which of the two sides a term occurs on.
enum Side : unsigned { OnLeft = 1, OnRight = 2, OnBoth = OnLeft | OnRight };

/// Finds what two terms have in common, from the top: below a common term only
/// as far as that may say something of a term that was met on one side.
class CommonTerms {
public:
  CommonTerms(TermAlgebra &terms, Scalar left, Scalar right, CommonPart part)
      : terms(terms), part(part) {
    meet(left, OnLeft, /*isUsed=*/true, /*isLargest=*/true);
    meet(right, OnRight, /*isUsed=*/true, /*isLargest=*/true);
    // Operands have smaller numbers than users: when the greatest number's turn
    // comes, all users are known.
    while (openCount > 0) {
      Scalar term = {queue.top()};
      queue.pop();
      // By value: meeting others moves the entries.
      Entry entry = entries.lookup(term.bits);
      found.push_back(term);
      bool isOpen = this->isOpen(term, entry);
      openCount -= isOpen;
      for (Scalar operand : terms.getOperands(term))
        meet(operand, entry.sides, isOpen, entry.sides != OnBoth);
    }
  }

  /// Both sides with common terms replaced.
  Generalization generalize(Scalar left, Scalar right,
                            llvm::ArrayRef<Condition> hypotheses) {
    while (!queue.empty()) {
      found.push_back({queue.top()});
      queue.pop();
    }
    bool hasReplaced = false;
    for (Scalar term : llvm::reverse(found))
      hasReplaced |= rewrite(term);
    Generalization result{entries.lookup(left.bits).rewritten,
                          entries.lookup(right.bits).rewritten,
                          {},
                          hasReplaced};
    for (const Condition &hypothesis : hypotheses) {
      auto entry = entries.find(hypothesis.term.bits);
      if (entry == entries.end() || !entry->second.isUsed)
        continue;
      Condition condition{hypothesis.kind, entry->second.rewritten};
      if (!llvm::is_contained(result.hypotheses, condition))
        result.hypotheses.push_back(condition);
    }
    return result;
  }

private:
  struct Entry {
    unsigned sides = 0;
    /// Whether it is left once common parts are replaced: a term that stays
    /// has it as an operand, or it is a side.
    bool isUsed = false;
    /// Whether a term of one side has it as an operand, or it is a side.
    bool isLargest = false;
    Scalar rewritten = {0};
  };

  bool isLeaf(Scalar term) const { return terms.getOperands(term).empty(); }
  /// Whether it stays, with what takes the place of its operands. Leaves stay
  /// as they are, whichever side they are on.
  bool isOpen(Scalar term, const Entry &entry) const {
    bool isLookedInto =
        part == CommonPart::Operands && entry.isUsed && entry.isLargest;
    return (entry.sides != OnBoth || isLookedInto) && !isLeaf(term);
  }

  void meet(Scalar term, unsigned sides, bool isUsed, bool isLargest) {
    auto [place, isNew] = entries.try_emplace(term.bits);
    Entry &entry = place->second;
    bool wasOpen = !isNew && isOpen(term, entry);
    entry.sides |= sides;
    entry.isUsed |= isUsed;
    entry.isLargest |= isLargest;
    openCount += isOpen(term, entry);
    openCount -= wasOpen;
    if (isNew)
      queue.push(term.bits);
  }

  /// Its operands come before. Whether an atom stands for the term now.
  bool rewrite(Scalar term) {
    Entry &entry = entries[term.bits];
    entry.rewritten = term;
    if (!entry.isUsed || isLeaf(term))
      return false;
    if (!isOpen(term, entry)) {
      entry.rewritten = terms.atom(standIn, {static_cast<int64_t>(term.bits)},
                                   terms.getSort(term));
      return true;
    }
    llvm::SmallVector<Scalar> operands;
    for (Scalar operand : terms.getOperands(term))
      operands.push_back(entries.lookup(operand.bits).rewritten);
    entry.rewritten = terms.withOperands(term, operands);
    return false;
  }

  TermAlgebra &terms;
  CommonPart part;
  llvm::DenseMap<uint64_t, Entry> entries;
  std::priority_queue<uint64_t> queue; ///< met, and not looked at
  llvm::SmallVector<Scalar> found;     ///< looked at, users before operands
  unsigned openCount = 0; ///< terms of one side in the queue, but for leaves
};
} // namespace

Generalization verify::generalize(TermAlgebra &terms, Scalar left, Scalar right,
                                  llvm::ArrayRef<Condition> hypotheses,
                                  CommonPart part) {
  return CommonTerms(terms, left, right, part)
      .generalize(left, right, hypotheses);
}
