//===- TVDialect.h - the tv dialect, its attributes and types --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVDIALECT_H
#define VERIFY_IR_TVDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "Verify/IR/TVDialect.h.inc"
#include "Verify/IR/TVEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Verify/IR/TVAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Verify/IR/TVTypes.h.inc"

namespace verify {
/// Attributes of an op of a plan, with which a frontend states the piece that
/// its one result is, or by result a list of pieces and units.
inline constexpr llvm::StringLiteral pieceName = "tv.piece",
                                     piecesName = "tv.pieces";
/// An attribute of an op that goes by rank: what the plan declares instead.
/// That is where the part of a `tv.slice` starts, or the order of the members
/// of a gather; a unit where it does not say.
inline constexpr llvm::StringLiteral declaredName = "tv.declared";
/// An attribute of a `tv.undefined` at the place of an execution that takes the
/// value, and does not have to give it.
inline constexpr llvm::StringLiteral takenName = "tv.taken";
/// An attribute of a plan, and of the module it was linked in, with which a
/// frontend says that the plan's runtime does otherwise than the plan was read:
/// `{place = loc(...), reason = "..."}`. Nothing is proved of such a plan.
inline constexpr llvm::StringLiteral executedOtherwiseName =
    "tv.executed_otherwise";
/// An attribute of a plan, with which a frontend says in words what was assumed
/// where it was read; one of the report's assumptions.
inline constexpr llvm::StringLiteral assumptionName = "tv.assumption";
} // namespace verify

#endif // VERIFY_IR_TVDIALECT_H
