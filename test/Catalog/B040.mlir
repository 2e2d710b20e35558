// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The auxiliary loss of a router: each context-parallel rank has the gradient of its
// tokens, and gradients are averaged over ranks. Without a factor for their number the
// auxiliary gradient is too small.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'router' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B040 <device = 2> {
  %router = tv.input <parameter "router"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %expert = tv.input <input "expert"> : tensor<8xi64>
  %u0 = tv.one_hot %expert {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x4xf32> loc("one_hot"("model.py":1:0))
  %f = tv.reduce sum %u0 {dimensions = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %xs = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %u1 = tv.einsum %f, %xs {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("einsum"("model.py":4:0))
  %u2 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %drouter = tv.multiply %u1, %u2 : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("drouter"("model.py":6:0))
  %x_0 = tv.distribute %x <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %expert_0 = tv.distribute %expert <[0:4 of 8]> on <device = 0> : (tensor<8xi64>) -> tensor<4xi64>
  %u3 = tv.one_hot %expert_0 on <device = 0> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x4xf32> loc("one_hot"("model.py":7:0))
  %f_0 = tv.reduce sum %u3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %x_1 = tv.distribute %x <[4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %expert_1 = tv.distribute %expert <[4:8 of 8]> on <device = 1> : (tensor<8xi64>) -> tensor<4xi64>
  %u4 = tv.one_hot %expert_1 on <device = 1> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x4xf32> loc("one_hot"("model.py":7:0))
  %f_1 = tv.reduce sum %u4 on <device = 1> {dimensions = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32> loc("f"("model.py":2:0))
  %fs = tv.all_reduce %f_0, %f_1 over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("fs"("model.py":8:0))
  %xs_0 = tv.reduce sum %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %raw_0 = tv.einsum %fs, %xs_0 on <device = 0> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("raw"("model.py":9:0))
  %xs_1 = tv.reduce sum %x_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32> loc("xs"("model.py":3:0))
  %raw_1 = tv.einsum %fs, %xs_1 on <device = 1> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("raw"("model.py":9:0))
  %u5 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %d_0 = tv.multiply %raw_0, %u5 on <device = 0> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("aux scale"("model.py":11:0)) // wrong
  %u6 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // fixed
  %d_0 = tv.multiply %raw_0, %u6 on <device = 0> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("aux scale"("model.py":11:0)) // fixed
  %u7 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %d_1 = tv.multiply %raw_1, %u7 on <device = 1> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("aux scale"("model.py":11:0)) // wrong
  %u8 = tv.constant dense<0.25> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":10:0)) // fixed
  %d_1 = tv.multiply %raw_1, %u8 on <device = 1> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("aux scale"("model.py":11:0)) // fixed
  %mean = tv.all_reduce %d_0, %d_1 by average over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("mean"("model.py":12:0))
  tv.expect %mean is %drouter <[0:4 of 4], [0:3 of 3]> on <device = 0:2> contract <gradient "router"> : tensor<4x3xf32> is tensor<4x3xf32>
}
