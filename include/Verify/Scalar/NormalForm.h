//===- NormalForm.h - normal forms of terms ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites terms to polynomials over generators (atoms, exponentials, roots,
// inverses of sums, maxima, indicators, unknown functions) and writes down what
// it did: claims, each of which follows from polynomial arithmetic and the
// instances of laws it names. The solver checks the claims; nothing rests on
// the rewriting itself.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_NORMALFORM_H
#define VERIFY_SCALAR_NORMALFORM_H

#include "Verify/Scalar/Laws.h"

#include <functional>
#include <memory>

namespace verify {

/// The number of a record of one normalizer.
using RecordId = uint32_t;

/// A part of an argument: what it claims, and from what the claims follow.
struct Record {
  llvm::SmallVector<Claim, 2> claims;
  /// The laws the claims follow from.
  llvm::SmallVector<InstanceId, 4> instances;
  /// Records whose claims the claims of this record follow from.
  llvm::SmallVector<RecordId, 2> needs;
  /// Records whose equations were used to replace equals by equals.
  llvm::SmallVector<RecordId, 2> uses;
  /// Terms that were replaced by their normal forms, operand by operand; the
  /// records of all their nodes are used.
  llvm::SmallVector<Scalar, 2> roots;

  bool isEmpty() const {
    return claims.empty() && instances.empty() && needs.empty() &&
           uses.empty() && roots.empty();
  }
};

/// Where normalization gives up.
struct NormalizerLimits {
  /// The most monomials of one polynomial.
  size_t monomials = 20000;
  /// The most products of monomials in one product of polynomials.
  size_t products = 2000000;
  /// The most generators of a polynomial whose cases are told apart.
  unsigned indicators = 3;
  /// Steps, products of monomials and what takes as long, after which
  /// `beforeMoreSteps` is asked, once, whether to go on.
  size_t freeSteps = 0;
  std::function<bool()> beforeMoreSteps = {};
  /// Steps after which it gives up; 0 if it does not.
  size_t mostSteps = 0;
};

class NormalizerState;

/// Normalizes terms of one algebra under fixed hypotheses.
class Normalizer {
public:
  Normalizer(TermAlgebra &terms, llvm::ArrayRef<Condition> hypotheses,
             const NormalizerLimits &limits = {});
  ~Normalizer();

  /// Why nothing can be normalized any more, if so.
  const std::optional<std::string> &failure() const;
  /// Whether it is that there were too many steps.
  bool isExhausted() const;

  /// The normal form of a term, as a real term: 0 or 1 for a boolean, the
  /// finite part of an extended one.
  Scalar getNormalForm(Scalar term);
  /// The normal form of the indicator that an extended term is finite.
  Scalar getFiniteness(Scalar term);

  /// A record from which `left = right` follows, if the normal forms are equal.
  std::optional<RecordId> proveEqual(Scalar left, Scalar right);
  /// A record from which the condition follows, if its sign was found.
  std::optional<RecordId> proveCondition(const Condition &condition);

  const Record &getRecord(RecordId record) const;
  /// The record of a node that proveEqual has normalized, if it has one.
  std::optional<RecordId> getRecordOf(Scalar term) const;
  const LawBook &getLaws() const;
  LawBook &getLaws();

private:
  std::unique_ptr<NormalizerState> state;
};

} // namespace verify

#endif // VERIFY_SCALAR_NORMALFORM_H
