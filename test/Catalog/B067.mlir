// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two micro-batches with any number of tokens each. The wrong plan takes the average
// of the averages of the micro-batches.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// WRONG: model.py:4:0: note: missing sum: an operand of 'divide' is one term of a sum over the 2 micro-batches, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B067 <device = 1, mb = 2> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<4x3xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %sum = tv.einsum %mask, %g {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %dw = tv.divide %sum, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":3:0))
  %g_0 = tv.distribute %g <[mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_0 = tv.distribute %mask <[mb, 0:2 of 2]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_0 = tv.einsum %mask_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %u0 = tv.divide %sum_0, %count_0 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":4:0)) // wrong
  %u1 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %mean = tv.multiply %u0, %u1 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("mean"("model.py":6:0)) // wrong
  %all = tv.accumulate %mean over <mb = 0:2> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("all"("model.py":7:0)) // wrong
  %sums = tv.accumulate %sum_0 over <mb = 0:2> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":8:0)) // fixed
  %counts = tv.accumulate %count_0 over <mb = 0:2> on <device = 0> : (tensor<f32>) -> tensor<f32> loc("counts"("model.py":9:0)) // fixed
  %all = tv.divide %sums, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("all"("model.py":7:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
