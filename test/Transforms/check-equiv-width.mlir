// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// Equalities that hold must be proved, and those that hold only at a smaller size, or
// not at all, must not be: every stage without an expected error is proved.

// 2 sum(x^3) = 3 sum(x) sum(x^2) - sum(x)^3 holds for two elements, and for no more.
tv.stage @newton_two <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<2xf32>) {
  %c = tv.power %x {numerator = 3 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %s3 = tv.reduce sum %c {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %two, %s3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:2 of 2]> on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  %q = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %s2 = tv.reduce sum %q on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %three = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %s12 = tv.multiply %s1, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = tv.multiply %three, %s12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s111 = tv.power %s1 on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %r = tv.subtract %t, %s111 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @newton_three <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<3xf32>) {
  %c = tv.power %x {numerator = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %s3 = tv.reduce sum %c {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %two, %s3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %q = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %s2 = tv.reduce sum %q on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %three = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %s12 = tv.multiply %s1, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = tv.multiply %three, %s12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s111 = tv.power %s1 on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %r = tv.subtract %t, %s111 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'newton_three' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @newton_five <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<5xf32>) {
  %c = tv.power %x {numerator = 3 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %s3 = tv.reduce sum %c {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %two, %s3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:5 of 5]> on <device = 0> : (tensor<5xf32>) -> tensor<5xf32>
  %q = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %s2 = tv.reduce sum %q on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %three = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %s12 = tv.multiply %s1, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = tv.multiply %three, %s12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s111 = tv.power %s1 on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %r = tv.subtract %t, %s111 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'newton_five' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @newton_many <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4096xf32>) {
  %c = tv.power %x {numerator = 3 : i64} : (tensor<4096xf32>) -> tensor<4096xf32>
  %s3 = tv.reduce sum %c {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %two, %s3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:4096 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<4096xf32>
  %q = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<4096xf32>) -> tensor<4096xf32>
  %s2 = tv.reduce sum %q on <device = 0> {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32>
  %three = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %s12 = tv.multiply %s1, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = tv.multiply %three, %s12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s111 = tv.power %s1 on <device = 0> {numerator = 3 : i64} : (tensor<f32>) -> tensor<f32>
  %r = tv.subtract %t, %s111 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'newton_many' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// The average of 64 elements.
tv.stage @average <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %n = tv.constant dense<64.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.divide %s, %n on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @average_by_reciprocal <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %n = tv.constant dense<0.015625> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.multiply %s, %n on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @average_over_63 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %n = tv.constant dense<63.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.divide %s, %n on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'average_over_63' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @sum_without_factor <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %r = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  // expected-error @below {{stage 'sum_without_factor' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @square_of_sum <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>) {
  %y = tv.multiply %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %r = tv.multiply %s, %s on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'square_of_sum' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// Operands in their order.
tv.stage @subtract <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %l = tv.subtract %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %py = tv.distribute %y <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %r = tv.subtract %px, %py on <device = 0> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @subtract_swapped <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %l = tv.subtract %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %py = tv.distribute %y <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %r = tv.subtract %py, %px on <device = 0> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{stage 'subtract_swapped' is not proved}}
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @divide_swapped <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %l = tv.divide %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %py = tv.distribute %y <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %r = tv.divide %py, %px on <device = 0> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{stage 'divide_swapped' is not proved}}
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @add_swapped <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %l = tv.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %py = tv.distribute %y <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %r = tv.add %py, %px on <device = 0> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

// Matrices do not commute.
tv.stage @matmul <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<6x6xf32>, %y: tensor<6x6xf32>) {
  %l = tv.matmul %x, %y : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %px = tv.distribute %x <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %py = tv.distribute %y <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %r = tv.matmul %px, %py on <device = 0> : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  tv.expect %r is %l <[0:6 of 6], [0:6 of 6]> on <device = 0> number 0 : tensor<6x6xf32> is tensor<6x6xf32>
}

// -----

tv.stage @matmul_commuted <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<6x6xf32>, %y: tensor<6x6xf32>) {
  %l = tv.matmul %x, %y : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %px = tv.distribute %x <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %py = tv.distribute %y <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %r = tv.matmul %py, %px on <device = 0> : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  // expected-error @below {{stage 'matmul_commuted' is not proved}}
  tv.expect %r is %l <[0:6 of 6], [0:6 of 6]> on <device = 0> number 0 : tensor<6x6xf32> is tensor<6x6xf32>
}

// -----

tv.stage @matmul_transposed <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<6x6xf32>, %y: tensor<6x6xf32>) {
  %l = tv.matmul %x, %y : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %px = tv.distribute %x <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %py = tv.distribute %y <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %a = tv.transpose %px on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %b = tv.transpose %py on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %c = tv.matmul %b, %a on <device = 0> : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %r = tv.transpose %c on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  tv.expect %r is %l <[0:6 of 6], [0:6 of 6]> on <device = 0> number 0 : tensor<6x6xf32> is tensor<6x6xf32>
}

// -----

tv.stage @matmul_transpose_missing <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<6x6xf32>, %y: tensor<6x6xf32>) {
  %l = tv.matmul %x, %y : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %px = tv.distribute %x <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %py = tv.distribute %y <[0:6 of 6], [0:6 of 6]> on <device = 0> : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %a = tv.transpose %px on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %b = tv.transpose %py on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %r = tv.matmul %b, %a on <device = 0> : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  // expected-error @below {{stage 'matmul_transpose_missing' is not proved}}
  tv.expect %r is %l <[0:6 of 6], [0:6 of 6]> on <device = 0> number 0 : tensor<6x6xf32> is tensor<6x6xf32>
}

