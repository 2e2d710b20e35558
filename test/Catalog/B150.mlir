// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The last layer of an expert: product, bias, and the probability of the router. The
// fused form multiplies the product alone; the pair is fused against not fused.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 0
// WRONG: model.py:3:0: note: wrong operand: operand 1 of 'probability' is the result of 'linear' of the reference, which has the result of 'bias' there

tv.graph @B150 <device = 1> {
  %w = tv.input <parameter "w"> : tensor<3x4xf32>
  %bias = tv.input <parameter "bias"> : tensor<3xf32>
  %x = tv.input <input "x"> : tensor<2x4xf32>
  %p = tv.input <input "p"> : tensor<2x1xf32>
  %z = tv.linear %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32> loc("linear"("model.py":1:0))
  %zb = tv.add %z, %bias : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("bias"("model.py":2:0))
  %y = tv.multiply %zb, %p : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("probability"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:2 of 2], [0:4 of 4]> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w_0 = tv.distribute %w <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %bias_0 = tv.distribute %bias <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %p_0 = tv.distribute %p <[0:2 of 2], [0:1 of 1]> on <device = 0> : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %z_0 = tv.linear %x_0, %w_0 on <device = 0> : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32> loc("linear"("model.py":1:0))
  %zp_0 = tv.multiply %z_0, %p_0 on <device = 0> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("probability"("model.py":3:0)) // wrong
  %y_0 = tv.add %zp_0, %bias_0 on <device = 0> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("bias"("model.py":2:0)) // wrong
  %zb_0 = tv.add %z_0, %bias_0 on <device = 0> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("bias"("model.py":2:0)) // fixed
  %y_0 = tv.multiply %zb_0, %p_0 on <device = 0> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("probability"("model.py":3:0)) // fixed
  tv.expect %y_0 is %y <[0:2 of 2], [0:3 of 3]> on <device = 0> contract <output "y"> : tensor<2x3xf32> is tensor<2x3xf32>
}
