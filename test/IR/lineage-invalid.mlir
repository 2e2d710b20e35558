// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.graph @unknown_axis <dp = 2> {
  // expected-error @below {{names axis 'device', which the mesh lacks}}
  %x = tv.undefined "x" on <device = 0> : tensor<4xf32>
}

// -----

tv.graph @coordinate_outside <dp = 2> {
  // expected-error @below {{names coordinate 2 of axis 'dp' of size 2}}
  %x = tv.undefined "x" on <dp = 1:3> : tensor<4xf32>
}

// -----

tv.graph @reference_reads_plan <dp = 2> {
  %x = tv.undefined "x" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{mixes values of the reference and of the plan}}
  %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @plan_reads_reference <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{mixes values of the reference and of the plan}}
  %y = tv.negate %x on <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @value_does_not_exist_there <dp = 2> {
  %x = tv.undefined "x" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{reads a value on #tv.domain<> that exists on #tv.domain<dp = 0> only}}
  %y = tv.negate %x on <> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @plan_value_distributed <dp = 2> {
  %x = tv.undefined "x" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{mixes values of the reference and of the plan}}
  %y = tv.distribute %x <[0:4 of 4]> on <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @result_is_an_input <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has the contract of something that is given}}
  tv.expect %p is %x <[0:4 of 4]> on <dp = 0> contract <input "y"> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @expected_of_the_plan <dp = 2> {
  %x = tv.undefined "x" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{mixes values of the reference and of the plan}}
  tv.expect %x is %x <[0:4 of 4]> on <dp = 0> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @reference_expected_to_be_itself <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{mixes values of the reference and of the plan}}
  tv.expect %x is %x <[0:4 of 4]> on <dp = 0> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @expected_where_it_does_not_exist <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %y = tv.undefined "y" on <dp = 0> : tensor<4xf32>
  // expected-error @below {{reads a value on #tv.domain<dp = 1> that exists on #tv.domain<dp = 0> only}}
  tv.expect %y is %x <[0:4 of 4]> on <dp = 1> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.stage @with_communication <dp = 2> expects array<i64: 1>(%x: tensor<4xf32>) {
  // expected-error @below {{expects parent op to be one of 'tv.segment, tv.program, tv.start'}}
  tv.send %x to 1 : tensor<4xf32>
}

// -----

tv.stage @with_another_dialect <dp = 2> expects array<i64: 1>(%x: tensor<4xf32>) {
  // expected-error @below {{does not belong into a stage}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<4xf32>
}

// -----

tv.graph @with_another_dialect <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{does not belong into a graph}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<4xf32>
}

// -----

tv.graph @input_of_no_static_shape <dp = 2> {
  // expected-error @below {{needs tensors of static shape, got 'tensor<?xf32>'}}
  %x = tv.input <input "x"> : tensor<?xf32>
}

// -----

tv.graph @input_of_complex_numbers <dp = 2> {
  // expected-error @below {{is not defined on elements that are no numbers}}
  %x = tv.input <input "x"> : tensor<4xcomplex<f32>>
}

// -----

tv.graph @undefined_indices <dp = 2> {
  // expected-error @below {{is not defined on elements that are no numbers}}
  %x = tv.undefined "x" : tensor<4xindex>
}

// -----

tv.graph @real_numbers_expected_to_be_integers <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.undefined "y" on <> : tensor<4xf32>
  // expected-error @below {{compares elements of different kinds: 'tensor<4xf32>' and 'tensor<4xi64>'}}
  tv.expect %y is %x <[0:4 of 4]> on <> : tensor<4xf32> is tensor<4xi64>
}

// -----

tv.graph @integers_of_another_width <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xi64>
  %y = tv.undefined "y" on <> : tensor<4xi32>
  // expected-error @below {{compares elements of different kinds: 'tensor<4xi32>' and 'tensor<4xi64>'}}
  tv.expect %y is %x <[0:4 of 4]> on <> : tensor<4xi32> is tensor<4xi64>
}

// -----

tv.graph @loses_minus_infinity <dp = 2> {
  %x = tv.input <input "x"> : tensor<4x!tv.extended<f32>>
  %y = tv.undefined "y" on <> : tensor<4xf32>
  // expected-error @below {{compares elements of different kinds: 'tensor<4xf32>' and 'tensor<4x!tv.extended<f32>>'}}
  tv.expect %y is %x <[0:4 of 4]> on <> : tensor<4xf32> is tensor<4x!tv.extended<f32>>
}

// -----

tv.stage @reads_nowhere <dp = 2> expects array<i64: 1>(%x: tensor<4xf32>) {
  // expected-error @below {{mixes values of the reference and of the plan}}
  %y = tv.negate %x on <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

%x = tv.input <input "x"> : tensor<4xf32>
// expected-error @below {{stands outside a graph or stage}}
%y = tv.distribute %x <[0:4 of 4]> on <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>

// -----

tv.graph @lineage_names_unknown_axis <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  // expected-error @below {{lineage names axis 'tp', which the mesh lacks}}
  %y = tv.distribute %x <[tp, 0:4 of 4]> on <dp = 0> : (tensor<8xf32>) -> tensor<4xf32>
}

