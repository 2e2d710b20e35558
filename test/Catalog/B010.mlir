// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A loss over chunks of the sequence, with the vocabulary divided over ranks. The
// buffer that collects the gradient of the hidden states holds terms of a sum; the
// wrong plan hands it on as complete.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w0' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B010 <device = 2> {
  %w0 = tv.input <parameter "w0"> : tensor<4x5xf32>
  %head = tv.input <parameter "head"> : tensor<6x4xf32>
  %t = tv.input <input "t"> : tensor<4x5xf32>
  %dz = tv.input <input "dz"> : tensor<4x6xf32>
  %dh = tv.einsum %dz, %head {equation = "tn,nk->tk"} : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> loc("dh"("model.py":1:0))
  %dw0 = tv.einsum %dh, %t {equation = "tk,ti->ki"} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dw0"("model.py":2:0))
  %t0 = tv.distribute %t <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %head0 = tv.distribute %head <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dz0_0 = tv.distribute %dz <[0:2 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %dh0_0 = tv.einsum %dz0_0, %head0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("dh0_"("model.py":3:0))
  %dz0_1 = tv.distribute %dz <[2:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %dh0_1 = tv.einsum %dz0_1, %head0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("dh0_"("model.py":3:0))
  %buffer0 = tv.concat %dh0_0, %dh0_1 on <device = 0> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("buffer"("model.py":4:0))
  %t1 = tv.distribute %t <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %head1 = tv.distribute %head <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dz1_0 = tv.distribute %dz <[0:2 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %dh1_0 = tv.einsum %dz1_0, %head1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("dh1_"("model.py":5:0))
  %dz1_1 = tv.distribute %dz <[2:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %dh1_1 = tv.einsum %dz1_1, %head1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("dh1_"("model.py":5:0))
  %buffer1 = tv.concat %dh1_0, %dh1_1 on <device = 1> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("buffer"("model.py":4:0))
  %dhs = tv.all_reduce %buffer0, %buffer1 over [] on <device = 0:2> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("dhs"("model.py":6:0)) // fixed
  %dw_0 = tv.einsum %buffer0, %t0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":7:0)) // wrong
  %dw_0 = tv.einsum %dhs, %t0 on <device = 0> {equation = "tk,ti->ki"} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":7:0)) // fixed
  tv.expect %dw_0 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 0> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
  %dw_1 = tv.einsum %buffer1, %t1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":7:0)) // wrong
  %dw_1 = tv.einsum %dhs, %t1 on <device = 1> {equation = "tk,ti->ki"} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dw"("model.py":7:0)) // fixed
  tv.expect %dw_1 is %dw0 <[0:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "w0"> : tensor<4x5xf32> is tensor<4x5xf32>
}
