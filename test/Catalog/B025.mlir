// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A row-parallel layer with a bias. The wrong plan adds the bias on each rank before
// the sum over ranks.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:2:0: note: missing sum: an operand of 'bias' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B025 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x6xf32>
  %bias = tv.input <parameter "bias"> : tensor<3xf32>
  %x = tv.input <input "x"> : tensor<4x6xf32>
  %u0 = tv.linear %x, %w : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %y = tv.add %u0, %bias : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0))
  %x0 = tv.distribute %x <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w0 = tv.distribute %w <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b0 = tv.distribute %bias <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %y0 = tv.linear %x0, %w0 on <device = 0> : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %yb0 = tv.add %y0, %b0 on <device = 0> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0)) // wrong
  %x1 = tv.distribute %x <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w1 = tv.distribute %w <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b1 = tv.distribute %bias <[0:3 of 3]> on <device = 1> : (tensor<3xf32>) -> tensor<3xf32>
  %y1 = tv.linear %x1, %w1 on <device = 1> : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %yb1 = tv.add %y1, %b1 on <device = 1> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0)) // wrong
  %all = tv.all_reduce %yb0, %yb1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("all_reduce"("model.py":3:0)) // wrong
  tv.expect %all is %y <[0:4 of 4], [0:3 of 3]> on <device = 0:2> contract <output "y"> : tensor<4x3xf32> is tensor<4x3xf32> // wrong
  %all = tv.all_reduce %y0, %y1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("all_reduce"("model.py":3:0)) // fixed
  %out0 = tv.add %all, %b0 on <device = 0> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0)) // fixed
  tv.expect %out0 is %y <[0:4 of 4], [0:3 of 3]> on <device = 0> contract <output "y"> : tensor<4x3xf32> is tensor<4x3xf32> // fixed
  %out1 = tv.add %all, %b1 on <device = 1> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0)) // fixed
  tv.expect %out1 is %y <[0:4 of 4], [0:3 of 3]> on <device = 1> contract <output "y"> : tensor<4x3xf32> is tensor<4x3xf32> // fixed
}
