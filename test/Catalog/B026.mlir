// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// One tensor feeds a layer whose columns are divided and an op that runs on all ranks.
// The gradient that comes from the first has to be summed, that of the second not; the
// wrong plan sums neither.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w0' differs from the reference on devices 0-1
// WRONG: model.py:5:0: note: missing sum: an operand of 'multiref' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B026 <device = 2> {
  %w0 = tv.input <parameter "w0"> : tensor<4x5xf32>
  %w = tv.input <parameter "w"> : tensor<6x4xf32>
  %t = tv.input <input "t"> : tensor<3x5xf32>
  %dy = tv.input <input "dy"> : tensor<3x6xf32>
  %dz = tv.input <input "dz"> : tensor<3x4xf32>
  %x = tv.linear %t, %w0 : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("x"("model.py":1:0))
  %dxa = tv.einsum %dy, %w {equation = "tn,nk->tk"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":2:0))
  %u0 = tv.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32> loc("exp"("model.py":3:0))
  %dxb = tv.multiply %dz, %u0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":4:0))
  %dx = tv.add %dxa, %dxb : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("multiref"("model.py":5:0))
  %dw0 = tv.einsum %dx, %t {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0"("model.py":6:0))
  %t_0 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %w0_0 = tv.distribute %w0 <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %dz_0 = tv.distribute %dz <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %w_0 = tv.distribute %w <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dy_0 = tv.distribute %dy <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %x_0 = tv.linear %t_0, %w0_0 on <device = 0> : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("x"("model.py":1:0))
  %dxa_0 = tv.einsum %dy_0, %w_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":2:0))
  %u1 = tv.exp %x_0 on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32> loc("exp"("model.py":7:0))
  %dxb_0 = tv.multiply %dz_0, %u1 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":4:0))
  %t_1 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 1> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %w0_1 = tv.distribute %w0 <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %dz_1 = tv.distribute %dz <[0:3 of 3], [0:4 of 4]> on <device = 1> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %w_1 = tv.distribute %w <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dy_1 = tv.distribute %dy <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %x_1 = tv.linear %t_1, %w0_1 on <device = 1> : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("x"("model.py":1:0))
  %dxa_1 = tv.einsum %dy_1, %w_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":2:0))
  %u2 = tv.exp %x_1 on <device = 1> : (tensor<3x4xf32>) -> tensor<3x4xf32> loc("exp"("model.py":7:0))
  %dxb_1 = tv.multiply %dz_1, %u2 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":4:0))
  %dxa_all = tv.all_reduce %dxa_0, %dxa_1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxa_all"("model.py":8:0)) // fixed
  %dx_0 = tv.add %dxa_0, %dxb_0 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("multiref"("model.py":5:0)) // wrong
  %dx_0 = tv.add %dxa_all, %dxb_0 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("multiref"("model.py":5:0)) // fixed
  %dw_0 = tv.einsum %dx_0, %t_0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":9:0))
  tv.expect %dw_0 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 0> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
  %dx_1 = tv.add %dxa_1, %dxb_1 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("multiref"("model.py":5:0)) // wrong
  %dx_1 = tv.add %dxa_all, %dxb_1 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("multiref"("model.py":5:0)) // fixed
  %dw_1 = tv.einsum %dx_1, %t_1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":9:0))
  tv.expect %dw_1 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
}
