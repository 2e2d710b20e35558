// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// An interleaved schedule of two chunks starts the sum over replicas of the first chunk's
// gradient at the wrong micro-batch: one backward of that chunk comes later.

// CHECK: error: 'tv.read' op on device 0 reads gradient 'w0' for its reducer before it is complete
// CHECK: note: this is added to it later
// CHECK: note: by execution 5

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w0 on 0 "w0" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0 on 0 "w0" holds <3, [0:4 of 4]> gradient_of @w0 : !tv.buffer<tensor<4xf32>>
  tv.buffer @w1 on 0 "w1" holds <4, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g1 on 0 "w1" holds <4, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.segment @backward0 on 0 cell 2 backward {
    %0 = tv.seed : tensor<4xf32>
    tv.add_to %0, @g0 : tensor<4xf32>
  }
  tv.segment @backward1 on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    tv.add_to %0, @g1 : tensor<4xf32>
  }
  tv.program 0 {
    tv.call @backward1() instance 2 : () -> ()
    tv.call @backward0() instance 3 : () -> ()
    tv.call @backward1() instance 4 : () -> ()
    %0 = tv.read @g0 : tensor<4xf32> // wrong
    %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> // wrong
    tv.write %1, @g0 : tensor<4xf32> // wrong
    tv.call @backward0() instance 5 : () -> ()
    %0 = tv.read @g0 : tensor<4xf32> // fixed
    %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> // fixed
    tv.write %1, @g0 : tensor<4xf32> // fixed
    %2 = tv.read @g1 : tensor<4xf32>
    %3 = tv.communicate all_reduce %2 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %3, @g1 : tensor<4xf32>
  }
}
