// RUN: verify-opt %s --tv-verify-equiv -verify-diagnostics -split-input-file
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-verify-equiv | FileCheck %s
// CHECK: tv.answer = "proved"

// Half a sum over two devices, as a plan for each of them.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %2 = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    %3 = tv.multiply %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %3 : tensor<f32>
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
    %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
    %3 = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    %4 = tv.multiply %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %4 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward0(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
    %3 = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    %4 = tv.multiply %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %4 : tensor<f32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward1(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}

// -----

// Device 1 takes a quarter.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %2 = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    // expected-note @below {{single-device model: the reference value is computed here}}
    %3 = tv.multiply %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %3 : tensor<f32>
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
    %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
    %3 = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    %4 = tv.multiply %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %4 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward0(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
    %3 = tv.constant dense<0.25> : tensor<f32> : () -> tensor<f32>
    %4 = tv.multiply %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %4 : tensor<f32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
    %1 = tv.call @forward1(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    // expected-error @below {{output 'loss' differs from the reference on device 1}}
    // expected-note @below {{wrong scale factor: the value is 1/2 times that of the reference}}
    // expected-note @below {{as a consequence 1 of 2 results comes out wrong: 1 output, on device 1}}
    // expected-note @below {{counterexample: with the inputs of seed 0, element [] of output 'loss' is}}
    // expected-note @below {{element [] of output 'loss' is}}
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
