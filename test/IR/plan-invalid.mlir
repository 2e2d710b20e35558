// RUN: verify-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'tv.buffer' op expects parent op 'tv.plan'}}
tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>

// -----

// expected-error @below {{'tv.segment' op expects parent op 'tv.plan'}}
tv.segment @s on 0 cell 1 {
}

// -----

// expected-error @below {{'tv.program' op expects parent op 'tv.plan'}}
tv.program 0 {
}

// -----

tv.plan @return_outside_a_segment <device = 1> {
  tv.program 0 {
    // expected-error @below {{'tv.return' op expects parent op 'tv.segment'}}
    tv.return
  }
}

// -----

tv.plan @name_used_twice <device = 1> {
  // expected-note @below {{see existing symbol definition here}}
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  // expected-error @below {{redefinition of symbol named 'w'}}
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
}

// -----

// expected-error @below {{has no axis 'device'}}
tv.plan @no_devices <dp = 2> {
}

// -----

tv.plan @two_programs_of_one_device <device = 2> {
  tv.program 0 {
  }
  // expected-error @below {{is a second program of device 0}}
  tv.program 0 {
  }
}

// -----

tv.plan @program_of_no_device <device = 2> {
  // expected-error @below {{names device 2, the mesh has 2}}
  tv.program 2 {
  }
}

// -----

tv.plan @segment_of_no_device <device = 2> {
  // expected-error @below {{names device -1, the mesh has 2}}
  tv.segment @s on -1 cell 1 {
  }
}

// -----

tv.plan @buffer_of_no_device <device = 2> {
  // expected-error @below {{names device 7, the mesh has 2}}
  tv.buffer @w on 7 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
}

// -----

tv.plan @buffer_of_no_static_shape <device = 2> {
  // expected-error @below {{has no static shape: 'tensor<?xf32>'}}
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<?xf32>>
}

// -----

tv.plan @graph_level_op_in_a_plan <device = 2> {
  // expected-error @below {{does not belong into a plan}}
  %x = tv.input <input "x"> : tensor<4xf32>
}

// -----

tv.plan @input_in_a_segment <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{does not belong into a segment or program}}
    %x = tv.input <input "x"> : tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @graph_level_collective <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{does not belong into a segment or program}}
    %x = tv.all_reduce %a over [] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @other_dialect <device = 2> {
  tv.program 0 {
    // expected-error @below {{does not belong into a segment or program}}
    %x = builtin.unrealized_conversion_cast to tensor<4xf32>
  }
}

// -----

tv.plan @gradient_of_nothing <device = 2> {
  // expected-error @below {{names no parameter: @w}}
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
}

// -----

tv.plan @gradient_of_a_gradient <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  // expected-error @below {{names no parameter: @dw}}
  tv.buffer @ddw on 0 "w" holds <3, [0:4 of 4]> gradient_of @dw : !tv.buffer<tensor<4xf32>>
}

// -----

tv.plan @gradient_of_a_segment <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  // expected-error @below {{names no parameter: @s}}
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @s : !tv.buffer<tensor<4xf32>>
}

// -----

tv.plan @gradient_on_another_device <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  // expected-error @below {{differs from its parameter in device or type}}
  tv.buffer @dw on 1 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
}

// -----

tv.plan @gradient_of_another_type <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  // expected-error @below {{differs from its parameter in device or type}}
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf64>>
}

// -----

tv.plan @gradient_of_integers <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xi64>>
  // expected-error @below {{is a gradient, its elements are not real numbers}}
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xi64>>
}

// -----

tv.plan @reads_no_buffer <device = 2> {
  tv.program 0 {
    // expected-error @below {{names no buffer: @w}}
    %x = tv.read @w : tensor<4xf32>
  }
}

// -----

tv.plan @reads_a_segment <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    // expected-error @below {{names no buffer: @s}}
    %x = tv.read @s : tensor<4xf32>
  }
}

// -----

tv.plan @reads_another_type <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{uses a buffer of 'tensor<4xf32>' as 'tensor<4xf64>'}}
    %x = tv.read @w : tensor<4xf64>
  }
}

// -----

tv.plan @reads_on_another_device <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 1 {
    // expected-error @below {{uses a buffer of device 0 on device 1}}
    %x = tv.read @w : tensor<4xf32>
  }
}

// -----

