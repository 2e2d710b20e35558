// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// All-reduces that do not add, and cumulative sums: every stage without an expected
// error is proved.

tv.stage @maximum <device = 2> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %l = tv.reduce maximum %x {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %x0 = tv.distribute %x <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %x1 = tv.distribute %x <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m0 = tv.reduce maximum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %m1 = tv.reduce maximum %x1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %r = tv.all_reduce %m0, %m1 by maximum over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0:2> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @minimum_for_maximum <device = 2> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %l = tv.reduce maximum %x {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %x0 = tv.distribute %x <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %x1 = tv.distribute %x <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m0 = tv.reduce maximum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %m1 = tv.reduce maximum %x1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %r = tv.all_reduce %m0, %m1 by minimum over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'minimum_for_maximum' is not proved}}
  tv.expect %r is %l <> on <device = 0:2> number 0 : tensor<f32> is tensor<f32>
}

// -----

// The least is minus the greatest of the negated.
tv.stage @minimum <device = 2> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %l = tv.reduce minimum %x {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %x0 = tv.distribute %x <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %x1 = tv.distribute %x <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %n0 = tv.negate %x0 on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32>
  %n1 = tv.negate %x1 on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32>
  %m0 = tv.reduce maximum %n0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %m1 = tv.reduce maximum %n1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32>
  %r0 = tv.negate %m0 on <device = 0> : (tensor<f32>) -> tensor<f32>
  %r1 = tv.negate %m1 on <device = 1> : (tensor<f32>) -> tensor<f32>
  %r = tv.all_reduce %r0, %r1 by minimum over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0:2> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @least_of_a_part <device = 2> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %l = tv.reduce minimum %x {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %x0 = tv.distribute %x <[0:4095 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<4095xf32>
  %r = tv.reduce minimum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4095xf32>) -> tensor<f32>
  // expected-error @below {{stage 'least_of_a_part' is unknown}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// Over 600 replicas of two devices each.
tv.stage @average <dp = 600, device = 2> expects array<i64: 0> (%x: tensor<1200x8xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<1200x8xf32>) -> tensor<8xf32>
  %x0 = tv.distribute %x <[0:1 of 2, dp], [0:8 of 8]> on <device = 0> : (tensor<1200x8xf32>) -> tensor<1x8xf32>
  %x1 = tv.distribute %x <[1:2 of 2, dp], [0:8 of 8]> on <device = 1> : (tensor<1200x8xf32>) -> tensor<1x8xf32>
  %m = tv.all_reduce %x0, %x1 by average over ["dp"] on <device = 0:2> : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %r = tv.reshape %m on <device = 0:2> : (tensor<1x8xf32>) -> tensor<8xf32>
  tv.expect %r is %l <[0:8 of 8]> on <device = 0:2> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

// An average over devices of averages over replicas without one of them.
tv.stage @average_of_one_device <dp = 600, device = 2> expects array<i64: 0> (%x: tensor<1200x8xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<1200x8xf32>) -> tensor<8xf32>
  %x0 = tv.distribute %x <[0:1 of 2, dp], [0:8 of 8]> on <device = 0> : (tensor<1200x8xf32>) -> tensor<1x8xf32>
  %m = tv.all_reduce %x0 by average over ["dp"] on <device = 0> : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %r = tv.reshape %m on <device = 0> : (tensor<1x8xf32>) -> tensor<8xf32>
  // expected-error @below {{stage 'average_of_one_device' is not proved}}
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

// Averages of parts of unequal size.
tv.stage @average_of_averages <device = 2> expects array<i64: 0> (%x: tensor<5xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %x0 = tv.distribute %x <[0:3 of 5]> on <device = 0> : (tensor<5xf32>) -> tensor<3xf32>
  %x1 = tv.distribute %x <[3:5 of 5]> on <device = 1> : (tensor<5xf32>) -> tensor<2xf32>
  %m0 = tv.reduce average %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %m1 = tv.reduce average %x1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %r = tv.all_reduce %m0, %m1 by average over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'average_of_averages' is not proved}}
  tv.expect %r is %l <> on <device = 0:2> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @product <device = 2> expects array<i64: 0> (%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %l = tv.multiply %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %x0 = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %y0 = tv.distribute %y <[0:8 of 8]> on <device = 1> : (tensor<8xf32>) -> tensor<8xf32>
  %r = tv.all_reduce %x0, %y0 by product over [] on <device = 0:2> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %r is %l <[0:8 of 8]> on <device = 0:2> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

// The product of two sums over 64 has products of different elements in it.
tv.stage @square_of_sum <device = 2> expects array<i64: 0> (%x: tensor<64xf32>) {
  %y = tv.multiply %x, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %l = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %p = tv.distribute %x <[0:64 of 64]> on <device = 0:2> : (tensor<64xf32>) -> tensor<64xf32>
  %s = tv.reduce sum %p on <device = 0:2> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %r = tv.all_reduce %s, %s by product over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'square_of_sum' is not proved}}
  tv.expect %r is %l <> on <device = 0:2> number 0 : tensor<f32> is tensor<f32>
}

