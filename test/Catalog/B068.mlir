// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Each micro-batch is divided by the number of tokens of the whole batch. The schedule
// divides by the number of micro-batches once more, without being asked.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B068 <device = 1, mb = 2> {
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
  %counts = tv.accumulate %count_0 over <mb = 0:2> on <device = 0> : (tensor<f32>) -> tensor<f32> loc("counts"("model.py":4:0))
  %mean = tv.divide %sum_0, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("mean"("model.py":5:0))
  %u0 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":6:0)) // wrong
  %scaled = tv.multiply %mean, %u0 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("scaled"("model.py":7:0)) // wrong
  %scaled = tv.copy %mean on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("scaled"("model.py":7:0)) // fixed
  %all = tv.accumulate %scaled over <mb = 0:2> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("all"("model.py":8:0))
  tv.expect %all is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
