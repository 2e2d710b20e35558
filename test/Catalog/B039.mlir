// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A loss per token: gradients are divided by the number of tokens that count, whatever
// it is. The factor of the context-parallel ranks belongs to the other form of the
// loss; the wrong plan applies it here.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B039 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<4x3xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %sum = tv.einsum %mask, %g {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %dw = tv.divide %sum, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":3:0))
  %g_0 = tv.distribute %g <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_0 = tv.distribute %mask <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_0 = tv.einsum %mask_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %g_1 = tv.distribute %g <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_1 = tv.distribute %mask <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_1 = tv.einsum %mask_1, %g_1 on <device = 1> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count_1 = tv.reduce sum %mask_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %u0 = tv.constant dense<2.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %scaled_0 = tv.multiply %sum_0, %u0 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("scaled"("model.py":5:0)) // wrong
  %u1 = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %scaled_1 = tv.multiply %sum_1, %u1 on <device = 1> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("scaled"("model.py":5:0)) // wrong
  %sums = tv.all_reduce %scaled_0, %scaled_1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":6:0)) // wrong
  %sums = tv.all_reduce %sum_0, %sum_1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":6:0)) // fixed
  %counts = tv.all_reduce %count_0, %count_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("counts"("model.py":7:0))
  %dw_all = tv.divide %sums, %counts on <device = 0:2> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":3:0))
  tv.expect %dw_all is %dw <[0:3 of 3]> on <device = 0:2> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
