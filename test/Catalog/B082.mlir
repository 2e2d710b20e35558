// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A fused projection of queries, keys and values, head by head, for two heads on two
// ranks. The wrong plan takes the rows for all queries, then all keys, then all
// values.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: other value: the operands of 'w' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B082 <device = 2> {
  %qkv = tv.input <parameter "qkv"> : tensor<12x3xf32>
  %x = tv.input <input "x"> : tensor<4x3xf32>
  // Rows: q0 k0 v0 q1 k1 v1, two each.
  %z = tv.linear %x, %qkv : (tensor<4x3xf32>, tensor<12x3xf32>) -> tensor<4x12xf32> loc("linear"("model.py":1:0))
  %u0 = tv.slice %z {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x12xf32>) -> tensor<4x2xf32> loc("slice"("model.py":2:0))
  %u1 = tv.slice %z {dimension = 1 : i64, start = 6 : i64, end = 8 : i64} : (tensor<4x12xf32>) -> tensor<4x2xf32> loc("slice"("model.py":2:0))
  %q = tv.concat %u0, %u1 {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("q"("model.py":3:0))
  %u2 = tv.slice %z {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x12xf32>) -> tensor<4x2xf32> loc("slice"("model.py":2:0))
  %u3 = tv.slice %z {dimension = 1 : i64, start = 8 : i64, end = 10 : i64} : (tensor<4x12xf32>) -> tensor<4x2xf32> loc("slice"("model.py":2:0))
  %k = tv.concat %u2, %u3 {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("k"("model.py":4:0))
  %y = tv.multiply %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("y"("model.py":5:0))
  %x_0 = tv.distribute %x <[0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %all_0 = tv.distribute %qkv <[0:12 of 12], [0:3 of 3]> on <device = 0> : (tensor<12x3xf32>) -> tensor<12x3xf32>
  %u4 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %u5 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 4 : i64, end = 6 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %u6 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 8 : i64, end = 10 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %w_0 = tv.concat %u4, %u5, %u6 on <device = 0> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32> loc("w"("model.py":7:0)) // wrong
  %w_0 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 6 : i64} : (tensor<12x3xf32>) -> tensor<6x3xf32> loc("w"("model.py":7:0)) // fixed
  %z_0 = tv.linear %x_0, %w_0 on <device = 0> : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32> loc("linear"("model.py":1:0))
  %u7 = tv.slice %z_0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x2xf32> loc("slice"("model.py":8:0))
  %u8 = tv.slice %z_0 on <device = 0> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x6xf32>) -> tensor<4x2xf32> loc("slice"("model.py":8:0))
  %y_0 = tv.multiply %u7, %u8 on <device = 0> : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("y"("model.py":5:0))
  tv.expect %y_0 is %y <[0:4 of 4], [0:2 of 4]> on <device = 0> contract <output "y"> : tensor<4x2xf32> is tensor<4x4xf32>
  %x_1 = tv.distribute %x <[0:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %all_1 = tv.distribute %qkv <[0:12 of 12], [0:3 of 3]> on <device = 1> : (tensor<12x3xf32>) -> tensor<12x3xf32>
  %u9 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %u10 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 6 : i64, end = 8 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %u11 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 10 : i64, end = 12 : i64} : (tensor<12x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":6:0)) // wrong
  %w_1 = tv.concat %u9, %u10, %u11 on <device = 1> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32> loc("w"("model.py":7:0)) // wrong
  %w_1 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 6 : i64, end = 12 : i64} : (tensor<12x3xf32>) -> tensor<6x3xf32> loc("w"("model.py":7:0)) // fixed
  %z_1 = tv.linear %x_1, %w_1 on <device = 1> : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32> loc("linear"("model.py":1:0))
  %u12 = tv.slice %z_1 on <device = 1> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x2xf32> loc("slice"("model.py":8:0))
  %u13 = tv.slice %z_1 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x6xf32>) -> tensor<4x2xf32> loc("slice"("model.py":8:0))
  %y_1 = tv.multiply %u12, %u13 on <device = 1> : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("y"("model.py":5:0))
  tv.expect %y_1 is %y <[0:4 of 4], [2:4 of 4]> on <device = 1> contract <output "y"> : tensor<4x2xf32> is tensor<4x4xf32>
}
