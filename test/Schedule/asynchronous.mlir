// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: tv.assumptions = ["communication that was started goes on without being waited for, also while what was started before waits"]
// CHECK-SAME: collectives = 0 : i64, messages = 2 : i64

// Both start their sends first and wait for them last.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %sending = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    %1 = tv.receive from 1 : tensor<4xf32>
    tv.wait %sending
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %sending = tv.start { tv.send %0 to 0 : tensor<4xf32> }
    %1 = tv.receive from 0 : tensor<4xf32>
    tv.wait %sending
  }
}

// -----

// Both wait before they receive.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %sending = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to receive: 2 devices wait for each other}}
    tv.wait %sending
    %1 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %sending = tv.start { tv.send %0 to 0 : tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for device 0 to receive}}
    tv.wait %sending
    %1 = tv.receive from 0 : tensor<4xf32>
  }
}

// -----

// Receives that are posted first.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    tv.send %0 to 1 : tensor<4xf32>
    %2 = tv.wait %receiving : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %receiving = tv.start { %1 = tv.receive from 0 : tensor<4xf32> }
    tv.send %0 to 0 : tensor<4xf32>
    %2 = tv.wait %receiving : tensor<4xf32>
  }
}

// -----

// One is waited for before it can come.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    // expected-note @below {{what it waits for starts here}}
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %receiving : tensor<4xf32>
    tv.send %2 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    // expected-note @below {{what it waits for starts here}}
    %receiving = tv.start { %1 = tv.receive from 0 : tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %2 = tv.wait %receiving : tensor<4xf32>
    tv.send %2 to 0 : tensor<4xf32>
  }
}

// -----

// Transfers of a channel meet in the order of their starts, whatever is waited for
// first.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.seed : tensor<8xf32>
    %a = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    %b = tv.start { tv.send %1 to 1 : tensor<8xf32> }
    tv.wait %b
    tv.wait %a
  }
  tv.program 1 {
    %a = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %b = tv.start { %1 = tv.receive from 0 : tensor<8xf32> }
    %2 = tv.wait %b : tensor<8xf32>
    %3 = tv.wait %a : tensor<4xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.seed : tensor<8xf32>
    // expected-note @below {{sent here}}
    %a = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    tv.send %1 to 1 : tensor<8xf32>
    tv.wait %a
  }
  tv.program 1 {
    // expected-error @below {{expects 'tensor<8xf32>', device 0 sends 'tensor<4xf32>'}}
    %b = tv.start { %1 = tv.receive from 0 : tensor<8xf32> }
    %a = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %2 = tv.wait %b : tensor<8xf32>
    %3 = tv.wait %a : tensor<4xf32>
  }
}

// -----

// Nobody receives.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @+3 {{to device 1 is never received}}
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @+2 {{device 1 has run to its end without taking part}}
    %a = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    tv.wait %a
  }
  tv.program 1 {
  }
}

// -----

// Groups that share members, started in one order and in two orders: neither waits.

tv.plan @plan <dp = 2, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// Collectives of one communicator meet in the order of their starts.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 0 enters this one}}
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start { %1 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<8xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{is not what another member of its group enters at this point: kind is all_gather on device 1 and all_reduce on device 0}}
    %b = tv.start { %1 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32> }
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<8xf32>
  }
}

// -----

// The second of two collectives is waited for, and one member posts the first alone.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{of group [0, 1] device 1 is missing}}
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 waits for members of its group: 2 devices wait for each other}}
    %2 = tv.wait %b : tensor<4xf32>
    %3 = tv.wait %a : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %4 = tv.receive from 0 : tensor<4xf32>
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %b : tensor<4xf32>
    %3 = tv.wait %a : tensor<4xf32>
  }
}
