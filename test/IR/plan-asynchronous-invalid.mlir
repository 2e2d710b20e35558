// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.plan @starts_a_computation_in_a_segment <device = 2> {
  tv.segment @f on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
      %y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    }
    %0 = tv.wait %handle : tensor<4xf32>
  }
}

// -----

tv.plan @starts_a_buffer_op <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
      %y = tv.read @w : tensor<4xf32>
    }
    %0 = tv.wait %handle : tensor<4xf32>
  }
}

// -----

tv.plan @reads_after_it_computes <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
      %y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %z = tv.read @w : tensor<4xf32>
    }
    %0 = tv.wait %handle : tensor<4xf32>
  }
}

// -----

tv.plan @names_a_stream_in_a_segment <device = 2> {
  tv.segment @f on 0 cell 1 {
    // expected-error @below {{names a stream or a handle, or reads a buffer, outside of a program}}
    %handle = tv.start stream "s" {
      %y = tv.receive from 1 : tensor<4xf32>
    }
    %0 = tv.wait %handle : tensor<4xf32>
  }
}

// -----

tv.plan @reads_in_a_segment <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.segment @f on 0 cell 1 {
    // expected-error @below {{names a stream or a handle, or reads a buffer, outside of a program}}
    %handle = tv.start {
      %y = tv.read @w : tensor<4xf32>
      tv.send %y to 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @comes_after_a_value_that_is_no_start <device = 2> {
  tv.program 0 {
    // expected-note @below {{prior use here}}
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{use of value '%x' expects different type than prior uses}}
    %handle = tv.start after %x {
      tv.send %x to 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @starts_a_computation_without_its_result <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    %handle = tv.start {
      %y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    }
    // expected-error @below {{has another result than what was started}}
    tv.wait %handle
  }
}

// -----

tv.plan @starts_two <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
      tv.send %x to 1 : tensor<4xf32>
      tv.send %x to 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @starts_with_an_argument <device = 2> {
  tv.program 0 {
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
    ^bb0(%x: tensor<4xf32>):
      tv.send %x to 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @starts_in_a_start <device = 2> {
  tv.program 0 {
    %handle = tv.start {
      // expected-error @below {{expects parent op to be one of 'tv.segment, tv.program'}}
      %inner = tv.start {
        %0 = tv.receive from 1 : tensor<4xf32>
      }
    }
    tv.wait %handle
  }
}

// -----

tv.plan @starts_with_nobody <device = 2> {
  tv.program 0 {
    %handle = tv.start {
      // expected-error @below {{names device 2, the mesh has 2}}
      %0 = tv.receive from 2 : tensor<4xf32>
    }
    %x = tv.wait %handle : tensor<4xf32>
  }
}

// -----

tv.plan @sends_into_a_buffer <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has no result to put into @g}}
    %handle = tv.start into @g {
      tv.send %x to 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @receives_into_a_parameter <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{writes to a parameter, which no step may}}
    %handle = tv.start into @w {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @receives_another_type <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{uses a buffer of 'tensor<4xf32>' as 'tensor<8xf32>'}}
    %handle = tv.start into @g {
      %0 = tv.receive from 1 : tensor<8xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @receives_into_memory_of_another <device = 2> {
  tv.buffer @w on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 1 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{uses a buffer of device 1 on device 0}}
    %handle = tv.start into @g {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @waits_for_another_type <device = 2> {
  tv.program 0 {
    %handle = tv.start {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    // expected-error @below {{has another result than what was started}}
    %x = tv.wait %handle : tensor<8xf32>
  }
}

// -----

tv.plan @starts_what_is_over_all_devices <device = 2> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %handle = tv.start {
      %0 = tv.all_reduce %x over ["device"] : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %handle
  }
}

// -----

tv.plan @waits_for_no_result <device = 2> {
  tv.program 0 {
    %handle = tv.start {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    // expected-error @below {{has another result than what was started}}
    tv.wait %handle
  }
}

// -----

tv.plan @uses_a_result_before_its_wait <device = 2> {
  tv.program 0 {
    %handle = tv.start {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    // expected-error @below {{operand #0 does not dominate this use}}
    "tv.send"(%x) {peer = 1 : i64} : (tensor<4xf32>) -> ()
    // expected-note @below {{operand defined here}}
    %x = tv.wait %handle : tensor<4xf32>
  }
}
