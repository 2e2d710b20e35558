// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An embedding that is the output layer, too. The traced graph gives its whole
// gradient for each of the two uses, and both are added.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'embedding' differs from the reference on device 0
// WRONG: model.py:4:0: note: wrong scale factor: the result of 'accumulate' is added twice on device 0, which makes it 2 times what it should be

tv.graph @B125 <device = 1> {
  %embedding = tv.input <parameter "embedding"> : tensor<4x3xf32>
  %din = tv.input <input "din"> : tensor<5x4xf32>
  %x = tv.input <input "x"> : tensor<5x3xf32>
  %dout = tv.input <input "dout"> : tensor<5x4xf32>
  %h = tv.input <input "h"> : tensor<5x3xf32>
  %dE_in = tv.einsum %din, %x {equation = "tv,tk->vk"} : (tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %dE_out = tv.einsum %dout, %h {equation = "tv,tk->vk"} : (tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %dE = tv.add %dE_in, %dE_out : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0))
  %din_0 = tv.distribute %din <[0:5 of 5], [0:4 of 4]> on <device = 0> : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %x_0 = tv.distribute %x <[0:5 of 5], [0:3 of 3]> on <device = 0> : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %dout_0 = tv.distribute %dout <[0:5 of 5], [0:4 of 4]> on <device = 0> : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %h_0 = tv.distribute %h <[0:5 of 5], [0:3 of 3]> on <device = 0> : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %a_0 = tv.einsum %din_0, %x_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %b_0 = tv.einsum %dout_0, %h_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %sum_0 = tv.add %a_0, %b_0 on <device = 0> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0))
  %grad = tv.add %sum_0, %sum_0 on <device = 0> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("accumulate"("model.py":4:0)) // wrong
  %grad = tv.copy %sum_0 on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("grad"("model.py":5:0)) // fixed
  tv.expect %grad is %dE <[0:4 of 4], [0:3 of 3]> on <device = 0> contract <gradient "embedding"> : tensor<4x3xf32> is tensor<4x3xf32>
}
