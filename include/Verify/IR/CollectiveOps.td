//===- CollectiveOps.td - communication as data flow -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives at graph level: one operand for each explicit domain that takes
// part, in group order, and the free axes that take part besides. The result is
// the same on each member.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_COLLECTIVEOPS
#define VERIFY_IR_COLLECTIVEOPS

include "Verify/IR/TVAttributes.td"

def TV_AllReduceOp : TV_ComputeOp<"all_reduce",
    [TV_NotDifferentiable, TV_RunsAlongAxes]> {
  let summary = "combination of operands, and of free axes";
  let description = [{
    Every member gets the sum of all operands, each summed over the coordinates
    of `axes`; `by` names another combination. An average divides the sum by the
    number of operands times that of coordinates. A maximum, minimum or product
    is one of operands only.

    Example: `%2 = tv.all_reduce %0, %1 over ["dp"] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Variadic<TV_Tensor>:$operands, StrArrayAttr:$axes,
      OptionalAttr<TV_DomainAttr>:$domain,
      DefaultValuedAttr<TV_ReductionKindAttr,
                        "::verify::tv::ReductionKind::Sum">:$kind);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $operands (`by` `` $kind^)? `over` $axes (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TV_AllGatherOp : TV_ComputeOp<"all_gather",
    [TV_NotDifferentiable, TV_RunsAlongAxes, TV_MovesElements,
     TV_AcceptsExtended, TV_AcceptsIntegers, TV_AcceptsBooleans]> {
  let summary = "concatenation of the operands, or of the coordinates of an axis";
  let description = [{
    Every member gets the operands one after the other along `dimension`, in
    group order; with `over` what the one operand is at each coordinate of that
    axis, in the order of coordinates.

    Example: `%2 = tv.all_gather %0, %1 on <device = 0:2> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>`
    or `%2 = tv.all_gather %0 over "rank" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>`
  }];
  let arguments = (ins Variadic<TV_Tensor>:$operands, I64Attr:$dimension,
                       OptionalAttr<StrAttr>:$axis,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $operands (`over` $axis^)? (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TV_AllSliceOp : TV_ComputeOp<"all_slice",
    [TV_NotDifferentiable, TV_RunsAlongAxes, TV_MovesElements,
     TV_AcceptsExtended, TV_AcceptsIntegers, TV_AcceptsBooleans]> {
  let summary = "the part of the operand that the coordinate on an axis names";
  let description = [{
    `dimension` is cut into as many equal parts as `axis` has coordinates, and
    each coordinate keeps its own.

    Example: `%1 = tv.all_slice %0 over "rank" on <device = 0> {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, I64Attr:$dimension, StrAttr:$axis,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $operand `over` $axis (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TV_MoveOp : TV_ComputeOp<"move",
    [TV_NotDifferentiable, TV_RunsAlongAxes, TV_MovesElements,
     TV_AcceptsExtended, TV_AcceptsIntegers, TV_AcceptsBooleans]> {
  let summary = "the operand, at other coordinates";
  let description = [{
    Send and receive, or broadcast. The operand is read at the coordinates of
    the result, except on the axes of `from`, each of which fixes one
    coordinate.

    Example: `%1 = tv.move %0 from <device = 1> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, TV_DomainAttr:$source,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $operand `from` $source (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_AccumulateOp : TV_ComputeOp<"accumulate",
    [TV_NotDifferentiable, TV_RunsAlongAxes]> {
  let summary = "sum over coordinates of an axis";
  let description = [{
    What a gradient buffer holds when it is read: exactly the terms added since
    the last reset, each once. The result does not depend on the axis.

    Example: `%1 = tv.accumulate %0 over <mb = 0:15> on <device = 1> : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, TV_AxisSetAttr:$over,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $operand `over` $over (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // VERIFY_IR_COLLECTIVEOPS
