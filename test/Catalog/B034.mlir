// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Four devices, expert parallelism of two: device pairs 0, 2 and 1, 3 hold the same
// experts. With the number of experts given as the size of the group, no device has a
// partner and gradients of experts are not reduced.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'experts' differs from the reference on devices 0-3
// WRONG: note: missing sum: the value is one term of a sum over devices 0, 2, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B034 <device = 4> {
  %experts = tv.input <parameter "experts"> : tensor<2x3x4xf32>
  %x = tv.input <input "x"> : tensor<2x8x4xf32>
  %dy = tv.input <input "dy"> : tensor<2x8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "etn,etk->enk"} : (tensor<2x8x3xf32>, tensor<2x8x4xf32>) -> tensor<2x3x4xf32> loc("dw"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:1 of 2], [0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_0 = tv.distribute %dy <[0:1 of 2], [0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %dw_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("dw"("model.py":1:0))
  %x_1 = tv.distribute %x <[1:2 of 2], [0:4 of 8], [0:4 of 4]> on <device = 1> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_1 = tv.distribute %dy <[1:2 of 2], [0:4 of 8], [0:3 of 3]> on <device = 1> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %dw_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("dw"("model.py":1:0))
  %x_2 = tv.distribute %x <[0:1 of 2], [4:8 of 8], [0:4 of 4]> on <device = 2> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_2 = tv.distribute %dy <[0:1 of 2], [4:8 of 8], [0:3 of 3]> on <device = 2> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %dw_2 = tv.einsum %dy_2, %x_2 on <device = 2> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("dw"("model.py":1:0))
  %x_3 = tv.distribute %x <[1:2 of 2], [4:8 of 8], [0:4 of 4]> on <device = 3> : (tensor<2x8x4xf32>) -> tensor<1x4x4xf32>
  %dy_3 = tv.distribute %dy <[1:2 of 2], [4:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<2x8x3xf32>) -> tensor<1x4x3xf32>
  %dw_3 = tv.einsum %dy_3, %x_3 on <device = 3> {equation = "etn,etk->enk"} : (tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<1x3x4xf32> loc("dw"("model.py":1:0))
  %all_0 = tv.all_reduce %dw_0, %dw_2 over [] on <device = 0 | 2> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("all"("model.py":2:0)) // fixed
  tv.expect %dw_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 0> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // wrong
  tv.expect %all_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 0> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // fixed
  tv.expect %dw_2 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 2> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // wrong
  tv.expect %all_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 2> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // fixed
  %all_1 = tv.all_reduce %dw_1, %dw_3 over [] on <device = 1 | 3> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("all"("model.py":2:0)) // fixed
  tv.expect %dw_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 1> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // wrong
  tv.expect %all_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 1> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // fixed
  tv.expect %dw_3 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 3> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // wrong
  tv.expect %all_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 3> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32> // fixed
}
