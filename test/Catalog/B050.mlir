// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The loss of a further token, whose mask is that of the main loss shifted by one. The
// wrong plan divides its gradient by the number of tokens of the main loss.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 3/4 times that of the reference

tv.graph @B050 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<4x3xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %shifted = tv.input <input "shifted"> : tensor<4xf32>
  %main = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("main"("model.py":1:0))
  %count = tv.reduce sum %shifted {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %u0 = tv.einsum %shifted, %g {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("einsum"("model.py":3:0))
  %dw = tv.divide %u0, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":4:0))
  %g_0 = tv.distribute %g <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %shifted_0 = tv.distribute %shifted <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_0 = tv.einsum %shifted_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":5:0))
  %count_0 = tv.reduce sum %shifted_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %mask_0 = tv.distribute %mask <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %main_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("main"("model.py":1:0))
  %g_1 = tv.distribute %g <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %shifted_1 = tv.distribute %shifted <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_1 = tv.einsum %shifted_1, %g_1 on <device = 1> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":5:0))
  %count_1 = tv.reduce sum %shifted_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %mask_1 = tv.distribute %mask <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %main_1 = tv.reduce sum %mask_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("main"("model.py":1:0))
  %sums = tv.all_reduce %sum_0, %sum_1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":6:0))
  %counts = tv.all_reduce %count_0, %count_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("count"("model.py":2:0))
  %mains = tv.all_reduce %main_0, %main_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("main"("model.py":1:0))
  tv.expect %mains is %main <> on <device = 0:2> contract <output "tokens"> : tensor<f32> is tensor<f32>
  %dws = tv.divide %sums, %mains on <device = 0:2> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":4:0)) // wrong
  %dws = tv.divide %sums, %counts on <device = 0:2> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":4:0)) // fixed
  tv.expect %dws is %dw <[0:3 of 3]> on <device = 0:2> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
