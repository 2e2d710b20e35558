//===- TVOps.h - the ops of the tv dialect ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVOPS_H
#define VERIFY_IR_TVOPS_H

#include "Verify/IR/TVDialect.h"
#include "Verify/IR/TVInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "Verify/IR/TVOps.h.inc"

namespace verify::tv {
/// Whether an op of a graph gives devices what others have.
bool communicates(mlir::Operation *op);

/// Whether `tv.expect` compares elements of two tensors: of one kind, integers
/// of one type.
bool areComparable(mlir::RankedTensorType value,
                   mlir::RankedTensorType reference);
} // namespace verify::tv

#endif // VERIFY_IR_TVOPS_H
