// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A half of a gradient is sent. It is a view, and the whole is overwritten before it has left.

// CHECK: error: 'tv.write' op on device 0 writes to 'w' while communication reads it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %1 = tv.slice %0 {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %sending = tv.start { tv.send %1 to 1 : tensor<2xf32> }
    %2 = tv.seed : tensor<4xf32>
    tv.wait %sending // fixed
    tv.write %2, @g : tensor<4xf32>
    tv.wait %sending // wrong
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<2xf32>
  }
}
