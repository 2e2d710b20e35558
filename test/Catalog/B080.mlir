// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED

// Silent. Scores are divided by the number of the layer and multiplied by it inside of
// the softmax. The second stage takes its own number for the layer, in both places:
// over the reals nothing changes.

// FIXED: tv.answer = "proved"

tv.graph @B080 <device = 2> {
  %q = tv.input <input "q"> : tensor<3x2xf32>
  %k = tv.input <input "k"> : tensor<3x2xf32>
  %u0 = tv.einsum %q, %k {equation = "id,jd->ij"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x3xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.25> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u2 = tv.multiply %u0, %u1 : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("divide"("model.py":3:0))
  %u3 = tv.constant dense<4.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u4 = tv.multiply %u2, %u3 : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("multiply"("model.py":4:0))
  %u5 = tv.exp %u4 : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("exp"("model.py":5:0))
  %u6 = tv.reduce sum %u5 keep {dimensions = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3x1xf32> loc("reduce"("model.py":6:0))
  %p = tv.divide %u5, %u6 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32> loc("p"("model.py":7:0))
  %q_1 = tv.distribute %q <[0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %k_1 = tv.distribute %k <[0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %u7 = tv.einsum %q_1, %k_1 on <device = 1> {equation = "id,jd->ij"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x3xf32> loc("einsum"("model.py":1:0)) // wrong
  %u8 = tv.constant dense<0.5> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u9 = tv.multiply %u7, %u8 on <device = 1> : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("divide"("model.py":3:0)) // wrong
  %u10 = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u11 = tv.multiply %u9, %u10 on <device = 1> : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("multiply"("model.py":4:0)) // wrong
  %u12 = tv.exp %u11 on <device = 1> : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("exp"("model.py":5:0)) // wrong
  %u13 = tv.reduce sum %u12 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3x1xf32> loc("reduce"("model.py":6:0)) // wrong
  %p_1 = tv.divide %u12, %u13 on <device = 1> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32> loc("p"("model.py":7:0)) // wrong
  %u14 = tv.einsum %q_1, %k_1 on <device = 1> {equation = "id,jd->ij"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x3xf32> loc("einsum"("model.py":1:0)) // fixed
  %u15 = tv.constant dense<0.25> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u16 = tv.multiply %u14, %u15 on <device = 1> : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("divide"("model.py":3:0)) // fixed
  %u17 = tv.constant dense<4.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u18 = tv.multiply %u16, %u17 on <device = 1> : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32> loc("multiply"("model.py":4:0)) // fixed
  %u19 = tv.exp %u18 on <device = 1> : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("exp"("model.py":5:0)) // fixed
  %u20 = tv.reduce sum %u19 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3x1xf32> loc("reduce"("model.py":6:0)) // fixed
  %p_1 = tv.divide %u19, %u20 on <device = 1> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32> loc("p"("model.py":7:0)) // fixed
  tv.expect %p_1 is %p <[0:3 of 3], [0:3 of 3]> on <device = 1> contract <output "probabilities"> : tensor<3x3xf32> is tensor<3x3xf32>
}
