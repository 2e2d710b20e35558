//===- ReductionOps.td - reductions and softmax ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_REDUCTIONOPS
#define VERIFY_IR_REDUCTIONOPS

include "Verify/IR/TVAttributes.td"

def TV_ReduceOp : TV_ComputeOp<"reduce"> {
  let summary = "sum, average, maximum or minimum over dimensions";
  let description = [{
    Combines the elements along `dimensions`. A reduced dimension stays with
    size 1 if `keep` is set and disappears otherwise. Where several elements
    are the greatest, or the least, each has an equal part of the derivative.

    Example: `%1 = tv.reduce sum %0 {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins TV_ReductionKindAttr:$kind, TV_Tensor:$operand,
    DenseI64ArrayAttr:$dimensions, UnitAttr:$keep,
    OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $operand (`keep` $keep^)? (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TV_LowerTriangleOp : TV_ComputeOp<"lower_triangle",
    [TV_NotDifferentiable, TV_ComparesPositions]> {
  let summary = "1 on and below the diagonal, 0 above";
  let description = [{
    `result[i, j] = 1 if j <= i else 0`.

    Example: `%0 = tv.lower_triangle : () -> tensor<8x8xf32>`
  }];
  let arguments = (ins OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TV_CumulativeSumOp : TV_CompositionOp<"cumulative_sum"> {
  let summary = "sum of an element and those before it";
  let description = [{
    `result[..., i, ...]` is the sum of the elements at `0` to `i` along
    `dimension`: a contraction with `tv.lower_triangle`. A part of the dimension
    lacks the sum of the parts before it.

    Example: `%1 = tv.cumulative_sum %0 {dimension = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, I64Attr:$dimension,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_SoftmaxOp : TV_CompositionOp<"softmax"> {
  let summary = "exponentials divided by their sum";
  let description = [{
    `exp(x) / sum(exp(x))` along `dimension`. The dimension is whole: splitting
    it gives neither a slice nor a term of a sum. Over the reals, subtracting
    the maximum first changes nothing.

    Example: `%1 = tv.softmax %0 {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, I64Attr:$dimension,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_LayerNormOp : TV_CompositionOp<"layer_norm"> {
  let summary = "normalization over the last dimensions";
  let description = [{
    `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias`,
    with averages over as many trailing dimensions as `weight` and `bias` have
    (https://arxiv.org/abs/1607.06450). These dimensions are whole.

    Example: `%3 = tv.layer_norm %0, %1, %2 {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins TV_Tensor:$operand, TV_Tensor:$weight, TV_Tensor:$bias,
                       F64Attr:$epsilon, OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // VERIFY_IR_REDUCTIONOPS
