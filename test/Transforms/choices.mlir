// RUN: not verify-opt --tv-check-equiv -split-input-file -o /dev/null %s 2>&1 | FileCheck %s

// Conditions, and numbers that are made of positions.

// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_rows' is not proved
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_branches' is not proved
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_angles' is not proved
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_count' is {{not proved|unknown}}
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_mask' is not proved
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_connective' is not proved
// CHECK-NOT: 'right
// CHECK: error: stage 'wrong_wide' is not proved
// CHECK-NOT: 'right

// Rows from 4 on, of a mask that compares positions.
tv.stage @right_rows <dp = 2> expects array<i64: 2>(%x: tensor<8x8xf32>) {
  %zero = tv.constant dense<0.0> : tensor<f32> : () -> tensor<f32>
  %i = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<8xi64>
  %row = tv.reshape %i : (tensor<8xi64>) -> tensor<8x1xi64>
  %c = tv.compare less_equal %i, %row : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %y = tv.select %c, %x, %zero : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %x2 = tv.distribute %x <[4:8 of 8], [0:8 of 8]> on <> : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %zero2 = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %i2 = tv.iota on <> {start = 0 : i64, step = 1 : i64} : () -> tensor<8xi64>
  %j2 = tv.iota on <> {start = 4 : i64, step = 1 : i64} : () -> tensor<4xi64>
  %row2 = tv.reshape %j2 on <> : (tensor<4xi64>) -> tensor<4x1xi64>
  %c2 = tv.compare less_equal %i2, %row2 on <> : (tensor<8xi64>, tensor<4x1xi64>) -> tensor<4x8xi1>
  %y2 = tv.select %c2, %x2, %zero2 on <> : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[4:8 of 8], [0:8 of 8]> on <> : tensor<4x8xf32> is tensor<8x8xf32>
}

// -----

tv.stage @wrong_rows <dp = 2> expects array<i64: 2>(%x: tensor<8x8xf32>) {
  %zero = tv.constant dense<0.0> : tensor<f32> : () -> tensor<f32>
  %i = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<8xi64>
  %row = tv.reshape %i : (tensor<8xi64>) -> tensor<8x1xi64>
  %c = tv.compare less_equal %i, %row : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %y = tv.select %c, %x, %zero : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %x2 = tv.distribute %x <[4:8 of 8], [0:8 of 8]> on <> : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %zero2 = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %i2 = tv.iota on <> {start = 0 : i64, step = 1 : i64} : () -> tensor<8xi64>
  %j2 = tv.iota on <> {start = 3 : i64, step = 1 : i64} : () -> tensor<4xi64>
  %row2 = tv.reshape %j2 on <> : (tensor<4xi64>) -> tensor<4x1xi64>
  %c2 = tv.compare less_equal %i2, %row2 on <> : (tensor<8xi64>, tensor<4x1xi64>) -> tensor<4x8xi1>
  %y2 = tv.select %c2, %x2, %zero2 on <> : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[4:8 of 8], [0:8 of 8]> on <> : tensor<4x8xf32> is tensor<8x8xf32>
}

// -----

