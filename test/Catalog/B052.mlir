// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The counts of tokens for each expert are summed over ranks in place, and then taken
// for the counts of a rank and summed once more. Only a frontend that follows what an
// operation overwrites can import the wrong form.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'router' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B052 <device = 2> {
  %router = tv.input <parameter "router"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %expert = tv.input <input "expert"> : tensor<8xi64>
  %u0 = tv.one_hot %expert {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x4xf32> loc("one_hot"("model.py":1:0))
  %f = tv.reduce sum %u0 {dimensions = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %xs = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %u1 = tv.einsum %f, %xs {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("einsum"("model.py":4:0))
  %u2 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %drouter = tv.multiply %u1, %u2 : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("drouter"("model.py":6:0))
  %x_0 = tv.distribute %x <[0:8 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %expert_0 = tv.distribute %expert <[0:4 of 8]> on <device = 0> : (tensor<8xi64>) -> tensor<4xi64>
  %u3 = tv.one_hot %expert_0 on <device = 0> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x4xf32> loc("one_hot"("model.py":7:0))
  %f_0 = tv.reduce sum %u3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %x_1 = tv.distribute %x <[0:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %expert_1 = tv.distribute %expert <[4:8 of 8]> on <device = 1> : (tensor<8xi64>) -> tensor<4xi64>
  %u4 = tv.one_hot %expert_1 on <device = 1> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x4xf32> loc("one_hot"("model.py":7:0))
  %f_1 = tv.reduce sum %u4 on <device = 1> {dimensions = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %inplace = tv.all_reduce %f_0, %f_1 over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("logging"("model.py":8:0)) // wrong
  %fs = tv.all_reduce %inplace, %inplace over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("counts"("model.py":9:0)) // wrong
  %fs = tv.all_reduce %f_0, %f_1 over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("counts"("model.py":9:0)) // fixed
  %xs_0 = tv.reduce sum %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %u5 = tv.einsum %fs, %xs_0 on <device = 0> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("einsum"("model.py":10:0))
  %u6 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":11:0))
  %dr_0 = tv.multiply %u5, %u6 on <device = 0> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("dr"("model.py":12:0))
  tv.expect %dr_0 is %drouter <[0:4 of 4], [0:3 of 3]> on <device = 0> contract <gradient "router"> : tensor<4x3xf32> is tensor<4x3xf32>
  %xs_1 = tv.reduce sum %x_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %u7 = tv.einsum %fs, %xs_1 on <device = 1> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("einsum"("model.py":10:0))
  %u8 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":11:0))
  %dr_1 = tv.multiply %u7, %u8 on <device = 1> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("dr"("model.py":12:0))
  tv.expect %dr_1 is %drouter <[0:4 of 4], [0:3 of 3]> on <device = 1> contract <gradient "router"> : tensor<4x3xf32> is tensor<4x3xf32>
}
