// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Collectives of one cell are one on all devices. Where the group of one member
// is another one, the error is there: not at the cell that has several of them
// (16), of which nobody knows which is which, nor at one that nobody waits for
// (40): device 0 meets device 1 in cell 41.

// CHECK: model.py:9:0: error: 'tv.communicate' op has group [0, 1] on device 1 and [0, 1, 2] on device 0: as a consequence devices wait for each other
// CHECK: note: device 0 has this one
// CHECK-NEXT: note: device 0 is here, at 'adapter (cell 32)', and waits for members of its group
// CHECK-NEXT: note: device 1 is here, at 'adapter (cell 32)', and waits for members of its group

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> loc(#other)
    %2 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> loc(#several)
    %3 = tv.communicate all_reduce %0 group [0, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#several)
    %4 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#here)
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %5 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> loc(#another)
    %1 = tv.communicate all_reduce %0 group [1, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#other)
    %2 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> loc(#several)
    %4 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#here) // fixed
    %4 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> loc(#here) // wrong
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [1, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#other)
    %3 = tv.communicate all_reduce %0 group [0, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#several)
    %4 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32> loc(#here)
  }
}

#other = loc(#tv.node<"adapter" cell 40 at loc("model.py":4:0)>)
#another = loc(#tv.node<"adapter" cell 41 at loc("model.py":5:0)>)
#several = loc(#tv.node<"adapter" cell 16 at loc("model.py":8:0)>)
#here = loc(#tv.node<"adapter" cell 32 at loc("model.py":9:0)>)
