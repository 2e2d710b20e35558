// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Each micro-batch writes its gradient on one stream, and another one reduces it. In the second
// micro-batch the reduction waits for the event of the first one.

// CHECK: error: 'tv.start' op on device 0 reads 'w' while another stream writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before
// CHECK: note: or this has to come after it, by its handle or on its stream

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %written0 = tv.start stream "compute" into @g { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %reduced0 = tv.start stream "reduce" after %written0 {
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.communicate all_reduce %1 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    %written1 = tv.start stream "compute" after %reduced0 into @g { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %reduced1 = tv.start stream "reduce" after %written1 { // fixed
    %reduced1 = tv.start stream "reduce" after %written0 { // wrong
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.communicate all_reduce %1 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    %3 = tv.wait %reduced0 : tensor<4xf32>
    %4 = tv.wait %reduced1 : tensor<4xf32>
    tv.wait %written0
    tv.wait %written1
  }
}
