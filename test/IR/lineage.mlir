// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @pair <dp = 2, device = 2, mb = 4> {
tv.graph @pair <dp = 2, device = 2, mb = 4> {
  // CHECK: %[[W:.*]] = tv.input <parameter "w"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<4x8xf32>
  // CHECK: %[[LOSS:.*]] = tv.input <input "loss"> : tensor<1xf32>
  %loss = tv.input <input "loss"> : tensor<1xf32>
  // CHECK: %[[PART:.*]] = tv.distribute %[[W]] <[dp, 0:2 of 2], [4:8 of 8]> on <device = 1> : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %part = tv.distribute %w <[dp, 0:2 of 2], [4:8 of 8]> on <device = 1> : (tensor<4x8xf32>) -> tensor<2x4xf32>
  // CHECK: tv.expect %[[PART]] is %[[W]] <[dp, 0:2 of 2], [4:8 of 8]> on <device = 1> : tensor<2x4xf32> is tensor<4x8xf32>
  tv.expect %part is %w <[dp, 0:2 of 2], [4:8 of 8]> on <device = 1> : tensor<2x4xf32> is tensor<4x8xf32>
  // CHECK: %[[A:.*]] = tv.undefined "a" on <device = 0> : tensor<1xf32>
  %a = tv.undefined "a" on <device = 0> : tensor<1xf32>
  %b = tv.undefined "b" on <device = 1> : tensor<1xf32>
  // On a domain without named axes, and a scalar.
  // CHECK: %[[ALL:.*]] = tv.undefined "c" on <> : tensor<f32>
  %c = tv.undefined "c" on <> : tensor<f32>
  %scalar = tv.input <input "scalar"> : tensor<f32>
  // CHECK: tv.expect %[[ALL]] is %{{.*}} <> on <> : tensor<f32> is tensor<f32>
  tv.expect %c is %scalar <> on <> : tensor<f32> is tensor<f32>
  // CHECK: tv.expect %[[A]], %{{.*}} is %[[LOSS]] <[0:1 of 1] sum dp, mb> on <device = 0:2> number 3 contract <output "loss"> : tensor<1xf32>, tensor<1xf32> is tensor<1xf32>
  tv.expect %a, %b is %loss <[0:1 of 1] sum dp, mb> on <device = 0:2> number 3 contract <output "loss"> : tensor<1xf32>, tensor<1xf32> is tensor<1xf32>
}

// A graph without ops, with attributes.
// CHECK: tv.graph @empty <> attributes {tv.note = 1 : i64} {
// CHECK-NEXT: }
tv.graph @empty <> attributes {tv.note = 1 : i64} {
}

// CHECK: tv.stage @stage <dp = 2> expects array<i64: 3, 8>(%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>) {
tv.stage @stage <dp = 2> expects array<i64: 3, 8>(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: tv.add %[[X]], %[[Y]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = tv.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.distribute %{{.*}} <[0:4 of 4]> on <dp = 0> assumes 7 : (tensor<4xf32>) -> tensor<4xf32>
  %local = tv.distribute %sum <[0:4 of 4]> on <dp = 0> assumes 7 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.expect
  tv.expect %local is %sum <[0:4 of 4]> on <dp = 0> : tensor<4xf32> is tensor<4xf32>
}

// CHECK: tv.stage @without_arguments <dp = 2> expects array<i64>() attributes {factors = []} {
tv.stage @without_arguments <dp = 2> expects array<i64>() attributes {factors = []} {
}
