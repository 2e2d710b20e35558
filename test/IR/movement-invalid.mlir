// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @sizes_without_common_factoring <> {
  %x = tv.input <input "x"> : tensor<2x3xf32>
  // expected-error @below {{sizes have no common factoring}}
  %y = tv.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
}

// -----

tv.graph @number_of_elements_differs <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{sizes have no common factoring}}
  %y = tv.reshape %x : (tensor<2x4xf32>) -> tensor<16xf32>
}

// -----

tv.graph @not_a_permutation <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{permutation is not one}}
  %y = tv.transpose %x {permutation = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<4x4xf32>
}

// -----

tv.graph @permutation_of_another_rank <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{permutation has 3 entries for rank 2}}
  %y = tv.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
}

// -----

tv.graph @slice_of_no_dimension <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{has no dimension 2}}
  %y = tv.slice %x {dimension = 2 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
}

// -----

tv.graph @slice_outside <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{range 2:5 is empty or not inside 4}}
  %y = tv.slice %x {dimension = 1 : i64, start = 2 : i64, end = 5 : i64} : (tensor<2x4xf32>) -> tensor<2x3xf32>
}

// -----

tv.graph @empty_slice <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{range 2:2 is empty or not inside 4}}
  %y = tv.slice %x {dimension = 1 : i64, start = 2 : i64, end = 2 : i64} : (tensor<2x4xf32>) -> tensor<2x1xf32>
}

// -----

tv.graph @pad_of_no_dimension <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{has no dimension 2}}
  %y = tv.pad %x {dimension = 2 : i64, low = 0 : i64, high = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
}

// -----

tv.graph @negative_padding <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{pads a negative number of elements}}
  %y = tv.pad %x {dimension = 1 : i64, low = -1 : i64, high = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
}

// -----

tv.graph @padded_size <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{dimension 1 of result has size 6, expected 7}}
  %y = tv.pad %x {dimension = 1 : i64, low = 1 : i64, high = 2 : i64} : (tensor<2x4xf32>) -> tensor<2x6xf32>
}

// -----

tv.graph @concatenation_of_nothing <> {
  // expected-error @below {{has no operands}}
  %y = tv.concat {dimension = 0 : i64} : () -> tensor<4xf32>
}

// -----

tv.graph @concatenation_along_no_dimension <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  // expected-error @below {{has no dimension 2}}
  %y = tv.concat %x, %x {dimension = 2 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
}

// -----

tv.graph @concatenated_ranks_differ <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  %y = tv.input <input "y"> : tensor<4xf32>
  // expected-error @below {{operands differ in rank}}
  %z = tv.concat %x, %y {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
}

// -----

tv.graph @concatenated_sizes_differ <> {
  %x = tv.input <input "x"> : tensor<2x4xf32>
  %y = tv.input <input "y"> : tensor<2x5xf32>
  // expected-error @below {{dimension 1 of operand #1 has size 5, expected 4}}
  %z = tv.concat %x, %y {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<4x4xf32>
}

// -----

tv.graph @broadcast_dimensions_for_another_rank <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{names 2 dimensions for rank 1}}
  %y = tv.broadcast %x {dimensions = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @broadcast_dimensions_not_increasing <> {
  %x = tv.input <input "x"> : tensor<4x4xf32>
  // expected-error @below {{dimensions are not increasing dimensions of the result}}
  %y = tv.broadcast %x {dimensions = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4x8xf32>
}

// -----

tv.graph @broadcast_dimension_outside <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{dimensions are not increasing dimensions of the result}}
  %y = tv.broadcast %x {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @broadcast_size_differs <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{dimension 0 of operand #0 has size 4, expected 8}}
  %y = tv.broadcast %x {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @reshape_changes_the_kind <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of 'f32' from 'i64'}}
  %y = tv.reshape %x : (tensor<4xi64>) -> tensor<2x2xf32>
}

// -----

tv.graph @slice_changes_the_kind <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{makes elements of 'i1' from 'f32'}}
  %y = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4xf32>) -> tensor<2xi1>
}

// -----

tv.graph @padded_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.pad %x {dimension = 0 : i64, low = 0 : i64, high = 4 : i64} : (tensor<4xi64>) -> tensor<8xi64>
}

// -----

tv.graph @concatenation_of_two_kinds <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.input <input "y"> : tensor<4xf32>
  // expected-error @below {{mixes elements of 'i64' and 'f32'}}
  %z = tv.concat %x, %y {dimension = 0 : i64} : (tensor<4xi64>, tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @concatenation_loses_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  %y = tv.input <input "y"> : tensor<4xf32>
  // expected-error @below {{result may be minus infinity, its type may not}}
  %z = tv.concat %x, %y {dimension = 0 : i64} : (tensor<4x!tv.extended<f32>>, tensor<4xf32>) -> tensor<8xf32>
}
