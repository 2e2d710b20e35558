// RUN: verify-opt %s --tv-verify-equiv -verify-diagnostics -split-input-file

// What the outputs of a run are: the sum over replicas and micro-batches (assumption
// A5 of docs/Soundness.md). Four runs of the plan make one of the reference.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %1 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
    %2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %3 = tv.call @forward(%2) instance 3 : (tensor<1xf32>) -> tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// A plan that gives its share of an average.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %1 = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %0 = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    %c = tv.constant dense<0.25> : tensor<f32> : () -> tensor<f32>
    %1 = tv.multiply %0, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
    %2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %3 = tv.call @forward(%2) instance 3 : (tensor<1xf32>) -> tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// The average of each run is not a share of the average of all.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{the reference value is computed here}}
    %1 = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    // expected-note @below {{other value}}
    %0 = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    // expected-error @below {{output 'loss' differs from the reference}}
    // expected-note @below {{counterexample: with the inputs of seed 0}}
    // expected-note @below {{element [] of output 'loss' is -0.5 in the plan and -0.125 in the reference}}
    // expected-note @below {{1 of 1 results}}
    tv.output %1 "loss" <8, []> : tensor<f32>
    %2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %3 = tv.call @forward(%2) instance 3 : (tensor<1xf32>) -> tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}
