// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A gathered operand is multiplied chunk by chunk as the chunks arrive, two at a time.
// The wrong plan takes the offset in chunks of the first of a pair for that of the
// pair, and reads past it.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 0
// WRONG: model.py:3:0: note: other value: the operands of 'c' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B085 <device = 4> {
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %w = tv.input <parameter "w"> : tensor<2x3xf32>
  %y = tv.linear %x, %w : (tensor<8x3xf32>, tensor<2x3xf32>) -> tensor<8x2xf32> loc("y"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:2 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %x_1 = tv.distribute %x <[2:4 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %x_2 = tv.distribute %x <[4:6 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %x_3 = tv.distribute %x <[6:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %buffer = tv.all_gather %x_0, %x_1, %x_2, %x_3 on <device = 0:4> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<8x3xf32> loc("buffer"("model.py":2:0))
  %w_0 = tv.distribute %w <[0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c0 = tv.slice %buffer on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 4 : i64} : (tensor<8x3xf32>) -> tensor<4x3xf32> loc("c"("model.py":3:0)) // wrong
  %c0 = tv.slice %buffer on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 4 : i64} : (tensor<8x3xf32>) -> tensor<4x3xf32> loc("c"("model.py":3:0)) // fixed
  %c1 = tv.slice %buffer on <device = 0> {dimension = 0 : i64, start = 2 : i64, end = 6 : i64} : (tensor<8x3xf32>) -> tensor<4x3xf32> loc("c"("model.py":3:0)) // wrong
  %c1 = tv.slice %buffer on <device = 0> {dimension = 0 : i64, start = 4 : i64, end = 8 : i64} : (tensor<8x3xf32>) -> tensor<4x3xf32> loc("c"("model.py":3:0)) // fixed
  %p0 = tv.linear %c0, %w_0 on <device = 0> : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32> loc("gemm"("model.py":4:0))
  %p1 = tv.linear %c1, %w_0 on <device = 0> : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32> loc("gemm"("model.py":4:0))
  %out = tv.concat %p0, %p1 on <device = 0> {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32> loc("out"("model.py":5:0))
  tv.expect %out is %y <[0:8 of 8], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<8x2xf32> is tensor<8x2xf32>
}
