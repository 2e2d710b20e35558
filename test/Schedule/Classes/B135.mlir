// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Input and output embedding are one parameter in two copies, on the first and the last
// stage. Its gradients are added over the two stages while the reduction over replicas, which
// overlaps with the pipeline, is still under way on them.

// CHECK: error: 'tv.read' op on device 0 reads 'embedding' while communication writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before

tv.plan @plan <dp = 2, device = 2, mb = 1> {
  tv.buffer @w0 on 0 "embedding" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0 on 0 "embedding" holds <3, [0:4 of 4]> gradient_of @w0 : !tv.buffer<tensor<4xf32>>
  tv.buffer @w1 on 1 "embedding" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g1 on 1 "embedding" holds <3, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g0 : tensor<4xf32>
    %reducing = tv.start into @g0 { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %reducing // fixed
    %2 = tv.read @g0 : tensor<4xf32>
    %3 = tv.communicate all_reduce %2 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.wait %reducing // wrong
    tv.write %3, @g0 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.read @g1 : tensor<4xf32>
    %reducing = tv.start into @g1 { %1 = tv.communicate all_reduce %0 group [1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %reducing // fixed
    %2 = tv.read @g1 : tensor<4xf32>
    %3 = tv.communicate all_reduce %2 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.wait %reducing // wrong
    tv.write %3, @g1 : tensor<4xf32>
  }
}
