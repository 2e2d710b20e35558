// RUN: verify-opt %s --tv-outline-stages | FileCheck %s
// RUN: sed '/ number 0 : /s/<device = 0>/<device = 0:2>/' %s | verify-opt --tv-outline-stages | FileCheck %s --check-prefix=ALL

// A lemma about a value on one device says nothing about it on another: a stage that
// needs it on both goes through it. A lemma about both ends the stage.

// CHECK: tv.stage @stage1
// CHECK-NOT: assumes
// CHECK: tv.exp {{.*}} on <device = 0:2>
// CHECK: tv.negate {{.*}} on <device = 0:2>
// ALL: tv.stage @stage1
// ALL: tv.distribute {{.*}} assumes 0
// ALL-NOT: tv.exp {{.*}} on
// ALL: tv.negate {{.*}} on <device = 0:2>

tv.graph @graph <dp = 1, device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = tv.negate %e : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
  %pe = tv.exp %p on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
  %z = tv.negate %pe on <device = 0:2> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %pe is %e <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
  tv.expect %z is %y <[0:4 of 4]> on <device = 0:2> number 1 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
}
