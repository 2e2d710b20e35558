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
