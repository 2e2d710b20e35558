// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A gradient is computed on the current stream, and its reduction has to come after. It waits
// for what the default stream computes instead.

// CHECK: error: 'tv.read' op on device 0 reads 'bucket' while another stream writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "bucket" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "bucket" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %before = tv.read @g : tensor<4xf32>
    %current = tv.start into @g { %1 = tv.add %before, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> }
    %default = tv.start { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %current // fixed
    %2 = tv.wait %default : tensor<4xf32> // wrong
    %3 = tv.read @g : tensor<4xf32>
    %reducing = tv.start into @g { %1 = tv.communicate all_reduce %3 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %default : tensor<4xf32> // fixed
    tv.wait %current // wrong
    tv.wait %reducing
  }
}
