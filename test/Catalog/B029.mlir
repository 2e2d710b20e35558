// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Experts are divided over four devices, dense layers over two; the batch is not
// divided. The wrong plan reduces gradients of experts over pairs of devices, as if
// the experts were divided by two.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'expert' differs from the reference on devices 0-3
// WRONG: model.py:2:0: note: extra sum: 'reduce' adds up over devices 0, 2, but the value is complete before it

tv.graph @B029 <device = 4> {
  %expert = tv.input <parameter "expert"> : tensor<4x8xf32>
  %x = tv.input <input "x"> : tensor<6x8xf32>
  %dy = tv.input <input "dy"> : tensor<6x4xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x8xf32>) -> tensor<4x8xf32> loc("dw"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:6 of 6], [0:2 of 8]> on <device = 0> : (tensor<6x8xf32>) -> tensor<6x2xf32>
  %dy_0 = tv.distribute %dy <[0:6 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %dw_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x2xf32>) -> tensor<4x2xf32> loc("dw"("model.py":1:0))
  %x_1 = tv.distribute %x <[0:6 of 6], [2:4 of 8]> on <device = 1> : (tensor<6x8xf32>) -> tensor<6x2xf32>
  %dy_1 = tv.distribute %dy <[0:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %dw_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x2xf32>) -> tensor<4x2xf32> loc("dw"("model.py":1:0))
  %x_2 = tv.distribute %x <[0:6 of 6], [4:6 of 8]> on <device = 2> : (tensor<6x8xf32>) -> tensor<6x2xf32>
  %dy_2 = tv.distribute %dy <[0:6 of 6], [0:4 of 4]> on <device = 2> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %dw_2 = tv.einsum %dy_2, %x_2 on <device = 2> {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x2xf32>) -> tensor<4x2xf32> loc("dw"("model.py":1:0))
  %x_3 = tv.distribute %x <[0:6 of 6], [6:8 of 8]> on <device = 3> : (tensor<6x8xf32>) -> tensor<6x2xf32>
  %dy_3 = tv.distribute %dy <[0:6 of 6], [0:4 of 4]> on <device = 3> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %dw_3 = tv.einsum %dy_3, %x_3 on <device = 3> {equation = "tn,tk->nk"} : (tensor<6x4xf32>, tensor<6x2xf32>) -> tensor<4x2xf32> loc("dw"("model.py":1:0))
  %pair_0 = tv.all_reduce %dw_0, %dw_2 over [] on <device = 0 | 2> : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("reduce"("model.py":2:0)) // wrong
  %pair_1 = tv.all_reduce %dw_1, %dw_3 over [] on <device = 1 | 3> : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("reduce"("model.py":2:0)) // wrong
  tv.expect %pair_0 is %dw <[0:4 of 4], [0:2 of 8]> on <device = 0> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // wrong
  tv.expect %dw_0 is %dw <[0:4 of 4], [0:2 of 8]> on <device = 0> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // fixed
  tv.expect %pair_1 is %dw <[0:4 of 4], [2:4 of 8]> on <device = 1> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // wrong
  tv.expect %dw_1 is %dw <[0:4 of 4], [2:4 of 8]> on <device = 1> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // fixed
  tv.expect %pair_0 is %dw <[0:4 of 4], [4:6 of 8]> on <device = 2> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // wrong
  tv.expect %dw_2 is %dw <[0:4 of 4], [4:6 of 8]> on <device = 2> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // fixed
  tv.expect %pair_1 is %dw <[0:4 of 4], [6:8 of 8]> on <device = 3> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // wrong
  tv.expect %dw_3 is %dw <[0:4 of 4], [6:8 of 8]> on <device = 3> contract <gradient "expert"> : tensor<4x2xf32> is tensor<4x8xf32> // fixed
}
