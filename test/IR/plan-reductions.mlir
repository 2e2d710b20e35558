// RUN: verify-opt %s --verify-roundtrip | FileCheck %s --strict-whitespace
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s --strict-whitespace

// CHECK-LABEL: tv.plan @plan
tv.plan @plan <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<8xf32>
    // CHECK: tv.communicate all_reduce %{{.*}} group [0, 1] replicas by average : (tensor<8xf32>) -> tensor<8xf32>
    %average = tv.communicate all_reduce %x group [0, 1] replicas by average : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: tv.communicate reduce_scatter %{{.*}} group [0, 1] by maximum {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<4xf32>
    %maximum = tv.communicate reduce_scatter %average group [0, 1] by maximum {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
  }
}
