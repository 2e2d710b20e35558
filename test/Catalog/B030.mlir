// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A tied embedding on the first and the last stage, two replicas of each, gradients
// divided over replicas. The last stage keeps its parts in another order, so adding
// the parts of both stages adds different rows; the whole gradients have to be added
// first.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'embedding' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: wrong slice: on devices 0, 2 the operands of 'sum' do not belong together: they are part [0:2, :] and part [2:4, :] of the reference tensors

tv.graph @B030 <device = 4> {
  %embedding = tv.input <parameter "embedding"> : tensor<4x3xf32>
  %din = tv.input <input "din"> : tensor<8x4xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %dout = tv.input <input "dout"> : tensor<8x4xf32>
  %h = tv.input <input "h"> : tensor<8x3xf32>
  %dE_in = tv.einsum %din, %x {equation = "tv,tk->vk"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %dE_out = tv.einsum %dout, %h {equation = "tv,tk->vk"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %dE = tv.add %dE_in, %dE_out : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE"("model.py":3:0))
  %a_0 = tv.distribute %din <[0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %b_0 = tv.distribute %x <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_0 = tv.einsum %a_0, %b_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %a_1 = tv.distribute %din <[4:8 of 8], [0:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %b_1 = tv.distribute %x <[4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_1 = tv.einsum %a_1, %b_1 on <device = 1> {equation = "tv,tk->vk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE_in"("model.py":1:0))
  %a_2 = tv.distribute %dout <[0:4 of 8], [0:4 of 4]> on <device = 2> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %b_2 = tv.distribute %h <[0:4 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_2 = tv.einsum %a_2, %b_2 on <device = 2> {equation = "tv,tk->vk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %a_3 = tv.distribute %dout <[4:8 of 8], [0:4 of 4]> on <device = 3> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %b_3 = tv.distribute %h <[4:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_3 = tv.einsum %a_3, %b_3 on <device = 3> {equation = "tv,tk->vk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dE_out"("model.py":2:0))
  %first = tv.all_reduce %e_0, %e_1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("first"("model.py":4:0))
  %last = tv.all_reduce %e_2, %e_3 over [] on <device = 2:4> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("last"("model.py":5:0))
  %part_0 = tv.slice %first on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":6:0)) // wrong
  %part_2 = tv.slice %last on <device = 2> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":6:0)) // wrong
  %sum_0 = tv.all_reduce %part_0, %part_2 over [] on <device = 0 | 2> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("sum"("model.py":7:0)) // wrong
  %part_1 = tv.slice %first on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":6:0)) // wrong
  %part_3 = tv.slice %last on <device = 3> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":6:0)) // wrong
  %sum_1 = tv.all_reduce %part_1, %part_3 over [] on <device = 1 | 3> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("sum"("model.py":7:0)) // wrong
  %both = tv.all_reduce %first, %last over [] on <device = 0:4> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("both"("model.py":8:0)) // fixed
  %sum_0 = tv.slice %both on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("sum"("model.py":7:0)) // fixed
  tv.expect %sum_0 is %dE <[0:2 of 4], [0:3 of 3]> on <device = 0> contract <gradient "embedding"> : tensor<2x3xf32> is tensor<4x3xf32>
  %sum_1 = tv.slice %both on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("sum"("model.py":7:0)) // fixed
  tv.expect %sum_1 is %dE <[2:4 of 4], [0:3 of 3]> on <device = 1> contract <gradient "embedding"> : tensor<2x3xf32> is tensor<4x3xf32>
}
