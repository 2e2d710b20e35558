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

namespace verify {

/// Replays accepted equations over terms of one algebra.
class Replay {
public:
  Replay(TermAlgebra &terms, Normalizer &normalizer)
      : terms(terms), normalizer(normalizer) {}

  /// Takes note of claims the solver has accepted.
  void accept(llvm::ArrayRef<Claim> claims);
  /// Whether a claim that was used as a hypothesis is one of the conditions the
  /// caller gave.
  bool isHypothesis(const Claim &claim, llvm::ArrayRef<Condition> given);
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

  /// A pair that is equal to the node, or nothing if a step is missing.
  std::optional<Pair> translate(Scalar root);
  std::optional<Pair> translateNode(Scalar node);
  /// What the normalizer says, which is not believed.
  Pair claimedForm(Scalar node);
  /// Whether every operand was replayed to its claimed normal form.
  bool haveClaimedForms(llvm::ArrayRef<Scalar> operands);
  /// The node over translated operands (`isLiteral`) or over their claimed
  /// normal forms, in which case equations are applied.
  Pair meaningOf(Scalar node);
  Pair meaningOfLeaf(Scalar node) const;
  Pair meaningOfSum(Scalar node);
  Pair meaningOfSelect(Scalar node);
  Pair meaningOfPower(Scalar node);
  Scalar meaningOfCompare(Scalar node);
  Scalar meaningOfExtendedCompare(Comparison comparison, const Pair &left,
                                  const Pair &right);
  Pair meaningOfMaximum(Scalar node);
  Pair meaningOfUninterpreted(Scalar node);
  void listExtended(Scalar node, llvm::SmallVectorImpl<Pair> &values);
  Pair operand(Scalar node);

  /// The term and what accepted equations make of it, in turn.
  llvm::SmallVector<Scalar, 4> versions(Scalar term) const;
  uint64_t find(uint64_t term);
  bool areEqual(Scalar left, Scalar right) {
    return find(left.bits) == find(right.bits);
  }
  /// `goal`, if it is what the parts of `term` multiply to.
  Scalar expand(Scalar term, Scalar goal);
  /// Operations on versions of terms that an equation is about, if there are
  /// such.
  Scalar times(Scalar left, Scalar right);
  Scalar inverse(Scalar term);
  Scalar sum(llvm::ArrayRef<WeightedScalar> summands);
  Scalar complement(Scalar indicator);
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse);
  bool isConstant(Scalar term, int64_t value) const;

  TermAlgebra &terms;
  Normalizer &normalizer;
  /// Accepted equations from left to right, and classes of equal terms.
  llvm::DenseMap<uint64_t, Scalar> equations;
  llvm::DenseMap<uint64_t, uint64_t> classes;
  std::vector<Claim> signs;
  llvm::DenseMap<uint64_t, Pair> translated;
  bool isLiteral = false;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_REPLAY_H
