// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Five rows of a tied embedding, in flat buffers with shards of three, on the first
// and the last stage. On the last stage another parameter takes the first place of the
// buffer, so its shards hold rows one further down; the wrong plan adds shard to
// shard.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'embedding' differs from the reference on devices 0-1
// WRONG: model.py:6:0: note: other value: the operands of 'shard' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B031 <device = 4> {
  %embedding = tv.input <parameter "embedding"> : tensor<5x3xf32>
  %din = tv.input <input "din"> : tensor<8x5xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %dout = tv.input <input "dout"> : tensor<8x5xf32>
  %h = tv.input <input "h"> : tensor<8x3xf32>
  %dE_in = tv.einsum %din, %x {equation = "tv,tk->vk"} : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32> loc("dE_in"("model.py":1:0))
  %dE_out = tv.einsum %dout, %h {equation = "tv,tk->vk"} : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32> loc("dE_out"("model.py":2:0))
  %dE = tv.add %dE_in, %dE_out : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> loc("dE"("model.py":3:0))
  %a_0 = tv.distribute %din <[0:4 of 8], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %b_0 = tv.distribute %x <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_0 = tv.einsum %a_0, %b_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("dE_in"("model.py":1:0))
  %a_1 = tv.distribute %din <[4:8 of 8], [0:5 of 5]> on <device = 1> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %b_1 = tv.distribute %x <[4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_1 = tv.einsum %a_1, %b_1 on <device = 1> {equation = "tv,tk->vk"} : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("dE_in"("model.py":1:0))
  %a_2 = tv.distribute %dout <[0:4 of 8], [0:5 of 5]> on <device = 2> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %b_2 = tv.distribute %h <[0:4 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_2 = tv.einsum %a_2, %b_2 on <device = 2> {equation = "tv,tk->vk"} : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("dE_out"("model.py":2:0))
  %a_3 = tv.distribute %dout <[4:8 of 8], [0:5 of 5]> on <device = 3> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %b_3 = tv.distribute %h <[4:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %e_3 = tv.einsum %a_3, %b_3 on <device = 3> {equation = "tv,tk->vk"} : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("dE_out"("model.py":2:0))
  %first = tv.all_reduce %e_0, %e_1 over [] on <device = 0:2> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> loc("first"("model.py":4:0))
  %last = tv.all_reduce %e_2, %e_3 over [] on <device = 2:4> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> loc("last"("model.py":5:0))
  %shard_0 = tv.slice %first on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<5x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0))
  %u0 = tv.slice %first on <device = 1> {dimension = 0 : i64, start = 3 : i64, end = 5 : i64} : (tensor<5x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":7:0))
  %shard_1 = tv.pad %u0 on <device = 1> {dimension = 0 : i64, low = 0 : i64, high = 1 : i64} : (tensor<2x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0))
  %u1 = tv.slice %last on <device = 2> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<5x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":8:0)) // wrong
  %shard_2 = tv.pad %u1 on <device = 2> {dimension = 0 : i64, low = 1 : i64, high = 0 : i64} : (tensor<2x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0)) // wrong
  %shard_2 = tv.slice %last on <device = 2> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<5x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0)) // fixed
  %shard_3 = tv.slice %last on <device = 3> {dimension = 0 : i64, start = 2 : i64, end = 5 : i64} : (tensor<5x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0)) // wrong
  %u2 = tv.slice %last on <device = 3> {dimension = 0 : i64, start = 3 : i64, end = 5 : i64} : (tensor<5x3xf32>) -> tensor<2x3xf32> loc("slice"("model.py":9:0)) // fixed
  %shard_3 = tv.pad %u2 on <device = 3> {dimension = 0 : i64, low = 0 : i64, high = 1 : i64} : (tensor<2x3xf32>) -> tensor<3x3xf32> loc("shard"("model.py":6:0)) // fixed
  %sum_0 = tv.all_reduce %shard_0, %shard_2 over [] on <device = 0 | 2> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> loc("sum"("model.py":10:0))
  %own_0 = tv.slice %sum_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("own"("model.py":11:0))
  tv.expect %own_0 is %dE <[0:3 of 5], [0:3 of 3]> on <device = 0> contract <gradient "embedding"> : tensor<3x3xf32> is tensor<5x3xf32>
  %sum_1 = tv.all_reduce %shard_1, %shard_3 over [] on <device = 1 | 3> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> loc("sum"("model.py":10:0))
  %own_1 = tv.slice %sum_1 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x3xf32>) -> tensor<2x3xf32> loc("own"("model.py":11:0))
  tv.expect %own_1 is %dE <[3:5 of 5], [0:3 of 3]> on <device = 1> contract <gradient "embedding"> : tensor<2x3xf32> is tensor<5x3xf32>
}
