// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: collectives = 4 : i64, messages = 0 : i64

// Two groups share two members, which enter them in one order. A group with the
// members of all replicas is another communicator than that without.

tv.plan @plan <dp = 2, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_reduce %0 group [1, 0] : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.communicate all_gather %0 group [0, 1, 2] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<24xf32>
    %4 = tv.communicate broadcast %0 group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_reduce %0 group [1, 0] : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.communicate all_gather %0 group [0, 1, 2] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<24xf32>
    %4 = tv.communicate broadcast %0 group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.communicate all_gather %0 group [0, 1, 2] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<24xf32>
  }
}

// -----

// The shared members enter them in different orders.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @+2 {{on device 0 waits for members of its group: 2 devices wait for each other}}
    // expected-note @+1 {{of group [0, 1, 2] device 1 is missing}}
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @+2 {{device 1 is here and waits for members of its group}}
    // expected-note @+1 {{of group [0, 1] device 0 is missing}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// A member is missing: it has ended; another one is elsewhere.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @+2 {{on device 0 waits for members of its group}}
    // expected-note @+1 {{device 1 has run to its end without taking part}}
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    tv.send %1 to 2 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
  }
  tv.program 2 {
    // expected-note @below {{device 2 is here and waits for device 0 to send}}
    %0 = tv.receive from 0 : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// A collective on one side, a send on the other.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @+2 {{on device 0 waits for members of its group: 2 devices wait for each other}}
    // expected-note @+1 {{of group [0, 1] device 1 is missing}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 0 to receive}}
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// The members of one group, with and without those of other replicas.

tv.plan @plan <dp = 2, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @+2 {{on device 0 waits for members of its group: 2 devices wait for each other}}
    // expected-note @+1 {{of group [0, 1] device 1 is missing}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @+2 {{device 1 is here and waits for members of its group}}
    // expected-note @+1 {{of group [0, 1] device 0 is missing}}
    %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{enters at this point: kind is broadcast on device 1 and all_reduce on device 0}}
    %1 = tv.communicate broadcast %0 group [0, 1] {root = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{reduction is maximum on device 1 and sum on device 0}}
    %1 = tv.communicate all_reduce %0 group [0, 1] by maximum : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate broadcast %0 group [0, 1] {root = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{root is 1 on device 1 and 0 on device 0}}
    %1 = tv.communicate broadcast %0 group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4x4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4x4xf32>
    // expected-error @below {{dimension is 1 on device 1 and 0 on device 0}}
    %1 = tv.communicate all_gather %0 group [0, 1] {dimension = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x8xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4x4x4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_to_all %0 group [0, 1] {dimension = 0 : i64, split_dimension = 1 : i64} : (tensor<4x4x4xf32>) -> tensor<8x2x4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4x4x4xf32>
    // expected-error @below {{split dimension is 2 on device 1 and 1 on device 0}}
    %1 = tv.communicate all_to_all %0 group [0, 1] {dimension = 0 : i64, split_dimension = 2 : i64} : (tensor<4x4x4xf32>) -> tensor<8x4x2xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{order of the group is [1, 0] on device 1 and [0, 1] on device 0}}
    %1 = tv.communicate all_gather %0 group [1, 0] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

// Other counts, and other elements.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<8xf32>
    // expected-error @below {{operand is 'tensor<8xf32>' on device 1 and 'tensor<4xf32>' on device 0}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<8xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xbf16>
    // expected-error @below {{operand is 'tensor<4xbf16>' on device 1 and 'tensor<4xf32>' on device 0}}
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xbf16>) -> tensor<4xbf16>
  }
}
