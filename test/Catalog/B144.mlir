// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED

// Silent. Gradients are cast to another float type before they are summed over
// replicas, or not: casts between float types are the identity over the reals.

// FIXED: tv.answer = "proved"

tv.graph @B144 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %u0 = tv.distribute %dy <[dp, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %u1 = tv.distribute %x <[dp, 0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %g_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("g"("model.py":2:0))
  %cast = tv.copy %g_0 on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("cast"("model.py":3:0)) // wrong
  %low = tv.copy %g_0 on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xbf16> loc("low"("model.py":4:0)) // fixed
  %cast = tv.copy %low on <device = 0> : (tensor<3x5xbf16>) -> tensor<3x5xf32> loc("cast"("model.py":3:0)) // fixed
  %all = tv.all_reduce %cast over ["dp"] on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":5:0))
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
