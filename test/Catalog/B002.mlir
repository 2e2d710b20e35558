// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A weight of the vision encoder, replicated over tensor-parallel ranks, feeds a
// column-parallel layer. Each rank has the part of its gradient that its columns give;
// the wrong plan does not add them up.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B002 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %v = tv.input <parameter "v"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<6x5xf32>
  %dz = tv.input <input "dz"> : tensor<6x4xf32>
  %dy = tv.einsum %dz, %v {equation = "tn,nk->tk"} : (tensor<6x4xf32>, tensor<4x3xf32>) -> tensor<6x3xf32> loc("dy"("model.py":1:0))
  %dw = tv.einsum %dy, %x {equation = "tk,ti->ki"} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0))
  %x0 = tv.distribute %x <[0:6 of 6], [0:5 of 5]> on <device = 0> : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %dz0 = tv.distribute %dz <[0:6 of 6], [0:2 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<6x2xf32>
  %v0 = tv.distribute %v <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %dy0 = tv.einsum %dz0, %v0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<6x2xf32>, tensor<2x3xf32>) -> tensor<6x3xf32> loc("dy"("model.py":1:0))
  %dw0 = tv.einsum %dy0, %x0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0))
  %x1 = tv.distribute %x <[0:6 of 6], [0:5 of 5]> on <device = 1> : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %dz1 = tv.distribute %dz <[0:6 of 6], [2:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<6x2xf32>
  %v1 = tv.distribute %v <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %dy1 = tv.einsum %dz1, %v1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<6x2xf32>, tensor<2x3xf32>) -> tensor<6x3xf32> loc("dy"("model.py":1:0))
  %dw1 = tv.einsum %dy1, %x1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":2:0))
  %all = tv.all_reduce %dw0, %dw1 over [] on <device = 0:2> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":3:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0:2> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // fixed
  tv.expect %dw0 is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // wrong
  tv.expect %dw1 is %dw <[0:3 of 3], [0:5 of 5]> on <device = 1> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // wrong
}
