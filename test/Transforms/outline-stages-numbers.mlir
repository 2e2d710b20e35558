// RUN: verify-opt %s --tv-outline-stages -split-input-file -verify-diagnostics | FileCheck %s

// Expects without a number get one that no other has.

// CHECK-LABEL: tv.graph @graph
// CHECK: tv.stage @stage0 {{.*}} expects array<i64: 0>
// CHECK: tv.expect {{.*}} number 0
// CHECK: tv.stage @stage1 {{.*}} expects array<i64: 1>
// CHECK: assumes 0
// CHECK: tv.expect {{.*}} number 1 contract <output "z">

tv.graph @graph <device = 1> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = tv.negate %y : (tensor<4xf32>) -> tensor<4xf32>
  %0 = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tv.exp %0 on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %1 is %y <[0:4 of 4]> on <device = 0> : tensor<4xf32> is tensor<4xf32>
  %2 = tv.negate %1 on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %2 is %z <[0:4 of 4]> on <device = 0> contract <output "z"> : tensor<4xf32> is tensor<4xf32>
}

// -----

tv.graph @graph <device = 1> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %y = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tv.exp %0 on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %1 is %y <[0:4 of 4]> on <device = 0> number 3 : tensor<4xf32> is tensor<4xf32>
  // expected-error @below {{has the number of another one: 3}}
  tv.expect %1 is %y <[0:4 of 4]> on <device = 0> number 3 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
}
