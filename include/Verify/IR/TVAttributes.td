//===- TVAttributes.td - mesh, domain, lineage, contract ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVATTRIBUTES
#define VERIFY_IR_TVATTRIBUTES

include "mlir/IR/EnumAttr.td"
include "Verify/IR/TVBase.td"

class TV_Attr<string name, string attrMnemonic>
    : AttrDef<TV_Dialect, name> { let mnemonic = attrMnemonic; }

class TV_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::verify::tv";
  let genSpecializedAttr = 0;
}

def TV_ReductionKind : TV_I32Enum<"ReductionKind", "how terms are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Average", 1, "average">,
  I32EnumAttrCase<"Maximum", 2, "maximum">,
  I32EnumAttrCase<"Minimum", 3, "minimum">,
  I32EnumAttrCase<"Product", 4, "product">
]>;
def TV_ReductionKindAttr : EnumAttr<TV_Dialect, TV_ReductionKind, "reduction">;

def TV_ComparisonKind : TV_I32Enum<"ComparisonKind", "what holds of two numbers", [
  I32EnumAttrCase<"Equal", 0, "equal">,
  I32EnumAttrCase<"NotEqual", 1, "not_equal">,
  I32EnumAttrCase<"Less", 2, "less">,
  I32EnumAttrCase<"LessEqual", 3, "less_equal">
]>;
def TV_ComparisonKindAttr
    : EnumAttr<TV_Dialect, TV_ComparisonKind, "comparison">;

def TV_CollectiveKind : TV_I32Enum<"CollectiveKind",
    "what a group of devices does together", [
  I32EnumAttrCase<"AllReduce", 0, "all_reduce">,
  I32EnumAttrCase<"AllGather", 1, "all_gather">,
  I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">,
  I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
  I32EnumAttrCase<"Broadcast", 4, "broadcast">
]>;
def TV_CollectiveKindAttr
    : EnumAttr<TV_Dialect, TV_CollectiveKind, "collective">;

def TV_ContractRole : TV_I32Enum<"ContractRole",
    "what a boundary tensor is to the run", [
  I32EnumAttrCase<"Input", 0, "input">,
  I32EnumAttrCase<"Parameter", 1, "parameter">,
  I32EnumAttrCase<"Seed", 2, "seed">,
  I32EnumAttrCase<"Output", 3, "output">,
  I32EnumAttrCase<"Gradient", 4, "gradient">,
  I32EnumAttrCase<"Random", 5, "random">
]>;

def TV_AxisAttr : TV_Attr<"Axis", "axis"> {
  let summary = "one named axis of a mesh and its size";
  let description = [{
    Example: `#tv.axis<"dp", 2>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `,` $size `>`";
  let genVerifyDecl = 1;
}

def TV_MeshAttr : TV_Attr<"Mesh", "mesh"> {
  let summary = "the devices and micro-batches as a named grid";
  let description = [{
    Axes from major to minor, each with its size. Micro-batches are one more
    axis: a coordinate in time instead of space.

    Example: `#tv.mesh<dp = 2, device = 4, mb = 16>`
  }];
  let parameters = (ins ArrayRefParameter<"AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Size of the axis `name`, or std::nullopt if there is none.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
  }];
}

def TV_AxisSetAttr : TV_Attr<"AxisSet", "axis_set"> {
  let summary = "a set of coordinates of one axis";
  let description = [{
    Sorted, disjoint, non-adjacent half-open intervals, flattened.

    Example: `#tv.axis_set<mb = 0:15>`, `#tv.axis_set<device = 0:2 | 5>`
  }];
  let parameters = (ins "::mlir::StringAttr":$axis,
                        ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of coordinates.
    int64_t size() const;
    bool contains(int64_t coordinate) const;
    bool isSubsetOf(AxisSetAttr other) const;
  }];
}

def TV_DomainAttr : TV_Attr<"Domain", "domain"> {
  let summary = "the mesh coordinates on which an op of the plan runs";
  let description = [{
    Per axis a set of coordinates; an axis that is not named is free: the op
    runs at all its coordinates. Sorted by axis name.

    Example: `#tv.domain<device = 1, mb = 0:15>`
  }];
  let parameters = (ins ArrayRefParameter<"AxisSetAttr">:$sets);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The set of `axis`, or null if the axis is free.
    AxisSetAttr getSet(::llvm::StringRef axis) const;
    /// Whether each coordinate of this domain lies in `other`, in `mesh`.
    bool isSubsetOf(DomainAttr other, MeshAttr mesh) const;
  }];
}

