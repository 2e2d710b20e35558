// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A parameter that two layers share is counted as ready once the first of them has added
// its gradient, and is reduced before the second one does.

// CHECK: error: 'tv.read' op on device 0 reads gradient 'tied' for its reducer before it is complete
// CHECK: note: this is added to it later
// CHECK: note: by execution 3

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "tied" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "tied" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @head on 0 cell 2 backward {
    %0 = tv.seed : tensor<4xf32>
    tv.add_to %0, @g : tensor<4xf32>
  }
  tv.segment @embedding on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    tv.add_to %0, @g : tensor<4xf32>
  }
  tv.program 0 {
    tv.call @head() instance 2 : () -> ()
    %0 = tv.read @g : tensor<4xf32> // wrong
    tv.call @embedding() instance 3 : () -> ()
    %0 = tv.read @g : tensor<4xf32> // fixed
    %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %1, @g : tensor<4xf32>
  }
}
