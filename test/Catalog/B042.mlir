// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An auxiliary loss that every tensor-parallel rank computes in full, and whose
// gradients are added up over the ranks: its coefficient has to be divided by their
// number.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'router' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: extra sum: 'all' adds up over devices 0-1, but the value is complete before it

tv.graph @B042 <device = 2> {
  %router = tv.input <parameter "router"> : tensor<4x3xf32>
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %f = tv.input <input "f"> : tensor<4xf32>
  %xs = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":1:0))
  %raw = tv.einsum %f, %xs {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("raw"("model.py":2:0))
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %drouter = tv.multiply %raw, %u0 : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("drouter"("model.py":4:0))
  %x_0 = tv.distribute %x <[0:8 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %f_0 = tv.distribute %f <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %xs_0 = tv.reduce sum %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":1:0))
  %raw_0 = tv.einsum %f_0, %xs_0 on <device = 0> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("raw"("model.py":2:0))
  %u1 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %d_0 = tv.multiply %raw_0, %u1 on <device = 0> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("drouter"("model.py":4:0)) // wrong
  %u2 = tv.constant dense<0.0625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %d_0 = tv.multiply %raw_0, %u2 on <device = 0> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("half coefficient"("model.py":6:0)) // fixed
  %x_1 = tv.distribute %x <[0:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %f_1 = tv.distribute %f <[0:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<4xf32>
  %xs_1 = tv.reduce sum %x_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("xs"("model.py":1:0))
  %raw_1 = tv.einsum %f_1, %xs_1 on <device = 1> {equation = "e,k->ek"} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("raw"("model.py":2:0))
  %u3 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %d_1 = tv.multiply %raw_1, %u3 on <device = 1> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("drouter"("model.py":4:0)) // wrong
  %u4 = tv.constant dense<0.0625> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %d_1 = tv.multiply %raw_1, %u4 on <device = 1> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("half coefficient"("model.py":6:0)) // fixed
  %all = tv.all_reduce %d_0, %d_1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("all"("model.py":7:0))
  tv.expect %all is %drouter <[0:4 of 4], [0:3 of 3]> on <device = 0:2> contract <gradient "router"> : tensor<4x3xf32> is tensor<4x3xf32>
}
