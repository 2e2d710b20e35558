// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @input_of_rank_0 <> {
  %x = tv.input <input "x"> : tensor<f32>
  %w = tv.input <parameter "w"> : tensor<4x8xf32>
  // expected-error @below {{input has rank 0}}
  %y = tv.linear %x, %w : (tensor<f32>, tensor<4x8xf32>) -> tensor<4xf32>
}

// -----

tv.graph @contracted_sizes_differ <> {
  %x = tv.input <input "x"> : tensor<2x8xf32>
  %w = tv.input <parameter "w"> : tensor<16x9xf32>
  // expected-error @below {{dimension 1 of operand #1 has size 9, expected 8}}
  %y = tv.linear %x, %w : (tensor<2x8xf32>, tensor<16x9xf32>) -> tensor<2x16xf32>
}

// -----

tv.graph @weight_of_rank_1 <> {
  %x = tv.input <input "x"> : tensor<2x8xf32>
  %w = tv.input <parameter "w"> : tensor<8xf32>
  // expected-error @below {{operand #1 has rank 1, expected 2}}
  %y = tv.linear %x, %w : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
}

// -----

tv.graph @result_of_another_shape <> {
  %x = tv.input <input "x"> : tensor<2x8xf32>
  %w = tv.input <parameter "w"> : tensor<16x8xf32>
  // expected-error @below {{dimension 0 of result has size 3, expected 2}}
  %y = tv.linear %x, %w : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<3x16xf32>
}

// -----

tv.graph @vectors <> {
  %x = tv.input <input "x"> : tensor<8xf32>
  // expected-error @below {{operands have rank 1}}
  %y = tv.matmul %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
}

// -----

tv.graph @batches_differ <> {
  %x = tv.input <input "x"> : tensor<2x4x8xf32>
  %y = tv.input <input "y"> : tensor<3x8x5xf32>
  // expected-error @below {{dimension 0 of operand #1 has size 3, expected 2}}
  %z = tv.matmul %x, %y : (tensor<2x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x4x5xf32>
}

// -----

tv.graph @equation_without_arrow <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{malformed equation "a"}}
  %y = tv.einsum %x {equation = "a"} : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @equation_with_too_few_operands <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{malformed equation "a->a"}}
  %y = tv.einsum %x, %x {equation = "a->a"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @equation_with_unknown_label <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{malformed equation "a->b"}}
  %y = tv.einsum %x {equation = "a->b"} : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @equation_with_repeated_label <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{malformed equation "a->aa"}}
  %y = tv.einsum %x {equation = "a->aa"} : (tensor<4xf32>) -> tensor<4x4xf32>
}

// -----

tv.graph @equation_with_symbol <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{malformed equation "?->"}}
  %y = tv.einsum %x {equation = "?->"} : (tensor<4xf32>) -> tensor<f32>
}

// -----

tv.graph @labels_for_another_rank <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{operand #0 has rank 1, expected 2}}
  %y = tv.einsum %x {equation = "ab->a"} : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @integer_weights <> {
  %x = tv.input <input "x"> : tensor<2x8xf32>
  %w = tv.input <input "w"> : tensor<16x8xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.linear %x, %w : (tensor<2x8xf32>, tensor<16x8xi64>) -> tensor<2x16xf32>
}

// -----

tv.graph @product_of_integers <> {
  %x = tv.input <input "x"> : tensor<2x2xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.matmul %x, %x : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
}

// -----

tv.graph @masked_weights <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{is not defined on minus infinity}}
  %y = tv.einsum %x {equation = "a->"} : (tensor<4x!tv.extended<f32>>) -> tensor<f32>
}

// -----

tv.graph @integer_result <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{makes elements of 'i64' from 'f32'}}
  %y = tv.einsum %x {equation = "a->"} : (tensor<4xf32>) -> tensor<i64>
}
