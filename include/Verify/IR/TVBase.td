//===- TVBase.td - the tv dialect and its op base classes --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect, and the base classes that make semantics compulsory: a compute
// op that states neither an index relation nor a composition does not link.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVBASE
#define VERIFY_IR_TVBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Verify/IR/TVInterfaces.td"

def TV_Dialect : Dialect {
  let name = "tv";
  let cppNamespace = "::verify::tv";
  let summary = "programs, execution plans and what relates them";
  let description = [{
    `tv` describes a training run twice: as a reference program for one device
    and as an execution plan for many, and states which part of which reference
    tensor each tensor of the plan holds.

    At *plan level* (`tv.plan`, `tv.segment`, `tv.program`) order, buffers and
    communication are explicit, one program for each device of a replica. At
    *graph level* (`tv.graph`) both programs are SSA over all devices at once:
    a value of the plan is one tensor for each coordinate of its domain. A
    *stage* (`tv.stage`) is the unit of proof.
  }];
  let extraClassDeclaration = [{ void registerAttributes(); }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

/// The op does not state an index relation: it is a composition, or it is not
/// a computation.
def TV_SemanticsExempt : NativeOpTrait<"SemanticsExempt"> {
  let cppNamespace = "::verify::tv";
}

/// The op has no derivative; asking for one is an error at the op.
def TV_NotDifferentiable : NativeOpTrait<"NotDifferentiable"> {
  let cppNamespace = "::verify::tv";
}

/// The op accepts tensors that may hold minus infinity.
def TV_AcceptsExtended : NativeOpTrait<"AcceptsExtended"> {
  let cppNamespace = "::verify::tv";
}

/// Real elements may become elements that may be minus infinity.
def TV_WidensElements : NativeOpTrait<"WidensElements"> {
  let cppNamespace = "::verify::tv";
}

/// The op is meant where no two elements of its first operand are equal in a
/// row (docs/Soundness.md, A23).
def TV_AssumesNoTies : NativeOpTrait<"AssumesNoTies"> {
  let cppNamespace = "::verify::tv";
}

/// The op's body asks of two positions only which of them is less, or whether
/// they are equal.
def TV_ComparesPositions : NativeOpTrait<"ComparesPositions"> {
  let cppNamespace = "::verify::tv";
}

/// Each element of the result is one of an operand: the op's body gets one
/// scalar, and gives it.
def TV_MovesElements : NativeOpTrait<"MovesElements"> {
  let cppNamespace = "::verify::tv";
}

/// The op's body asks of its first two scalars only whether the first one is
/// less, and nothing of positions that its relation may name.
def TV_ComparesOperands : NativeOpTrait<"ComparesOperands"> {
  let cppNamespace = "::verify::tv";
}

/// The op may sum over coordinates of an axis of the mesh, or read at another
/// coordinate than its own.
def TV_RunsAlongAxes : NativeOpTrait<"RunsAlongAxes"> {
  let cppNamespace = "::verify::tv";
}

/// The op accepts tensors of integers.
def TV_AcceptsIntegers : NativeOpTrait<"AcceptsIntegers"> {
  let cppNamespace = "::verify::tv";
}

/// The op accepts tensors of booleans (i1).
def TV_AcceptsBooleans : NativeOpTrait<"AcceptsBooleans"> {
  let cppNamespace = "::verify::tv";
}

/// The result is real even where an operand is not.
def TV_ReturnsReal : NativeOpTrait<"ReturnsReal"> {
  let cppNamespace = "::verify::tv";
}

/// The result is boolean, or real: 1 where it holds, else 0.
def TV_ReturnsTruth : NativeOpTrait<"ReturnsTruth"> {
  let cppNamespace = "::verify::tv";
}

/// The first operand is boolean, and says which of the others an element is of.
def TV_SelectsOperands : NativeOpTrait<"SelectsOperands"> {
  let cppNamespace = "::verify::tv";
}

/// The result is of integers even where no operand is.
def TV_ReturnsIntegers : NativeOpTrait<"ReturnsIntegers"> {
  let cppNamespace = "::verify::tv";
}

class TV_RequireSemantics<list<Trait> traits> {
  list<Trait> value =
    !if(!empty(!filter(t, traits, !eq(t, TV_SemanticsExempt))),
        [DeclareOpInterfaceMethods<TV_SemanticsOpInterface>], []<Trait>)
    # !if(!empty(!filter(t, traits, !eq(t, TV_NotDifferentiable))),
        [DeclareOpInterfaceMethods<TV_DifferentiableOpInterface>], []<Trait>);
}

class TV_Op<string mnemonic, list<Trait> traits = []>
    : Op<TV_Dialect, mnemonic, traits>;

/// An op that computes tensors from tensors.
class TV_ComputeOp<string mnemonic, list<Trait> traits = []>
    : TV_Op<mnemonic, [Pure] # TV_RequireSemantics<traits>.value # traits>;

/// An op that is defined as a composition of others.
class TV_CompositionOp<string mnemonic, list<Trait> traits = []>
    : TV_Op<mnemonic,
        [Pure, TV_SemanticsExempt, TV_NotDifferentiable,
         DeclareOpInterfaceMethods<TV_CompositionOpInterface>] # traits>;

def TV_Tensor : RankedTensorOf<[AnyType]>;

#endif // VERIFY_IR_TVBASE
