//===- RingIdentities.h - claims that need no solver ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_RINGIDENTITIES_H
#define VERIFY_LIB_SOLVER_RINGIDENTITIES_H

#include "Verify/Scalar/Laws.h"
#include "Verify/Scalar/Terms.h"

namespace verify {

/// Whether a claim is an equation between real terms that holds whatever the
/// terms stand for that are no sums, products or constants: both sides are one
/// polynomial in these. Exact. False as well where that would take long.
bool isRingIdentity(const TermAlgebra &terms, const Claim &claim);

} // namespace verify

#endif // VERIFY_LIB_SOLVER_RINGIDENTITIES_H
