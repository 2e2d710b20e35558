// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// Where the reference is defined, the plan has to be; and that has to be somewhere, or
// else it would follow from nothing (A19 and section 5 of docs/Soundness.md).

// The reference has a logarithm, so what the plan divides by is positive.
tv.stage @follows <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %y = tv.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %one = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %inverse = tv.divide %one, %p on <device = 0> : (tensor<f64>, tensor<4xf32>) -> tensor<4xf32>
  %l = tv.log %inverse on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %z = tv.negate %l on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}

// -----

// What is divided by 0 is not 0, also where it is multiplied by 0 after that.
tv.stage @undefined_plan <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %one = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %zero = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<f64>
  %inverse = tv.divide %one, %p on <device = 0> : (tensor<f64>, tensor<4xf32>) -> tensor<4xf32>
  %nothing = tv.multiply %inverse, %zero on <device = 0> : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %z = tv.subtract %nothing, %p on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{the plan may be undefined where the reference is not}}
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}

// -----

// Nothing is proved about a reference that is undefined everywhere.
tv.stage @undefined_reference <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = tv.negate %e : (tensor<4xf32>) -> tensor<4xf32>
  %y = tv.log %n : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %pe = tv.exp %p on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %pn = tv.negate %pe on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %z = tv.log %pn on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{no input was found at which the reference is defined}}
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
}
