// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A pipeline that does not tell the sharded optimizer which micro-batch is the last:
// what arrives after the first is reduced alone and replaces it.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:3:0: note: missing micro-batch: what is accumulated from 'boundary' lacks micro-batch 0 of 0-1; with it the value is right

tv.graph @B126 <dp = 2, device = 1, mb = 2> {
  %w = tv.input <parameter "w"> : tensor<3x2xf32>
  %x = tv.input <input "x"> : tensor<8x2xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32> loc("dw"("model.py":1:0))
  %u0 = tv.distribute %dy <[dp, mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %u1 = tv.distribute %x <[dp, mb, 0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<8x2xf32>) -> tensor<2x2xf32>
  %g_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("g"("model.py":2:0))
  %last = tv.accumulate %g_0 over <mb = 1> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("boundary"("model.py":3:0)) // wrong
  %sum = tv.all_reduce %last over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sum"("model.py":4:0)) // wrong
  %both = tv.accumulate %g_0 over <mb = 0:2> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("boundary"("model.py":3:0)) // fixed
  %sum = tv.all_reduce %both over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sum"("model.py":4:0)) // fixed
  tv.expect %sum is %dw <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <gradient "w"> : tensor<3x2xf32> is tensor<3x2xf32>
}
