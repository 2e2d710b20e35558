// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A divided tensor is gathered, used on each device with other rows of the batch, and
// its gradient goes back. One of two interfaces keeps the own part of the gradient
// without adding those of the other device.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: missing sum: an operand of 'own' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B111 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<6x3xf32>
  %dy = tv.input <input "dy"> : tensor<6x4xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> loc("dw"("model.py":1:0))
  %u0 = tv.distribute %dy <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %u1 = tv.distribute %x <[0:3 of 6], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %dw_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tn,tk->nk"} : (tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dw"("model.py":1:0))
  %u2 = tv.distribute %dy <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %u3 = tv.distribute %x <[3:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %dw_1 = tv.einsum %u2, %u3 on <device = 1> {equation = "tn,tk->nk"} : (tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dw"("model.py":1:0))
  %all = tv.all_reduce %dw_0, %dw_1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("reduce_scatter"("model.py":2:0)) // fixed
  %own_0 = tv.slice %dw_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("own"("model.py":3:0)) // wrong
  %own_0 = tv.slice %all on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("own"("model.py":3:0)) // fixed
  tv.expect %own_0 is %dw <[0:2 of 4], [0:3 of 3]> on <device = 0> contract <gradient "w"> : tensor<2x3xf32> is tensor<4x3xf32>
  %own_1 = tv.slice %dw_1 on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("own"("model.py":3:0)) // wrong
  %own_1 = tv.slice %all on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("own"("model.py":3:0)) // fixed
  tv.expect %own_1 is %dw <[2:4 of 4], [0:3 of 3]> on <device = 1> contract <gradient "w"> : tensor<2x3xf32> is tensor<4x3xf32>
}
