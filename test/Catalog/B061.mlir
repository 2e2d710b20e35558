// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The loss is divided by the number of tokens of all replicas. The pipeline goes
// backward from the sum that was not divided.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: note: wrong scale factor: the value is 15/4 times that of the reference

tv.graph @B061 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %g = tv.input <input "g"> : tensor<8x3xf32>
  %mask = tv.input <input "mask"> : tensor<8xf32>
  %count = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32> loc("count"("model.py":1:0))
  %sum = tv.einsum %mask, %g {equation = "t,tk->k"} : (tensor<8xf32>, tensor<8x3xf32>) -> tensor<3xf32> loc("sum"("model.py":2:0))
  %dw = tv.divide %sum, %count : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("dw"("model.py":3:0))
  %g_0 = tv.distribute %g <[dp, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %mask_0 = tv.distribute %mask <[dp, 0:4 of 4]> on <device = 0> : (tensor<8xf32>) -> tensor<4xf32>
  %sum_0 = tv.einsum %mask_0, %g_0 on <device = 0> {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("sum"("model.py":2:0))
  %count_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("count"("model.py":1:0))
  %counts = tv.all_reduce %count_0 over ["dp"] on <device = 0> : (tensor<f32>) -> tensor<f32> loc("counts"("model.py":4:0))
  %local = tv.divide %sum_0, %counts on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("local"("model.py":5:0))
  %loss = tv.all_reduce %local over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("loss"("model.py":6:0))
  tv.expect %loss is %dw <[0:3 of 3]> on <device = 0> contract <output "loss"> : tensor<3xf32> is tensor<3xf32>
  %dws = tv.all_reduce %sum_0 over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("dws"("model.py":7:0)) // wrong
  %dws = tv.all_reduce %local over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("dws"("model.py":7:0)) // fixed
  tv.expect %dws is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32>
}
