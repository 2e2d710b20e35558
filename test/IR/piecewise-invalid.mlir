// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @relu_of_integers <> {
  %x = tv.input <input "x"> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.relu %x : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @maximum_of_minus_infinity <> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{is not defined on minus infinity}}
  %y = tv.maximum %x, %x : (tensor<4x!tv.extended<f32>>, tensor<4x!tv.extended<f32>>) -> tensor<4x!tv.extended<f32>>
}

// -----

tv.graph @integers_and_numbers <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %i = tv.input <input "i"> : tensor<4xi64>
  // expected-error @below {{mixes elements of 'f32' and 'i64'}}
  %y = tv.compare less %x, %i : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
}

// -----

tv.graph @comparison_gives_integers <> {
  %i = tv.input <input "i"> : tensor<4xi64>
  // expected-error @below {{makes booleans or real numbers, not elements of 'i64'}}
  %y = tv.compare less %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @condition_of_numbers <> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{selects by elements of 'f32', which are no booleans}}
  %y = tv.select %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @choice_of_numbers_and_booleans <> {
  %c = tv.input <input "c"> : tensor<4xi1>
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{mixes elements of 'f32' and 'i1'}}
  %y = tv.select %c, %x, %c : (tensor<4xi1>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
}

// -----

tv.graph @choice_that_loses_minus_infinity <> {
  %c = tv.input <input "c"> : tensor<4xi1>
  %x = tv.input <input "x"> : tensor<4xf32>
  %m = tv.input <input "m"> : tensor<4x!tv.extended<f32>>
  // expected-error @below {{result may be minus infinity, its type may not}}
  %y = tv.select %c, %x, %m : (tensor<4xi1>, tensor<4xf32>, tensor<4x!tv.extended<f32>>) -> tensor<4xf32>
}

// -----

tv.graph @comparison_of_booleans <> {
  %c = tv.input <input "c"> : tensor<4xi1>
  // expected-error @below {{is not defined on booleans}}
  %y = tv.compare equal %c, %c : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
}
