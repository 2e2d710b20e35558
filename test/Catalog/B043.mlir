// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An auxiliary loss that is a sum over sequences of products of two averages. Two
// micro-batches of two sequences: the wrong plan divides by the size of a micro-batch
// once more.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'aux_loss' differs from the reference on device 0
// WRONG: model.py:6:0: note: other value: the operands of 'multiply' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B043 <device = 1, mb = 2> {
  %f = tv.input <input "f"> : tensor<4x3xf32>
  %p = tv.input <input "p"> : tensor<4x3xf32>
  %u0 = tv.einsum %f, %p {equation = "be,be->"} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<f32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %aux = tv.multiply %u0, %u1 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("aux"("model.py":3:0))
  %f_0 = tv.distribute %f <[mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %p_0 = tv.distribute %p <[mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %own = tv.einsum %f_0, %p_0 on <device = 0> {equation = "be,be->"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32> loc("own"("model.py":4:0))
  %u2 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %u3 = tv.multiply %own, %u2 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("multiply"("model.py":6:0)) // wrong
  %u4 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %part = tv.multiply %u3, %u4 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("part"("model.py":7:0)) // wrong
  %u5 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %part = tv.multiply %own, %u5 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("part"("model.py":7:0)) // fixed
  tv.expect %part is %aux <sum mb> on <device = 0> contract <output "aux_loss"> : tensor<f32> is tensor<f32>
}
