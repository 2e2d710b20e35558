// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A layer feeds a replicated shared expert and an expert divided over ranks. The
// stated placement of the second gradient is lost, so a term of a sum is added to a
// complete gradient; two weights below are wrong.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w0' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: missing sum: an operand of 'dx' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B009 <device = 2> {
  %w0 = tv.input <parameter "w0"> : tensor<4x5xf32>
  %shared = tv.input <parameter "shared"> : tensor<4x4xf32>
  %w1 = tv.input <parameter "w1"> : tensor<6x4xf32>
  %t = tv.input <input "t"> : tensor<3x5xf32>
  %dshared = tv.input <input "dshared"> : tensor<3x4xf32>
  %dh = tv.input <input "dh"> : tensor<3x6xf32>
  %dxa = tv.einsum %dshared, %shared {equation = "tn,nk->tk"} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":1:0))
  %dxb = tv.einsum %dh, %w1 {equation = "tn,nk->tk"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":2:0))
  %dx = tv.add %dxa, %dxb : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":3:0))
  %dw0 = tv.einsum %dx, %t {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw0"("model.py":4:0))
  %db = tv.reduce sum %dx {dimensions = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32> loc("db"("model.py":5:0))
  %t0 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %sh0 = tv.distribute %shared <[0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1_0 = tv.distribute %w1 <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %ds0 = tv.distribute %dshared <[0:3 of 3], [0:4 of 4]> on <device = 0> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %dh0 = tv.distribute %dh <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %dxa0 = tv.einsum %ds0, %sh0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":1:0))
  %dxb0 = tv.einsum %dh0, %w1_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":2:0))
  %t1 = tv.distribute %t <[0:3 of 3], [0:5 of 5]> on <device = 1> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %sh1 = tv.distribute %shared <[0:4 of 4], [0:4 of 4]> on <device = 1> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1_1 = tv.distribute %w1 <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %ds1 = tv.distribute %dshared <[0:3 of 3], [0:4 of 4]> on <device = 1> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %dh1 = tv.distribute %dh <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %dxa1 = tv.einsum %ds1, %sh1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dxa"("model.py":1:0))
  %dxb1 = tv.einsum %dh1, %w1_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":2:0))
  %dxb2 = tv.all_reduce %dxb0, %dxb1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dxb"("model.py":2:0)) // fixed
  %dx0 = tv.add %dxa0, %dxb0 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":3:0)) // wrong
  %dx0 = tv.add %dxa0, %dxb2 on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":3:0)) // fixed
  %dw00 = tv.einsum %dx0, %t0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw00"("model.py":6:0))
  %db0 = tv.reduce sum %dx0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32> loc("db"("model.py":5:0))
  tv.expect %dw00 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 0> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
  tv.expect %db0 is %db <[0:4 of 4]> on <device = 0> contract <gradient "bias"> : tensor<4xf32> is tensor<4xf32>
  %dx1 = tv.add %dxa1, %dxb1 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":3:0)) // wrong
  %dx1 = tv.add %dxa1, %dxb2 on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("dx"("model.py":3:0)) // fixed
  %dw01 = tv.einsum %dx1, %t1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32> loc("dw01"("model.py":7:0))
  %db1 = tv.reduce sum %dx1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32> loc("db"("model.py":5:0))
  tv.expect %dw01 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
  tv.expect %db1 is %db <[0:4 of 4]> on <device = 1> contract <gradient "bias"> : tensor<4xf32> is tensor<4xf32>
}
