// RUN: verify-opt %s --tv-reduce-shapes | FileCheck %s

// A sort of a dimension that nothing adds over keeps two of its positions. Sorts that
// do not meet in an op are reduced each by itself.
// CHECK: tv.stage @elementwise
// CHECK-SAME: factors = [{kept = 2 : i64, size = 64 : i64, width = 1 : i64}, {kept = 2 : i64, size = 128 : i64, width = 1 : i64}]
// Ops keep their sizes.
// CHECK-NEXT: tv.add %{{.*}} : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
tv.stage @elementwise <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64x128xf32>) {
  %l = tv.add %x, %x : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = tv.distribute %x <[0:64 of 64], [0:128 of 128]> on <device = 0> : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = tv.add %p, %p on <device = 0> : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  tv.expect %r is %l <[0:64 of 64], [0:128 of 128]> on <device = 0> number 0 : tensor<64x128xf32> is tensor<64x128xf32>
}

// A sum keeps one position more: the bulk, which stands for the rest.
// CHECK: tv.stage @sum
// CHECK-SAME: factors = [{kept = 3 : i64, size = 64 : i64, width = 2 : i64}]
tv.stage @sum <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %r = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// The third power of a sum takes more positions than the sum.
// CHECK: tv.stage @cube
// CHECK-SAME: factors = [{kept = 7 : i64, size = 64 : i64, width = 6 : i64}]
tv.stage @cube <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %l = tv.power %s {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %ps = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %r = tv.power %ps on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// A size of no more than the width is kept whole.
// CHECK: tv.stage @small
// CHECK-SAME: factors = [{kept = 2 : i64, size = 2 : i64, width = 2 : i64}]
tv.stage @small <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<2xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:2 of 2]> on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  %r = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// A slice cuts its dimension into sorts of their own.
// CHECK: tv.stage @slice
// CHECK-SAME: factors = [{kept = 2 : i64, size = 48 : i64, width = 1 : i64}, {kept = 2 : i64, size = 16 : i64, width = 1 : i64}]
tv.stage @slice <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 16 : i64} : (tensor<64xf32>) -> tensor<16xf32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %r = tv.slice %p on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 16 : i64} : (tensor<64xf32>) -> tensor<16xf32>
  tv.expect %r is %l <[0:16 of 16]> on <device = 0> number 0 : tensor<16xf32> is tensor<16xf32>
}
