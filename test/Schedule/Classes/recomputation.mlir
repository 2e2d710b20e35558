// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A forward is computed again for its backward. On one device the copy enters its two
// collectives in another order than it did the first time, and than its peer does.

// CHECK: error: 'tv.communicate' op is not what another member of its group enters at this point: kind is all_gather on device 1 and all_reduce on device 0
// CHECK: note: device 0 enters this one

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    %3 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    %3 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> // fixed
    %4 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    %3 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> // wrong
  }
}
