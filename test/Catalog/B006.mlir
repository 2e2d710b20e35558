// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Multi-query attention: all heads read one key projection, and the heads are divided
// over ranks. The gradient of the projection is a sum over heads; the wrong plan sums
// those of each rank.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'key' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B006 <device = 2> {
  %key = tv.input <parameter "key"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<4x5xf32>
  %q = tv.input <input "q"> : tensor<4x6x3xf32>
  %ds = tv.input <input "ds"> : tensor<6x4x4xf32>
  %dk = tv.einsum %ds, %q {equation = "hts,thd->sd"} : (tensor<6x4x4xf32>, tensor<4x6x3xf32>) -> tensor<4x3xf32> loc("dk"("model.py":1:0))
  %dw = tv.einsum %dk, %x {equation = "sd,si->di"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0))
  %x0 = tv.distribute %x <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %q0 = tv.distribute %q <[0:4 of 4], [0:3 of 6], [0:3 of 3]> on <device = 0> : (tensor<4x6x3xf32>) -> tensor<4x3x3xf32>
  %ds0 = tv.distribute %ds <[0:3 of 6], [0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<6x4x4xf32>) -> tensor<3x4x4xf32>
  %dk0 = tv.einsum %ds0, %q0 on <device = 0> {equation = "hts,thd->sd"} : (tensor<3x4x4xf32>, tensor<4x3x3xf32>) -> tensor<4x3xf32> loc("dk"("model.py":1:0))
  %x1 = tv.distribute %x <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %q1 = tv.distribute %q <[0:4 of 4], [3:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<4x6x3xf32>) -> tensor<4x3x3xf32>
  %ds1 = tv.distribute %ds <[3:6 of 6], [0:4 of 4], [0:4 of 4]> on <device = 1> : (tensor<6x4x4xf32>) -> tensor<3x4x4xf32>
  %dk1 = tv.einsum %ds1, %q1 on <device = 1> {equation = "hts,thd->sd"} : (tensor<3x4x4xf32>, tensor<4x3x3xf32>) -> tensor<4x3xf32> loc("dk"("model.py":1:0))
  %dks = tv.all_reduce %dk0, %dk1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("dks"("model.py":3:0)) // fixed
  %dw0 = tv.einsum %dk0, %x0 on <device = 0> {equation = "sd,si->di"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0)) // wrong
  %dw0 = tv.einsum %dks, %x0 on <device = 0> {equation = "sd,si->di"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0)) // fixed
  tv.expect %dw0 is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "key"> : tensor<3x5xf32> is tensor<3x5xf32>
  %dw1 = tv.einsum %dk1, %x1 on <device = 1> {equation = "sd,si->di"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0)) // wrong
  %dw1 = tv.einsum %dks, %x1 on <device = 1> {equation = "sd,si->di"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0)) // fixed
  tv.expect %dw1 is %dw <[0:3 of 3], [0:5 of 5]> on <device = 1> contract <gradient "key"> : tensor<3x5xf32> is tensor<3x5xf32>
}