// -----

// Row-major order.
tv.stage @reshape <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4x8xf32>) {
  %l = tv.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %px = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = tv.reshape %px on <device = 0> : (tensor<4x8xf32>) -> tensor<32xf32>
  %r = tv.reshape %a on <device = 0> : (tensor<32xf32>) -> tensor<2x16xf32>
  tv.expect %r is %l <[0:2 of 2], [0:16 of 16]> on <device = 0> number 0 : tensor<2x16xf32> is tensor<2x16xf32>
}

// -----

tv.stage @transpose_is_not_reshape <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4x8xf32>) {
  %l = tv.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %px = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = tv.reshape %px on <device = 0> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // expected-error @below {{stage 'transpose_is_not_reshape' is not proved}}
  tv.expect %r is %l <[0:8 of 8], [0:4 of 4]> on <device = 0> number 0 : tensor<8x4xf32> is tensor<8x4xf32>
}

// -----

tv.stage @reshape_of_transpose <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4x8xf32>) {
  %l = tv.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %px = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = tv.transpose %px on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = tv.reshape %t on <device = 0> : (tensor<8x4xf32>) -> tensor<32xf32>
  // expected-error @below {{stage 'reshape_of_transpose' is not proved}}
  tv.expect %r is %l <[0:32 of 32]> on <device = 0> number 0 : tensor<32xf32> is tensor<32xf32>
}

// -----

// A whole from its slices.
tv.stage @slices <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>) {
  %l = tv.copy %x : (tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %a = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<8xf32>) -> tensor<3xf32>
  %b = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 3 : i64, end = 8 : i64} : (tensor<8xf32>) -> tensor<5xf32>
  %r = tv.concat %a, %b on <device = 0> {dimension = 0 : i64} : (tensor<3xf32>, tensor<5xf32>) -> tensor<8xf32>
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @slices_wrong_order <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>) {
  %l = tv.copy %x : (tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %a = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %b = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 4 : i64, end = 8 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %r = tv.concat %b, %a on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // expected-error @below {{stage 'slices_wrong_order' is not proved}}
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @slices_overlap <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8xf32>) {
  %l = tv.copy %x : (tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <device = 0> : (tensor<8xf32>) -> tensor<8xf32>
  %a = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %b = tv.slice %px on <device = 0> {dimension = 0 : i64, start = 3 : i64, end = 7 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %r = tv.concat %a, %b on <device = 0> {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // expected-error @below {{stage 'slices_overlap' is not proved}}
  tv.expect %r is %l <[0:8 of 8]> on <device = 0> number 0 : tensor<8xf32> is tensor<8xf32>
}

// -----

// Padding a dimension of size 1 does not repeat its element.
tv.stage @pad_is_not_concat <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1xf32>) {
  %l = tv.pad %x {dimension = 0 : i64, low = 0 : i64, high = 1 : i64} : (tensor<1xf32>) -> tensor<2xf32>
  %px = tv.distribute %x <[0:1 of 1]> on <device = 0> : (tensor<1xf32>) -> tensor<1xf32>
  %r = tv.concat %px, %px on <device = 0> {dimension = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  // expected-error @below {{stage 'pad_is_not_concat' is not proved}}
  tv.expect %r is %l <[0:2 of 2]> on <device = 0> number 0 : tensor<2xf32> is tensor<2xf32>
}

// -----

tv.stage @pad_is_concat_of_zero <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1xf32>) {
  %l = tv.pad %x {dimension = 0 : i64, low = 0 : i64, high = 1 : i64} : (tensor<1xf32>) -> tensor<2xf32>
  %px = tv.distribute %x <[0:1 of 1]> on <device = 0> : (tensor<1xf32>) -> tensor<1xf32>
  %z = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<1xf32>
  %r = tv.concat %px, %z on <device = 0> {dimension = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  tv.expect %r is %l <[0:2 of 2]> on <device = 0> number 0 : tensor<2xf32> is tensor<2xf32>
}

// -----

tv.stage @pad_low_is_not_high <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1xf32>) {
  %l = tv.pad %x {dimension = 0 : i64, low = 0 : i64, high = 1 : i64} : (tensor<1xf32>) -> tensor<2xf32>
  %px = tv.distribute %x <[0:1 of 1]> on <device = 0> : (tensor<1xf32>) -> tensor<1xf32>
  %r = tv.pad %px on <device = 0> {dimension = 0 : i64, low = 1 : i64, high = 0 : i64} : (tensor<1xf32>) -> tensor<2xf32>
  // expected-error @below {{stage 'pad_low_is_not_high' is not proved}}
  tv.expect %r is %l <[0:2 of 2]> on <device = 0> number 0 : tensor<2xf32> is tensor<2xf32>
}

// -----

// Every micro-batch counts.
tv.stage @accumulate_all <dp = 1, device = 1, mb = 4> expects array<i64: 0> (%x: tensor<8xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %px = tv.distribute %x <[mb, 0:2 of 2]> on <device = 0> : (tensor<8xf32>) -> tensor<2xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %r = tv.accumulate %s over <mb = 0:4> on <device = 0> : (tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @accumulate_without_last <dp = 1, device = 1, mb = 4> expects array<i64: 0> (%x: tensor<8xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %px = tv.distribute %x <[mb, 0:2 of 2]> on <device = 0> : (tensor<8xf32>) -> tensor<2xf32>
  %s = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %r = tv.accumulate %s over <mb = 0:3> on <device = 0> : (tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'accumulate_without_last' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}
