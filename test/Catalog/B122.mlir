// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients that are kept on the host: of four micro-batches the wrong plan keeps the
// first and the last.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// WRONG: model.py:3:0: note: missing micro-batch: what is accumulated from 'accumulate' lacks micro-batches 1-2 of 0-3; with them the value is right

tv.graph @B122 <device = 1, mb = 4> {
  %w = tv.input <parameter "w"> : tensor<3x2xf32>
  %x = tv.input <input "x"> : tensor<16x2xf32>
  %dy = tv.input <input "dy"> : tensor<16x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<16x3xf32>, tensor<16x2xf32>) -> tensor<3x2xf32> loc("dw"("model.py":1:0))
  %u0 = tv.distribute %dy <[mb, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<16x3xf32>) -> tensor<4x3xf32>
  %u1 = tv.distribute %x <[mb, 0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<16x2xf32>) -> tensor<4x2xf32>
  %g_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32> loc("g"("model.py":2:0))
  %sum = tv.accumulate %g_0 over <mb = 0 | 3> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("accumulate"("model.py":3:0)) // wrong
  %sum = tv.accumulate %g_0 over <mb = 0:4> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("accumulate"("model.py":3:0)) // fixed
  tv.expect %sum is %dw <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <gradient "w"> : tensor<3x2xf32> is tensor<3x2xf32>
}
