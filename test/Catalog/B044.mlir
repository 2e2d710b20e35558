// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients are divided by the number of tokens that count at the end of a step. The
// gradient of the auxiliary loss, which is no sum over tokens, has to be multiplied by
// it; the wrong plan does not.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: model.py:8:0: note: other value: the operands of 'both' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B044 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<4x3xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %daux = tv.input <input "daux"> : tensor<3xf32>
  %count = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":1:0))
  %u0 = tv.einsum %mask, %g {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("einsum"("model.py":2:0))
  %main = tv.divide %u0, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("main"("model.py":3:0))
  %dw = tv.add %main, %daux : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("dw"("model.py":4:0))
  %g_0 = tv.distribute %g <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_0 = tv.distribute %mask <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_0 = tv.einsum %mask_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":5:0))
  %count_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":1:0))
  %g_1 = tv.distribute %g <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_1 = tv.distribute %mask <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_1 = tv.einsum %mask_1, %g_1 on <device = 1> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":5:0))
  %count_1 = tv.reduce sum %mask_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":1:0))
  %sums = tv.all_reduce %sum_0, %sum_1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":6:0))
  %counts = tv.all_reduce %count_0, %count_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("count"("model.py":1:0))
  %daux_0 = tv.distribute %daux <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %aux_0 = tv.multiply %daux_0, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("aux"("model.py":7:0)) // fixed
  %both_0 = tv.add %sums, %daux_0 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("both"("model.py":8:0)) // wrong
  %both_0 = tv.add %sums, %aux_0 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("both"("model.py":8:0)) // fixed
  %dw_0 = tv.divide %both_0, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":4:0))
  tv.expect %dw_0 is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
  %daux_1 = tv.distribute %daux <[0:3 of 3]> on <device = 1> : (tensor<3xf32>) -> tensor<3xf32>
  %aux_1 = tv.multiply %daux_1, %counts on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("aux"("model.py":7:0)) // fixed
  %both_1 = tv.add %sums, %daux_1 on <device = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("both"("model.py":8:0)) // wrong
  %both_1 = tv.add %sums, %aux_1 on <device = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("both"("model.py":8:0)) // fixed
  %dw_1 = tv.divide %both_1, %counts on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":4:0))
  tv.expect %dw_1 is %dw <[0:3 of 3]> on <device = 1> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
