// RUN: verify-opt %s --tv-canonicalize-ssa | FileCheck %s

// One linear layer and a sum on two replicas, two micro-batches on each: both runs of
// a segment are one op, and what they add to the gradient is a sum over them.

// CHECK: graph_ops = 12 : i64
// CHECK-NOT: tv.plan
// CHECK-LABEL: tv.graph @graph <dp = 2, device = 1, mb = 2>
// CHECK: %[[DATA:.*]] = tv.input <input "data"> : tensor<4x4xf32>
// CHECK: %[[WEIGHT:.*]] = tv.input <parameter "layers.0.weight"> : tensor<4x4xf32>
// CHECK: %[[LINEAR:.*]] = tv.linear %[[DATA]], %[[WEIGHT]] :
// The seed of the gradient is 1 on both sides: assumption A12 of docs/Soundness.md.
// CHECK: tv.constant dense<1.000000e+00> : tensor<1xf32> : () -> tensor<1xf32>
// CHECK: %[[PART:.*]] = tv.distribute %[[DATA]] <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0>
// CHECK: %[[HELD:.*]] = tv.distribute %[[WEIGHT]] <[0:4 of 4], [0:4 of 4]> on <device = 0>
// CHECK: %[[PLANNED:.*]] = tv.linear %[[PART]], %[[HELD]] on <device = 0>
// CHECK-NOT: tv.linear
// CHECK: tv.constant dense<1.000000e+00> : tensor<1xf32> on <device = 0> : () -> tensor<1xf32>
// CHECK: %[[TERM:.*]] = tv.einsum %{{.*}}, %[[PART]] on <device = 0> {equation = "An,Ak->nk"}
// CHECK: %[[ADDED:.*]] = tv.accumulate %[[TERM]] over <mb = 0:2> on <device = 0>
// CHECK: %[[REDUCED:.*]] = tv.all_reduce %[[ADDED]] over ["dp"] on <device = 0>
// CHECK: tv.expect %[[PLANNED]] is %[[LINEAR]] <[dp, mb, 0:1 of 1], [0:4 of 4]> on <device = 0> number 0 :
// CHECK: tv.expect %{{.*}} <[0:1 of 1] sum dp, mb> on <device = 0> number 3 contract <output "sum_1">
// CHECK: tv.expect %[[REDUCED]] is %{{.*}} <[0:4 of 4], [0:4 of 4]> on <device = 0> number 4 contract <gradient "layers.0.weight">

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.buffer @parameter4_13_device0 on 0 "layers.0.weight" holds <4, [0:4 of 4, 0:4 of 4]> : !tv.buffer<tensor<4x4xf32>>
    tv.buffer @gradient_of_parameter4_13_device0 on 0 "layers.0.weight" holds <4, [0:4 of 4, 0:4 of 4]> gradient_of @parameter4_13_device0 : !tv.buffer<tensor<4x4xf32>>
    tv.segment @cell2_device0 on 0 cell 2 {
    ^bb0(%arg0: tensor<4x4xf32>):
      %0 = tv.read @parameter4_13_device0 : tensor<4x4xf32>
      %1 = tv.linear %arg0, %0 {tv.piece = #tv.piece<6, [0:4 of 4, 0:4 of 4]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      tv.save 4 from %arg0, %0 to %1 : tensor<4x4xf32>, tensor<4x4xf32> to tensor<4x4xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
      %3 = tv.reshape %2 {tv.piece = #tv.piece<8, [0:1 of 1]>} : (tensor<f32>) -> tensor<1xf32>
      tv.save 6 from %1 to %3 : tensor<4x4xf32> to tensor<1xf32>
      tv.return %3 : tensor<1xf32>
    }
    tv.segment @cell3_device0 on 0 cell 3 backward {
    ^bb0(%arg0: tensor<1xf32>):
      %0 = tv.backward %arg0 of 6 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<6 gradient, [0:4 of 4, 0:4 of 4]>], wrt = array<i64: 0>} : (tensor<1xf32>) -> tensor<4x4xf32>
      %1:2 = tv.backward %0 of 4 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<2 gradient, [0:4 of 4, 0:4 of 4]>, #tv.piece<4 gradient, [0:4 of 4, 0:4 of 4]>], wrt = array<i64: 0, 1>} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
      tv.add_to %1#1, @gradient_of_parameter4_13_device0 : tensor<4x4xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["data"] holds [#tv.piece<2, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
      %1 = tv.call @cell2_device0(%0) instance 2 mirror 3 : (tensor<4x4xf32>) -> tensor<1xf32>
      %2 = tv.seed : tensor<1xf32>
      tv.call @cell3_device0(%2) instance 3 mirror 2 : (tensor<1xf32>) -> ()
      tv.output %1 "sum_1" <8, [0:1 of 1]> : tensor<1xf32>
    }
  }
  tv.plan @plan <dp = 2, device = 1, mb = 2> {
    tv.buffer @parameter4_13_device0 on 0 "layers.0.weight" holds <4, [0:4 of 4, 0:4 of 4]> : !tv.buffer<tensor<4x4xf32>>
    tv.buffer @gradient_of_parameter4_13_device0 on 0 "layers.0.weight" holds <4, [0:4 of 4, 0:4 of 4]> gradient_of @parameter4_13_device0 : !tv.buffer<tensor<4x4xf32>>
    tv.segment @cell2_device0 on 0 cell 2 {
    ^bb0(%arg0: tensor<1x4xf32>):
      %0 = tv.read @parameter4_13_device0 : tensor<4x4xf32>
      %1 = tv.linear %arg0, %0 {tv.piece = #tv.piece<6, [0:1 of 1, 0:4 of 4]>} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      tv.save 4 from %arg0, %0 to %1 : tensor<1x4xf32>, tensor<4x4xf32> to tensor<1x4xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
      %3 = tv.reshape %2 {tv.piece = #tv.piece<8, [0:1 of 1]>} : (tensor<f32>) -> tensor<1xf32>
      tv.save 6 from %1 to %3 : tensor<1x4xf32> to tensor<1xf32>
      tv.return %3 : tensor<1xf32>
    }
    tv.segment @cell3_device0 on 0 cell 3 backward {
    ^bb0(%arg0: tensor<1xf32>):
      %0 = tv.backward %arg0 of 6 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<6 gradient, [0:1 of 1, 0:4 of 4]>], wrt = array<i64: 0>} : (tensor<1xf32>) -> tensor<1x4xf32>
      %1:2 = tv.backward %0 of 4 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<2 gradient, [0:1 of 1, 0:4 of 4]>, #tv.piece<4 gradient, [0:4 of 4, 0:4 of 4]>], wrt = array<i64: 0, 1>} : (tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<4x4xf32>)
      tv.add_to %1#1, @gradient_of_parameter4_13_device0 : tensor<4x4xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["data"] holds [#tv.piece<2, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
      %1 = tv.call @cell2_device0(%0) instance 10 mirror 9 : (tensor<1x4xf32>) -> tensor<1xf32>
      %2 = tv.seed : tensor<1xf32>
      tv.call @cell3_device0(%2) instance 9 mirror 10 : (tensor<1xf32>) -> ()
      %3 = tv.load_data cell 1 ["data"] holds [#tv.piece<2, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
      %4 = tv.call @cell2_device0(%3) instance 13 mirror 12 : (tensor<1x4xf32>) -> tensor<1xf32>
      %5 = tv.seed : tensor<1xf32>
      tv.call @cell3_device0(%5) instance 12 mirror 13 : (tensor<1xf32>) -> ()
      %6 = tv.read @gradient_of_parameter4_13_device0 : tensor<4x4xf32>
      %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4x4xf32>) -> tensor<4x4xf32>
      tv.write %7, @gradient_of_parameter4_13_device0 : tensor<4x4xf32>
      tv.output %1 "sum_1" <8, [0:1 of 1]> : tensor<1xf32>
      tv.output %4 "sum_1" <22, [0:1 of 1]> : tensor<1xf32>
    }
  }
}
