// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An auxiliary loss for each of two samples. The wrong plan takes the two samples of a
// micro-batch for one.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'aux_loss' differs from the reference on device 0
// WRONG: model.py:5:0: note: other value: the operands of 'reshape' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B095 <device = 1> {
  %f = tv.input <input "f"> : tensor<2x4x3xf32>
  %p = tv.input <input "p"> : tensor<2x4x3xf32>
  %fs = tv.reduce sum %f {dimensions = array<i64: 1>} : (tensor<2x4x3xf32>) -> tensor<2x3xf32> loc("fs"("model.py":1:0))
  %ps = tv.reduce average %p {dimensions = array<i64: 1>} : (tensor<2x4x3xf32>) -> tensor<2x3xf32> loc("ps"("model.py":2:0))
  %u0 = tv.einsum %fs, %ps {equation = "be,be->b"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32> loc("einsum"("model.py":3:0))
  %aux = tv.reduce average %u0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("aux"("model.py":4:0))
  %f_0 = tv.distribute %f <[0:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %p_0 = tv.distribute %p <[0:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %u1 = tv.reshape %f_0 on <device = 0> : (tensor<2x4x3xf32>) -> tensor<8x3xf32> loc("reshape"("model.py":5:0)) // wrong
  %flat_f = tv.reduce sum %u1 on <device = 0> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("flat_f"("model.py":6:0)) // wrong
  %u2 = tv.reshape %p_0 on <device = 0> : (tensor<2x4x3xf32>) -> tensor<8x3xf32> loc("reshape"("model.py":5:0)) // wrong
  %flat_p = tv.reduce average %u2 on <device = 0> {dimensions = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32> loc("flat_p"("model.py":7:0)) // wrong
  %u3 = tv.einsum %flat_f, %flat_p on <device = 0> {equation = "e,e->"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32> loc("einsum"("model.py":8:0)) // wrong
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":9:0)) // wrong
  %out = tv.multiply %u3, %u4 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("loss"("model.py":10:0)) // wrong
  %own_f = tv.reduce sum %f_0 on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x4x3xf32>) -> tensor<2x3xf32> loc("own_f"("model.py":11:0)) // fixed
  %own_p = tv.reduce average %p_0 on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x4x3xf32>) -> tensor<2x3xf32> loc("own_p"("model.py":12:0)) // fixed
  %u5 = tv.einsum %own_f, %own_p on <device = 0> {equation = "be,be->b"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32> loc("einsum"("model.py":13:0)) // fixed
  %out = tv.reduce average %u5 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("loss"("model.py":10:0)) // fixed
  tv.expect %out is %aux <> on <device = 0> contract <output "aux_loss"> : tensor<f32> is tensor<f32>
}
