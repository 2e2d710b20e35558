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
