// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @indices_not_integers <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{indices are not integers}}
  %y = tv.one_hot %x {start = 0 : i64} : (tensor<4xf32>) -> tensor<4x8xf32>
}

// -----

tv.graph @no_dimension_for_the_positions <> {
  %x = tv.input <input "x"> : tensor<i64>
  // expected-error @below {{result has rank 0}}
  %y = tv.one_hot %x {start = 0 : i64} : (tensor<i64>) -> tensor<f32>
}

// -----

tv.graph @mask_that_loses_minus_infinity <> {
  // expected-error @below {{result is minus infinity in places, its type is not extended}}
  %y = tv.causal_mask : () -> tensor<8x8xf32>
}

// -----

tv.graph @mask_of_rank_1 <> {
  // expected-error @below {{result has rank 1}}
  %y = tv.causal_mask : () -> tensor<8x!tv.extended<f32>>
}

// -----

tv.graph @numbers_of_rank_2 <> {
  // expected-error @below {{result has rank 2, expected 1}}
  %y = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<2x2xi64>
}

// -----

tv.graph @numbers_that_are_booleans <> {
  // expected-error @below {{makes numbers, not elements of 'i1'}}
  %y = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<2xi1>
}

// -----

tv.graph @numbers_beyond_their_type <> {
  // expected-error @below {{has numbers beyond 'i8'}}
  %y = tv.iota {start = 100 : i64, step = 20 : i64} : () -> tensor<4xi8>
}

// -----

tv.graph @numbers_beyond_words <> {
  // expected-error @below {{has numbers of more than 64 bits}}
  %y = tv.iota {start = 1 : i64, step = 9223372036854775807 : i64} : () -> tensor<2xf32>
}

// -----

tv.graph @boolean_indices <> {
  %x = tv.input <input "x"> : tensor<4xi1>
  // expected-error @below {{indices are not integers}}
  %y = tv.one_hot %x {start = 0 : i64} : (tensor<4xi1>) -> tensor<4x8xf32>
}

// -----

tv.graph @one_hot_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{makes elements of 'i64' from 'i64'}}
  %y = tv.one_hot %x {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xi64>
}

// -----

tv.graph @embedding_of_real_numbers <> {
  %t = tv.input <input "t"> : tensor<4xf32>
  %w = tv.input <input "w"> : tensor<8x3xf32>
  // expected-error @below {{indices are not integers}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
}

// -----

tv.graph @table_of_integers <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3xi64>
  // expected-error @below {{elements of table or result are not real numbers}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xi64>) -> tensor<4x3xf32>
}

// -----

tv.graph @embedding_of_integers <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3xf32>
  // expected-error @below {{elements of table or result are not real numbers}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x3xi64>
}

// -----

tv.graph @table_of_rank_3 <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3x1xf32>
  // expected-error @below {{table has rank 3, expected 2}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3x1xf32>) -> tensor<4x3xf32>
}

// -----

tv.graph @embedding_of_another_shape <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3xf32>
  // expected-error @below {{result does not have the shape of the indices and one row: 'tensor<4x2xf32>'}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x2xf32>
}

// -----

tv.graph @embedding_of_another_rank <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3xf32>
  // expected-error @below {{result does not have the shape of the indices and one row: 'tensor<4xf32>'}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4xf32>
}

// -----

tv.graph @table_of_no_static_shape <> {
  %t = tv.input <input "t"> : tensor<4xi64>
  %w = tv.input <input "w"> : tensor<8x3xf32>
  // expected-error @below {{needs tensors of static shape, got 'tensor<?x3xf32>'}}
  %y = tv.embedding %t, %w {start = 0 : i64} : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<?x3xf32>
}

// -----

tv.graph @mask_as_operand <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6x!tv.extended<f32>>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{is not defined on elements of '!tv.extended<f32>'}}
  %y = tv.complex_product %x, %f {position_dimension = 1 : i64} : (tensor<2x8x4x6x!tv.extended<f32>>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
}

// -----

tv.graph @position_is_the_last_dimension <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{has no position dimension 3}}
  %y = tv.complex_product %x, %f {position_dimension = 3 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
}

// -----

tv.graph @negative_position <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{has no position dimension -1}}
  %y = tv.complex_product %x, %f {position_dimension = -1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
}

// -----

tv.graph @factors_for_other_positions <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{needs one complex factor for each position and pair, got factors 'tensor<8x3x2xf32>'}}
  %y = tv.complex_product %x, %f {position_dimension = 2 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x6xf32>
}

// -----

tv.graph @factors_that_are_not_complex <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %f = tv.input <input "f"> : tensor<8x3xf32>
  // expected-error @below {{needs one complex factor for each position and pair, got factors 'tensor<8x3xf32>'}}
  %y = tv.complex_product %x, %f {position_dimension = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3xf32>) -> tensor<2x8x4x6xf32>
}

// -----

tv.graph @half_a_pair <> {
  %x = tv.input <input "x"> : tensor<2x8x4x7xf32>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{needs one complex factor for each position and pair, got factors 'tensor<8x3x2xf32>'}}
  %y = tv.complex_product %x, %f {position_dimension = 1 : i64} : (tensor<2x8x4x7xf32>, tensor<8x3x2xf32>) -> tensor<2x8x4x7xf32>
}

// -----

tv.graph @index_in_a_scalar <> {
  %x = tv.input <input "x"> : tensor<f32>
  // expected-error @below {{operand has rank 0}}
  %y = tv.one_hot_index %x : (tensor<f32>) -> tensor<i64>
}

// -----

tv.graph @real_index <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{makes integers, not elements of 'f32'}}
  %y = tv.one_hot_index %x : (tensor<4x8xf32>) -> tensor<4xf32>
}

// -----

tv.graph @index_along_another_dimension <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  // expected-error @below {{dimension 0 of result has size 8, expected 4}}
  %y = tv.one_hot_index %x : (tensor<4x8xf32>) -> tensor<8xi64>
}

// -----

tv.graph @rank_of_a_scalar <> {
  %x = tv.input <input "x"> : tensor<f32>
  // expected-error @below {{scores have rank 0}}
  %y = tv.descending_rank %x : (tensor<f32>) -> tensor<i64>
}

// -----

tv.graph @rank_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.descending_rank %x : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @rank_among_others <> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %e = tv.input <input "e"> : tensor<4x7xf32>
  // expected-error @below {{dimension 1 of operand #1 has size 7, expected 8}}
  %y = tv.descending_rank %x, %e : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<4x8xi64>
}

// -----

tv.graph @complex_product_of_another_shape <> {
  %x = tv.input <input "x"> : tensor<2x8x4x6xf32>
  %f = tv.input <input "f"> : tensor<8x3x2xf32>
  // expected-error @below {{operand and result differ in shape}}
  %y = tv.complex_product %x, %f {position_dimension = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<8x3x2xf32>) -> tensor<2x4x8x6xf32>
}

// -----

// What else reads the indices is looked at before it is verified.

tv.graph @another_one_hot_without_its_attribute <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.one_hot %x {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xf32>
  // expected-error @below {{requires attribute 'start'}}
  %z = tv.one_hot %x {begin = 0 : i64} : (tensor<4xi64>) -> tensor<4x8xf32>
}
