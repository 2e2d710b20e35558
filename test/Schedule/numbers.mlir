// RUN: verify-opt %s --tv-check-schedule | FileCheck %s
// CHECK: tv.live_activations = array<i64: 3>

// Executions and loaders may have any numbers.

tv.plan @plan <dp = 1, device = 1, mb = 3> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 9223372036854775807 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 9223372036854775807 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.load_data cell 9223372036854775806 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward(%0) instance 9223372036854775807 mirror -1 : (tensor<4xf32>) -> ()
    tv.call @forward(%1) instance 9223372036854775806 mirror -2 : (tensor<4xf32>) -> ()
    tv.call @forward(%2) instance -9223372036854775808 mirror -3 : (tensor<4xf32>) -> ()
    tv.call @backward() instance -1 mirror 9223372036854775807 : () -> ()
    tv.call @backward() instance -2 mirror 9223372036854775806 : () -> ()
    tv.call @backward() instance -3 mirror -9223372036854775808 : () -> ()
  }
}
