// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Two gradients are reduced at a time. Before the first one is used, the wait is for the
// second, and the other way round.

// CHECK: error: 'tv.read' op on device 0 reads 'w0' while communication writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w0 on 0 "w0" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0 on 0 "w0" holds <3, [0:4 of 4]> gradient_of @w0 : !tv.buffer<tensor<4xf32>>
  tv.buffer @w1 on 0 "w1" holds <4, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g1 on 0 "w1" holds <4, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g0 : tensor<4xf32>
    %1 = tv.read @g1 : tensor<4xf32>
    %first = tv.start into @g0 { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %second = tv.start into @g1 { %2 = tv.communicate all_reduce %1 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %first // fixed
    tv.wait %second // wrong
    %3 = tv.read @g0 : tensor<4xf32>
    tv.output %3 "first" <9, [0:4 of 4]> : tensor<4xf32>
    tv.wait %second // fixed
    tv.wait %first // wrong
    %4 = tv.read @g1 : tensor<4xf32>
    tv.output %4 "second" <10, [0:4 of 4]> : tensor<4xf32>
  }
}
