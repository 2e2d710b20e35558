// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @reference
tv.graph @reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %row = tv.input <parameter "row"> : tensor<8xf32>
  %i = tv.input <input "i"> : tensor<4xi64>
  // CHECK: tv.maximum %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %maximum = tv.maximum %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.minimum %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %minimum = tv.minimum %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.minimum %{{.*}}, %{{.*}} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %clamped = tv.minimum %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: tv.relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %relu = tv.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.abs %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %abs = tv.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.sign %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sign = tv.sign %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.compare less %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %less = tv.compare less %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.compare not_equal %{{.*}}, %{{.*}} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  %other = tv.compare not_equal %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: tv.compare equal
  %equal = tv.compare equal %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: tv.compare less_equal
  %most = tv.compare less_equal %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: tv.compare less %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %is_less = tv.compare less %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: tv.to_real %{{.*}} : (tensor<4x8xi1>) -> tensor<4x8xf32>
  %count = tv.to_real %is_less : (tensor<4x8xi1>) -> tensor<4x8xf32>
  // CHECK: tv.to_real %{{.*}} : (tensor<4xi64>) -> tensor<4xf32>
  %number = tv.to_real %i : (tensor<4xi64>) -> tensor<4xf32>
  // CHECK: tv.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %lesser = tv.select %is_less, %x, %row : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: tv.constant dense<0xFFF00000{{0*}}> : tensor<f64> : () -> tensor<!tv.extended<f32>>
  %never = tv.constant dense<0xFFF0000000000000> : tensor<f64> : () -> tensor<!tv.extended<f32>>
  // CHECK: tv.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xi1>, tensor<!tv.extended<f32>>, tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  %masked = tv.select %is_less, %never, %x : (tensor<4x8xi1>, tensor<!tv.extended<f32>>, tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  %true = tv.constant dense<true> : tensor<i1> : () -> tensor<i1>
  // CHECK: tv.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xi1>, tensor<i1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  %either = tv.select %is_less, %true, %is_less : (tensor<4x8xi1>, tensor<i1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: tv.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %chosen = tv.select %true, %i, %clamped : (tensor<i1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
}

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // CHECK: tv.compare less_equal %{{.*}}, %{{.*}} on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %most = tv.compare less_equal %x, %x on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.relu %{{.*}} on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %relu = tv.relu %x on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
}
