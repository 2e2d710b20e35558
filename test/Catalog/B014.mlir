// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients are reduced in buckets of 6 elements. A parameter of exactly that size is
// taken for one that is too large for a bucket and is never reduced; a smaller one is.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'exact' differs from the reference on device 0 of each of 2 replicas
// WRONG: note: missing sum: the value is one term of a sum over the 2 replicas, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B014 <dp = 2, device = 1> {
  %small = tv.input <parameter "small"> : tensor<2x2xf32>
  %exact = tv.input <parameter "exact"> : tensor<3x2xf32>
  %x = tv.input <input "x"> : tensor<8x2xf32>
  %da = tv.input <input "da"> : tensor<8x2xf32>
  %db = tv.input <input "db"> : tensor<8x3xf32>
  %ds = tv.einsum %da, %x {equation = "tn,tk->nk"} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32> loc("ds"("model.py":1:0))
  %de = tv.einsum %db, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32> loc("de"("model.py":2:0))
  %x0 = tv.distribute %x <[dp, 0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %da0 = tv.distribute %da <[dp, 0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %db0 = tv.distribute %db <[dp, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %ds0 = tv.einsum %da0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("ds"("model.py":1:0))
  %de0 = tv.einsum %db0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32> loc("de"("model.py":2:0))
  %dsmall = tv.all_reduce %ds0 over ["dp"] on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("dsmall"("model.py":3:0))
  tv.expect %dsmall is %ds <[0:2 of 2], [0:2 of 2]> on <device = 0> contract <gradient "small"> : tensor<2x2xf32> is tensor<2x2xf32>
  %dexact = tv.all_reduce %de0 over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("dexact"("model.py":4:0)) // fixed
  tv.expect %dexact is %de <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <gradient "exact"> : tensor<3x2xf32> is tensor<3x2xf32> // fixed
  tv.expect %de0 is %de <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <gradient "exact"> : tensor<3x2xf32> is tensor<3x2xf32> // wrong
}
