//===- PiecewiseOps.td - ops that depend on an order -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_PIECEWISEOPS
#define VERIFY_IR_PIECEWISEOPS

include "Verify/IR/ElementwiseBase.td"

def TV_MaximumOp : TV_BinaryOp<"maximum", "algebra.maximum(scalars)",
    [Commutative, TV_AcceptsIntegers]> {
  let summary = "elementwise greater of two";
  let description = [{
    The greater of corresponding elements, with the broadcasting of `tv.add`.
    Where they are equal the derivative by each is taken as 1/2.

    Example: `%2 = tv.maximum %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_MinimumOp : TV_BinaryOp<"minimum",
    "::verify::minimum(algebra, scalars)",
    [Commutative, TV_AcceptsIntegers]> {
  let summary = "elementwise lesser of two";
  let description = [{
    The lesser of corresponding elements, with the broadcasting of `tv.add`.
    Where they are equal the derivative by each is taken as 1/2.

    Example: `%2 = tv.minimum %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_ReluOp : TV_UnaryOp<"relu",
    "algebra.maximum({scalars[0], algebra.rational(0)})"> {
  let summary = "elementwise positive part";
  let description = [{
    `max(x, 0)`. The derivative at 0 is taken as 0.

    Example: `%1 = tv.relu %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_AbsOp : TV_UnaryOp<"abs",
    "algebra.apply(::verify::Function::Abs, scalars[0])"> {
  let summary = "elementwise absolute value";
  let description = [{
    `max(x, -x)`. The derivative at 0 is taken as 0.

    Example: `%1 = tv.abs %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_SignOp : TV_UnaryOp<"sign",
    "algebra.apply(::verify::Function::Sign, scalars[0])"> {
  let summary = "elementwise sign";
  let description = [{
    1, 0 or -1. The derivative is 0, also where there is none.

    Example: `%1 = tv.sign %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_CompareOp : TV_ElementwiseOp<"compare", (ins
    TV_ComparisonKindAttr:$kind, TV_Tensor:$left, TV_Tensor:$right),
    [TV_NotDifferentiable, TV_AcceptsIntegers, TV_ReturnsTruth]> {
  let body = [{
    ::verify::truth(
        algebra, getResult().getType(),
        algebra.compare(static_cast<::verify::Comparison>(getKind()),
                        scalars[0], scalars[1]))
  }];
  let summary = "whether a comparison holds";
  let description = [{
    Compares corresponding elements, with the broadcasting of `tv.add`. The
    result is of booleans, or of real numbers: 1 where it holds, else 0.

    Example: `%2 = tv.compare less %0, %1 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>`
  }];
  let assemblyFormat = [{
    `` $kind $left `,` $right (`on` $domain^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TV_SelectOp : TV_ElementwiseOp<"select", (ins
    TV_Tensor:$condition, TV_Tensor:$ifTrue, TV_Tensor:$ifFalse),
    [TV_SelectsOperands, TV_AcceptsExtended, TV_AcceptsIntegers,
     TV_AcceptsBooleans]> {
  let body = "algebra.select(scalars[0], scalars[1], scalars[2])";
  let summary = "elements of one tensor where a condition holds, else of another";
  let description = [{
    Corresponding elements, with the broadcasting of `tv.add`. The condition is
    of booleans and has no gradient.

    Example: `%3 = tv.select %0, %1, %2 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

#endif // VERIFY_IR_PIECEWISEOPS
