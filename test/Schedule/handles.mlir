// RUN: verify-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --tv-check-schedule=checks=progress \
// RUN:   -verify-diagnostics -split-input-file -o /dev/null
// RUN: verify-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --tv-check-schedule \
// RUN:   -verify-diagnostics -split-input-file -o /dev/null

// Handles: each is waited for once, after its start. What else the check rests on is
// checked again where no verifier has seen it.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{on device 0 is never waited for}}
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-note @below {{it was started here}}
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{the first time is here}}
    %1 = tv.wait %h : tensor<4xf32>
    // expected-error @below {{on device 0 waits a second time for what was started}}
    %2 = tv.wait %h : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{on device 0 waits for what is started later}}
    %1 = tv.wait %h : tensor<4xf32>
    // expected-note @below {{it is started here}}
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

// The wait of another handle: this one twice, the other never.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-note @below {{it was started here}}
    %g = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{the first time is here}}
    %1 = tv.wait %g : tensor<4xf32>
    // expected-error @below {{on device 0 waits a second time for what was started}}
    %2 = tv.wait %g : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{gives a handle that is not only waited for}}
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    "tv.send"(%h) {peer = 1 : i64} : (!tv.handle) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{starts something else than one communication op, or one computation of a program}}
    %h = tv.start { %0 = tv.seed : tensor<4xf32> }
    tv.wait %h
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    // expected-error @below {{has another result than what was started}}
    tv.wait %h
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{names device 2, the plan has devices 0 to 1}}
    %h = tv.start { %0 = tv.receive from 2 : tensor<4xf32> }
    %1 = tv.wait %h : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{names no buffer: @nothing}}
    %h = tv.start into @nothing { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{writes to a parameter, which no step may}}
    %h = tv.start into @w { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 1 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    // expected-error @below {{uses a buffer of device 1 on device 0}}
    %h = tv.start into @g { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 1 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    %1 = tv.wait %h : tensor<4xf32>
    // expected-error @below {{uses a buffer of device 1 on device 0}}
    %2 = tv.read @g : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

// Of another block.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    // expected-error @below {{gives a handle that is not only waited for}}
    %h = tv.start { %0 = tv.receive from 1 : tensor<4xf32> }
    %i = tv.start {
      tv.wait %h
    }
  }
}
