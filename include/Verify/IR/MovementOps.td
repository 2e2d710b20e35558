//===- MovementOps.td - elements in other places -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_MOVEMENTOPS
#define VERIFY_IR_MOVEMENTOPS

include "Verify/IR/TVAttributes.td"

class TV_MovementOp<string mnemonic, dag operands, list<Trait> traits =
    [TV_MovesElements, TV_AcceptsExtended, TV_AcceptsIntegers,
     TV_AcceptsBooleans]>
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
      return scalars.empty() ? algebra.rational(0) : scalars[0];
    }
  }];
}

def TV_ReshapeOp : TV_MovementOp<"reshape", (ins TV_Tensor:$operand)> {
  let summary = "the same elements in row-major order in another shape";
  let description = [{
    Sizes are factored by the common refinement of their prefix products.

    Example: `%1 = tv.reshape %0 : (tensor<4x8xf32>) -> tensor<4x2x4xf32>`
  }];
}

def TV_TransposeOp : TV_MovementOp<"transpose",
    (ins TV_Tensor:$operand, DenseI64ArrayAttr:$permutation)> {
  let summary = "permuted dimensions";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the operand.

    Example: `%1 = tv.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>`
  }];
}

def TV_SliceOp : TV_MovementOp<"slice",
    (ins TV_Tensor:$operand, I64Attr:$dimension, I64Attr:$start, I64Attr:$end)> {
  let summary = "a range of one dimension";
  let description = [{
    The elements `start` to `end`, exclusive, along `dimension`.

    Example: `%1 = tv.slice %0 {dimension = 1 : i64, start = 4 : i64, end = 8 : i64} : (tensor<4x8xf32>) -> tensor<4x4xf32>`
  }];
}

def TV_PadOp : TV_MovementOp<"pad",
    (ins TV_Tensor:$operand, I64Attr:$dimension, I64Attr:$low, I64Attr:$high),
    [TV_AcceptsExtended]> {
  let summary = "zeros before and after, along one dimension";
  let description = [{
    Example: `%1 = tv.pad %0 {dimension = 1 : i64, low = 4 : i64, high = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x8xf32>`
  }];
}

def TV_ConcatOp : TV_MovementOp<"concat",
    (ins Variadic<TV_Tensor>:$operands, I64Attr:$dimension)> {
  let summary = "tensors one after the other along one dimension";
  let description = [{
    Example: `%2 = tv.concat %0, %1 {dimension = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>`
  }];
}

def TV_BroadcastOp : TV_MovementOp<"broadcast",
    (ins TV_Tensor:$operand, DenseI64ArrayAttr:$dimensions)> {
  let summary = "repetition along dimensions";
  let description = [{
    Dimension `i` of the operand is dimension `dimensions[i]` of the result, or
    is repeated along it if its size is 1; the others of the result are new.

    Example: `%1 = tv.broadcast %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>`
  }];
}

#endif // VERIFY_IR_MOVEMENTOPS
