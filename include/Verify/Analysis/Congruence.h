//===- Congruence.h - same ops of the same tensors --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that runs on parts of tensors gives a part of what the same op gives on
// the whole ones, if it treats the positions of each divided dimension alike
// and apart.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_CONGRUENCE_H
#define VERIFY_ANALYSIS_CONGRUENCE_H

#include "Verify/IR/TVOps.h"

namespace verify {

/// Whether the ops are the same but for where they run and what they take.
bool isSameOp(mlir::Operation &left, mlir::Operation &right);

/// Which part of the result of `reference` an op like it gives, of type
/// `local`, if it takes the parts `operands` of the operands of `reference`;
/// null if parts of results do not follow from parts of operands. An operand
/// without lineage is the reference's own.
tv::LineageAttr followLineage(tv::SemanticsOpInterface reference,
                              llvm::ArrayRef<tv::LineageAttr> operands,
                              mlir::RankedTensorType local, tv::MeshAttr mesh);

} // namespace verify

#endif // VERIFY_ANALYSIS_CONGRUENCE_H
