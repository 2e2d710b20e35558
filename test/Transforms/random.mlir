// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: not verify-opt %s --tv-verify-equiv=random=per-device 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: sed 's/\[2:4 of 4\]> like/[0:2 of 4]> like/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/"dropout" <7, \[0:2/"other dropout" <7, [0:2/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/device = 2/device = 1/; /[/] BEGIN$/,/[/] END$/d' %s | sed 's/\[0:2 of 4\]/[0:4 of 4]/g; s/tensor<2xf32>/tensor<4xf32>/g; /communicate/d; s/%%5/%%4/' > %t.mlir
// RUN: sed 's/"dropout" <7, \[0:4 of 4\]/"dropout" <7, [0:4 of 8]/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=PART
// RUN: verify-opt %t.mlir --tv-verify-equiv=random=per-device | FileCheck %s
// RUN: sed 's/@plan <dp = 1/@plan <dp = 2/; /@reference/,/tv.output/{s/4 of 4/8 of 8/; s/tensor<4x/tensor<8x/g}' %t.mlir > %t-replicas.mlir
// RUN: verify-opt %t-replicas.mlir --tv-verify-equiv | FileCheck %s
// RUN: not verify-opt %t-replicas.mlir --tv-verify-equiv=random=per-device 2>&1 | FileCheck %s --check-prefix=DEVICE

// Dropout of four elements, two on each device. What is drawn for an element is
// the same on either side; with random=per-device each device draws for itself, in
// each replica, and only a plan that draws in one place is the reference.

// CHECK: tv.answer = "proved"
// DEVICE: error: output 'loss' differs
// OTHER: error: output 'loss' differs
// PART: error: the reference holds only a part of dropout of tensor 7
// NONE: the reference program does not belong to this plan: other dropout of tensor 7 does not exist there

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<4xf32>):
      %0 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
      %1 = tv.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
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
      %0 = tv.random "dropout" <7, [0:2 of 4]> like %x : tensor<2xf32> -> tensor<2xf32>
      %1 = tv.multiply %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %4 = tv.reduce sum %1 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
      %5 = tv.communicate all_reduce %4 group [0, 1] : (tensor<f32>) -> tensor<f32>
      tv.return %5 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
      %1 = tv.call @forward0(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
    // BEGIN
    tv.segment @forward1 on 1 cell 2 {
    ^bb0(%x: tensor<2xf32>):
      %0 = tv.random "dropout" <7, [2:4 of 4]> like %x : tensor<2xf32> -> tensor<2xf32>
      %1 = tv.multiply %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %4 = tv.reduce sum %1 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
      %5 = tv.communicate all_reduce %4 group [0, 1] : (tensor<f32>) -> tensor<f32>
      tv.return %5 : tensor<f32>
    }
    tv.program 1 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
      %1 = tv.call @forward1(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
    // END
  }
}
