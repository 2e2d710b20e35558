// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A tied embedding that counts as one parameter: its gradient is taken for ready after
// the first of its two uses, reduced, and the second is added afterwards on each
// device.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'embedding' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:3:0: note: missing sum: an operand of 'dE' is one term of a sum over the 2 replicas, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B128 <dp = 2, device = 1> {
  %embedding = tv.input <parameter "embedding"> : tensor<4x3xf32>
  %din = tv.input <input "din"> : tensor<6x4xf32>
  %x = tv.input <input "x"> : tensor<6x3xf32>
  %dout = tv.input <input "dout"> : tensor<6x4xf32>
  %h = tv.input <input "h"> : tensor<6x3xf32>
  %dE_in = tv.einsum %din, %x {equation = "tv,tk->vk"} : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %dE_out = tv.einsum %dout, %h {equation = "tv,tk->vk"} : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %dE = tv.add %dE_in, %dE_out : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0))
  %din_0 = tv.distribute %din <[dp, 0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %x_0 = tv.distribute %x <[dp, 0:3 of 3], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %dout_0 = tv.distribute %dout <[dp, 0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %h_0 = tv.distribute %h <[dp, 0:3 of 3], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %in_0 = tv.einsum %din_0, %x_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %out_0 = tv.einsum %dout_0, %h_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %early = tv.all_reduce %out_0 over ["dp"] on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("early"("model.py":4:0)) // wrong
  %all = tv.add %early, %in_0 on <device = 0> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0)) // wrong
  %both_0 = tv.add %in_0, %out_0 on <device = 0> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0)) // fixed
  %all = tv.all_reduce %both_0 over ["dp"] on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("all"("model.py":5:0)) // fixed
  tv.expect %all is %dE <[0:4 of 4], [0:3 of 3]> on <device = 0> contract <gradient "embedding"> : tensor<4x3xf32> is tensor<4x3xf32>
}
