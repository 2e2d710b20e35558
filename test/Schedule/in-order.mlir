// RUN: verify-opt %s --tv-check-schedule=started-communication=in-order -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule=started-communication=in-order \
// RUN:   | FileCheck %s
// RUN: sed '/expected-/d' %s | verify-opt --tv-check-schedule -split-input-file -o /dev/null
// CHECK: tv.assumptions = ["communication that was started goes on without being waited for, at least one at a time on each device, in order"]
// CHECK-SAME: collectives = 0 : i64, messages = 2 : i64

// What hangs where a device communicates one at a time. None of these does where what
// was started goes on side by side: the third run. First one that never hangs: a device
// sends first and the other receives first.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %sending = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    %2 = tv.wait %receiving : tensor<4xf32>
    tv.wait %sending
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %receiving = tv.start { %1 = tv.receive from 0 : tensor<4xf32> }
    %sending = tv.start { tv.send %0 to 0 : tensor<4xf32> }
    tv.wait %sending
    %2 = tv.wait %receiving : tensor<4xf32>
  }
}

// -----

// Both post their receives first, as they should elsewhere.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %sending = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %receiving : tensor<4xf32>
    tv.wait %sending
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{this comes before it on device 1}}
    %receiving = tv.start { %1 = tv.receive from 0 : tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{device 1 comes to this only after what it waits for}}
    %sending = tv.start { tv.send %0 to 0 : tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for its turn, behind what waits for device 0 to send}}
    tv.wait %sending
    %2 = tv.wait %receiving : tensor<4xf32>
  }
}

// -----

// A blocking op has its turn too.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{this comes before it on device 0}}
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-error @+2 {{on device 0 waits for its turn, behind what waits for device 1 to send: 2 devices wait for each other}}
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    tv.send %0 to 1 : tensor<4xf32>
    %2 = tv.wait %receiving : tensor<4xf32>
  }
  tv.program 1 {
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

// Groups that share members, started in two orders.

tv.plan @plan <dp = 2, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{of group [0, 1, 2] device 1 is missing}}
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 waits for members of its group: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @+2 {{this comes before it on device 1}}
    // expected-note @below {{of group [0, 1] device 0 is missing}}
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{device 1 comes to this only after what it waits for}}
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for its turn, behind what waits for members of its group}}
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// In one order, whatever is waited for first.

tv.plan @plan <dp = 2, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %b : tensor<4xf32>
    %3 = tv.wait %a : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %a = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start { %1 = tv.communicate all_reduce %0 group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// What is first on a device was started long before, in a program that is inside of a
// segment now. Three devices wait in a circle.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.segment @exchange on 0 cell 1 {
  ^bb0(%0: tensor<4xf32>):
    // expected-note @+2 {{device 0 comes to this only after what it waits for}}
    // expected-error @below {{on device 0 waits for its turn, behind what waits for device 1 to send: 3 devices wait for each other}}
    tv.send %0 to 2 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{this comes before it on device 0}}
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    tv.call @exchange(%0) instance 1 : (tensor<4xf32>) -> ()
    %2 = tv.wait %receiving : tensor<4xf32>
  }
  tv.program 1 {
    // expected-note @below {{device 1 is here and waits for device 2 to send}}
    %0 = tv.receive from 2 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
  tv.program 2 {
    // expected-note @below {{device 2 is here and waits for device 0 to send}}
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
}

// -----

// The other one is sent first.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.segment @exchange on 0 cell 1 {
  ^bb0(%0: tensor<4xf32>):
    tv.send %0 to 2 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @exchange(%0) instance 1 : (tensor<4xf32>) -> ()
    %receiving = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    %2 = tv.wait %receiving : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 2 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
}
