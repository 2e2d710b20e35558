// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A pooler reads a sequence that is gathered over two ranks, and does the same on
// both. The gradient of the sequence is complete on each; the wrong plan adds it up
// before dividing it.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'x' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B106 <device = 2> {
  %pool = tv.input <parameter "pool"> : tensor<3x4xf32>
  %dy = tv.input <input "dy"> : tensor<6x3xf32>
  %dx = tv.einsum %dy, %pool {equation = "tn,nk->tk"} : (tensor<6x3xf32>, tensor<3x4xf32>) -> tensor<6x4xf32> loc("dx"("model.py":1:0))
  %dy_0 = tv.distribute %dy <[0:6 of 6], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %p_0 = tv.distribute %pool <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %dx_0 = tv.einsum %dy_0, %p_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<6x3xf32>, tensor<3x4xf32>) -> tensor<6x4xf32> loc("dx"("model.py":1:0))
  %dy_1 = tv.distribute %dy <[0:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %p_1 = tv.distribute %pool <[0:3 of 3], [0:4 of 4]> on <device = 1> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %dx_1 = tv.einsum %dy_1, %p_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<6x3xf32>, tensor<3x4xf32>) -> tensor<6x4xf32> loc("dx"("model.py":1:0))
  %twice = tv.all_reduce %dx_0, %dx_1 over [] on <device = 0:2> : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> loc("reduce_scatter"("model.py":2:0)) // wrong
  %own_0 = tv.slice %twice on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<6x4xf32>) -> tensor<3x4xf32> loc("own"("model.py":3:0)) // wrong
  %own_0 = tv.slice %dx_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<6x4xf32>) -> tensor<3x4xf32> loc("own"("model.py":3:0)) // fixed
  tv.expect %own_0 is %dx <[0:3 of 6], [0:4 of 4]> on <device = 0> contract <gradient "x"> : tensor<3x4xf32> is tensor<6x4xf32>
  %own_1 = tv.slice %twice on <device = 1> {dimension = 0 : i64, start = 3 : i64, end = 6 : i64} : (tensor<6x4xf32>) -> tensor<3x4xf32> loc("own"("model.py":3:0)) // wrong
  %own_1 = tv.slice %dx_1 on <device = 1> {dimension = 0 : i64, start = 3 : i64, end = 6 : i64} : (tensor<6x4xf32>) -> tensor<3x4xf32> loc("own"("model.py":3:0)) // fixed
  tv.expect %own_1 is %dx <[3:6 of 6], [0:4 of 4]> on <device = 1> contract <gradient "x"> : tensor<3x4xf32> is tensor<6x4xf32>
}
