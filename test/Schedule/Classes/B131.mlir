// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A buffer for gradients of weights is used by two layers in turn. The second one writes to it
// while the reduction of the first one still reads it.

// CHECK: error: 'tv.write' op on device 0 writes to 'bucket' while communication reads it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "bucket" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "bucket" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %first = tv.seed : tensor<4xf32>
    tv.write %first, @g : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    %reducing = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %second = tv.seed : tensor<4xf32>
    %2 = tv.wait %reducing : tensor<4xf32> // fixed
    tv.write %second, @g : tensor<4xf32>
    %2 = tv.wait %reducing : tensor<4xf32> // wrong
    %3 = tv.read @g : tensor<4xf32>
    %4 = tv.communicate all_reduce %3 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %4, @g : tensor<4xf32>
  }
}
