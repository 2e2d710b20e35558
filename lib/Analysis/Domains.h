//===- Domains.h - where ops are defined ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DOMAINS_H
#define VERIFY_LIB_ANALYSIS_DOMAINS_H

#include "Verify/Analysis/FactorAnalysis.h"

#include "llvm/ADT/SmallBitVector.h"

namespace verify {

/// What decides whether an op is defined where its operands are.
struct DomainCondition {
  /// Nothing does: it is defined whatever they are.
  bool isMet = true;
  /// Otherwise the operands that do, a bit for each.
  llvm::SmallBitVector operands;
};

/// Reads it off the scalar body.
DomainCondition getDomainCondition(tv::SemanticsOpInterface op,
                                   const IndexRelation &relation);

/// The accesses of `relation` that elements of the result are always computed
/// from, wherever there are these accesses: what they read is defined where the
/// result is.
llvm::BitVector findStrictAccesses(tv::SemanticsOpInterface op,
                                   const IndexRelation &relation);

/// Whether an op is defined where elements of its operands have these signs
/// (`SignAlgebra::Sign`); those of operands that do not decide are not asked
/// for.
bool isDefinedFor(tv::SemanticsOpInterface op, const FactorAnalysis &factors,
                  const DomainCondition &condition,
                  llvm::function_ref<uint8_t(unsigned operand)> getSigns);

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DOMAINS_H
