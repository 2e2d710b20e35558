// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %row = tv.input <parameter "row"> : tensor<8xf32>
  %mask = tv.input <input "mask"> : tensor<4x8x!tv.extended<f32>>
  // CHECK: tv.add %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %add = tv.add %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.add %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8x!tv.extended<f32>>) -> tensor<4x8x!tv.extended<f32>>
  %masked = tv.add %x, %mask : (tensor<4x8xf32>, tensor<4x8x!tv.extended<f32>>) -> tensor<4x8x!tv.extended<f32>>
  // CHECK: tv.subtract %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %subtract = tv.subtract %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.multiply %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %multiply = tv.multiply %row, %x : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.divide %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %divide = tv.divide %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.negate %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %negate = tv.negate %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.exp %{{.*}} : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  %exp = tv.exp %masked : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  // CHECK: tv.rsqrt %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %rsqrt = tv.rsqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.sqrt %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sqrt = tv.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.log %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %log = tv.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.tanh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tanh = tv.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.sin %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sin = tv.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.cos %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cos = tv.cos %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.to_real %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf64>
  %real = tv.to_real %x : (tensor<4x8xf32>) -> tensor<4x8xf64>
  // CHECK: tv.sigmoid %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sigmoid = tv.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.silu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %silu = tv.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.erf %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %erf = tv.erf %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.erf_derivative %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %slope = tv.erf_derivative %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.gelu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %gelu = tv.gelu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.copy %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %copy = tv.copy %x : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // CHECK: tv.copy %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  %wide = tv.copy %x : (tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  // The default denominator is not printed.
  // CHECK: tv.power %{{.*}} {numerator = -2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %square = tv.power %x {numerator = -2 : i64, denominator = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.power %{{.*}} {denominator = 2 : i64, numerator = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %root = tv.power %x {denominator = 2 : i64, numerator = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.constant dense<2.500000e+00> : tensor<f64> : () -> tensor<4xf64>
  %splat = tv.constant dense<2.5> : tensor<f64> : () -> tensor<4xf64>
  // CHECK: tv.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64> : () -> tensor<2xf64>
  %table = tv.constant dense<[1.0, 2.0]> : tensor<2xf64> : () -> tensor<2xf64>
  // CHECK: tv.constant dense<7> : tensor<i64> : () -> tensor<i64>
  %integer = tv.constant dense<7> : tensor<i64> : () -> tensor<i64>
  // Integers of one type, and booleans.
  // CHECK: tv.constant dense<true> : tensor<i1> : () -> tensor<4xi1>
  %truth = tv.constant dense<true> : tensor<i1> : () -> tensor<4xi1>
  // CHECK: tv.multiply %{{.*}}, %{{.*}} : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %product = tv.multiply %integer, %integer : (tensor<i64>, tensor<i64>) -> tensor<i64>
  // CHECK: tv.negate %{{.*}} : (tensor<i64>) -> tensor<i64>
  %minus = tv.negate %product : (tensor<i64>) -> tensor<i64>
  // CHECK: tv.copy %{{.*}} : (tensor<4xi1>) -> tensor<4xi1>
  %same = tv.copy %truth : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: tv.detach %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %detached = tv.detach %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // All float types are the real numbers.
  // CHECK: tv.multiply %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf64>
  %mixed = tv.multiply %x, %copy : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf64>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <dp = 2, device = 2> {
  // CHECK: tv.constant dense<2.500000e+00> : tensor<f64> on <device = 1> : () -> tensor<4xf64>
  %x = tv.constant dense<2.5> : tensor<f64> on <device = 1> : () -> tensor<4xf64>
  // CHECK: tv.add %{{.*}}, %{{.*}} on <device = 1> : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %add = tv.add %x, %x on <device = 1> : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  // CHECK: tv.exp %{{.*}} on <device = 1, dp = 0> : (tensor<4xf64>) -> tensor<4xf64>
  %exp = tv.exp %x on <device = 1, dp = 0> : (tensor<4xf64>) -> tensor<4xf64>
  // CHECK: tv.power %{{.*}} on <device = 1> {numerator = 2 : i64} : (tensor<4xf64>) -> tensor<4xf64>
  %power = tv.power %x on <device = 1> {numerator = 2 : i64} : (tensor<4xf64>) -> tensor<4xf64>
}
