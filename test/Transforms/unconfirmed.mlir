// Steps that the solver does not confirm are named one by one, and counted apart.
// RUN: verify-opt %s --tv-check-equiv=resource-limit=1 -o /dev/null 2>&1 | FileCheck %s
// RUN: verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=CONFIRMED

// CHECK: :[[@LINE+18]]:3: remark: proved by normalization only: element [0] rests on a step that the solver does not confirm (Z3: unknown): exp(t0[2]) >= 0
// CHECK: :[[@LINE+17]]:3: remark: proved by normalization only: element [0] rests on a step
// CONFIRMED-NOT: remark
tv.stage @softmax <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %e = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %s = tv.reduce sum %e keep {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  %sb = tv.broadcast %s {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<4xf32>
  %d = tv.divide %e, %sb : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = tv.power %d {numerator = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %m = tv.reduce maximum %p keep on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  %mb = tv.broadcast %m on <device = 0> {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<4xf32>
  %pm = tv.subtract %p, %mb on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %pe = tv.exp %pm on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %ps = tv.reduce sum %pe keep on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  %psb = tv.broadcast %ps on <device = 0> {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<4xf32>
  %pd = tv.divide %pe, %psb on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = tv.power %pd on <device = 0> {numerator = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %r is %l <[0:4 of 4]> on <device = 0> : tensor<4xf32> is tensor<4xf32>
}
