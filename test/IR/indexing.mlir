// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %tokens = tv.input <input "tokens"> : tensor<4xi64>
  %table = tv.input <parameter "table"> : tensor<8x3xf32>
  // CHECK: tv.one_hot %{{.*}} {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xf32>
  %one_hot = tv.one_hot %tokens {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xf32>
  // CHECK: tv.one_hot_index %{{.*}} : (tensor<4x8xf32>) -> tensor<4xi64>
  %index = tv.one_hot_index %one_hot : (tensor<4x8xf32>) -> tensor<4xi64>
  %scores = tv.input <input "scores"> : tensor<4x8xf32>
  // CHECK: tv.descending_rank %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xi64>
  %rank = tv.descending_rank %scores : (tensor<4x8xf32>) -> tensor<4x8xi64>
  // CHECK: tv.descending_rank %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi64>
  %among = tv.descending_rank %scores, %one_hot : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi64>
  // CHECK: tv.embedding %{{.*}}, %{{.*}} {start = 8 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %embedding = tv.embedding %tokens, %table {start = 8 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK: tv.causal_mask : () -> tensor<1x1x8x8x!tv.extended<f32>>
  %mask = tv.causal_mask : () -> tensor<1x1x8x8x!tv.extended<f32>>
  // CHECK: tv.iota {start = -1 : i64, step = 3 : i64} : () -> tensor<4xi64>
  %every_third = tv.iota {start = -1 : i64, step = 3 : i64} : () -> tensor<4xi64>
  // CHECK: tv.iota {start = 4 : i64, step = -1 : i64} : () -> tensor<5xf32>
  %countdown = tv.iota {start = 4 : i64, step = -1 : i64} : () -> tensor<5xf32>
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %factors = tv.input <input "factors"> : tensor<8x3x2xf32>
  // CHECK: tv.complex_product %{{.*}}, %{{.*}} {position_dimension = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
  %product = tv.complex_product %x, %factors {position_dimension = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <device = 2> {
  %tokens = tv.undefined "tokens" on <device = 0> : tensor<4xi64>
  // CHECK: tv.one_hot %{{.*}} on <device = 0> {start = 4 : i64} : (tensor<4xi64>) -> tensor<4x4xf32>
  %one_hot = tv.one_hot %tokens on <device = 0> {start = 4 : i64} : (tensor<4xi64>) -> tensor<4x4xf32>
  // CHECK: tv.causal_mask on <device = 1> : () -> tensor<8x8x!tv.extended<f32>>
  %mask = tv.causal_mask on <device = 1> : () -> tensor<8x8x!tv.extended<f32>>
}
