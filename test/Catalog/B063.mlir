// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A factor of four for gradients on two groups of two devices. It divides in the
// reduction within a group; the reduction between groups, which averages in the wrong
// plan, must add.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-3
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B063 <device = 4> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %total = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u0 = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %total, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:2 of 8], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_0 = tv.distribute %dy <[0:2 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %x_1 = tv.distribute %x <[2:4 of 8], [0:5 of 5]> on <device = 1> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_1 = tv.distribute %dy <[2:4 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %x_2 = tv.distribute %x <[4:6 of 8], [0:5 of 5]> on <device = 2> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_2 = tv.distribute %dy <[4:6 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_2 = tv.einsum %dy_2, %x_2 on <device = 2> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %x_3 = tv.distribute %x <[6:8 of 8], [0:5 of 5]> on <device = 3> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_3 = tv.distribute %dy <[6:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_3 = tv.einsum %dy_3, %x_3 on <device = 3> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u1 = tv.all_reduce %g_0, %g_1 over [] on <device = 0:2> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("reduce_scatter"("model.py":4:0))
  %u2 = tv.constant dense<0.25> : tensor<f64> on <device = 0:2> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %in_0 = tv.multiply %u1, %u2 on <device = 0:2> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("in"("model.py":6:0))
  %u3 = tv.all_reduce %g_2, %g_3 over [] on <device = 2:4> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("reduce_scatter"("model.py":4:0))
  %u4 = tv.constant dense<0.25> : tensor<f64> on <device = 2:4> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %in_2 = tv.multiply %u3, %u4 on <device = 2:4> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("in"("model.py":6:0))
  %all = tv.all_reduce %in_0, %in_2 by average over [] on <device = 0:4> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("between"("model.py":7:0)) // wrong
  %all = tv.all_reduce %in_0, %in_2 over [] on <device = 0:4> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("between"("model.py":7:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0:4> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
