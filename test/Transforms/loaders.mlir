// RUN: not verify-opt %s --tv-verify-equiv 2>&1 | FileCheck %s

// The plan reads the data of another loader than the reference. Both give one
// tensor, and the place among a loader's outputs does not tell them apart.

// CHECK: error: 'tv.load_data' op is a second data loader beside cell 1, which is not supported

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 3 {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %0 = tv.subtract %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %1 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["a"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
      %1 = tv.load_data cell 2 ["b"] holds [#tv.piece<3, [0:4 of 4]>] : tensor<4xf32>
      %2 = tv.call @forward(%0, %1) instance 3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
      tv.output %2 "loss" <8, []> : tensor<f32>
    }
  }
  tv.plan @plan <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 3 {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %0 = tv.subtract %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %1 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["a"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
      %1 = tv.load_data cell 2 ["b"] holds [#tv.piece<3, [0:4 of 4]>] : tensor<4xf32>
      %2 = tv.call @forward(%0, %1) instance 3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
      tv.output %2 "loss" <8, []> : tensor<f32>
    }
  }
}
