// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Sharded experts: the reduction divides by the size of the group it runs in, two,
// where the number of replicas is four.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'experts' differs from the reference on devices 0-3
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B058 <device = 4> {
  %experts = tv.input <parameter "experts"> : tensor<2x3x4xf32>
  %x = tv.input <input "x"> : tensor<2x8x4xf32>
  %dy = tv.input <input "dy"> : tensor<2x8x3xf32>
  %u0 = tv.einsum %dy, %x {equation = "etn,etk->enk"} : (tensor<2x8x3xf32>, tensor<2x8x4xf32>) -> tensor<2x3x4xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %u0, %u1 : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:1 of 2], [0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_0 = tv.distribute %dy <[0:1 of 2], [0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("g"("model.py":4:0))
  %x_1 = tv.distribute %x <[1:2 of 2], [0:4 of 8], [0:4 of 4]> on <device = 1> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_1 = tv.distribute %dy <[1:2 of 2], [0:4 of 8], [0:3 of 3]> on <device = 1> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %g_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("g"("model.py":4:0))
  %x_2 = tv.distribute %x <[0:1 of 2], [4:8 of 8], [0:4 of 4]> on <device = 2> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_2 = tv.distribute %dy <[0:1 of 2], [4:8 of 8], [0:3 of 3]> on <device = 2> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %g_2 = tv.einsum %dy_2, %x_2 on <device = 2> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("g"("model.py":4:0))
  %x_3 = tv.distribute %x <[1:2 of 2], [4:8 of 8], [0:4 of 4]> on <device = 3> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_3 = tv.distribute %dy <[1:2 of 2], [4:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %g_3 = tv.einsum %dy_3, %x_3 on <device = 3> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("g"("model.py":4:0))
  %all_0 = tv.all_reduce %g_0, %g_2 over [] on <device = 0 | 2> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("all"("model.py":5:0))
  %u2 = tv.constant dense<0.5> : tensor<f64> on <device = 0 | 2> : () -> tensor<f32> loc("constant"("model.py":6:0)) // wrong
  %dw_0 = tv.multiply %all_0, %u2 on <device = 0 | 2> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("divide"("model.py":7:0)) // wrong
  %u3 = tv.constant dense<0.25> : tensor<f64> on <device = 0 | 2> : () -> tensor<f32> loc("constant"("model.py":6:0)) // fixed
  %dw_0 = tv.multiply %all_0, %u3 on <device = 0 | 2> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("divide"("model.py":7:0)) // fixed
  tv.expect %dw_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 0> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
  tv.expect %dw_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 2> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
  %all_1 = tv.all_reduce %g_1, %g_3 over [] on <device = 1 | 3> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("all"("model.py":5:0))
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 1 | 3> : () -> tensor<f32> loc("constant"("model.py":6:0)) // wrong
  %dw_1 = tv.multiply %all_1, %u4 on <device = 1 | 3> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("divide"("model.py":7:0)) // wrong
  %u5 = tv.constant dense<0.25> : tensor<f64> on <device = 1 | 3> : () -> tensor<f32> loc("constant"("model.py":6:0)) // fixed
  %dw_1 = tv.multiply %all_1, %u5 on <device = 1 | 3> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("divide"("model.py":7:0)) // fixed
  tv.expect %dw_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 1> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
  tv.expect %dw_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 3> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
}
