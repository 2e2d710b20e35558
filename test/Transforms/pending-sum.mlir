// RUN: verify-opt %s --tv-canonicalize-ssa --tv-outline-stages | FileCheck %s
// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s --check-prefix=PROVED

// A term of a sum is not a part of the reference's tensor, whatever the plan states
// about it: no lemma speaks of it, and a stage extends through the sum (assumption A13
// of docs/Soundness.md).

// CHECK: lemmas = 1 : i64
// CHECK: tv.expect %[[SUM:.*]] is %{{.*}} <> on <device = 0:2> number 0
// CHECK: tv.expect %{{.*}} number 1 contract <output "loss">
// CHECK: tv.stage @stage0
// CHECK: tv.reduce sum
// CHECK: %[[FIRST:.*]] = tv.reduce sum %{{.*}} on <device = 0>
// CHECK: %[[SECOND:.*]] = tv.reduce sum %{{.*}} on <device = 1>
// CHECK: tv.all_reduce %[[FIRST]], %[[SECOND]]
// CHECK: }
// CHECK: tv.stage @stage1
// CHECK-NOT: tv.all_reduce
// PROVED: tv.answer = "proved"

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>, tv.piece = #tv.piece<5, []>} : (tensor<4xf32>) -> tensor<f32>
    %1 = tv.exp %0 : (tensor<f32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>, tv.piece = #tv.piece<5, [], 0 of 2>} : (tensor<2xf32>) -> tensor<f32>
    %1 = tv.communicate all_reduce %0 group [0, 1] {tv.piece = #tv.piece<5, []>} : (tensor<f32>) -> tensor<f32>
    %2 = tv.exp %1 : (tensor<f32>) -> tensor<f32>
    tv.return %2 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward0(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>, tv.piece = #tv.piece<5, [], 1 of 2>} : (tensor<2xf32>) -> tensor<f32>
    %1 = tv.communicate all_reduce %0 group [0, 1] {tv.piece = #tv.piece<5, []>} : (tensor<f32>) -> tensor<f32>
    %2 = tv.exp %1 : (tensor<f32>) -> tensor<f32>
    tv.return %2 : tensor<f32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward1(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
