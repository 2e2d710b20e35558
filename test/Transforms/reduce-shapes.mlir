// RUN: verify-opt %s --tv-reduce-shapes | FileCheck %s

// A sort of a dimension that nothing adds over keeps one of its positions, and the bulk,
// which stands for the rest. Sorts that do not meet in an op are reduced each by itself.
// CHECK: tv.stage @elementwise
// CHECK-SAME: factors = [{bulk = 63 : i64, kept = 1 : i64, size = 64 : i64, width = 1 : i64}, {bulk = 127 : i64, kept = 1 : i64, size = 128 : i64, width = 1 : i64}]
// Ops keep their sizes.
// CHECK-NEXT: tv.add %{{.*}} : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
tv.stage @elementwise <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64x128xf32>) {
  %l = tv.add %x, %x : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = tv.distribute %x <[0:64 of 64], [0:128 of 128]> on <device = 0> : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = tv.add %p, %p on <device = 0> : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  tv.expect %r is %l <[0:64 of 64], [0:128 of 128]> on <device = 0> number 0 : tensor<64x128xf32> is tensor<64x128xf32>
}

// So does a sum: each of its terms has one position.
// CHECK: tv.stage @sum
// CHECK-SAME: factors = [{bulk = 63 : i64, kept = 1 : i64, size = 64 : i64, width = 1 : i64}]
tv.stage @sum <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %r = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// The third power of a sum takes more positions than the sum.
// CHECK: tv.stage @cube
// CHECK-SAME: factors = [{bulk = 61 : i64, kept = 3 : i64, size = 64 : i64, width = 3 : i64}]
tv.stage @cube <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %l = tv.power %s {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %ps = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %r = tv.power %ps on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// A slice cuts its dimension into sorts of their own.
// CHECK: tv.stage @slice
// CHECK-SAME: factors = [{bulk = 15 : i64, kept = 1 : i64, size = 16 : i64, width = 1 : i64}, {bulk = 47 : i64, kept = 1 : i64, size = 48 : i64, width = 1 : i64}]
tv.stage @slice <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 16 : i64} : (tensor<64xf32>) -> tensor<16xf32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %r = tv.slice %p on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 16 : i64} : (tensor<64xf32>) -> tensor<16xf32>
  tv.expect %r is %l <[0:16 of 16]> on <device = 0> number 0 : tensor<16xf32> is tensor<16xf32>
}

// A bulk that would stand for itself alone is kept, one that stands for two is not.
// CHECK: tv.stage @bulk_of_one
// CHECK-SAME: factors = [{bulk = 0 : i64, kept = 2 : i64, size = 2 : i64, width = 1 : i64}]
tv.stage @bulk_of_one <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<2xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:2 of 2]> on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  %r = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// CHECK: tv.stage @bulk_of_two
// CHECK-SAME: factors = [{bulk = 2 : i64, kept = 1 : i64, size = 3 : i64, width = 1 : i64}]
tv.stage @bulk_of_two <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<3xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %r = tv.reduce sum %p on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// What cannot be reduced is kept whole and says so.
// CHECK: tv.stage @rigid
// CHECK-SAME: factors = [{bulk = 0 : i64, kept = 4 : i64, rigid, size = 4 : i64, width = 1 : i64}, {bulk = 0 : i64, kept = 3 : i64, rigid, size = 3 : i64
tv.stage @rigid <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<12xf32>) {
  %l = tv.reshape %x : (tensor<12xf32>) -> tensor<4x3xf32>
  %m = tv.reshape %x : (tensor<12xf32>) -> tensor<3x4xf32>
  %p = tv.distribute %m <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  tv.expect %p is %m <[0:3 of 3], [0:4 of 4]> on <device = 0> number 0 : tensor<3x4xf32> is tensor<3x4xf32>
}

// A mesh axis is a sort too: what it sums stands for all its coordinates.
// CHECK: tv.stage @axis
// CHECK-SAME: {bulk = 62 : i64, kept = 2 : i64, size = 64 : i64, width = 2 : i64}]
tv.stage @axis <dp = 64, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %p = tv.distribute %x <[dp, 0:1 of 1]> on <device = 0> : (tensor<64xf32>) -> tensor<1xf32>
  %q = tv.reshape %p on <device = 0> : (tensor<1xf32>) -> tensor<f32>
  %r = tv.all_reduce %q over ["dp"] on <device = 0> : (tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}
