// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The output bias of an expert, added on each rank before the sum over ranks: it has
// to be divided by their number, which the wrong plan takes to be one.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:5:0: note: missing sum: an operand of 'out' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B074 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x6xf32>
  %bias = tv.input <parameter "bias"> : tensor<3xf32>
  %x = tv.input <input "x"> : tensor<4x6xf32>
  %u0 = tv.linear %x, %w : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %y = tv.add %u0, %bias : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("bias"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w_0 = tv.distribute %w <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b_0 = tv.distribute %bias <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %y_0 = tv.linear %x_0, %w_0 on <device = 0> : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %u1 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":3:0)) // wrong
  %share_0 = tv.multiply %b_0, %u1 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("share"("model.py":4:0)) // wrong
  %u2 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":3:0)) // fixed
  %share_0 = tv.multiply %b_0, %u2 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("share"("model.py":4:0)) // fixed
  %out_0 = tv.add %y_0, %share_0 on <device = 0> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("out"("model.py":5:0))
  %x_1 = tv.distribute %x <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w_1 = tv.distribute %w <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b_1 = tv.distribute %bias <[0:3 of 3]> on <device = 1> : (tensor<3xf32>) -> tensor<3xf32>
  %y_1 = tv.linear %x_1, %w_1 on <device = 1> : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("linear"("model.py":1:0))
  %u3 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":3:0)) // wrong
  %share_1 = tv.multiply %b_1, %u3 on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("share"("model.py":4:0)) // wrong
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":3:0)) // fixed
  %share_1 = tv.multiply %b_1, %u4 on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("share"("model.py":4:0)) // fixed
  %out_1 = tv.add %y_1, %share_1 on <device = 1> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("out"("model.py":5:0))
  %all = tv.all_reduce %out_0, %out_1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("all"("model.py":6:0))
  tv.expect %all is %y <[0:4 of 4], [0:3 of 3]> on <device = 0:2> contract <output "y"> : tensor<4x3xf32> is tensor<4x3xf32>
}
