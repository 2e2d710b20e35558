// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.plan @adds_to_scratch_memory <device = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{adds to scratch memory}}
    tv.add_to %x, @slot : tensor<4xf32>
  }
}

// -----

tv.plan @reads_the_scratch_memory_of_another_device <device = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 1 {
    // expected-error @below {{uses memory of device 0 on device 1}}
    %0 = tv.read @slot : tensor<4xf32>
  }
}

// -----

tv.plan @writes_another_shape_to_scratch_memory <device = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.undefined "x" : tensor<8xf32>
    // expected-error @below {{uses memory of 'tensor<4xf32>' as 'tensor<8xf32>'}}
    tv.write %x, @slot : tensor<8xf32>
  }
}

// -----

tv.plan @frees_a_parameter <device = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{names no scratch memory: @w}}
    tv.free @w
  }
}

// -----

tv.plan @takes_what_nobody_passes <device = 1> {
  // expected-error @below {{has arguments, which nobody passes}}
  tv.program 0 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  }
}
