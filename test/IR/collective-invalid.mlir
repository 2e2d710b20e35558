// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @all_reduce_of_nothing <device = 2> {
  // expected-error @below {{has no operands}}
  %y = tv.all_reduce over [] on <device = 0> : () -> tensor<4xf32>
}

// -----

tv.graph @all_reduce_changes_type <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<1xf32>
  // expected-error @below {{operands and result differ in type}}
  %y = tv.all_reduce %x over [] on <device = 0> : (tensor<1xf32>) -> tensor<4xf32>
}

// -----

tv.graph @all_reduce_over_unknown_axis <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{names axis 'dp', which the mesh lacks}}
  %y = tv.all_reduce %x over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @maximum_over_an_axis <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{combines coordinates of an axis by maximum, which is not supported: name the operands}}
  %y = tv.all_reduce %x by maximum over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @average_over_unknown_axis <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{averages over axis 'dp', whose size is not known}}
  %y = tv.all_reduce %x by average over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @all_gather_of_nothing <device = 2> {
  // expected-error @below {{has no operands}}
  %y = tv.all_gather on <device = 0> {dimension = 0 : i64} : () -> tensor<4xf32>
}

// -----

tv.graph @moved_from_several_coordinates <device = 4> {
  %x = tv.undefined "x" on <device = 0:2> : tensor<4xf32>
  // expected-error @below {{reads axis 'device' at several coordinates}}
  %y = tv.move %x from <device = 0:2> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @moved_from_outside <device = 4> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{names coordinate 4 of axis 'device' of size 4}}
  %y = tv.move %x from <device = 4> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @moved_from_another_device <device = 4> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{reads a value on #tv.domain<device = 1> that exists on #tv.domain<device = 0> only}}
  %y = tv.move %x from <device = 1> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @accumulated_over_more_than_there_is <mb = 4> {
  %x = tv.undefined "x" on <> : tensor<4xf32>
  // expected-error @below {{names coordinate 4 of axis 'mb' of size 4}}
  %y = tv.accumulate %x over <mb = 0:5> on <> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @accumulated_where_it_is_missing <mb = 4> {
  %x = tv.undefined "x" on <mb = 0:2> : tensor<4xf32>
  // expected-error @below {{reads a value on #tv.domain<mb = 0:3> that exists on #tv.domain<mb = 0:2> only}}
  %y = tv.accumulate %x over <mb = 0:3> on <> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @all_reduce_of_integers <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xi64>
  // expected-error @below {{is not defined on integers}}
  %y = tv.all_reduce %x over [] on <device = 0> : (tensor<4xi64>) -> tensor<4xi64>
}

// -----

tv.graph @moved_and_cast <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xi64>
  // expected-error @below {{makes elements of 'f32' from 'i64'}}
  %y = tv.move %x from <device = 0> on <device = 1> : (tensor<4xi64>) -> tensor<4xf32>
}

// -----

// One value is the same on all its devices, and those of several are operands.
tv.graph @all_reduce_over_devices <device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{runs along axis 'device': what each device has is an operand of its own}}
  %y = tv.all_reduce %p over ["device"] on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @accumulate_over_devices <device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{runs along axis 'device': what each device has is an operand of its own}}
  %y = tv.accumulate %p over <device = 0:2> on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @gathered_over_unknown_axis <device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{names axis 'dp', which the mesh lacks}}
  %y = tv.all_gather %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @gathered_over_devices <device = 2> {
  %x = tv.undefined "x" on <device = 0:2> : tensor<4xf32>
  // expected-error @below {{runs along axis 'device': what each device has is an operand of its own}}
  %y = tv.all_gather %x over "device" on <device = 0:2> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @gathered_over_an_axis_of_another_size <dp = 4, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{has 2 parts, axis 'dp' has size 4}}
  %y = tv.all_gather %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @two_tensors_over_an_axis <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{gathers over an axis, and not one operand}}
  %y = tv.all_gather %x, %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @gathered_where_it_is_missing <dp = 2, device = 2> {
  %x = tv.undefined "x" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{reads a value on #tv.domain<> that exists on #tv.domain<dp = 0> only}}
  %y = tv.all_gather %x over "dp" on <> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
}

// -----

tv.graph @slices_of_a_missing_dimension <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
  // expected-error @below {{has no dimension 1}}
  %y = tv.all_slice %x over "dp" on <device = 0> {dimension = 1 : i64} : (tensor<4xf32>) -> tensor<2xf32>
}

// -----

tv.graph @uneven_slices <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<5xf32>
  // expected-error @below {{cannot cut dimension 0 of 'tensor<5xf32>' into parts of 2}}
  %y = tv.all_slice %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
}

// -----

tv.graph @more_slices_than_coordinates <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<8xf32>
  // expected-error @below {{has 4 parts, axis 'dp' has size 2}}
  %y = tv.all_slice %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<2xf32>
}

// -----

tv.graph @slices_of_other_shape <dp = 2, device = 2> {
  %x = tv.undefined "x" on <device = 0> : tensor<4x4xf32>
  // expected-error @below {{dimension 1 of operand #0 has size 4, expected 3}}
  %y = tv.all_slice %x over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4x4xf32>) -> tensor<2x3xf32>
}

// -----

tv.graph @slices_of_the_reference <dp = 2> {
  %x = tv.input <parameter "x"> : tensor<4xf32>
  // expected-error @below {{is of the reference, which has no coordinates}}
  %y = tv.all_slice %x over "dp" {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
}
