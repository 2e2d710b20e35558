// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Sharded experts whose gradients are scattered over two holders by a reduction that
// averages over these two instead of the four replicas.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'expert' differs from the reference on device 0
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B059 <device = 2> {
  %expert = tv.input <parameter "expert"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %dy = tv.input <input "dy"> : tensor<8x4xf32>
  %u0 = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %u0, %u1 : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dy_0 = tv.distribute %dy <[0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("g"("model.py":4:0))
  %x_1 = tv.distribute %x <[4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dy_1 = tv.distribute %dy <[4:8 of 8], [0:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %g_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("g"("model.py":4:0))
  %all = tv.all_reduce %g_0, %g_1 by average over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("reduce_scatter"("model.py":5:0)) // wrong
  %u2 = tv.all_reduce %g_0, %g_1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("reduce_scatter"("model.py":5:0)) // fixed
  %u3 = tv.constant dense<0.25> : tensor<f64> on <device = 0:2> : () -> tensor<f32> loc("constant"("model.py":6:0)) // fixed
  %all = tv.multiply %u2, %u3 on <device = 0:2> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("all"("model.py":7:0)) // fixed
  %part_0 = tv.slice %all on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":8:0))
  tv.expect %part_0 is %dw <[0:2 of 4], [0:3 of 3]> on <device = 0> contract <gradient "expert"> : tensor<2x3xf32> is tensor<4x3xf32>
  %part_1 = tv.slice %all on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":8:0))
  tv.expect %part_1 is %dw <[2:4 of 4], [0:3 of 3]> on <device = 1> contract <gradient "expert"> : tensor<2x3xf32> is tensor<4x3xf32>
}
