// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @dynamic_shape <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{needs tensors of static shape, got 'tensor<?xf32>'}}
  %y = tv.negate %x : (tensor<4xf32>) -> tensor<?xf32>
}

// -----

tv.graph @no_elements <> {
  // expected-error @below {{needs tensors that have elements, got 'tensor<0x3xf32>'}}
  %x = tv.input <input "x"> : tensor<0x3xf32>
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

tv.graph @exponent_too_large <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{exponent -5000/1 has numbers above 4096}}
  %y = tv.power %x {numerator = -5000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
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

// -----

tv.graph @exp_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.exp %x : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @rsqrt_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.rsqrt %x : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @silu_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.silu %x : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @quotient_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.divide %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @power_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.power %x {numerator = 2 : i64} : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @sum_of_booleans <> {
  %x = tv.input <input "x"> : tensor<4xi1>
  // expected-error @below {{is not defined on booleans}}
  %y = tv.add %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
}

// -----

tv.graph @truncation <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{makes elements of 'i64' from 'f32'}}
  %y = tv.copy %x : (tensor<4xf32>) -> tensor<4xi64>
}

// -----

tv.graph @integers_as_floats <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of 'f32' from 'i64'}}
  %y = tv.copy %x : (tensor<4xi64>) -> tensor<4xf32>
}

// -----

tv.graph @narrowed_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of 'i32' from 'i64'}}
  %y = tv.copy %x : (tensor<4xi64>) -> tensor<4xi32>
}

// -----

tv.graph @integers_as_booleans <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of 'i1' from 'i64'}}
  %y = tv.copy %x : (tensor<4xi64>) -> tensor<4xi1>
}

// -----

tv.graph @integers_as_extended <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of '!tv.extended<f32>' from 'i64'}}
  %y = tv.copy %x : (tensor<4xi64>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @integer_plus_float <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.input <input "y"> : tensor<4xf32>
  // expected-error @below {{mixes elements of 'i64' and 'f32'}}
  %z = tv.add %x, %y : (tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @extended_plus_integer <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  %y = tv.input <input "y"> : tensor<4xi64>
  // expected-error @below {{mixes elements of '!tv.extended<f32>' and 'i64'}}
  %z = tv.add %x, %y : (tensor<4x!tv.extended<f32>>, tensor<4xi64>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @integers_of_two_widths <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.input <input "y"> : tensor<4xi32>
  // expected-error @below {{mixes elements of 'i64' and 'i32'}}
  %z = tv.multiply %x, %y : (tensor<4xi64>, tensor<4xi32>) -> tensor<4xi64>
}

// -----

tv.graph @result_no_numbers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on elements that are no numbers}}
  %y = tv.negate %x : (tensor<4xi64>) -> tensor<4xindex>
}

// -----

tv.graph @real_literals_as_integers <> {
  // expected-error @below {{makes elements of 'i64' from literals of type 'f64'}}
  %x = tv.constant dense<2.5> : tensor<f64> : () -> tensor<4xi64>
}

// -----

tv.graph @integer_literals_as_floats <> {
  // expected-error @below {{makes elements of 'f32' from literals of type 'i64'}}
  %x = tv.constant dense<2> : tensor<i64> : () -> tensor<4xf32>
}

// -----

tv.graph @integer_literals_of_another_width <> {
  // expected-error @below {{makes elements of 'i32' from literals of type 'i64'}}
  %x = tv.constant dense<2> : tensor<i64> : () -> tensor<4xi32>
}

// -----

tv.graph @literals_not_finite <> {
  // expected-error @below {{literals are not finite}}
  %x = tv.constant dense<[1.0, 0x7F800000]> : tensor<2xf32> : () -> tensor<2xf32>
}

// -----

tv.graph @splat_not_a_number <> {
  // expected-error @below {{literals are not finite}}
  %x = tv.constant dense<0x7FC00000> : tensor<f32> : () -> tensor<2xf32>
}

// -----

tv.graph @finite_literal_of_extended_elements <> {
  // expected-error @below {{literals are not minus infinity}}
  %x = tv.constant dense<1.0> : tensor<f32> : () -> tensor<2x!tv.extended<f32>>
}

// -----

tv.graph @plus_infinity <> {
  // expected-error @below {{literals are not minus infinity}}
  %x = tv.constant dense<0x7F800000> : tensor<f32> : () -> tensor<2x!tv.extended<f32>>
}

// -----

tv.graph @number_of_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{is not defined on minus infinity}}
  %y = tv.to_real %x : (tensor<4x!tv.extended<f32>>) -> tensor<4xf32>
}

// -----

tv.graph @sine_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.sin %x : (tensor<4xi64>) -> tensor<4xf32>
}

// -----

tv.graph @wide_float_literals <> {
  // expected-error @below {{literals of type 'f128' are too wide}}
  %x = tv.constant dense<1.0> : tensor<f128> : () -> tensor<2xf128>
}

// -----

tv.graph @wide_integer_literals <> {
  // expected-error @below {{literals of type 'i128' are too wide}}
  %x = tv.constant dense<1> : tensor<i128> : () -> tensor<2xi128>
}

// -----

tv.graph @wide_unsigned_literals <> {
  // expected-error @below {{literals of type 'ui64' are too wide}}
  %x = tv.constant dense<1> : tensor<ui64> : () -> tensor<2xui64>
}

// -----

tv.graph @extended_integers <> {
  // expected-error @below {{elements of type 'i64' are no real numbers}}
  %x = tv.input <input "x"> : tensor<4x!tv.extended<i64>>
}
