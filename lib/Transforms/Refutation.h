//===- Refutation.h - makes a failed proof concrete -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes reference and plan on the same full-size inputs. Only a result of
// the contract that comes out different, in intervals, is refuted; everything
// else that was not proved is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_REFUTATION_H
#define VERIFY_LIB_TRANSFORMS_REFUTATION_H

#include "EquivalenceChecker.h"
#include "Verify/Transforms/Report.h"

namespace verify {

/// Judges results that were not proved and reports each at its op.
Answer refute(const EquivalenceChecker &checker, tv::GraphOp graph,
              llvm::ArrayRef<tv::ExpectOp> failed, unsigned seed);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_REFUTATION_H
