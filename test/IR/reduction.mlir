// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s
// RUN: verify-opt %s | FileCheck %s --check-prefix=SPACES --strict-whitespace

// What follows another word on a line follows one space.
// SPACES-NOT: {{[^ ]  }}

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // CHECK: tv.reduce sum %{{.*}} {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sum = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: tv.reduce average %{{.*}} keep {dimensions = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %average = tv.reduce average %x keep {dimensions = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  // CHECK: tv.reduce maximum %{{.*}} {dimensions = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %maximum = tv.reduce maximum %x {dimensions = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: tv.reduce minimum %{{.*}} {dimensions = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %minimum = tv.reduce minimum %x {dimensions = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: tv.lower_triangle : () -> tensor<4x6xf32>
  %triangle = tv.lower_triangle : () -> tensor<4x6xf32>
  // CHECK: tv.cumulative_sum %{{.*}} {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cumulative = tv.cumulative_sum %x {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.softmax %{{.*}} {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %softmax = tv.softmax %x {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %mask = tv.input <input "mask"> : tensor<4x8x!tv.extended<f32>>
  // CHECK: tv.softmax %{{.*}} {dimension = 1 : i64} : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  %masked = tv.softmax %mask {dimension = 1 : i64} : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
}

// CHECK-LABEL: tv.graph @layer_norm
tv.graph @layer_norm <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<8xf32>
  // CHECK: tv.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = tv.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4x8xf32>
  // CHECK: tv.reduce sum %{{.*}} keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %sum = tv.reduce sum %x keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // CHECK: tv.softmax %{{.*}} on <device = 0> {dimension = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %softmax = tv.softmax %x on <device = 0> {dimension = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
}
