//===- Replay.h - that accepted steps make up the whole ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The solver accepts single equations. That these give the equality of two
// terms is found out here, from the terms and the accepted equations alone:
// what each kind of node means is stated once more, and equals are replaced by
// equals until the claimed normal form appears. The code of the normal form is
// not believed in any of this.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_REPLAY_H
#define VERIFY_LIB_SOLVER_REPLAY_H

#include "Verify/Scalar/NormalForm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace verify {

/// Replays accepted equations over terms of one algebra.
class Replay {
public:
  Replay(TermAlgebra &terms, Normalizer &normalizer)
      : terms(terms), normalizer(normalizer) {}

  /// Takes note of claims the solver has accepted.
  void accept(llvm::ArrayRef<Claim> claims);
  /// Whether the conditions of hypotheses are those the caller gave.
  bool areHypotheses(llvm::ArrayRef<Claim> used,
                     llvm::ArrayRef<Condition> given);
  /// Whether the terms are equal, or the condition holds, by what was accepted.
  bool proves(Scalar left, Scalar right);
  bool proves(const Condition &condition);

private:
  /// A node as real terms: its value, and 1 or the indicator that it is finite.
  struct Pair {
    Scalar value, mask;
    bool operator==(const Pair &other) const {
      return value == other.value && mask == other.mask;
    }
  };

  /// The node over its normal forms, if that was replayed.
  std::optional<Pair> translate(Scalar node);
  std::optional<Pair> translateNode(Scalar node);
  bool isConnected(Scalar operand);
  Pair literalOf(Scalar node);
  Pair claimedForm(Scalar node);
  /// The node in terms of the claimed normal forms of its operands.
  std::optional<Pair> meaningOf(Scalar node);
  Pair meaningOfLeaf(Scalar node);
  Pair meaningOfSum(Scalar node, bool isLiteral);
  Pair meaningOfSelect(Scalar node, bool isLiteral);
  Scalar meaningOfPower(Scalar node);
  Scalar meaningOfCompare(Scalar node);
  Scalar meaningOfExtendedCompare(Comparison comparison, const Pair &left,
                                  const Pair &right);
  Pair meaningOfMaximum(Scalar node);
  Pair meaningOfUninterpreted(Scalar node);
  void listExtended(Scalar node, llvm::SmallVectorImpl<Pair> &values);

  /// Replaces by accepted equations as long as there are any.
  Scalar rewrite(Scalar term);
  /// The same inside products and inverses.
  Scalar rewriteInside(Scalar term);
  Scalar times(Scalar left, Scalar right);
  Scalar complement(Scalar indicator);
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse,
                bool isLiteral);
  bool isOne(Scalar term) const;
  bool isZero(Scalar term) const;

  TermAlgebra &terms;
  Normalizer &normalizer;
  llvm::DenseMap<uint64_t, Scalar> equations;
  llvm::DenseSet<std::pair<uint64_t, unsigned>> signs;
  /// Translated nodes.
  llvm::DenseMap<uint64_t, Pair> translated;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_REPLAY_H
