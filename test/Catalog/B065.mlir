// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The backward pass of a conversion turns a gradient that is a term of a sum into a
// complete one. The wrong plan divides it by the size of the group.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'x' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B065 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<6x4xf32>
  %dy = tv.input <input "dy"> : tensor<3x6xf32>
  %dx = tv.einsum %dy, %w {equation = "tn,nk->tk"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":1:0))
  %w_0 = tv.distribute %w <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dy_0 = tv.distribute %dy <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %dx_0 = tv.einsum %dy_0, %w_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":1:0))
  %w_1 = tv.distribute %w <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dy_1 = tv.distribute %dy <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %dx_1 = tv.einsum %dy_1, %w_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":1:0))
  %all = tv.all_reduce %dx_0, %dx_1 by average over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("to_replicate"("model.py":2:0)) // wrong
  %all = tv.all_reduce %dx_0, %dx_1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("to_replicate"("model.py":2:0)) // fixed
  tv.expect %all is %dx <[0:3 of 3], [0:4 of 4]> on <device = 0:2> contract <gradient "x"> : tensor<3x4xf32> is tensor<3x4xf32>
}
