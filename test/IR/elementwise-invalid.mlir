// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @dynamic_shape <> {
  %x = tv.input <input "x"> : tensor<?xf32>
  // expected-error @below {{needs tensors of static shape, got 'tensor<?xf32>'}}
  %y = tv.negate %x : (tensor<?xf32>) -> tensor<?xf32>
}

// -----

tv.graph @operand_has_higher_rank <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{operand #0 has a higher rank than the result}}
  %y = tv.negate %x : (tensor<4x8xf32>) -> tensor<8xf32>
}

// -----

tv.graph @sizes_differ <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %y = tv.input <input "y"> : tensor<5xf32>
  // expected-error @below {{dimension 0 of operand #1 has size 5, expected 4}}
  %z = tv.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
}

// -----

tv.graph @not_defined_on_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{is not defined on minus infinity}}
  %y = tv.negate %x : (tensor<4x!tv.extended<f32>>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @loses_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{result may be minus infinity, its type may not}}
  %y = tv.copy %x : (tensor<4x!tv.extended<f32>>) -> tensor<4xf32>
}

// -----

tv.graph @invents_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{result is never minus infinity, its type says so}}
  %y = tv.exp %x : (tensor<4x!tv.extended<f32>>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @denominator_not_positive <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{denominator of the exponent is 0}}
  %y = tv.power %x {numerator = 1 : i64, denominator = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @literals_of_another_shape <> {
  // expected-error @below {{has literals of another shape than its result}}
  %x = tv.constant dense<[1.0, 2.0]> : tensor<2xf64> : () -> tensor<3xf64>
}

// -----

tv.graph @literals_elsewhere <> {
  // expected-error @below {{literals are not a dense list of numbers}}
  %x = tv.constant dense_resource<weights> : tensor<2xf64> : () -> tensor<2xf64>
}

// -----

tv.graph @complex_literals <> {
  // expected-error @below {{literals are not a dense list of numbers}}
  %x = tv.constant dense<(1.0, 2.0)> : tensor<complex<f64>> : () -> tensor<complex<f64>>
}

// -----

tv.graph @string_literals <> {
  // expected-error @below {{literals are not a dense list of numbers}}
  %x = tv.constant dense<"a"> : tensor<!tv.buffer<tensor<1xf32>>> : () -> tensor<1xf32>
}
