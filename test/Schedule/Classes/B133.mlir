// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A compiler moves the wait for a reduction in place behind the use of its result.

// CHECK: error: 'tv.read' op on device 0 reads 'w' while communication writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %reducing = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %reducing // fixed
    %2 = tv.read @g : tensor<4xf32>
    tv.output %2 "gradient" <9, [0:4 of 4]> : tensor<4xf32>
    tv.wait %reducing // wrong
  }
}
