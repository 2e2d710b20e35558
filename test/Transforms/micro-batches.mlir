// RUN: verify-opt %s --tv-verify-equiv -verify-diagnostics -split-input-file
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-verify-equiv | FileCheck %s
// CHECK: tv.answer = "proved"

// Each micro-batch runs a segment of its own, and each gives a term of the output.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 2.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<1.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @forward1 on 0 cell 3 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<2.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward0(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward1(%1) instance 3 : (tensor<1xf32>) -> tensor<f32>
    tv.output %2 "loss" <8, []> : tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// The second micro-batch's weight is that of no element.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 2.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-note @below {{the reference value is computed here}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<1.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    // expected-note @below {{other value}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @forward1 on 0 cell 3 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<3.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward0(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward1(%1) instance 3 : (tensor<1xf32>) -> tensor<f32>
    // expected-error @+4 {{output 'loss' differs from the reference}}
    // expected-note @+3 {{counterexample: with the inputs of seed 0, element [] of output 'loss' is}}
    // expected-note @+2 {{element [] of output 'loss' is}}
    // expected-note @+1 {{1 of 1 results}}
    tv.output %2 "loss" <8, []> : tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// Call k of the loader gives element k: the segments are called in the other order.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 2.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-note @below {{the reference value is computed here}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<1.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    // expected-note @below {{other value}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @forward1 on 0 cell 3 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<2.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward0(%1) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward1(%0) instance 3 : (tensor<1xf32>) -> tensor<f32>
    // expected-error @+4 {{output 'loss' differs from the reference}}
    // expected-note @+3 {{counterexample: with the inputs of seed 0, element [] of output 'loss' is}}
    // expected-note @+2 {{element [] of output 'loss' is}}
    // expected-note @+1 {{1 of 1 results}}
    tv.output %2 "loss" <8, []> : tensor<f32>
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// Both outputs are of the first micro-batch.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 2.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-note @below {{single-device model: the reference value is computed here}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<1.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @forward1 on 0 cell 3 {
  ^bb0(%x: tensor<1xf32>):
    %w = tv.constant dense<2.0> : tensor<1xf32> : () -> tensor<1xf32>
    %0 = tv.multiply %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward0(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward1(%0) instance 3 : (tensor<1xf32>) -> tensor<f32>
    // expected-error @below {{output 'loss' differs from the reference on device 0}}
    // expected-note @below {{counterexample}}
    // expected-note @below {{element []}}
    // expected-note @below {{as a consequence 1 of 1 results}}
    tv.output %2 "loss" <8, []> : tensor<f32>
    // expected-note @below {{mixed micro-batches: micro-batch 0 gives it twice, and another one does not}}
    tv.output %3 "loss" <8, []> : tensor<f32>
  }
}

// -----

// What one segment gives in both micro-batches is the output of the first only.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 2.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.segment @twice on 0 cell 3 {
  ^bb0(%x: tensor<f32>):
    %w = tv.constant dense<2.0> : tensor<f32> : () -> tensor<f32>
    %0 = tv.multiply %x, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward(%1) instance 3 : (tensor<1xf32>) -> tensor<f32>
    %4 = tv.call @twice(%3) instance 4 : (tensor<f32>) -> tensor<f32>
    tv.output %2 "loss" <8, []> : tensor<f32>
    tv.output %4 "loss" <8, []> : tensor<f32>
  }
}

// -----

// The first segment's value of the second micro-batch is no part of the output.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.constant dense<[1.0, 3.0]> : tensor<2xf32> : () -> tensor<2xf32>
    %0 = tv.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-note @below {{the reference value is computed here}}
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %1 "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    // expected-note @below {{other value}}
    %0 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.segment @twice on 0 cell 3 {
  ^bb0(%x: tensor<f32>):
    %w = tv.constant dense<2.0> : tensor<f32> : () -> tensor<f32>
    %0 = tv.multiply %x, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.return %0 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %2 = tv.call @forward(%0) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %3 = tv.call @forward(%1) instance 3 : (tensor<1xf32>) -> tensor<f32>
    %4 = tv.call @twice(%3) instance 4 : (tensor<f32>) -> tensor<f32>
    // expected-error @+4 {{output 'loss' differs from the reference}}
    // expected-note @+3 {{counterexample: with the inputs of seed 0, element [] of output 'loss' is}}
    // expected-note @+2 {{element [] of output 'loss' is}}
    // expected-note @+1 {{1 of 1 results}}
    tv.output %2 "loss" <8, []> : tensor<f32>
    tv.output %4 "loss" <8, []> : tensor<f32>
  }
}
