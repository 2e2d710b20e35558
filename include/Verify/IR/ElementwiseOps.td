//===- ElementwiseOps.td - ops on corresponding elements ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_ELEMENTWISEOPS
#define VERIFY_IR_ELEMENTWISEOPS

include "Verify/IR/ElementwiseBase.td"

def TV_AddOp : TV_BinaryOp<"add",
    "algebra.add(scalars[0], scalars[1])", [Commutative, TV_AcceptsExtended, TV_AcceptsIntegers]> {
  let summary = "elementwise sum";
  let description = [{
    The sum of corresponding elements. Dimensions are aligned from the last; one
    of size 1, or one that is missing, is repeated. An operand may be extended.

    Example: `%2 = tv.add %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>`
  }];
}

def TV_SubtractOp : TV_BinaryOp<"subtract",
    "algebra.subtract(scalars[0], scalars[1])", [TV_AcceptsIntegers]> {
  let summary = "elementwise difference";
  let description = [{
    `left - right`, with the broadcasting of `tv.add`.

    Example: `%2 = tv.subtract %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_MultiplyOp : TV_BinaryOp<"multiply",
    "algebra.multiply(scalars[0], scalars[1])", [Commutative, TV_AcceptsIntegers]> {
  let summary = "elementwise product";
  let description = [{
    The product of corresponding elements, with the broadcasting of `tv.add`.

    Example: `%2 = tv.multiply %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_DivideOp : TV_BinaryOp<"divide",
    "algebra.divide(scalars[0], scalars[1])"> {
  let summary = "elementwise quotient";
  let description = [{
    `left / right` over the reals, with the broadcasting of `tv.add`. Defined
    where `right` is not 0.

    Example: `%2 = tv.divide %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_NegateOp : TV_UnaryOp<"negate", "algebra.negate(scalars[0])",
    [TV_AcceptsIntegers]> {
  let summary = "elementwise negation";
  let description = [{
    Example: `%1 = tv.negate %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_ExpOp : TV_UnaryOp<"exp",
    "algebra.apply(::verify::Function::Exp, scalars[0])",
    [TV_AcceptsExtended, TV_ReturnsReal]> {
  let summary = "elementwise exponential";
  let description = [{
    `e` to the power of each element; 0 for minus infinity. The result is never
    extended.

    Example: `%1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_RsqrtOp : TV_UnaryOp<"rsqrt",
    "algebra.apply(::verify::Function::Rsqrt, scalars[0])"> {
  let summary = "elementwise reciprocal square root";
  let description = [{
    `1 / sqrt(x)`. Defined where the element is positive.

    Example: `%1 = tv.rsqrt %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_SqrtOp : TV_UnaryOp<"sqrt",
    "algebra.apply(::verify::Function::Sqrt, scalars[0])"> {
  let summary = "elementwise square root";
  let description = [{
    The root that is not negative. Defined where the element is not negative.

    Example: `%1 = tv.sqrt %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_LogOp : TV_UnaryOp<"log",
    "algebra.apply(::verify::Function::Log, scalars[0])"> {
  let summary = "elementwise natural logarithm";
  let description = [{
    Defined where the element is positive.

    Example: `%1 = tv.log %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_SigmoidOp : TV_UnaryOp<"sigmoid",
    "algebra.divide(algebra.rational(1), algebra.add(algebra.rational(1), "
    "algebra.apply(::verify::Function::Exp, algebra.negate(scalars[0]))))"> {
  let summary = "elementwise logistic function";
  let description = [{
    `1 / (1 + exp(-x))`.

    Example: `%1 = tv.sigmoid %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_TanhOp : TV_UnaryOp<"tanh",
    "algebra.apply(::verify::Function::Tanh, scalars[0])"> {
  let summary = "elementwise hyperbolic tangent";
  let description = [{
    `(exp(x) - exp(-x)) / (exp(x) + exp(-x))`.

    Example: `%1 = tv.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_SiluOp : TV_UnaryOp<"silu",
    "algebra.divide(scalars[0], algebra.add(algebra.rational(1), algebra.apply("
    "::verify::Function::Exp, algebra.negate(scalars[0]))))"> {
  let summary = "elementwise x times sigmoid(x)";
  let description = [{
    `x / (1 + exp(-x))`.

    Example: `%1 = tv.silu %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_SinOp : TV_UnaryOp<"sin",
    "algebra.apply(::verify::Function::Sin, scalars[0])"> {
  let summary = "elementwise sine";
  let description = [{
    Of an angle in radians.

    Example: `%1 = tv.sin %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_CosOp : TV_UnaryOp<"cos",
    "algebra.apply(::verify::Function::Cos, scalars[0])"> {
  let summary = "elementwise cosine";
  let description = [{
    Of an angle in radians.

    Example: `%1 = tv.cos %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_ErfOp : TV_UnaryOp<"erf",
    "algebra.apply(::verify::Function::Erf, scalars[0])"> {
  let summary = "elementwise error function";
  let description = [{
    `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to the element.

    Example: `%1 = tv.erf %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_ErfDerivativeOp : TV_UnaryOp<"erf_derivative",
    "algebra.apply(::verify::Function::ErfDerivative, scalars[0])"> {
  let summary = "elementwise derivative of the error function";
  let description = [{
    `2 exp(-x^2) / sqrt(pi)`.

    Example: `%1 = tv.erf_derivative %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_GeluOp : TV_UnaryOp<"gelu",
    "algebra.multiply(algebra.multiply(scalars[0], algebra.rational(1, 2)), "
    "algebra.add(algebra.rational(1), algebra.apply(::verify::Function::Erf, "
    "algebra.multiply(scalars[0], algebra.power(algebra.rational(2), -1, 2)))))"
    > {
  let summary = "elementwise x times the normal distribution function of x";
  let description = [{
    `x / 2 * (1 + erf(x / sqrt(2)))`, without approximation
    (https://arxiv.org/abs/1606.08415).

    Example: `%1 = tv.gelu %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_CopyOp : TV_UnaryOp<"copy", "scalars[0]",
    [TV_MovesElements, TV_AcceptsExtended, TV_WidensElements,
     TV_AcceptsIntegers, TV_AcceptsBooleans]> {
  let summary = "the operand";
  let description = [{
    The operand, unchanged: casts between float types over the reals, and the
    copies frontends make for their own sake (contiguous, identity, multiref).
    Integers are not made from floats, nor floats from integers. Real elements
    may become those of a type that has minus infinity, too.

    Example: `%1 = tv.copy %0 : (tensor<4xbf16>) -> tensor<4xf32>`
  }];
}

def TV_DetachOp : TV_UnaryOp<"detach", "scalars[0]",
    [TV_MovesElements, TV_AcceptsExtended, TV_AcceptsIntegers,
     TV_AcceptsBooleans]> {
  let summary = "the operand, without its gradient";
  let description = [{
    The operand, unchanged. No gradient passes through: the derivative is 0,
    as autograd's of `torch.Tensor.detach` is.

    Example: `%1 = tv.detach %0 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

def TV_ToRealOp : TV_UnaryOp<"to_real",
    "::verify::isReal(getOperand().getType()) ? scalars[0] "
    ": algebra.toReal(scalars[0])",
    [TV_AcceptsIntegers, TV_AcceptsBooleans, TV_ReturnsReal]> {
  let summary = "integers and booleans as real numbers";
  let description = [{
    `true` is 1 and `false` is 0. Integers and booleans have no gradient.

    Example: `%1 = tv.to_real %0 : (tensor<4xi1>) -> tensor<4xf32>`
  }];
}

def TV_PowerOp : TV_ElementwiseOp<"power", (ins TV_Tensor:$operand,
    I64Attr:$numerator, DefaultValuedAttr<I64Attr, "1">:$denominator)> {
  let body = "algebra.power(scalars[0], getNumerator(), getDenominator())";
  let summary = "elementwise power with a constant rational exponent";
  let description = [{
    Each element to the power `numerator / denominator`. Defined everywhere for
    integers >= 0, and where the element is not 0 for negative integers.
    Otherwise defined where the element is positive and, for a positive
    exponent, where it is 0. Both numbers are at most 4096.

    Example: `%1 = tv.power %0 {numerator = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let hasVerifier = 1;
}

def TV_ConstantOp : TV_ComputeOp<"constant", [TV_NotDifferentiable]> {
  let summary = "a tensor of literals";
  let description = [{
    A float literal means the simplest rational that rounds to it in its type
    (docs/Soundness.md, assumption on literals). Literals are finite, at most
    64 bits wide, and of the kind of the result: floats, integers or booleans.
    Of extended elements the one literal is minus infinity.

    Example: `%0 = tv.constant dense<2.5> : tensor<f64> : () -> tensor<4xf64>`
  }];
  let arguments = (ins ElementsAttr:$value,
                       OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $value (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // VERIFY_IR_ELEMENTWISEOPS