// -----

// Cumulative sums, as products with a triangle: the second half needs the sum of the first.
tv.stage @cumulative_sum <device = 2> expects array<i64: 0> (%x: tensor<6xf32>) {
  %tl = tv.lower_triangle : () -> tensor<6x6xf32>
  %l = tv.einsum %x, %tl {equation = "n,mn->m"} : (tensor<6xf32>, tensor<6x6xf32>) -> tensor<6xf32>
  %x0 = tv.distribute %x <[0:3 of 6]> on <device = 0> : (tensor<6xf32>) -> tensor<3xf32>
  %x1 = tv.distribute %x <[3:6 of 6]> on <device = 1> : (tensor<6xf32>) -> tensor<3xf32>
  %s0 = tv.reduce sum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %carry = tv.move %s0 from <device = 0> on <device = 1> : (tensor<f32>) -> tensor<f32>
  %tc1 = tv.lower_triangle on <device = 1> : () -> tensor<3x3xf32>
  %c1 = tv.einsum %x1, %tc1 on <device = 1> {equation = "n,mn->m"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  %r = tv.add %c1, %carry on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  tv.expect %r is %l <[3:6 of 6]> on <device = 1> number 0 : tensor<3xf32> is tensor<6xf32>
}

// -----

tv.stage @cumulative_sum_of_a_part <device = 2> expects array<i64: 0> (%x: tensor<6xf32>) {
  %tl = tv.lower_triangle : () -> tensor<6x6xf32>
  %l = tv.einsum %x, %tl {equation = "n,mn->m"} : (tensor<6xf32>, tensor<6x6xf32>) -> tensor<6xf32>
  %x1 = tv.distribute %x <[3:6 of 6]> on <device = 1> : (tensor<6xf32>) -> tensor<3xf32>
  %tr = tv.lower_triangle on <device = 1> : () -> tensor<3x3xf32>
  %r = tv.einsum %x1, %tr on <device = 1> {equation = "n,mn->m"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  // expected-error @below {{stage 'cumulative_sum_of_a_part' is not proved}}
  tv.expect %r is %l <[3:6 of 6]> on <device = 1> number 0 : tensor<3xf32> is tensor<6xf32>
}

// -----

// 4096 positions are not told apart by an unknown triangle: unknown, not wrong.
tv.stage @cumulative_sum_of_many <device = 2> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %tl = tv.lower_triangle : () -> tensor<4096x4096xf32>
  %l = tv.einsum %x, %tl {equation = "n,mn->m"} : (tensor<4096xf32>, tensor<4096x4096xf32>) -> tensor<4096xf32>
  %x1 = tv.distribute %x <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %tr = tv.lower_triangle on <device = 1> : () -> tensor<2048x2048xf32>
  %r = tv.einsum %x1, %tr on <device = 1> {equation = "n,mn->m"} : (tensor<2048xf32>, tensor<2048x2048xf32>) -> tensor<2048xf32>
  // expected-error @below {{stage 'cumulative_sum_of_many' is not proved}}
  tv.expect %r is %l <[2048:4096 of 4096]> on <device = 1> number 0 : tensor<2048xf32> is tensor<4096xf32>
}
