// RUN: verify-opt %s --tv-verify-equiv -verify-diagnostics -split-input-file

// A plan that divides by a number that is always 0 gives no number where the reference
// does.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // expected-note @below {{single-device model: the reference value is computed here}}
    %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %y "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %zero = tv.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{outside the domain: 'tv.divide' is undefined on these inputs: it divides by 0}}
    %z = tv.divide %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.negate %z : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @+4 {{counterexample: with the inputs of seed 0, element [3] of output 'y' is undefined in the plan and}}
    // expected-note @+3 {{is undefined in the plan and}}
    // expected-note @+2 {{1 of 1 results}}
    // expected-error @+1 {{output 'y' differs}}
    tv.output %y "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}

// -----

// What the reference does not define either refutes nothing.

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %zero = tv.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = tv.divide %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %zero = tv.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    %z = tv.divide %n, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-note @+2 {{the inputs that were tried lie outside the domain}}
    // expected-error @+1 {{unknown}}
    tv.output %z "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}
