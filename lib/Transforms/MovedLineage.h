//===- MovedLineage.h - parts of a tensor in other places -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_MOVEDLINEAGE_H
#define VERIFY_LIB_TRANSFORMS_MOVEDLINEAGE_H

#include "Verify/IR/TVOps.h"

namespace verify {

/// Which part of a tensor of the reference an op gives that moves elements of
/// these parts of it (`tv::MovesElements`): by its index relation, in which
/// each dimension of the result is made of the same one of the operands. Null
/// for other ops, and where it is no part.
tv::LineageAttr followMovement(tv::SemanticsOpInterface op,
                               llvm::ArrayRef<tv::LineageAttr> operands,
                               tv::MeshAttr mesh);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_MOVEDLINEAGE_H
