//===- Identities.h - ops whose result is no new value ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op makes of zeros, and where it only passes elements on. Derived from
// index relations and scalar bodies, so an op states nothing for it. All that
// is said holds wherever the result is defined.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_IDENTITIES_H
#define VERIFY_ANALYSIS_IDENTITIES_H

#include "Verify/Analysis/FactorAnalysis.h"

namespace verify {

/// Calls `visit` with the accesses that there are at some positions of the
/// result, for every choice of one part for each of its dimensions, until it
/// returns false; returns whether it never did.
bool forEachPresence(
    const IndexRelation &relation,
    llvm::function_ref<bool(const llvm::BitVector &present)> visit);

using ZeroTest = llvm::function_ref<bool(mlir::Value)>;

/// Whether all elements of a real result are 0, because some operands are.
bool computesZero(tv::SemanticsOpInterface op, const FactorAnalysis &factors,
                  ZeroTest isZero);
/// The same of a result that is defined wherever the operands are.
bool computesTotalZero(tv::SemanticsOpInterface op,
                       const FactorAnalysis &factors, ZeroTest isZero);

/// The number of an operand whose elements are those of the result, position by
/// position: that of a copy, or what is added to 0.
std::optional<unsigned> findForwarded(tv::SemanticsOpInterface op,
                                      const FactorAnalysis &factors,
                                      ZeroTest isZero);

/// Consecutive positions of one dimension of an operand, at all positions of
/// the others.
struct TensorPart {
  unsigned operand = 0;
  unsigned dimension = 0;
  int64_t start = 0;
};

/// The part of an operand that an op gives, if that is all it does.
std::optional<TensorPart> findPart(tv::SemanticsOpInterface op,
                                   const FactorAnalysis &factors);

/// For an op that only concatenates its operands, the start of each one along
/// `dimension`.
struct Concatenation {
  unsigned dimension = 0;
  llvm::SmallVector<int64_t> starts;
};
std::optional<Concatenation> findConcatenation(tv::SemanticsOpInterface op,
                                               const FactorAnalysis &factors);

} // namespace verify

#endif // VERIFY_ANALYSIS_IDENTITIES_H