def TV_DimensionFactorAttr : TV_Attr<"DimensionFactor", "factor"> {
  let summary = "one factor of a reference dimension";
  let description = [{
    Either a mesh axis, which indexes the factor, or the range
    `start:end of extent`, which the plan tensor keeps.

    Example: `#tv.factor<dp>`, `#tv.factor<0:4 of 8>`
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$axis,
    "int64_t":$start, "int64_t":$end, "int64_t":$extent);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TV_LineageAttr : TV_Attr<"Lineage", "lineage"> {
  let summary = "which part of which reference tensor plan values hold";
  let description = [{
    For each reference dimension its factors, major to minor; a plan dimension
    is the product of the kept ranges. `sum` names the axes over which the plan
    value is a term of a sum.

    Example: `#tv.lineage<[dp, mb, 8:16 of 16], [0:1024 of 1024]>`,
    `#tv.lineage<[0:1 of 1] sum dp, mb>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$dimensions,
                        ArrayRefParameter<"::mlir::StringAttr">:$sumAxes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The shape of the reference tensor, in `mesh`.
    ::llvm::SmallVector<int64_t> getReferenceShape(MeshAttr mesh) const;
    /// The shape of one plan value.
    ::llvm::SmallVector<int64_t> getLocalShape() const;
  }];
}

def TV_PieceAttr : TV_Attr<"Piece", "piece"> {
  let summary = "what a frontend states about a plan tensor";
  let description = [{
    The full tensor it is part of, by the frontend's number, whether it is that
    tensor's gradient, the range of each dimension, and which term of how many
    of a sum it is.

    Example: `#tv.piece<349, [8:16 of 16, 0:128 of 128]>`,
    `#tv.piece<8 gradient, [0:4 of 4], 1 of 2>`
  }];
  let parameters = (ins "int64_t":$full, "bool":$gradient,
    ArrayRefParameter<"int64_t">:$bounds, "int64_t":$part, "int64_t":$parts);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TV_NodeLoc : LocationAttrDef<TV_Dialect, "Node"> {
  let cppClassName = "NodeLoc";
  let mnemonic = "node";
  let summary = "the op of a frontend's plan that an op is of";
  let description = [{
    Its name, its number, and where the model has it. A name for each would be
    a string for each.

    Example: `#tv.node<"linear backward" cell 412 at loc("model.py":8:0)>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$cell,
    "::mlir::LocationAttr":$place);
  let assemblyFormat = "`<` $name `cell` $cell `at` $place `>`";
}

def TV_ContractAttr : TV_Attr<"Contract", "contract"> {
  let summary = "the role and name of a tensor at the boundary";
  let description = [{
    Example: `#tv.contract<parameter "layers.0.weight">`
  }];
  let parameters = (ins "ContractRole":$role, "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $role $name `>`";
}

def TV_BufferType : TypeDef<TV_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "device memory that is written more than once";
  let description = [{
    Example: `!tv.buffer<tensor<4x8xf32>>`
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}

def TV_HandleType : TypeDef<TV_Dialect, "Handle"> {
  let mnemonic = "handle";
  let summary = "communication that was started and may be under way";
  let description = [{
    What `tv.start` gives and `tv.wait` takes. It stays in its block, so on its
    device and in its execution.

    Example: `!tv.handle`
  }];
}

def TV_ExtendedType : TypeDef<TV_Dialect, "Extended"> {
  let mnemonic = "extended";
  let summary = "a real number or minus infinity";
  let description = [{
    Element type of tensors that may hold minus infinity, as attention masks do.
    Only sums, maxima, exponentials, comparison, selection and movement accept
    it (docs/Soundness.md).

    Example: `tensor<4x8x!tv.extended<f32>>`
  }];
  let parameters = (ins "::mlir::Type":$real);
  let assemblyFormat = "`<` $real `>`";
  let genVerifyDecl = 1;
}

#endif // VERIFY_IR_TVATTRIBUTES
