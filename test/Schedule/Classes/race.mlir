// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Gradients from two neighbours are received into one buffer at a time.

// CHECK: error: 'tv.start' op on device 0 writes to 'w' while communication writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %left = tv.start into @g { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %left // fixed
    %right = tv.start into @g { %0 = tv.receive from 2 : tensor<4xf32> }
    tv.wait %left // wrong
    tv.wait %right
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}
