// RUN: verify-opt %s --tv-check-schedule=timeline=%t.json -o /dev/null
// RUN: %python %S/timeline.py %t.json | FileCheck %s

// What runs on streams shows beside the rest of a device, from when it begins.

// CHECK: device 0: forward 0-1 compute; forward 1-2 compute
// CHECK-NEXT: device 0: under way 1-2 send to 1 on stream transfers; under way 1-2 tv.exp on stream beside; under way 0-1 receive from 1 on stream transfers
// CHECK-NEXT: device 1: send 0-1 send to 0; receive 1-2 receive from 0

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @compute on 0 cell 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %receiving = tv.start stream "transfers" into @g { %1 = tv.receive from 1 : tensor<4xf32> }
    %computing = tv.start stream "beside" after %receiving {
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    }
    %sending = tv.start stream "transfers" { tv.send %0 to 1 : tensor<4xf32> }
    tv.call @compute() instance 2 : () -> ()
    tv.call @compute() instance 3 : () -> ()
    tv.wait %sending
    %2 = tv.wait %computing : tensor<4xf32>
    tv.wait %receiving
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
  }
}
