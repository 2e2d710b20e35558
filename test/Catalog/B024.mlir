// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The loss is a sum over devices. The derivative of that sum is taken as the same sum
// of cotangents, one of each device, and the gradient of the replicated weight is not
// summed.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: model.py:2:0: note: wrong slice: on devices 0-1 the operands of 'transposed sum' do not belong together: they are part [0:3] and part [3:6] of the reference tensors

tv.graph @B024 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %x = tv.input <input "x"> : tensor<6x3xf32>
  %seed = tv.input <input "seed"> : tensor<6xf32>
  %dw = tv.einsum %seed, %x {equation = "t,tk->k"} : (tensor<6xf32>, tensor<6x3xf32>) -> tensor<3xf32> loc("dw"("model.py":1:0))
  %x0 = tv.distribute %x <[0:3 of 6], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %seed0 = tv.distribute %seed <[0:3 of 6]> on <device = 0> : (tensor<6xf32>) -> tensor<3xf32>
  %x1 = tv.distribute %x <[3:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %seed1 = tv.distribute %seed <[3:6 of 6]> on <device = 1> : (tensor<6xf32>) -> tensor<3xf32>
  %seeds = tv.all_reduce %seed0, %seed1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("transposed sum"("model.py":2:0)) // wrong
  %dw0 = tv.einsum %seeds, %x0 on <device = 0> {equation = "t,tk->k"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32> loc("dw"("model.py":1:0)) // wrong
  %dw0 = tv.einsum %seed0, %x0 on <device = 0> {equation = "t,tk->k"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32> loc("dw"("model.py":1:0)) // fixed
  %dw1 = tv.einsum %seeds, %x1 on <device = 1> {equation = "t,tk->k"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32> loc("dw"("model.py":1:0)) // wrong
  %dw1 = tv.einsum %seed1, %x1 on <device = 1> {equation = "t,tk->k"} : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32> loc("dw"("model.py":1:0)) // fixed
  %all = tv.all_reduce %dw0, %dw1 over [] on <device = 0:2> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("all"("model.py":3:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3]> on <device = 0:2> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32> // fixed
  tv.expect %dw0 is %dw <[0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32> // wrong
  tv.expect %dw1 is %dw <[0:3 of 3]> on <device = 1> contract <gradient "w"> : tensor<3xf32> is tensor<3xf32> // wrong
}
