// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two replicas of two tensor-parallel ranks. Activations are kept in parts and
// gathered again for the backward pass; the second replica gathers them over the group
// of the first.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-3
// WRONG: model.py:2:0: note: wrong slice: on device 2 the operands of 'dw' do not belong together: they are part [4:8, :] and part [0:4, :] of the reference tensors

tv.graph @B032 <device = 4> {
  %w = tv.input <parameter "w"> : tensor<3x4xf32>
  %x = tv.input <input "x"> : tensor<8x4xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %act = tv.silu %x : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("act"("model.py":1:0))
  %dw = tv.einsum %dy, %act {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:2 of 8], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %act_0 = tv.silu %x_0 on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("act"("model.py":1:0))
  %x_1 = tv.distribute %x <[2:4 of 8], [0:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %act_1 = tv.silu %x_1 on <device = 1> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("act"("model.py":1:0))
  %x_2 = tv.distribute %x <[4:6 of 8], [0:4 of 4]> on <device = 2> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %act_2 = tv.silu %x_2 on <device = 2> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("act"("model.py":1:0))
  %x_3 = tv.distribute %x <[6:8 of 8], [0:4 of 4]> on <device = 3> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %act_3 = tv.silu %x_3 on <device = 3> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("act"("model.py":1:0))
  %full_0 = tv.all_gather %act_0, %act_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("full"("model.py":3:0)) // fixed
  %full_2 = tv.all_gather %act_2, %act_3 on <device = 2:4> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("full"("model.py":3:0)) // fixed
  %full_0 = tv.all_gather %act_0, %act_1 on <device = 0:4> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("full"("model.py":3:0)) // wrong
  %dy_0 = tv.distribute %dy <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw_0 = tv.einsum %dy_0, %full_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // wrong
  %dw_0 = tv.einsum %dy_0, %full_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // fixed
  %dy_1 = tv.distribute %dy <[0:4 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw_1 = tv.einsum %dy_1, %full_0 on <device = 1> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // wrong
  %dw_1 = tv.einsum %dy_1, %full_0 on <device = 1> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // fixed
  %dy_2 = tv.distribute %dy <[4:8 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw_2 = tv.einsum %dy_2, %full_0 on <device = 2> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // wrong
  %dw_2 = tv.einsum %dy_2, %full_2 on <device = 2> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // fixed
  %dy_3 = tv.distribute %dy <[4:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw_3 = tv.einsum %dy_3, %full_0 on <device = 3> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // wrong
  %dw_3 = tv.einsum %dy_3, %full_2 on <device = 3> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dw"("model.py":2:0)) // fixed
  %all_0 = tv.all_reduce %dw_0, %dw_2 over [] on <device = 0 | 2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("all"("model.py":4:0))
  tv.expect %all_0 is %dw <[0:3 of 3], [0:4 of 4]> on <device = 0> contract <gradient "w"> : tensor<3x4xf32> is tensor<3x4xf32>
  tv.expect %all_0 is %dw <[0:3 of 3], [0:4 of 4]> on <device = 2> contract <gradient "w"> : tensor<3x4xf32> is tensor<3x4xf32>
  %all_1 = tv.all_reduce %dw_1, %dw_3 over [] on <device = 1 | 3> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("all"("model.py":4:0))
  tv.expect %all_1 is %dw <[0:3 of 3], [0:4 of 4]> on <device = 1> contract <gradient "w"> : tensor<3x4xf32> is tensor<3x4xf32>
  tv.expect %all_1 is %dw <[0:3 of 3], [0:4 of 4]> on <device = 3> contract <gradient "w"> : tensor<3x4xf32> is tensor<3x4xf32>
}
