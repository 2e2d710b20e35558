// RUN: verify-opt %s --tv-check-schedule=timeline=%t.json -o /dev/null
// RUN: %python %S/timeline.py %t.json | FileCheck %s
// RUN: sed '/tv.receive from 0/d' %s > %t.bad.mlir
// RUN: not verify-opt %t.bad.mlir --tv-check-schedule=timeline=%t.bad.json -o /dev/null
// RUN: %python %S/timeline.py %t.bad.json | FileCheck %s --check-prefix=BLOCKED

// What was started shows beside the rest of a device, and a wait where it has to wait.

// CHECK: device 0: forward 0-1 compute; forward 1-2 compute; wait 2-3
// CHECK-NEXT: device 0: under way 0-3 send to 1
// CHECK-NEXT: device 1: forward 0-1 compute1; forward 1-2 compute1; receive 2-3 receive from 0
// BLOCKED: device 0: forward 0-1 compute; forward 1-2 compute; deadlock 2-3 waits without end: send to 1

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @compute on 0 cell 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.segment @compute1 on 1 cell 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %sending = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    tv.call @compute() instance 2 : () -> ()
    tv.call @compute() instance 3 : () -> ()
    tv.wait %sending
  }
  tv.program 1 {
    tv.call @compute1() instance 2 : () -> ()
    tv.call @compute1() instance 3 : () -> ()
    %0 = tv.receive from 0 : tensor<4xf32>
  }
}
