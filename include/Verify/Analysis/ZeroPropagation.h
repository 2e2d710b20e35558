//===- ZeroPropagation.h - what zeros make of an op -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derived from index relations and scalar bodies, so an op states nothing for
// it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_ZEROPROPAGATION_H
#define VERIFY_ANALYSIS_ZEROPROPAGATION_H

#include "Verify/IR/TVOps.h"

namespace verify {

/// Whether all elements of a real result are 0 wherever they are defined,
/// because some of the operands are 0.
bool computesZero(tv::SemanticsOpInterface op, const IndexRelation &relation,
                  llvm::function_ref<bool(mlir::Value)> isZero);

/// The number of an operand whose elements are those of the result, position by
/// position, wherever the result is defined: that of a copy, or what is added
/// to 0.
std::optional<unsigned>
findForwarded(tv::SemanticsOpInterface op, const IndexRelation &relation,
              llvm::function_ref<bool(mlir::Value)> isZero);

} // namespace verify

#endif // VERIFY_ANALYSIS_ZEROPROPAGATION_H
