// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // CHECK: tv.reshape %{{.*}} : (tensor<4x8xf32>) -> tensor<4x2x4xf32>
  %split = tv.reshape %x : (tensor<4x8xf32>) -> tensor<4x2x4xf32>
  // CHECK: tv.reshape %{{.*}} : (tensor<4x8xf32>) -> tensor<1x32x1xf32>
  %merged = tv.reshape %x : (tensor<4x8xf32>) -> tensor<1x32x1xf32>
  // CHECK: tv.reshape %{{.*}} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %refined = tv.reshape %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: tv.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %transpose = tv.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: tv.slice %{{.*}} {dimension = 1 : i64, end = 8 : i64, start = 4 : i64} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %slice = tv.slice %x {dimension = 1 : i64, start = 4 : i64, end = 8 : i64} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: tv.pad %{{.*}} {dimension = 0 : i64, high = 2 : i64, low = 1 : i64} : (tensor<4x8xf32>) -> tensor<7x8xf32>
  %pad = tv.pad %x {dimension = 0 : i64, low = 1 : i64, high = 2 : i64} : (tensor<4x8xf32>) -> tensor<7x8xf32>
  // CHECK: tv.concat %{{.*}}, %{{.*}} {dimension = 0 : i64} : (tensor<4x8xf32>, tensor<7x8xf32>) -> tensor<11x8xf32>
  %concat = tv.concat %x, %pad {dimension = 0 : i64} : (tensor<4x8xf32>, tensor<7x8xf32>) -> tensor<11x8xf32>
  // CHECK: tv.broadcast %{{.*}} {dimensions = array<i64: 0, 2>} : (tensor<4x8xf32>) -> tensor<4x3x8xf32>
  %broadcast = tv.broadcast %x {dimensions = array<i64: 0, 2>} : (tensor<4x8xf32>) -> tensor<4x3x8xf32>
  // CHECK: tv.broadcast %{{.*}} {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %scalar = tv.input <input "scalar"> : tensor<f32>
  %repeat = tv.broadcast %scalar {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  // Elements of every kind move.
  %tokens = tv.input <input "tokens"> : tensor<4xi64>
  // CHECK: tv.reshape %{{.*}} : (tensor<4xi64>) -> tensor<2x2xi64>
  %table = tv.reshape %tokens : (tensor<4xi64>) -> tensor<2x2xi64>
  %truth = tv.constant dense<true> : tensor<i1> : () -> tensor<4xi1>
  // CHECK: tv.concat %{{.*}}, %{{.*}} {dimension = 0 : i64} : (tensor<4xi1>, tensor<4xi1>) -> tensor<8xi1>
  %both = tv.concat %truth, %truth {dimension = 0 : i64} : (tensor<4xi1>, tensor<4xi1>) -> tensor<8xi1>
}

// CHECK-LABEL: tv.graph @minus_infinity_moves
tv.graph @minus_infinity_moves <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // CHECK: tv.reshape %{{.*}} : (tensor<4x!tv.extended<f32>>) -> tensor<2x2x!tv.extended<f32>>
  %reshape = tv.reshape %x : (tensor<4x!tv.extended<f32>>) -> tensor<2x2x!tv.extended<f32>>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4x8xf32>
  // CHECK: tv.transpose %{{.*}} on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %transpose = tv.transpose %x on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: tv.concat %{{.*}}, %{{.*}} on <device = 0> {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %concat = tv.concat %x, %x on <device = 0> {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
}
