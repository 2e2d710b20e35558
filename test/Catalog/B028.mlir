// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Expert weights are divided over columns by two, dense ones by one, on four devices.
// Gradients of an expert belong to devices with the same columns; the wrong plan
// reduces over the dense data-parallel group, which mixes columns.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'expert' differs from the reference on devices 0-3
// WRONG: model.py:2:0: note: wrong group: 'reduce' adds up over devices 0-3; the group has to be devices 0, 2

tv.graph @B028 <device = 4> {
  %expert = tv.input <parameter "expert"> : tensor<4x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x4xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:4 of 8], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_0 = tv.distribute %dy <[0:4 of 8], [0:2 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x2xf32>
  %dw_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32> loc("dw"("model.py":1:0))
  %x_1 = tv.distribute %x <[0:4 of 8], [0:5 of 5]> on <device = 1> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_1 = tv.distribute %dy <[0:4 of 8], [2:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<4x2xf32>
  %dw_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32> loc("dw"("model.py":1:0))
  %x_2 = tv.distribute %x <[4:8 of 8], [0:5 of 5]> on <device = 2> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_2 = tv.distribute %dy <[4:8 of 8], [0:2 of 4]> on <device = 2> : (tensor<8x4xf32>) -> tensor<4x2xf32>
  %dw_2 = tv.einsum %dy_2, %x_2 on <device = 2> {equation = "tn,tk->nk"} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32> loc("dw"("model.py":1:0))
  %x_3 = tv.distribute %x <[4:8 of 8], [0:5 of 5]> on <device = 3> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_3 = tv.distribute %dy <[4:8 of 8], [2:4 of 4]> on <device = 3> : (tensor<8x4xf32>) -> tensor<4x2xf32>
  %dw_3 = tv.einsum %dy_3, %x_3 on <device = 3> {equation = "tn,tk->nk"} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32> loc("dw"("model.py":1:0))
  %all = tv.all_reduce %dw_0, %dw_1, %dw_2, %dw_3 over [] on <device = 0:4> : (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("reduce"("model.py":2:0)) // wrong
  %even = tv.all_reduce %dw_0, %dw_2 over [] on <device = 0 | 2> : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("reduce"("model.py":2:0)) // fixed
  %odd = tv.all_reduce %dw_1, %dw_3 over [] on <device = 1 | 3> : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("reduce"("model.py":2:0)) // fixed
  tv.expect %all is %dw <[0:2 of 4], [0:5 of 5]> on <device = 0> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // wrong
  tv.expect %even is %dw <[0:2 of 4], [0:5 of 5]> on <device = 0> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // fixed
  tv.expect %all is %dw <[2:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // wrong
  tv.expect %odd is %dw <[2:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // fixed
  tv.expect %all is %dw <[0:2 of 4], [0:5 of 5]> on <device = 2> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // wrong
  tv.expect %even is %dw <[0:2 of 4], [0:5 of 5]> on <device = 2> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // fixed
  tv.expect %all is %dw <[2:4 of 4], [0:5 of 5]> on <device = 3> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // wrong
  tv.expect %odd is %dw <[2:4 of 4], [0:5 of 5]> on <device = 3> contract <gradient "expert"> : tensor<2x5xf32> is tensor<4x5xf32> // fixed
}
