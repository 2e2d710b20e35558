// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The loss of each of two devices is divided by the number of tokens of all. The
// trainer then averages over devices.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'loss' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B066 <device = 2> {
  %loss = tv.input <input "loss"> : tensor<4xf32>
  %mask = tv.input <input "mask"> : tensor<4xf32>
  %u0 = tv.einsum %mask, %loss {equation = "t,t->"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32> loc("einsum"("model.py":1:0))
  %u1 = tv.reduce sum %mask {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %total = tv.divide %u0, %u1 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("total"("model.py":3:0))
  %loss_0 = tv.distribute %loss <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %mask_0 = tv.distribute %mask <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %s_0 = tv.einsum %mask_0, %loss_0 on <device = 0> {equation = "t,t->"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32> loc("s"("model.py":4:0))
  %c_0 = tv.reduce sum %mask_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("c"("model.py":5:0))
  %loss_1 = tv.distribute %loss <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %mask_1 = tv.distribute %mask <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %s_1 = tv.einsum %mask_1, %loss_1 on <device = 1> {equation = "t,t->"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32> loc("s"("model.py":4:0))
  %c_1 = tv.reduce sum %mask_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("c"("model.py":5:0))
  %counts = tv.all_reduce %c_0, %c_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("counts"("model.py":6:0))
  %l_0 = tv.divide %s_0, %counts on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("l"("model.py":7:0))
  %l_1 = tv.divide %s_1, %counts on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("l"("model.py":7:0))
  %all = tv.all_reduce %l_0, %l_1 by average over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("gather and mean"("model.py":8:0)) // wrong
  %all = tv.all_reduce %l_0, %l_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("gather and sum"("model.py":9:0)) // fixed
  tv.expect %all is %total <> on <device = 0:2> contract <output "loss"> : tensor<f32> is tensor<f32>
}