// By truth values that are data, before a product that is split, or after it.
tv.stage @right_branches <dp = 2> expects array<i64: 2>(%c: tensor<1024xi1>, %x: tensor<1024x4xf32>, %w: tensor<4x512xf32>, %u: tensor<512xf32>) {
  %column = tv.reshape %c : (tensor<1024xi1>) -> tensor<1024x1xi1>
  %p = tv.matmul %x, %w : (tensor<1024x4xf32>, tensor<4x512xf32>) -> tensor<1024x512xf32>
  %y = tv.select %column, %p, %u : (tensor<1024x1xi1>, tensor<1024x512xf32>, tensor<512xf32>) -> tensor<1024x512xf32>
  %c2 = tv.distribute %c <[512:1024 of 1024]> on <> : (tensor<1024xi1>) -> tensor<512xi1>
  %x2 = tv.distribute %x <[512:1024 of 1024], [0:4 of 4]> on <> : (tensor<1024x4xf32>) -> tensor<512x4xf32>
  %w2 = tv.distribute %w <[0:4 of 4], [0:512 of 512]> on <> : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %u2 = tv.distribute %u <[0:512 of 512]> on <> : (tensor<512xf32>) -> tensor<512xf32>
  %column2 = tv.reshape %c2 on <> : (tensor<512xi1>) -> tensor<512x1xi1>
  %p2 = tv.matmul %x2, %w2 on <> : (tensor<512x4xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %y2 = tv.select %column2, %p2, %u2 on <> : (tensor<512x1xi1>, tensor<512x512xf32>, tensor<512xf32>) -> tensor<512x512xf32>
  tv.expect %y2 is %y <[512:1024 of 1024], [0:512 of 512]> on <> : tensor<512x512xf32> is tensor<1024x512xf32>
}

// -----

tv.stage @wrong_branches <dp = 2> expects array<i64: 2>(%c: tensor<1024xi1>, %x: tensor<1024x4xf32>, %w: tensor<4x512xf32>, %u: tensor<512xf32>) {
  %column = tv.reshape %c : (tensor<1024xi1>) -> tensor<1024x1xi1>
  %p = tv.matmul %x, %w : (tensor<1024x4xf32>, tensor<4x512xf32>) -> tensor<1024x512xf32>
  %y = tv.select %column, %p, %u : (tensor<1024x1xi1>, tensor<1024x512xf32>, tensor<512xf32>) -> tensor<1024x512xf32>
  %c2 = tv.distribute %c <[512:1024 of 1024]> on <> : (tensor<1024xi1>) -> tensor<512xi1>
  %x2 = tv.distribute %x <[512:1024 of 1024], [0:4 of 4]> on <> : (tensor<1024x4xf32>) -> tensor<512x4xf32>
  %w2 = tv.distribute %w <[0:4 of 4], [0:512 of 512]> on <> : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %u2 = tv.distribute %u <[0:512 of 512]> on <> : (tensor<512xf32>) -> tensor<512xf32>
  %column2 = tv.reshape %c2 on <> : (tensor<512xi1>) -> tensor<512x1xi1>
  %p2 = tv.matmul %x2, %w2 on <> : (tensor<512x4xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %y2 = tv.select %column2, %u2, %p2 on <> : (tensor<512x1xi1>, tensor<512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  tv.expect %y2 is %y <[512:1024 of 1024], [0:512 of 512]> on <> : tensor<512x512xf32> is tensor<1024x512xf32>
}

// -----

// The angles of a rotary embedding, by position.
tv.stage @right_angles <dp = 2> expects array<i64: 1>(%f: tensor<16xf32>) {
  %i = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<6xi64>
  %r = tv.to_real %i : (tensor<6xi64>) -> tensor<6xf32>
  %p = tv.reshape %r : (tensor<6xf32>) -> tensor<6x1xf32>
  %a = tv.multiply %p, %f : (tensor<6x1xf32>, tensor<16xf32>) -> tensor<6x16xf32>
  %y = tv.cos %a : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %f2 = tv.distribute %f <[8:16 of 16]> on <> : (tensor<16xf32>) -> tensor<8xf32>
  %r2 = tv.iota on <> {start = 2 : i64, step = 1 : i64} : () -> tensor<4xf32>
  %p2 = tv.reshape %r2 on <> : (tensor<4xf32>) -> tensor<4x1xf32>
  %a2 = tv.multiply %f2, %p2 on <> : (tensor<8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y2 = tv.cos %a2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[2:6 of 6], [8:16 of 16]> on <> : tensor<4x8xf32> is tensor<6x16xf32>
}

// -----

tv.stage @wrong_angles <dp = 2> expects array<i64: 1>(%f: tensor<16xf32>) {
  %i = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<6xi64>
  %r = tv.to_real %i : (tensor<6xi64>) -> tensor<6xf32>
  %p = tv.reshape %r : (tensor<6xf32>) -> tensor<6x1xf32>
  %a = tv.multiply %p, %f : (tensor<6x1xf32>, tensor<16xf32>) -> tensor<6x16xf32>
  %y = tv.cos %a : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %f2 = tv.distribute %f <[8:16 of 16]> on <> : (tensor<16xf32>) -> tensor<8xf32>
  %r2 = tv.iota on <> {start = 2 : i64, step = 1 : i64} : () -> tensor<4xf32>
  %p2 = tv.reshape %r2 on <> : (tensor<4xf32>) -> tensor<4x1xf32>
  %a2 = tv.multiply %f2, %p2 on <> : (tensor<8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y2 = tv.sin %a2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[2:6 of 6], [8:16 of 16]> on <> : tensor<4x8xf32> is tensor<6x16xf32>
}

// -----

// How many hold, of two halves.
tv.stage @right_count <dp = 2> expects array<i64: 1>(%x: tensor<1024xf32>) {
  %zero = tv.constant dense<0.0> : tensor<f32> : () -> tensor<f32>
  %c = tv.compare less %zero, %x : (tensor<f32>, tensor<1024xf32>) -> tensor<1024xi1>
  %n = tv.to_real %c : (tensor<1024xi1>) -> tensor<1024xf32>
  %y = tv.reduce sum %n {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  %x2 = tv.distribute %x <[0:512 of 1024]> on <> : (tensor<1024xf32>) -> tensor<512xf32>
  %x3 = tv.distribute %x <[512:1024 of 1024]> on <> : (tensor<1024xf32>) -> tensor<512xf32>
  %zero2 = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %n2 = tv.compare less %zero2, %x2 on <> : (tensor<f32>, tensor<512xf32>) -> tensor<512xf32>
  %n3 = tv.compare less %zero2, %x3 on <> : (tensor<f32>, tensor<512xf32>) -> tensor<512xf32>
  %s2 = tv.reduce sum %n2 on <> {dimensions = array<i64: 0>} : (tensor<512xf32>) -> tensor<f32>
  %s3 = tv.reduce sum %n3 on <> {dimensions = array<i64: 0>} : (tensor<512xf32>) -> tensor<f32>
  %y2 = tv.add %s2, %s3 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %y2 is %y <> on <> : tensor<f32> is tensor<f32>
}

// -----

tv.stage @wrong_count <dp = 2> expects array<i64: 1>(%x: tensor<1024xf32>) {
  %zero = tv.constant dense<0.0> : tensor<f32> : () -> tensor<f32>
  %c = tv.compare less %zero, %x : (tensor<f32>, tensor<1024xf32>) -> tensor<1024xi1>
  %n = tv.to_real %c : (tensor<1024xi1>) -> tensor<1024xf32>
  %y = tv.reduce sum %n {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  %x2 = tv.distribute %x <[0:512 of 1024]> on <> : (tensor<1024xf32>) -> tensor<512xf32>
  %x3 = tv.distribute %x <[512:1024 of 1024]> on <> : (tensor<1024xf32>) -> tensor<512xf32>
  %zero2 = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %n2 = tv.compare less %zero2, %x2 on <> : (tensor<f32>, tensor<512xf32>) -> tensor<512xf32>
  %n3 = tv.compare less %zero2, %x2 on <> : (tensor<f32>, tensor<512xf32>) -> tensor<512xf32>
  %s2 = tv.reduce sum %n2 on <> {dimensions = array<i64: 0>} : (tensor<512xf32>) -> tensor<f32>
  %s3 = tv.reduce sum %n3 on <> {dimensions = array<i64: 0>} : (tensor<512xf32>) -> tensor<f32>
  %y2 = tv.add %s2, %s3 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %y2 is %y <> on <> : tensor<f32> is tensor<f32>
}

// -----

// Minus infinity where a condition does not hold, before a softmax.
tv.stage @right_mask <dp = 2> expects array<i64: 2>(%c: tensor<8xi1>, %x: tensor<4x8xf32>) {
  %never = tv.constant dense<0xFF800000> : tensor<f32> : () -> tensor<!tv.extended<f32>>
  %m = tv.select %c, %x, %never : (tensor<8xi1>, tensor<4x8xf32>, tensor<!tv.extended<f32>>) -> tensor<4x8x!tv.extended<f32>>
  %power = tv.exp %m : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  %total = tv.reduce sum %power {dimensions = array<i64: 1>, keep} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %y = tv.divide %power, %total : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c2 = tv.distribute %c <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %x2 = tv.distribute %x <[2:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %zero = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %e = tv.exp %x2 on <> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %k = tv.select %c2, %e, %zero on <> : (tensor<8xi1>, tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %t = tv.reduce sum %k on <> {dimensions = array<i64: 1>, keep} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %y2 = tv.divide %k, %t on <> : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  tv.expect %y2 is %y <[2:4 of 4], [0:8 of 8]> on <> : tensor<2x8xf32> is tensor<4x8xf32>
}

// -----

tv.stage @wrong_mask <dp = 2> expects array<i64: 2>(%c: tensor<8xi1>, %x: tensor<4x8xf32>) {
  %never = tv.constant dense<0xFF800000> : tensor<f32> : () -> tensor<!tv.extended<f32>>
  %m = tv.select %c, %x, %never : (tensor<8xi1>, tensor<4x8xf32>, tensor<!tv.extended<f32>>) -> tensor<4x8x!tv.extended<f32>>
  %power = tv.exp %m : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  %total = tv.reduce sum %power {dimensions = array<i64: 1>, keep} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %y = tv.divide %power, %total : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c2 = tv.distribute %c <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %x2 = tv.distribute %x <[2:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %zero = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %e = tv.exp %x2 on <> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %k = tv.select %c2, %zero, %e on <> : (tensor<8xi1>, tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t = tv.reduce sum %k on <> {dimensions = array<i64: 1>, keep} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %y2 = tv.divide %k, %t on <> : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  tv.expect %y2 is %y <[2:4 of 4], [0:8 of 8]> on <> : tensor<2x8xf32> is tensor<4x8xf32>
}

// -----

// Both of two hold unless one of them does not.
tv.stage @right_connective <dp = 2> expects array<i64: 2>(%c: tensor<8xi1>, %d: tensor<8xi1>, %x: tensor<8xf32>, %z: tensor<8xf32>) {
  %false = tv.constant dense<false> : tensor<i1> : () -> tensor<i1>
  %both = tv.select %c, %d, %false : (tensor<8xi1>, tensor<8xi1>, tensor<i1>) -> tensor<8xi1>
  %y = tv.select %both, %x, %z : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c2 = tv.distribute %c <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %d2 = tv.distribute %d <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %x2 = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %z2 = tv.distribute %z <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %true = tv.constant dense<true> : tensor<i1> on <> : () -> tensor<i1>
  %false2 = tv.constant dense<false> : tensor<i1> on <> : () -> tensor<i1>
  %nc = tv.select %c2, %false2, %true on <> : (tensor<8xi1>, tensor<i1>, tensor<i1>) -> tensor<8xi1>
  %nd = tv.select %d2, %false2, %true on <> : (tensor<8xi1>, tensor<i1>, tensor<i1>) -> tensor<8xi1>
  %n = tv.select %nc, %nc, %nd on <> : (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %y2 = tv.select %n, %z2, %x2 on <> : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %y2 is %y <[0:8 of 8]> on <> : tensor<8xf32> is tensor<8xf32>
}

// -----

tv.stage @wrong_connective <dp = 2> expects array<i64: 2>(%c: tensor<8xi1>, %d: tensor<8xi1>, %x: tensor<8xf32>, %z: tensor<8xf32>) {
  %false = tv.constant dense<false> : tensor<i1> : () -> tensor<i1>
  %both = tv.select %c, %d, %false : (tensor<8xi1>, tensor<8xi1>, tensor<i1>) -> tensor<8xi1>
  %y = tv.select %both, %x, %z : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c2 = tv.distribute %c <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %d2 = tv.distribute %d <[0:8 of 8]> on <> : (tensor<8xi1>) -> tensor<8xi1>
  %x2 = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %z2 = tv.distribute %z <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %true = tv.constant dense<true> : tensor<i1> on <> : () -> tensor<i1>
  %false2 = tv.constant dense<false> : tensor<i1> on <> : () -> tensor<i1>
  %nc = tv.select %c2, %false2, %true on <> : (tensor<8xi1>, tensor<i1>, tensor<i1>) -> tensor<8xi1>
  %nd = tv.select %d2, %false2, %true on <> : (tensor<8xi1>, tensor<i1>, tensor<i1>) -> tensor<8xi1>
  %n = tv.select %nc, %nd, %nc on <> : (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %y2 = tv.select %n, %z2, %x2 on <> : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %y2 is %y <[0:8 of 8]> on <> : tensor<8xf32> is tensor<8xf32>
}

// -----

// Real numbers are also numbers that may be minus infinity.
tv.stage @right_wide <dp = 2> expects array<i64: 2>(%x: tensor<4x8xf32>) {
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x2 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tv.copy %x2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %wide = tv.copy %e on <> : (tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  %y2 = tv.exp %wide on <> : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[0:4 of 4], [0:8 of 8]> on <> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

tv.stage @wrong_wide <dp = 2> expects array<i64: 2>(%x: tensor<4x8xf32>) {
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x2 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tv.negate %x2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %wide = tv.copy %e on <> : (tensor<4x8xf32>) -> tensor<4x8x!tv.extended<f32>>
  %y2 = tv.exp %wide on <> : (tensor<4x8x!tv.extended<f32>>) -> tensor<4x8xf32>
  tv.expect %y2 is %y <[0:4 of 4], [0:8 of 8]> on <> : tensor<4x8xf32> is tensor<4x8xf32>
}
