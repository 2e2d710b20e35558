// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @no_such_dimension <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{has no dimension 2}}
  %y = tv.reduce sum %x {dimensions = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4xf32>
}

// -----

tv.graph @reduced_dimension_kept <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{result has rank 2, expected 1}}
  %y = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
}

// -----

tv.graph @too_many_elements <> {
  %x = tv.input <input "x"> : tensor<4294967296x4294967296xf32>
  // expected-error @below {{reduces more than 2^63 elements}}
  %y = tv.reduce average %x {dimensions = array<i64: 0, 1>} : (tensor<4294967296x4294967296xf32>) -> tensor<f32>
}

// -----

tv.graph @too_many_products <> {
  %x = tv.input <input "x"> : tensor<2x4294967296x4294967296xf32>
  // expected-error @below {{reduces more than 2^63 elements}}
  %y = tv.einsum %x, %x {equation = "abc,abc->a"} : (tensor<2x4294967296x4294967296xf32>, tensor<2x4294967296x4294967296xf32>) -> tensor<2xf32>
}

// -----

tv.graph @sum_of_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{is not defined on minus infinity}}
  %y = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4x!tv.extended<f32>>) -> tensor<!tv.extended<f32>>
}

// -----

tv.graph @softmax_changes_shape <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{operand and result differ in shape}}
  %y = tv.softmax %x {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
}

// -----

tv.graph @softmax_of_no_dimension <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{has no dimension -1}}
  %y = tv.softmax %x {dimension = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @layer_norm_of_other_dimension <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<4xf32>
  // expected-error @below {{last dimensions of the operand are not those of the weight}}
  %y = tv.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @layer_norm_without_epsilon <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<8xf32>
  // expected-error @below {{epsilon is not positive}}
  %y = tv.layer_norm %x, %w, %w {epsilon = 0.0 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @layer_norm_with_another_bias <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<8xf32>
  %b = tv.input <parameter "b"> : tensor<4x8xf32>
  // expected-error @below {{weight and bias differ in shape}}
  %y = tv.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @average_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<4xi64>) -> tensor<i64>
}

// -----

tv.graph @softmax_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on elements of 'i64'}}
  %y = tv.softmax %x {dimension = 0 : i64} : (tensor<4xi64>) -> tensor<4xf32>
}

// -----

tv.graph @softmax_that_keeps_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{makes elements of '!tv.extended<f32>'}}
  %y = tv.softmax %x {dimension = 0 : i64} : (tensor<4x!tv.extended<f32>>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @softmax_of_no_static_shape <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{needs tensors of static shape, got 'tensor<?xf32>'}}
  %y = tv.softmax %x {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<?xf32>
}

// -----

tv.graph @layer_norm_of_integers <> {
  %x = tv.input <input "x"> : tensor<4x8xi64>
  %w = tv.input <parameter "w"> : tensor<8xf32>
  // expected-error @below {{is not defined on elements of 'i64'}}
  %y = tv.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xi64>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xi64>
}

// -----

tv.graph @layer_norm_with_integer_weights <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<8xi64>
  // expected-error @below {{is not defined on elements of 'i64'}}
  %y = tv.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xi64>, tensor<8xi64>) -> tensor<4x8xf32>
}
