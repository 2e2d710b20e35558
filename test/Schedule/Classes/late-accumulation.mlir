// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A gradient is reduced as soon as it is thought complete, while the backward of a last
// micro-batch adds to it.

// CHECK: error: 'tv.add_to' op on device 0 writes to 'w' while communication writes to it
// CHECK: note: in execution 3
// CHECK: note: it was started here

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @backward on 0 cell 2 backward {
    %0 = tv.seed : tensor<4xf32>
    tv.add_to %0, @g : tensor<4xf32>
  }
  tv.program 0 {
    tv.call @backward() instance 2 : () -> ()
    tv.call @backward() instance 3 : () -> () // fixed
    %0 = tv.read @g : tensor<4xf32>
    %reducing = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.call @backward() instance 3 : () -> () // wrong
    tv.wait %reducing
  }
}
