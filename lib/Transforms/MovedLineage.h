//===- CommunicatedLineage.h - parts that devices exchange ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_COMMUNICATEDLINEAGE_H
#define VERIFY_LIB_TRANSFORMS_COMMUNICATEDLINEAGE_H

#include "Verify/IR/TVOps.h"

namespace verify {

/// Which part of a tensor of the reference a gather, slice or move gives whose
/// operands are these parts of it; null for other ops, and where it is none. A
/// slice is one that devices keep, or any.
tv::LineageAttr followCommunication(mlir::Operation &op,
                                    llvm::ArrayRef<tv::LineageAttr> operands,
                                    tv::MeshAttr mesh);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_COMMUNICATEDLINEAGE_H
