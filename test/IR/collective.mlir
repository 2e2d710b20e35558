// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s

// CHECK-LABEL: tv.graph @plan
tv.graph @plan <dp = 2, device = 4, mb = 16> {
  %0 = tv.undefined "x" on <device = 0> : tensor<4xf32>
  %1 = tv.undefined "y" on <device = 1> : tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}}, %{{.*}} over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %operands = tv.all_reduce %0, %1 over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}} over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %axis = tv.all_reduce %0 over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}}, %{{.*}} by average over ["dp"] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %average = tv.all_reduce %0, %1 by average over ["dp"] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}}, %{{.*}} by maximum over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %maximum = tv.all_reduce %0, %1 by maximum over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}}, %{{.*}} by minimum over []
  %minimum = tv.all_reduce %0, %1 by minimum over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_reduce %{{.*}}, %{{.*}} by product over []
  %product = tv.all_reduce %0, %1 by product over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_gather %{{.*}}, %{{.*}} on <device = 0:2> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %gather = tv.all_gather %0, %1 on <device = 0:2> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK: tv.move %{{.*}} from <device = 1> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>
  %move = tv.move %1 from <device = 1> on <device = 3> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.accumulate %{{.*}} over <mb = 0:15> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %accumulate = tv.accumulate %0 over <mb = 0:15> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tv.all_gather %{{.*}} over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  %over = tv.all_gather %0 over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: tv.all_slice %{{.*}} over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  %slice = tv.all_slice %0 over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  %same = tv.all_reduce %0 over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %part = tv.all_slice %same over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  %parts = tv.all_gather %part over "dp" on <device = 0> {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
}