// -----

tv.graph @lineage_names_axis_twice <dp = 2> {
  %x = tv.input <input "x"> : tensor<16xf32>
  // expected-error @below {{lineage names axis 'dp' twice}}
  %y = tv.distribute %x <[dp, dp, 0:4 of 4]> on <> : (tensor<16xf32>) -> tensor<4xf32>
}

// -----

tv.graph @slice_of_a_sum_over_the_same_axis <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.undefined "y" on <> : tensor<4xf32>
  // expected-error @below {{lineage names axis 'dp' twice}}
  tv.expect %y is %x <[dp, 0:4 of 4] sum dp> on <> : tensor<4xf32> is tensor<8xf32>
}

// -----

tv.graph @lineage_of_another_reference_shape <dp = 2> {
  %x = tv.input <input "x"> : tensor<9xf32>
  // expected-error @below {{lineage does not have the shape of the reference tensor 'tensor<9xf32>'}}
  %y = tv.distribute %x <[dp, 0:4 of 4]> on <> : (tensor<9xf32>) -> tensor<4xf32>
}

// -----

tv.graph @lineage_of_another_plan_shape <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  // expected-error @below {{lineage does not have the shape of the plan tensor 'tensor<3xf32>'}}
  %y = tv.distribute %x <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<3xf32>
}

// -----

tv.graph @terms_are_not_a_function <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{cannot make terms of a sum: they are not a function of the reference tensor}}
  %y = tv.distribute %x <[0:4 of 4] sum dp> on <> : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

tv.graph @distribute_changes_element_type <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{changes the element type}}
  %y = tv.distribute %x <[0:4 of 4]> on <> : (tensor<4xf32>) -> tensor<4xf64>
}

// -----

tv.graph @nothing_expected <dp = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{has no plan value}}
  "tv.expect"(%x) <{lineage = #tv.lineage<[0:4 of 4]>, domain = #tv.domain<>}> : (tensor<4xf32>) -> ()
}

// -----

// Both values exist at the first micro-batch.
tv.graph @overlapping_terms <mb = 2, device = 1> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %a = tv.constant dense<1.0> : tensor<f32> on <device = 0, mb = 0> : () -> tensor<f32>
  %b = tv.constant dense<1.0> : tensor<f32> on <device = 0, mb = 0:2> : () -> tensor<f32>
  // expected-error @below {{reads a value on #tv.domain<> that exists on #tv.domain<mb = 0> only}}
  tv.expect %a, %b is %s <sum mb> on <device = 0> : tensor<f32>, tensor<f32> is tensor<f32>
}

// -----

// Nothing stands for the second micro-batch.
tv.graph @missing_term <mb = 3, device = 1> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %a = tv.constant dense<1.0> : tensor<f32> on <device = 0, mb = 0> : () -> tensor<f32>
  %b = tv.constant dense<1.0> : tensor<f32> on <device = 0, mb = 2> : () -> tensor<f32>
  // expected-error @below {{reads a value on #tv.domain<> that exists on #tv.domain<mb = 0> only}}
  tv.expect %a, %b is %s <sum mb> on <device = 0> : tensor<f32>, tensor<f32> is tensor<f32>
}

// -----

// Each device's term is a value of its own.
tv.graph @sum_over_devices <dp = 1, device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %a = tv.constant dense<1.0> : tensor<4xf32> on <device = 0:2> : () -> tensor<4xf32>
  // expected-error @below {{runs along axis 'device': what each device has is an operand of its own}}
  tv.expect %a is %x <[0:4 of 4] sum device> on <> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @dimension_of_devices <dp = 1, device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  // expected-error @below {{runs along axis 'device'}}
  %p = tv.distribute %x <[device, 0:2 of 2]> on <device = 0:2> : (tensor<4xf32>) -> tensor<2xf32>
}

// -----

tv.graph @assumption_outside_of_a_stage <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{assumes something outside of a stage}}
  %p = tv.distribute %y <[dp, 0:4 of 4]> on <> assumes 1 : (tensor<8xf32>) -> tensor<4xf32>
}

// -----

tv.stage @another_number <dp = 2> expects array<i64: 0, 2>(%x: tensor<8xf32>) {
  %p = tv.distribute %x <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
  tv.expect %p is %x <[dp, 0:4 of 4]> on <> number 2 : tensor<4xf32> is tensor<8xf32>
  // expected-error @below {{has number 1, which its stage does not list}}
  tv.expect %p is %x <[dp, 0:4 of 4]> on <> number 1 : tensor<4xf32> is tensor<8xf32>
}
