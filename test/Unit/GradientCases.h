//===- GradientCases.h - programs to differentiate --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_GRADIENTCASES_H
#define VERIFY_TEST_UNIT_GRADIENTCASES_H

/// The body of a graph: inputs, then forward ops, the last of which gives the
/// output. Inputs whose name starts with "positive" are; integers are 0 to 4.
struct GradientCase {
  const char *name;
  const char *body;
};

inline constexpr GradientCase gradientCases[] = {
    {"Add", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %row = tv.input <input "row"> : tensor<3xf32>
      %y = tv.add %a, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>)"},
    {"AddToMinusInfinity", R"(
      %a = tv.input <input "a"> : tensor<3x3xf32>
      %mask = tv.causal_mask : () -> tensor<3x3x!tv.extended<f32>>
      %masked = tv.add %a, %mask : (tensor<3x3xf32>, tensor<3x3x!tv.extended<f32>>) -> tensor<3x3x!tv.extended<f32>>
      %turned = tv.transpose %masked {permutation = array<i64: 1, 0>} : (tensor<3x3x!tv.extended<f32>>) -> tensor<3x3x!tv.extended<f32>>
      %y = tv.exp %turned : (tensor<3x3x!tv.extended<f32>>) -> tensor<3x3xf32>)"},
    {"OneValueTwice", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %square = tv.multiply %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %y = tv.add %square, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Subtract", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %column = tv.input <input "column"> : tensor<2x1xf32>
      %y = tv.subtract %column, %a : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Multiply", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %b = tv.input <input "b"> : tensor<2x1x3xf32>
      %y = tv.multiply %a, %b : (tensor<3xf32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>)"},
    {"Divide", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.input <input "positive"> : tensor<2x1xf32>
      %y = tv.divide %a, %b : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>)"},
    {"DivideByScalar", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.input <input "positive"> : tensor<f32>
      %y = tv.divide %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>)"},
    {"Negate", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.negate %a : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"Exp", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Rsqrt", R"(
      %a = tv.input <input "positive"> : tensor<2x3xf32>
      %y = tv.rsqrt %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Silu", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.silu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Sigmoid", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.sigmoid %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"GreatestTwo", R"(
      %a = tv.input <input "a"> : tensor<3x4xf32>
      %rank = tv.descending_rank %a : (tensor<3x4xf32>) -> tensor<3x4xi64>
      %first = tv.one_hot %rank {start = 0 : i64} : (tensor<3x4xi64>) -> tensor<3x4x2xf32>
      %y = tv.einsum %a, %first {equation = "ae,aej->aj"} : (tensor<3x4xf32>, tensor<3x4x2xf32>) -> tensor<3x2xf32>)"},
    {"Copy", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.copy %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
      %y = tv.exp %b : (tensor<2x3xbf16>) -> tensor<2x3xbf16>)"},
    {"Square", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.power %a {numerator = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"PowerZero", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.power %a {numerator = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"PowerOne", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.power %a {numerator = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"NegativePower", R"(
      %a = tv.input <input "positive"> : tensor<3xf32>
      %y = tv.power %a {numerator = -3 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"BrokenPower", R"(
      %a = tv.input <input "positive"> : tensor<3xf32>
      %y = tv.power %a {numerator = 5 : i64, denominator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"Linear", R"(
      %x = tv.input <input "x"> : tensor<2x2x3xf32>
      %w = tv.input <parameter "w"> : tensor<4x3xf32>
      %y = tv.linear %x, %w : (tensor<2x2x3xf32>, tensor<4x3xf32>) -> tensor<2x2x4xf32>)"},
    {"Matmul", R"(
      %x = tv.input <input "x"> : tensor<2x2x3xf32>
      %w = tv.input <input "w"> : tensor<2x3x4xf32>
      %y = tv.matmul %x, %w : (tensor<2x2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x2x4xf32>)"},
    {"Einsum", R"(
      %x = tv.input <input "x"> : tensor<2x3x2xf32>
      %w = tv.input <input "w"> : tensor<4x3xf32>
      %v = tv.input <input "v"> : tensor<2x4xf32>
      %y = tv.einsum %x, %w, %v {equation = "akc,nk,an->ca"} : (tensor<2x3x2xf32>, tensor<4x3xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>)"},
    {"EinsumSumsOneOperand", R"(
      %x = tv.input <input "x"> : tensor<2x3x2xf32>
      %w = tv.input <input "w"> : tensor<3xf32>
      %y = tv.einsum %x, %w {equation = "akc,k->a"} : (tensor<2x3x2xf32>, tensor<3xf32>) -> tensor<2xf32>)"},
    {"Sum", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.reduce sum %x {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>)"},
    {"SumOfAll", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>)"},
    {"Average", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.reduce average %x keep {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>)"},
    {"Reshape", R"(
      %x = tv.input <input "x"> : tensor<4x3xf32>
      %y = tv.reshape %x : (tensor<4x3xf32>) -> tensor<2x2x3xf32>)"},
    {"Transpose", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>)"},
    {"Slice", R"(
      %x = tv.input <input "x"> : tensor<2x5xf32>
      %y = tv.slice %x {dimension = 1 : i64, start = 1 : i64, end = 4 : i64} : (tensor<2x5xf32>) -> tensor<2x3xf32>)"},
    {"Pad", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.pad %x {dimension = 1 : i64, low = 2 : i64, high = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>)"},
    {"Concat", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %z = tv.input <input "z"> : tensor<2x1xf32>
      %y = tv.concat %x, %z, %x {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>)"},
    {"Broadcast", R"(
      %x = tv.input <input "x"> : tensor<1x3xf32>
      %y = tv.broadcast %x {dimensions = array<i64: 0, 2>} : (tensor<1x3xf32>) -> tensor<2x4x3xf32>)"},
    {"Softmax", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.softmax %x {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"MaskedSoftmax", R"(
      %x = tv.input <input "x"> : tensor<2x3x3xf32>
      %mask = tv.causal_mask : () -> tensor<3x3x!tv.extended<f32>>
      %masked = tv.add %x, %mask : (tensor<2x3x3xf32>, tensor<3x3x!tv.extended<f32>>) -> tensor<2x3x3x!tv.extended<f32>>
      %y = tv.softmax %masked {dimension = 2 : i64} : (tensor<2x3x3x!tv.extended<f32>>) -> tensor<2x3x3xf32>)"},
    {"Embedding", R"(
      %tokens = tv.input <input "tokens"> : tensor<2x3xi64>
      %table = tv.input <parameter "table"> : tensor<4x2xf32>
      %y = tv.embedding %tokens, %table {start = 1 : i64} : (tensor<2x3xi64>, tensor<4x2xf32>) -> tensor<2x3x2xf32>)"},
    {"ComplexProduct", R"(
      %x = tv.input <input "x"> : tensor<2x3x2x4xf32>
      %factors = tv.input <input "factors"> : tensor<3x2x2xf32>
      %y = tv.complex_product %x, %factors {position_dimension = 1 : i64} : (tensor<2x3x2x4xf32>, tensor<3x2x2xf32>) -> tensor<2x3x2x4xf32>)"},
};

#endif // VERIFY_TEST_UNIT_GRADIENTCASES_H
