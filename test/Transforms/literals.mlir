// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// A literal means the simplest rational that rounds to it in its own type (assumption
// A2 of docs/Soundness.md): 0.1 is a tenth, however many digits were kept of it.

tv.stage @tenths <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %ten = tv.constant dense<10.0> : tensor<f64> : () -> tensor<f64>
  %y = tv.divide %x, %ten : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %double = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %single = tv.constant dense<0.1> : tensor<f32> on <device = 0> : () -> tensor<f32>
  %half = tv.constant dense<0.1> : tensor<f16> on <device = 0> : () -> tensor<f16>
  %short = tv.constant dense<0.1> : tensor<bf16> on <device = 0> : () -> tensor<bf16>
  %a = tv.multiply %p, %double on <device = 0> : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %b = tv.multiply %p, %single on <device = 0> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = tv.multiply %p, %half on <device = 0> : (tensor<4xf32>, tensor<f16>) -> tensor<4xf32>
  %d = tv.multiply %p, %short on <device = 0> : (tensor<4xf32>, tensor<bf16>) -> tensor<4xf32>
  tv.expect %a is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
  tv.expect %b is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
  tv.expect %c is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
  tv.expect %d is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}

// -----

// A thousandth of a thousandth, and a number that is close to no simpler one.
tv.stage @small <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %large = tv.constant dense<1000000000000.0> : tensor<f64> : () -> tensor<f64>
  %y = tv.divide %x, %large : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %tiny = tv.constant dense<1.0e-12> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %z = tv.multiply %p, %tiny on <device = 0> : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}

// -----

// What a float32 keeps of 0.1, written as a float64, is no tenth.
tv.stage @rounded <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %ten = tv.constant dense<10.0> : tensor<f64> : () -> tensor<f64>
  %y = tv.divide %x, %ten : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %c = tv.constant dense<0.10000000149011612> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %z = tv.multiply %p, %c on <device = 0> : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  // expected-error @below {{stage 'rounded' is not proved}}
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}
