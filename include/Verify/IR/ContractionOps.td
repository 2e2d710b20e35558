//===- ContractionOps.td - sums of products ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_CONTRACTIONOPS
#define VERIFY_IR_CONTRACTIONOPS

include "Verify/IR/TVAttributes.td"

class TV_ContractionOp<string mnemonic, dag operands, list<Trait> traits = []>
    : TV_ComputeOp<mnemonic, traits> {
  let arguments = !con(operands, (ins OptionalAttr<TV_DomainAttr>:$domain));
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = [{
    ::verify::Scalar $cppClass::combine(
        ::verify::ScalarAlgebra &algebra,
        ::llvm::ArrayRef<::verify::Scalar> scalars) {
      return ::verify::product(algebra, scalars);
    }
  }];
}

def TV_LinearOp : TV_ContractionOp<"linear",
    (ins TV_Tensor:$input, TV_Tensor:$weight)> {
  let summary = "input times transposed weight";
  let description = [{
    `result[..., n] = sum over k of input[..., k] * weight[n, k]`.

    Example: `%2 = tv.linear %0, %1 : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>`
  }];
}

def TV_MatmulOp : TV_ContractionOp<"matmul",
    (ins TV_Tensor:$left, TV_Tensor:$right)> {
  let summary = "batched matrix product";
  let description = [{
    `result[..., m, n] = sum over k of left[..., m, k] * right[..., k, n]`; all
    leading dimensions agree.

    Example: `%2 = tv.matmul %0, %1 : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<2x4x5xf32>`
  }];
}

def TV_EinsumOp : TV_ContractionOp<"einsum",
    (ins Variadic<TV_Tensor>:$operands, StrAttr:$equation)> {
  let summary = "sum of products over labelled dimensions";
  let description = [{
    One letter for each dimension; dimensions with the same letter share their
    index, and letters that the result lacks are summed.

    Example: `%2 = tv.einsum %0, %1 {equation = "bn,bk->nk"} : (tensor<4x8xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>`
  }];
}

#endif // VERIFY_IR_CONTRACTIONOPS