tv.plan @writes_no_buffer <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names no buffer: @dw}}
    tv.write %x, @dw : tensor<4xf32>
  }
}

// -----

tv.plan @writes_to_a_parameter <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{writes to a parameter, which no step may}}
    tv.write %x, @w : tensor<4xf32>
  }
}

// -----

tv.plan @adds_to_a_parameter <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{writes to a parameter, which no step may}}
    tv.add_to %a, @w : tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @adds_another_type <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<8xf32>
    // expected-error @below {{uses a buffer of 'tensor<4xf32>' as 'tensor<8xf32>'}}
    tv.add_to %x, @dw : tensor<8xf32>
  }
}

// -----

tv.plan @calls_nothing <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names no segment: @s}}
    %y = tv.call @s(%x) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @calls_a_buffer <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names no segment: @w}}
    %y = tv.call @w(%x) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @calls_a_segment_of_another_device <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 1 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{runs a segment of device 0 on device 1}}
    %y = tv.call @s(%x) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @passes_too_few_operands <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    // expected-error @below {{passes other operands than @s takes: 'tensor<4xf32>'}}
    %y = tv.call @s() instance 0 : () -> tensor<4xf32>
  }
}

// -----

tv.plan @passes_operands_of_another_type <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    %x = tv.undefined "x" : tensor<8xf32>
    // expected-error @below {{passes other operands than @s takes: 'tensor<4xf32>'}}
    %y = tv.call @s(%x) instance 0 : (tensor<8xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @expects_too_few_results <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{expects other results than @s gives: 'tensor<4xf32>'}}
    tv.call @s(%x) instance 0 : (tensor<4xf32>) -> ()
  }
}

// -----

tv.plan @expects_results_of_another_type <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{expects other results than @s gives: 'tensor<4xf32>'}}
    %y = tv.call @s(%x) instance 0 : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @calls_inside_a_segment <device = 2> {
  tv.segment @s on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{expects parent op 'tv.program'}}
    %y = tv.call @s(%a) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @loads_inside_a_segment <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{expects parent op 'tv.program'}}
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @loads_without_names <device = 2> {
  tv.program 0 {
    // expected-error @below {{gives 2 tensors, with 1 names and 2 pieces}}
    %x:2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>, #tv.piece<3, [0:4 of 4]>] : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

tv.plan @loads_without_pieces <device = 2> {
  tv.program 0 {
    // expected-error @below {{gives 1 tensors, with 1 names and 0 pieces}}
    %x = tv.load_data cell 1 ["x"] holds [] : tensor<4xf32>
  }
}

// -----

tv.plan @seed_of_integers <device = 2> {
  tv.program 0 {
    // expected-error @below {{is a gradient, its elements are not real numbers}}
    %x = tv.seed : tensor<1xi64>
  }
}

// -----

tv.plan @saves_outside_a_segment <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{expects parent op 'tv.segment'}}
    tv.save 1 from %x to %x : tensor<4xf32> to tensor<4xf32>
  }
}

// -----

tv.plan @saves_twice <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    tv.save 1 from %a to %a : tensor<4xf32> to tensor<4xf32>
    // expected-error @below {{saves op 1 twice}}
    tv.save 1 from %a to %a : tensor<4xf32> to tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @backward_outside_a_segment <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{expects parent op 'tv.segment'}}
    %y = tv.backward %x of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @too_many_gradients <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{takes 1 gradients of 1 results and gives 1 of 2 operands}}
    %x = tv.backward %a of 1 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @gradients_of_too_many_results <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{takes 1 gradients of 2 results and gives 1 of 1 operands}}
    %x = tv.backward %a of 1 {outputs = array<i64: 0, 1>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @gradient_of_a_negative_operand <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{names operand or result -1}}
    %x = tv.backward %a of 1 {outputs = array<i64: 0>, wrt = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
}

// -----

tv.plan @gradient_of_one_operand_twice <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{names operand or result 0 twice}}
    %x:2 = tv.backward %a of 1 {outputs = array<i64: 0>, wrt = array<i64: 0, 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    tv.return
  }
}

// -----

tv.plan @draws_of_another_piece <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{draws 'tensor<4xf32>' for another piece of a tensor}}
    %0 = tv.random "dropout" <7, [0:2 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
}

// -----

tv.plan @integers_drawn <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{draws something that is no real number}}
    %0 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xi64>
    tv.return %0 : tensor<4xi64>
  }
}
