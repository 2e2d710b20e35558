// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Without sharding, the wrong plan takes the gradient buffer for missing, so nothing
// is updated, and it sums squares over replicas whose gradients are equal.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:7:0: note: extra sum: 'norm' adds up over device 0 of all 2 replicas, but the value is complete before it

tv.graph @B017 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u1 = tv.multiply %dw, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":3:0))
  %next = tv.subtract %w, %u1 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("next"("model.py":4:0))
  %u2 = tv.power %dw {numerator = 2 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("power"("model.py":5:0))
  %u3 = tv.reduce sum %u2 {dimensions = array<i64: 0, 1>} : (tensor<3x5xf32>) -> tensor<f32> loc("reduce"("model.py":6:0))
  %norm = tv.sqrt %u3 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":7:0))
  %x0 = tv.distribute %x <[dp, 0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy0 = tv.distribute %dy <[dp, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %w0 = tv.distribute %w <[0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %u4 = tv.einsum %dy0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("einsum"("model.py":8:0))
  %g = tv.all_reduce %u4 over ["dp"] on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("g"("model.py":9:0))
  %u5 = tv.power %g on <device = 0> {numerator = 2 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("power"("model.py":10:0))
  %squares = tv.reduce sum %u5 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x5xf32>) -> tensor<f32> loc("squares"("model.py":11:0))
  %total = tv.all_reduce %squares over ["dp"] on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":7:0)) // wrong
  %norm0 = tv.sqrt %total on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":7:0)) // wrong
  %norm0 = tv.sqrt %squares on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":7:0)) // fixed
  %next0 = tv.copy %w0 on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("update"("model.py":12:0)) // wrong
  %u6 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // fixed
  %u7 = tv.multiply %g, %u6 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":14:0)) // fixed
  %next0 = tv.subtract %w0, %u7 on <device = 0> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("next"("model.py":4:0)) // fixed
  tv.expect %next0 is %next <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <output "w.next"> : tensor<3x5xf32> is tensor<3x5xf32>
  tv.expect %norm0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
}
