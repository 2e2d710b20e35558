// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// A plan is given what the reference computes, here and only here. That may not be undefined where
// the results of the reference are defined: of eight logarithms four are needed.

tv.graph @half <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %r = tv.log %x : (tensor<8xf32>) -> tensor<8xf32>
  %h = tv.slice %r {dimension = 0 : i64, start = 0 : i64, end = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %y = tv.exp %h : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %r <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
  %m = tv.move %p from <dp = 0> on <> : (tensor<4xf32>) -> tensor<4xf32>
  %q = tv.exp %m on <> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{ledger: is given a tensor that may be undefined where the results are defined}}
  tv.expect %q is %y <[0:4 of 4]> on <> number 0 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @all <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %r = tv.log %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = tv.exp %r : (tensor<8xf32>) -> tensor<8xf32>
  %p = tv.distribute %r <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
  %q = tv.exp %p on <> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %q is %y <[dp, 0:4 of 4]> on <> number 0 contract <output "y"> : tensor<4xf32> is tensor<8xf32>
}
