// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// Equalities whose failure shows only in sizes beyond a degree.

// The sum over all products of four elements vanishes for three elements, and for no more.
tv.stage @no_product_of_four_3 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<3xf32>) {
  %k = tv.power %x {numerator = 4 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %k4 = tv.reduce sum %k {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %six = tv.constant dense<6.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %six, %k4 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %q2 = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %s2 = tv.reduce sum %q2 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %q3 = tv.power %px on <device = 0> {numerator = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %s3 = tv.reduce sum %q3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %q4 = tv.power %px on <device = 0> {numerator = 4 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %s4 = tv.reduce sum %q4 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %s11 = tv.power %s1 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %s1111 = tv.power %s1 on <device = 0> {numerator = 4 : i64} : (tensor<f32>) -> tensor<f32>
  %s22 = tv.power %s2 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %c6 = tv.constant dense<6.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c3 = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c8 = tv.constant dense<8.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %a0 = tv.multiply %s11, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = tv.multiply %c6, %a0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = tv.multiply %c3, %s22 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d0 = tv.multiply %s1, %s3 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = tv.multiply %c8, %d0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t1 = tv.subtract %s1111, %a on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t2 = tv.add %t1, %b on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %t2, %d on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @no_product_of_four_4 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
  %k = tv.power %x {numerator = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %k4 = tv.reduce sum %k {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %six = tv.constant dense<6.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %six, %k4 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %q2 = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s2 = tv.reduce sum %q2 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %q3 = tv.power %px on <device = 0> {numerator = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s3 = tv.reduce sum %q3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %q4 = tv.power %px on <device = 0> {numerator = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s4 = tv.reduce sum %q4 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %s11 = tv.power %s1 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %s1111 = tv.power %s1 on <device = 0> {numerator = 4 : i64} : (tensor<f32>) -> tensor<f32>
  %s22 = tv.power %s2 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %c6 = tv.constant dense<6.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c3 = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c8 = tv.constant dense<8.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %a0 = tv.multiply %s11, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = tv.multiply %c6, %a0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = tv.multiply %c3, %s22 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d0 = tv.multiply %s1, %s3 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = tv.multiply %c8, %d0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t1 = tv.subtract %s1111, %a on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t2 = tv.add %t1, %b on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %t2, %d on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'no_product_of_four_4' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @no_product_of_four_5 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<5xf32>) {
  %k = tv.power %x {numerator = 4 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %k4 = tv.reduce sum %k {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %six = tv.constant dense<6.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %six, %k4 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:5 of 5]> on <device = 0> : (tensor<5xf32>) -> tensor<5xf32>
  %q2 = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %s2 = tv.reduce sum %q2 on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %q3 = tv.power %px on <device = 0> {numerator = 3 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %s3 = tv.reduce sum %q3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %q4 = tv.power %px on <device = 0> {numerator = 4 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  %s4 = tv.reduce sum %q4 on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %s11 = tv.power %s1 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %s1111 = tv.power %s1 on <device = 0> {numerator = 4 : i64} : (tensor<f32>) -> tensor<f32>
  %s22 = tv.power %s2 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %c6 = tv.constant dense<6.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c3 = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c8 = tv.constant dense<8.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %a0 = tv.multiply %s11, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = tv.multiply %c6, %a0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = tv.multiply %c3, %s22 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d0 = tv.multiply %s1, %s3 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = tv.multiply %c8, %d0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t1 = tv.subtract %s1111, %a on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t2 = tv.add %t1, %b on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %t2, %d on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'no_product_of_four_5' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @no_product_of_four_64 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %k = tv.power %x {numerator = 4 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %k4 = tv.reduce sum %k {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %six = tv.constant dense<6.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.multiply %six, %k4 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %q2 = tv.power %px on <device = 0> {numerator = 2 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %s2 = tv.reduce sum %q2 on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %q3 = tv.power %px on <device = 0> {numerator = 3 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %s3 = tv.reduce sum %q3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %q4 = tv.power %px on <device = 0> {numerator = 4 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %s4 = tv.reduce sum %q4 on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %s11 = tv.power %s1 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %s1111 = tv.power %s1 on <device = 0> {numerator = 4 : i64} : (tensor<f32>) -> tensor<f32>
  %s22 = tv.power %s2 on <device = 0> {numerator = 2 : i64} : (tensor<f32>) -> tensor<f32>
  %c6 = tv.constant dense<6.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c3 = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %c8 = tv.constant dense<8.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %a0 = tv.multiply %s11, %s2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = tv.multiply %c6, %a0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = tv.multiply %c3, %s22 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d0 = tv.multiply %s1, %s3 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = tv.multiply %c8, %d0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t1 = tv.subtract %s1111, %a on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t2 = tv.add %t1, %b on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %t2, %d on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'no_product_of_four_64' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// The square of a commutator of matrices commutes with every matrix of size 2, and of no
// other size.
tv.stage @hall_2 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %z: tensor<2x2xf32>) {
  %ab = tv.matmul %x, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %ba = tv.matmul %y, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = tv.subtract %ab, %ba : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %dd = tv.matmul %d, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %l = tv.matmul %dd, %z : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %px = tv.distribute %x <[0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %py = tv.distribute %y <[0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %pz = tv.distribute %z <[0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %pab = tv.matmul %px, %py on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %pba = tv.matmul %py, %px on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %pd = tv.subtract %pab, %pba on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %pdd = tv.matmul %pd, %pd on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = tv.matmul %pz, %pdd on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  tv.expect %r is %l <[0:2 of 2], [0:2 of 2]> on <device = 0> number 0 : tensor<2x2xf32> is tensor<2x2xf32>
}

// -----

tv.stage @hall_3 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %z: tensor<3x3xf32>) {
  %ab = tv.matmul %x, %y : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %ba = tv.matmul %y, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %d = tv.subtract %ab, %ba : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %dd = tv.matmul %d, %d : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %l = tv.matmul %dd, %z : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %px = tv.distribute %x <[0:3 of 3], [0:3 of 3]> on <device = 0> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %py = tv.distribute %y <[0:3 of 3], [0:3 of 3]> on <device = 0> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %pz = tv.distribute %z <[0:3 of 3], [0:3 of 3]> on <device = 0> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %pab = tv.matmul %px, %py on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %pba = tv.matmul %py, %px on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %pd = tv.subtract %pab, %pba on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %pdd = tv.matmul %pd, %pd on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %r = tv.matmul %pz, %pdd on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  // expected-error @below {{stage 'hall_3' is not proved}}
  tv.expect %r is %l <[0:3 of 3], [0:3 of 3]> on <device = 0> number 0 : tensor<3x3xf32> is tensor<3x3xf32>
}

// -----

tv.stage @hall_8 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
  %ab = tv.matmul %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %ba = tv.matmul %y, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = tv.subtract %ab, %ba : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dd = tv.matmul %d, %d : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = tv.matmul %dd, %z : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %px = tv.distribute %x <[0:8 of 8], [0:8 of 8]> on <device = 0> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %py = tv.distribute %y <[0:8 of 8], [0:8 of 8]> on <device = 0> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %pz = tv.distribute %z <[0:8 of 8], [0:8 of 8]> on <device = 0> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %pab = tv.matmul %px, %py on <device = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %pba = tv.matmul %py, %px on <device = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %pd = tv.subtract %pab, %pba on <device = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %pdd = tv.matmul %pd, %pd on <device = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = tv.matmul %pz, %pdd on <device = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-error @below {{stage 'hall_8' is not proved}}
  tv.expect %r is %l <[0:8 of 8], [0:8 of 8]> on <device = 0> number 0 : tensor<8x8xf32> is tensor<8x8xf32>
}

// -----

// The sum is that of the maximum and the minimum for two elements, and for no more.
tv.stage @extremes_3 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<3xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %m = tv.reduce maximum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %n = tv.negate %px on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %k = tv.reduce maximum %n on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %r = tv.subtract %m, %k on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'extremes_3' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @extremes_64 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<64xf32>) {
  %l = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:64 of 64]> on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %m = tv.reduce maximum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %n = tv.negate %px on <device = 0> : (tensor<64xf32>) -> tensor<64xf32>
  %k = tv.reduce maximum %n on <device = 0> {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %r = tv.subtract %m, %k on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'extremes_64' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// A sum of equal elements counts them all.
tv.stage @thousand_copies_as_1000 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %b = tv.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000xf32>
  %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %n = tv.constant dense<1000.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.multiply %n, %s1 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @thousand_copies_as_999 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %b = tv.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000xf32>
  %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %n = tv.constant dense<999.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.multiply %n, %s1 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'thousand_copies_as_999' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @thousand_copies_as_2 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %b = tv.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000xf32>
  %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %n = tv.constant dense<2.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.multiply %n, %s1 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'thousand_copies_as_2' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

tv.stage @thousand_copies_as_3 <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %s = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %b = tv.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000xf32>
  %l = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %s1 = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %n = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %r = tv.multiply %n, %s1 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'thousand_copies_as_3' is not proved}}
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}
