//===- TVInterfaces.h - semantics of an op, and what is derived -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interfaces every op implements, and the pieces shared by families of ops:
// relations that follow from shapes alone, and checks derived from relations.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVINTERFACES_H
#define VERIFY_IR_TVINTERFACES_H

#include "Verify/Scalar/ScalarAlgebra.h"
#include "Verify/Semantics/IndexRelation.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace verify {

/// What the elements of a tensor are to an op: real numbers of any float type,
/// real numbers or minus infinity, integers, or booleans (i1). No op is defined
/// on anything else.
enum class ElementKind : uint8_t { Real, Extended, Integer, Boolean, Other };
ElementKind getElementKind(mlir::Type type);

/// Checks that each tensor of an op has a static shape.
llvm::LogicalResult verifyStaticShapes(mlir::Operation *op);

/// Checks the element types of an op with one result: its traits accept those
/// of the operands, which are of one kind, and the result has that kind too.
llvm::LogicalResult verifyElements(mlir::Operation *op);

/// Checks operand and result types of an op against its index relation, ranks
/// and sizes, and its element types.
llvm::LogicalResult verifyShapes(mlir::Operation *op);

/// The relation of an op on corresponding elements: dimensions aligned from the
/// last, size 1 and missing ones repeated.
mlir::FailureOr<IndexRelation> elementwiseRelation(mlir::Operation *op);

/// The product of all scalars, the body of every contraction.
Scalar product(ScalarAlgebra &algebra, llvm::ArrayRef<Scalar> scalars);

/// The least of `scalars`, of which there is at least one.
Scalar minimum(ScalarAlgebra &algebra, llvm::ArrayRef<Scalar> scalars);

/// A boolean scalar as an element of a tensor of `type`, of booleans or of real
/// numbers: 1 where it holds, else 0.
Scalar truth(ScalarAlgebra &algebra, mlir::Type type, Scalar condition);

/// Whether the tensor may hold minus infinity.
bool isExtended(mlir::Type type);

/// Whether elements are real numbers, none of them minus infinity.
bool isReal(mlir::Type type);

/// The type without minus infinity, which is that of gradients, too.
mlir::RankedTensorType getRealType(mlir::Type type);

} // namespace verify

namespace verify::tv {

template <typename ConcreteType>
class SemanticsExempt
    : public mlir::OpTrait::TraitBase<ConcreteType, SemanticsExempt> {};

template <typename ConcreteType>
class NotDifferentiable
    : public mlir::OpTrait::TraitBase<ConcreteType, NotDifferentiable> {};

/// The op accepts tensors that may hold minus infinity.
template <typename ConcreteType>
class AcceptsExtended
    : public mlir::OpTrait::TraitBase<ConcreteType, AcceptsExtended> {};

/// Real elements may become elements that may be minus infinity.
template <typename ConcreteType>
class WidensElements
    : public mlir::OpTrait::TraitBase<ConcreteType, WidensElements> {};

/// The op is meant where no two elements of its first operand are equal in a
/// row (docs/Soundness.md, A23).
template <typename ConcreteType>
class AssumesNoTies
    : public mlir::OpTrait::TraitBase<ConcreteType, AssumesNoTies> {};

/// The op's body asks of two positions only which of them is less, or whether
/// they are equal.
template <typename ConcreteType>
class ComparesPositions
    : public mlir::OpTrait::TraitBase<ConcreteType, ComparesPositions> {};

/// Each element of the result is one of an operand: the op's body gets one
/// scalar, and gives it.
template <typename ConcreteType>
class MovesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, MovesElements> {};

/// The op's body asks of its first two scalars only whether the first one is
/// less, and nothing of positions that its relation may name.
template <typename ConcreteType>
class ComparesOperands
    : public mlir::OpTrait::TraitBase<ConcreteType, ComparesOperands> {};

/// The op may sum over coordinates of an axis of the mesh, or read at another
/// coordinate than its own.
template <typename ConcreteType>
class RunsAlongAxes
    : public mlir::OpTrait::TraitBase<ConcreteType, RunsAlongAxes> {};

/// The op accepts tensors of integers.
template <typename ConcreteType>
class AcceptsIntegers
    : public mlir::OpTrait::TraitBase<ConcreteType, AcceptsIntegers> {};

/// The op accepts tensors of booleans.
template <typename ConcreteType>
class AcceptsBooleans
    : public mlir::OpTrait::TraitBase<ConcreteType, AcceptsBooleans> {};

/// The op's result is boolean, or real: 1 where it holds, else 0.
template <typename ConcreteType>
class ReturnsTruth
    : public mlir::OpTrait::TraitBase<ConcreteType, ReturnsTruth> {};

/// The op's first operand is boolean, and says which of the others an element
/// is of.
template <typename ConcreteType>
class SelectsOperands
    : public mlir::OpTrait::TraitBase<ConcreteType, SelectsOperands> {};

/// The op's result is of integers even where no operand is.
template <typename ConcreteType>
class ReturnsIntegers
    : public mlir::OpTrait::TraitBase<ConcreteType, ReturnsIntegers> {};

/// The op's result is real even where an operand is not.
template <typename ConcreteType>
class ReturnsReal : public mlir::OpTrait::TraitBase<ConcreteType, ReturnsReal> {
};

} // namespace verify::tv

#include "Verify/IR/TVInterfaces.h.inc"

#endif // VERIFY_IR_TVINTERFACES_H
