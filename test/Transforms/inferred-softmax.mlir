// RUN: verify-opt %s --tv-canonicalize-ssa -split-input-file | FileCheck %s
// RUN: verify-opt %s --tv-verify-equiv -verify-diagnostics -split-input-file

// Attention is one op of a plan, of which each element depends on all scores of a row. What an
// exponential leads to has a lemma where what comes next sums over tokens; numbers made of literals
// are no tensors.

// CHECK-LABEL: tv.graph
// CHECK: %[[W:.+]] = tv.multiply {{.*}} -> tensor<4x2x3xf32>
// CHECK: %[[P:.+]] = tv.multiply {{.*}} -> tensor<1x2x3xf32>
// CHECK: tv.expect %[[P]] is %[[W]] <[dp, mb, 0:1 of 1], [0:2 of 2], [0:3 of 3]> on <device = 0>
// CHECK: tv.expect {{.*}} contract
// CHECK-NOT: tv.expect
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4x6xf32>):
    %h = tv.reshape %x : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
    %e = tv.exp %h : (tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
    %s = tv.reduce sum %e keep {dimensions = array<i64: 2>} : (tensor<4x2x3xf32>) -> tensor<4x2x1xf32>
    %p = tv.divide %e, %s : (tensor<4x2x3xf32>, tensor<4x2x1xf32>) -> tensor<4x2x3xf32>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f64>
    %rate = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f64>
    %kept = tv.subtract %one, %rate : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %q = tv.divide %p, %kept : (tensor<4x2x3xf32>, tensor<f64>) -> tensor<4x2x3xf32>
    %w = tv.multiply %q, %q : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
    %l = tv.reduce sum %w {dimensions = array<i64: 0, 1, 2>} : (tensor<4x2x3xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %d0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:6 of 6]>] : tensor<4x6xf32>
    %c0 = tv.call @forward(%d0) instance 2 : (tensor<4x6xf32>) -> tensor<f32>
    tv.output %c0 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1x6xf32>):
    %h = tv.reshape %x : (tensor<1x6xf32>) -> tensor<1x2x3xf32>
    %e = tv.exp %h : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %s = tv.reduce sum %e keep {dimensions = array<i64: 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x1xf32>
    %p = tv.divide %e, %s : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x2x3xf32>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f64>
    %rate = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f64>
    %kept = tv.subtract %one, %rate : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %q = tv.divide %p, %kept : (tensor<1x2x3xf32>, tensor<f64>) -> tensor<1x2x3xf32>
    %w = tv.multiply %q, %q : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %l = tv.reduce sum %w {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %d0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:6 of 6]>] : tensor<1x6xf32>
    %c0 = tv.call @forward(%d0) instance 2 : (tensor<1x6xf32>) -> tensor<f32>
    tv.output %c0 "loss" <8, []> : tensor<f32>
    %d1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:6 of 6]>] : tensor<1x6xf32>
    %c1 = tv.call @forward(%d1) instance 3 : (tensor<1x6xf32>) -> tensor<f32>
    tv.output %c1 "loss" <8, []> : tensor<f32>
  }
}

// -----

// Another rate: the lemma is of what is the same.

// CHECK-LABEL: tv.graph
// CHECK: %[[W:.+]] = tv.divide {{.*}} -> tensor<4x2x3xf32>
// CHECK: %[[P:.+]] = tv.divide {{.*}} -> tensor<1x2x3xf32>
// CHECK: tv.expect %[[P]] is %[[W]] <[dp, mb, 0:1 of 1], [0:2 of 2], [0:3 of 3]> on <device = 0>
// CHECK: tv.expect {{.*}} contract
// CHECK-NOT: tv.expect
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4x6xf32>):
    %h = tv.reshape %x : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
    %e = tv.exp %h : (tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
    %s = tv.reduce sum %e keep {dimensions = array<i64: 2>} : (tensor<4x2x3xf32>) -> tensor<4x2x1xf32>
    %p = tv.divide %e, %s : (tensor<4x2x3xf32>, tensor<4x2x1xf32>) -> tensor<4x2x3xf32>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f64>
    %rate = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f64>
    %kept = tv.subtract %one, %rate : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %q = tv.divide %p, %kept : (tensor<4x2x3xf32>, tensor<f64>) -> tensor<4x2x3xf32>
    %w = tv.multiply %q, %q : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
    // expected-note @below {{the reference value is computed here}}
    %l = tv.reduce sum %w {dimensions = array<i64: 0, 1, 2>} : (tensor<4x2x3xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %d0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:6 of 6]>] : tensor<4x6xf32>
    %c0 = tv.call @forward(%d0) instance 2 : (tensor<4x6xf32>) -> tensor<f32>
    tv.output %c0 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1x6xf32>):
    %h = tv.reshape %x : (tensor<1x6xf32>) -> tensor<1x2x3xf32>
    %e = tv.exp %h : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %s = tv.reduce sum %e keep {dimensions = array<i64: 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x1xf32>
    %p = tv.divide %e, %s : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x2x3xf32>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f64>
    %rate = tv.constant dense<0.5> : tensor<f64> : () -> tensor<f64>
    // expected-note @below {{the operands of 'tv.subtract' are values of the reference, its result is no part}}
    %kept = tv.subtract %one, %rate : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %q = tv.divide %p, %kept : (tensor<1x2x3xf32>, tensor<f64>) -> tensor<1x2x3xf32>
    %w = tv.multiply %q, %q : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %l = tv.reduce sum %w {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %d0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:6 of 6]>] : tensor<1x6xf32>
    %c0 = tv.call @forward(%d0) instance 2 : (tensor<1x6xf32>) -> tensor<f32>
    // expected-error @below {{output 'loss' differs from the reference on device 0 of each of 2 replicas}}
    // expected-note @below {{element [] of output 'loss' is 10.6872 in the plan}}
    // expected-note @below {{as a consequence 1 of 1 results comes out wrong}}
    // expected-note @below {{counterexample: with the inputs of seed 0}}
    tv.output %c0 "loss" <8, []> : tensor<f32>
    %d1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:6 of 6]>] : tensor<1x6xf32>
    %c1 = tv.call @forward(%d1) instance 3 : (tensor<1x6xf32>) -> tensor<f32>
    tv.output %c1 "loss" <8, []> : tensor<f32>
  }
}
