// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A kernel on one stream writes logarithms of sums, and another stream brings them into another
// layout without waiting for it. Both belong on the stream of the kernel.

// CHECK: error: 'tv.start' op on device 0 reads 'softmax_lse' while another stream writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before
// CHECK: note: or this has to come after it, by its handle or on its stream

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "softmax_lse" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "softmax_lse" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %kernel = tv.start stream "attention" into @g { %1 = tv.log %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %transform = tv.start stream "attention" { // fixed
    %transform = tv.start stream "default" { // wrong
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.reshape %1 : (tensor<4xf32>) -> tensor<1x4xf32>
    }
    %3 = tv.wait %transform : tensor<1x4xf32>
    tv.wait %kernel
  }
}
