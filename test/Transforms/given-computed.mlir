// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// A plan is given parts of inputs. What the reference computes it has to compute, too: given a value
// of a hidden layer, it would not need the all-reduce that makes that.

tv.graph @hidden <device = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %v = tv.input <parameter "v"> : tensor<8x8xf32>
  %w = tv.input <parameter "w"> : tensor<8x8xf32>
  %h = tv.linear %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y = tv.linear %h, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{gives the plan what the reference computes; it is given parts of inputs alone}}
  %ph = tv.distribute %h <[0:4 of 4], [0:8 of 8]> on <device = 0:2> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %pw = tv.distribute %w <[0:8 of 8], [0:8 of 8]> on <device = 0:2> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %py = tv.linear %ph, %pw on <device = 0:2> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  tv.expect %py is %y <[0:4 of 4], [0:8 of 8]> on <device = 0:2> number 0 contract <output "y"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// Nor is it given what is undefined.

tv.graph @undefined <dp = 2> {
  %x = tv.undefined "x" : tensor<8xf32>
  %y = tv.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{gives the plan what the reference computes}}
  %p = tv.distribute %x <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
  %q = tv.exp %p on <> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %q is %y <[dp, 0:4 of 4]> on <> number 0 contract <output "y"> : tensor<4xf32> is tensor<8xf32>
}
