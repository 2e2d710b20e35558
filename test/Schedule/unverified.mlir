// RUN: verify-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --tv-check-schedule \
// RUN:   -verify-diagnostics -split-input-file -o /dev/null

// Frontends give plans that no verifier has seen: what the check rests on it checks.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{names device 2, the plan has devices 0 to 1}}
    tv.send %0 to 2 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    // expected-error @below {{names device -1, the plan has devices 0 to 1}}
    %0 = tv.receive from -1 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{is a transfer of device 0 to itself}}
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{names device 3, the plan has devices 0 to 1}}
    %1 = tv.communicate all_reduce %0 group [0, 3] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{runs on device 0, which is not in its group}}
    %1 = tv.communicate all_reduce %0 group [1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{names device 1 twice}}
    %1 = tv.communicate all_reduce %0 group [0, 1, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
  }
  // expected-error @below {{names device 1, the plan has devices 0 to 0}}
  tv.program 1 {
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
  }
  // expected-error @below {{is a second program of device 0}}
  tv.program 0 {
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    // expected-error @below {{does not name a segment of device 0}}
    tv.call @nothing() instance 0 : () -> ()
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    // expected-error @below {{names no buffer: @nothing}}
    %0 = tv.read @nothing : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{is not understood by the schedule check}}
    %1 = tv.all_reduce %0 over ["dp"] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.segment @inner on 0 cell 2 {
    // expected-error @below {{is not understood by the schedule check}}
    tv.call @inner() instance 1 : () -> ()
  }
  tv.program 0 {
    tv.call @inner() instance 0 : () -> ()
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @receive on 0 cell 1 {
    // expected-error @below {{names a stream or a handle, or reads a buffer, outside of a program}}
    %h = tv.start stream "s" { %1 = tv.receive from 1 : tensor<4xf32> }
    %0 = tv.wait %h : tensor<4xf32>
  }
  tv.program 0 {
    tv.call @receive() instance 1 : () -> ()
  }
}

// -----

// Two streams that wait for each other.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 comes after what is started later}}
    %a = "tv.start"(%b) ({
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }) {stream = "a"} : (!tv.handle) -> !tv.handle
    // expected-note @below {{it is started here}}
    %b = tv.start stream "b" after %a { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
}
