// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two replicas with any number of valid tokens each. The wrong plan averages over the
// tokens of a replica and then over replicas.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:4:0: note: missing sum: an operand of 'mean' is one term of a sum over the 2 replicas, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B062 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<4x3xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %sum = tv.einsum %mask, %g {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %dw = tv.divide %sum, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":3:0))
  %g_0 = tv.distribute %g <[dp, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %mask_0 = tv.distribute %mask <[dp, 0:2 of 2]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %sum_0 = tv.einsum %mask_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("sum"("model.py":1:0))
  %count_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("count"("model.py":2:0))
  %mean_0 = tv.divide %sum_0, %count_0 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("mean"("model.py":4:0)) // wrong
  %all = tv.all_reduce %mean_0 by average over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("all"("model.py":5:0)) // wrong
  %sums = tv.all_reduce %sum_0 over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("sums"("model.py":6:0)) // fixed
  %counts = tv.all_reduce %count_0 over ["dp"] on <device = 0> : (tensor<f32>) -> tensor<f32> loc("counts"("model.py":7:0)) // fixed
  %all = tv.divide %sums, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("all"("model.py":5:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
