// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An interleaved schedule that starts the sum over replicas one micro-batch too early:
// the last gradient is added to what has been reduced.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:4:0: note: early reduction: 'reduced' adds up before micro-batch 2 of 0-2 is accumulated; what 'after sync' gives after it is not added up

tv.graph @B136 <dp = 2, device = 1, mb = 3> {
  %w = tv.input <parameter "w"> : tensor<3x2xf32>
  %x = tv.input <input "x"> : tensor<12x2xf32>
  %dy = tv.input <input "dy"> : tensor<12x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<12x3xf32>, tensor<12x2xf32>) -> tensor<3x2xf32> loc("dw"("model.py":1:0))
  %u0 = tv.distribute %dy <[dp, mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<12x3xf32>) -> tensor<2x3xf32>
  %u1 = tv.distribute %x <[dp, mb, 0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<12x2xf32>) -> tensor<2x2xf32>
  %g_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("g"("model.py":2:0))
  %first = tv.accumulate %g_0 over <mb = 0:2> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("before sync"("model.py":3:0)) // wrong
  %reduced = tv.all_reduce %first over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("reduced"("model.py":4:0)) // wrong
  %last = tv.accumulate %g_0 over <mb = 2> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("after sync"("model.py":5:0)) // wrong
  %sum = tv.add %reduced, %last on <device = 0> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("dw"("model.py":1:0)) // wrong
  %whole = tv.accumulate %g_0 over <mb = 0:3> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("before sync"("model.py":3:0)) // fixed
  %sum = tv.all_reduce %whole over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sum"("model.py":6:0)) // fixed
  tv.expect %sum is %dw <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <gradient "w"> : tensor<3x2xf32> is tensor<3x2xf32>
}
