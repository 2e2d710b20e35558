// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two samples of four tokens, divided along the sequence by two ranks, and combined in
// a flat list of tokens. With an offset of the rank in that list, tokens of the second
// sample land in the first.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: other value: the operands of 'flat' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B087 <device = 2> {
  %x = tv.input <input "x"> : tensor<2x4x3xf32>
  %u0 = tv.silu %x : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32> loc("expert"("model.py":1:0))
  %y = tv.reshape %u0 : (tensor<2x4x3xf32>) -> tensor<8x3xf32> loc("y"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:2 of 2], [0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<2x2x3xf32>
  %e_0 = tv.silu %x_0 on <device = 0> : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32> loc("expert"("model.py":1:0))
  %x_1 = tv.distribute %x <[0:2 of 2], [2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<2x4x3xf32>) -> tensor<2x2x3xf32>
  %e_1 = tv.silu %x_1 on <device = 1> : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32> loc("expert"("model.py":1:0))
  %flat_0 = tv.reshape %e_0 on <device = 0> : (tensor<2x2x3xf32>) -> tensor<4x3xf32> loc("flat"("model.py":3:0)) // wrong
  %flat_1 = tv.reshape %e_1 on <device = 1> : (tensor<2x2x3xf32>) -> tensor<4x3xf32> loc("flat"("model.py":3:0)) // wrong
  %all = tv.all_gather %flat_0, %flat_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32> loc("combine"("model.py":4:0)) // wrong
  %seq = tv.all_gather %e_0, %e_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x4x3xf32> loc("gather"("model.py":5:0)) // fixed
  %all = tv.reshape %seq on <device = 0:2> : (tensor<2x4x3xf32>) -> tensor<8x3xf32> loc("combine"("model.py":4:0)) // fixed
  tv.expect %all is %y <[0:8 of 8], [0:3 of 3]> on <device = 0:2> contract <output "y"> : tensor<8x3xf32> is tensor<8x3xf32>
}
