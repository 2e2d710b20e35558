// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<2x4x8xf32>
  %w = tv.input <parameter "w"> : tensor<16x8xf32>
  %y = tv.input <input "y"> : tensor<2x8x5xf32>
  // CHECK: tv.linear %{{.*}}, %{{.*}} : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %linear = tv.linear %x, %w : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  // CHECK: tv.matmul %{{.*}}, %{{.*}} : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<2x4x5xf32>
  %matmul = tv.matmul %x, %y : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<2x4x5xf32>
  // CHECK: tv.einsum %{{.*}}, %{{.*}} {equation = "bnk,bkm->mn"} : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<5x4xf32>
  %einsum = tv.einsum %x, %y {equation = "bnk,bkm->mn"} : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<5x4xf32>
  // One operand, and a result of rank 0.
  // CHECK: tv.einsum %{{.*}} {equation = "bnk->"} : (tensor<2x4x8xf32>) -> tensor<f32>
  %sum = tv.einsum %x {equation = "bnk->"} : (tensor<2x4x8xf32>) -> tensor<f32>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4x8xf32>
  %w = tv.undefined "w" on <device = 0> : tensor<16x8xf32>
  // CHECK: tv.linear %{{.*}}, %{{.*}} on <device = 0> : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %linear = tv.linear %x, %w on <device = 0> : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
}
