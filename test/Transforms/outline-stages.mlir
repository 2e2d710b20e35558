// RUN: verify-opt %s --tv-outline-stages | FileCheck %s

// A stage reaches back to tensors whose lineage another stage shows. The expects that
// no result needs (number 2) get no stage.

// CHECK: tv.graph @graph
// CHECK-COUNT-5: tv.expect

// CHECK: tv.stage @stage0 <dp = 2, device = 1, mb = 2> expects array<i64: 0>(%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: tv.linear %[[X]], %[[W]] :
// CHECK-NEXT: tv.distribute %[[X]] <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> :
// CHECK-NEXT: tv.distribute %[[W]] <[0:4 of 4], [0:4 of 4]> on <device = 0> :
// CHECK-NEXT: tv.linear
// CHECK-NEXT: tv.expect
// CHECK-SAME: number 0
// CHECK-NEXT: }

// CHECK-NEXT: tv.stage @stage3 {{.*}} expects array<i64: 3>(%[[Y:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: tv.reduce sum %[[Y]]
// CHECK-NOT: tv.linear
// CHECK: tv.distribute %[[Y]] <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> assumes 0
// CHECK-NOT: tv.linear
// CHECK: number 3 contract <output "sum_1">

// CHECK: tv.stage @stage1 {{.*}} expects array<i64: 1>()
// CHECK: number 1
// CHECK: tv.stage @stage4 {{.*}} expects array<i64: 4>(
// CHECK: assumes 1
// CHECK: number 4 contract <gradient "layers.0.weight">
// CHECK-NOT: tv.stage

tv.graph @graph <dp = 2, device = 1, mb = 2> {
  %0 = tv.input <input "data"> : tensor<4x4xf32>
  %1 = tv.input <parameter "layers.0.weight"> : tensor<4x4xf32>
  %2 = tv.linear %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tv.reduce sum %2 {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
  %4 = tv.reshape %3 : (tensor<f32>) -> tensor<1xf32>
  %5 = tv.constant dense<1.000000e+00> : tensor<1xf32> : () -> tensor<1xf32>
  %6 = tv.reshape %5 : (tensor<1xf32>) -> tensor<f32>
  %7 = tv.broadcast %6 {dimensions = array<i64>} : (tensor<f32>) -> tensor<4x4xf32>
  %8 = tv.einsum %7, %1 {equation = "An,nk->Ak"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = tv.einsum %7, %0 {equation = "An,Ak->nk"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = tv.distribute %0 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %11 = tv.distribute %1 <[0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %12 = tv.linear %10, %11 on <device = 0> : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %13 = tv.reduce sum %12 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
  %14 = tv.reshape %13 on <device = 0> : (tensor<f32>) -> tensor<1xf32>
  %15 = tv.constant dense<1.000000e+00> : tensor<1xf32> on <device = 0> : () -> tensor<1xf32>
  %16 = tv.reshape %15 on <device = 0> : (tensor<1xf32>) -> tensor<f32>
  %17 = tv.broadcast %16 on <device = 0> {dimensions = array<i64>} : (tensor<f32>) -> tensor<1x4xf32>
  %18 = tv.einsum %17, %11 on <device = 0> {equation = "An,nk->Ak"} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %19 = tv.einsum %17, %10 on <device = 0> {equation = "An,Ak->nk"} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %20 = tv.accumulate %19 over <mb = 0:2> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %21 = tv.all_reduce %20 over ["dp"] on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tv.expect %12 is %2 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 0 : tensor<1x4xf32> is tensor<4x4xf32>
  tv.expect %17 is %7 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 1 : tensor<1x4xf32> is tensor<4x4xf32>
  tv.expect %18 is %8 <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 2 : tensor<1x4xf32> is tensor<4x4xf32>
  tv.expect %14 is %4 <[0:1 of 1] sum dp, mb> on <device = 0> number 3 contract <output "sum_1"> : tensor<1xf32> is tensor<1xf32>
  tv.expect %21 is %9 <[0:4 of 4], [0:4 of 4]> on <device = 0> number 4 contract <gradient "layers.0.weight"> : tensor<4x4xf32> is tensor<4x4xf32>
}
