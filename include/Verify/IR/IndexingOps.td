//===- IndexingOps.td - positions as data ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_INDEXINGOPS
#define VERIFY_IR_INDEXINGOPS

include "Verify/IR/TVAttributes.td"

def TV_OneHotOp : TV_ComputeOp<"one_hot",
    [TV_AcceptsIntegers, TV_ReturnsReal]> {
  let summary = "1 where the position equals the index, else 0";
  let description = [{
    `result[..., v] = 1 if indices[...] = v + start else 0`. Indices have no
    gradient.

    Example: `%1 = tv.one_hot %0 {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins TV_Tensor:$indices, I64Attr:$start,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TV_OneHotIndexOp : TV_ComputeOp<"one_hot_index",
    [TV_NotDifferentiable, TV_ReturnsIntegers]> {
  let summary = "the position that is 1";
  let description = [{
    The inverse of `tv.one_hot`: the sum of the positions along the last
    dimension at which the operand is 1.

    Example: `%1 = tv.one_hot_index %0 : (tensor<4x8xf32>) -> tensor<4xi64>`
  }];
  let arguments = (ins TV_Tensor:$operand,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TV_DescendingRankOp : TV_ComputeOp<"descending_rank",
    [TV_NotDifferentiable, TV_ReturnsIntegers, TV_AssumesNoTies,
     TV_ComparesOperands]> {
  let summary = "how many elements of the row are greater";
  let description = [{
    `result[..., i]` counts the `j` with `scores[..., j] > scores[..., i]`; with
    a second operand, each `j` only where `eligible[..., j]` is 1. `tv.one_hot`
    of the first `k` ranks selects the `k` greatest elements in descending
    order. Where two elements are equal the result differs from frameworks that
    give each a rank of its own: selections are assumed to be without ties.

    Example: `%2 = tv.descending_rank %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi64>`
  }];
  let arguments = (ins TV_Tensor:$scores, Optional<TV_Tensor>:$eligible,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TV_EmbeddingOp : TV_CompositionOp<"embedding"> {
  let summary = "rows of a table chosen by index";
  let description = [{
    `result[..., h] = table[indices[...] - start, h]`, or 0 if the index lies
    outside the table: `tv.one_hot` contracted with the table.

    Example: `%2 = tv.embedding %0, %1 {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x3xf32>`
  }];
  let arguments = (ins TV_Tensor:$indices, TV_Tensor:$table, I64Attr:$start,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_IotaOp : TV_ComputeOp<"iota", [TV_NotDifferentiable]> {
  let summary = "numbers at equal steps";
  let description = [{
    `result[i] = start + i * step`, integers or real numbers, of rank 1.

    Example: `%0 = tv.iota {start = 1 : i64, step = 2 : i64} : () -> tensor<4xi64>`
  }];
  let arguments = (ins I64Attr:$start, I64Attr:$step,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TV_CausalMaskOp : TV_ComputeOp<"causal_mask",
    [TV_NotDifferentiable, TV_ComparesPositions]> {
  let summary = "0 on and below the diagonal, minus infinity above";
  let description = [{
    A function of the positions of the last two dimensions alone: query `i` sees
    key `j` if `j <= i`. Provers may treat it as one unknown tensor.

    Example: `%0 = tv.causal_mask : () -> tensor<1x1x8x8x!tv.extended<f32>>`
  }];
  let arguments = (ins OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_ComplexProductOp : TV_CompositionOp<"complex_product"> {
  let summary = "pairs of the last dimension times complex factors";
  let description = [{
    Rotary embedding. Consecutive pairs of the operand's last dimension are
    complex numbers; each is multiplied by `factors[position, pair, :]`, where
    `position` is dimension `position_dimension` of the operand and the last
    dimension of `factors` holds real and imaginary part.

    Example: `%2 = tv.complex_product %0, %1 {position_dimension = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, TV_Tensor:$factors,
    I64Attr:$position_dimension, OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // VERIFY_IR_INDEXINGOPS
