// RUN: not verify-opt --tv-verify-equiv %s -o /dev/null 2>&1 | FileCheck %s

// One draw for both micro-batches, where the reference has one for each: which one it is for does not show.

// CHECK: error: 'tv.random' op draws what micro-batches divide, and which one it is for does not show: what it is like is of none

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<2x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r = tv.random "dropout" <14, [0:2 of 2]> like %w : tensor<4xf32> -> tensor<2xf32>
    %s = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xf32>
    %b = tv.multiply %s, %r : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:2 of 2, 0:4 of 4]>] : tensor<2x4xf32>
    %y = tv.call @f(%x) instance 0 : (tensor<2x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.segment @draw on 0 cell 1 {
    %w = tv.read @w : tensor<4xf32>
    %r = tv.random "dropout" <14, [0:1 of 1]> like %w : tensor<4xf32> -> tensor<1xf32>
    tv.return %r : tensor<1xf32>
  }
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<1x4xf32>, %r: tensor<1xf32>):
    %s = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<1x4xf32>) -> tensor<1xf32>
    %b = tv.multiply %s, %r : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %r = tv.call @draw() instance 7 : () -> tensor<1xf32>
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y = tv.call @f(%x, %r) instance 0 : (tensor<1x4xf32>, tensor<1xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @f(%x1, %r) instance 2 : (tensor<1x4xf32>, tensor<1xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
  }
}
