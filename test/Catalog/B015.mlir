// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Three micro-batches in two replicas. The wrong plan adds the gradient of the last
// one after the sum over replicas.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:6:0: note: early reduction: 'reduced' adds up before micro-batch 2 of 0-2 is accumulated; what 'last' gives after it is not added up

tv.graph @B015 <dp = 2, device = 1, mb = 3> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<6x5xf32>
  %dy = tv.input <input "dy"> : tensor<6x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %x0 = tv.distribute %x <[dp, mb, 0:1 of 1], [0:5 of 5]> on <device = 0> : (tensor<6x5xf32>) -> tensor<1x5xf32>
  %dy0 = tv.distribute %dy <[dp, mb, 0:1 of 1], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<1x3xf32>
  %g = tv.einsum %dy0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<1x3xf32>, tensor<1x5xf32>) -> tensor<3x5xf32> loc("g"("model.py":2:0))
  %sum = tv.accumulate %g over <mb = 0:3> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("model.py":3:0)) // fixed
  %all = tv.all_reduce %sum over ["dp"] on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":4:0)) // fixed
  %first = tv.accumulate %g over <mb = 0:2> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("first"("model.py":5:0)) // wrong
  %reduced = tv.all_reduce %first over ["dp"] on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("reduced"("model.py":6:0)) // wrong
  %last = tv.accumulate %g over <mb = 2> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("last"("model.py":7:0)) // wrong
  %all = tv.add %reduced, %last on <device = 0> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":4:0)) // wrong
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
