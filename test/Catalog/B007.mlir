// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The inner dimension of an expert is divided over ranks, its input is the same on
// all. The gradient of the input is then a term of a sum on each rank; the wrong plan
// uses the term as if it were the sum.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w0' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B007 <device = 2> {
  %w0 = tv.input <parameter "w0"> : tensor<4x5xf32>
  %w1 = tv.input <parameter "w1"> : tensor<6x4xf32>
  %w2 = tv.input <parameter "w2"> : tensor<4x6xf32>
  %t = tv.input <input "t"> : tensor<3x5xf32>
  %dy = tv.input <input "dy"> : tensor<3x4xf32>
  %x = tv.linear %t, %w0 : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("embed"("model.py":1:0))
  %h = tv.linear %x, %w1 : (tensor<3x4xf32>, tensor<6x4xf32>) -> tensor<3x6xf32> loc("up"("model.py":2:0))
  %a = tv.silu %h : (tensor<3x6xf32>) -> tensor<3x6xf32> loc("a"("model.py":3:0))
  %y = tv.linear %a, %w2 : (tensor<3x6xf32>, tensor<4x6xf32>) -> tensor<3x4xf32> loc("down"("model.py":4:0))
  %da = tv.einsum %dy, %w2 {equation = "tk,kn->tn"} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32> loc("da"("model.py":5:0))
  %s = tv.sigmoid %h : (tensor<3x6xf32>) -> tensor<3x6xf32> loc("s"("model.py":6:0))
  %dh = tv.multiply %da, %s : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32> loc("dh"("model.py":7:0))
  %dx = tv.einsum %dh, %w1 {equation = "tn,nk->tk"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":8:0))
  %dw0 = tv.einsum %dx, %t {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0"("model.py":9:0))
  %t_0 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %w0_0 = tv.distribute %w0 <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %w1_0 = tv.distribute %w1 <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %w2_0 = tv.distribute %w2 <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %dy_0 = tv.distribute %dy <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %x_0 = tv.linear %t_0, %w0_0 on <device = 0> : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("embed"("model.py":1:0))
  %h_0 = tv.linear %x_0, %w1_0 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32> loc("up"("model.py":2:0))
  %da_0 = tv.einsum %dy_0, %w2_0 on <device = 0> {equation = "tk,kn->tn"} : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32> loc("da"("model.py":5:0))
  %s_0 = tv.sigmoid %h_0 on <device = 0> : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("s"("model.py":6:0))
  %dh_0 = tv.multiply %da_0, %s_0 on <device = 0> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> loc("dh"("model.py":7:0))
  %dx_0 = tv.einsum %dh_0, %w1_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":8:0))
  %t_1 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 1> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %w0_1 = tv.distribute %w0 <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %w1_1 = tv.distribute %w1 <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %w2_1 = tv.distribute %w2 <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %dy_1 = tv.distribute %dy <[0:3 of 3], [0:4 of 4]> on <device = 1> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %x_1 = tv.linear %t_1, %w0_1 on <device = 1> : (tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> loc("embed"("model.py":1:0))
  %h_1 = tv.linear %x_1, %w1_1 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32> loc("up"("model.py":2:0))
  %da_1 = tv.einsum %dy_1, %w2_1 on <device = 1> {equation = "tk,kn->tn"} : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32> loc("da"("model.py":5:0))
  %s_1 = tv.sigmoid %h_1 on <device = 1> : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("s"("model.py":6:0))
  %dh_1 = tv.multiply %da_1, %s_1 on <device = 1> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> loc("dh"("model.py":7:0))
  %dx_1 = tv.einsum %dh_1, %w1_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":8:0))
  %dxs = tv.all_reduce %dx_0, %dx_1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("all_reduce"("model.py":10:0)) // fixed
  %dw0_0 = tv.einsum %dx_0, %t_0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0_"("model.py":11:0)) // wrong
  %dw0_0 = tv.einsum %dxs, %t_0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0_"("model.py":11:0)) // fixed
  tv.expect %dw0_0 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 0> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
  %dw0_1 = tv.einsum %dx_1, %t_1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0_"("model.py":11:0)) // wrong
  %dw0_1 = tv.einsum %dxs, %t_1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0_"("model.py":11:0)) // fixed
  tv.expect %dw0_1 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
}
