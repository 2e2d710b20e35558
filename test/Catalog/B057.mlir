// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two steps of gradient descent. The wrong plan divides by a loss scale that was never
// applied and keeps the gradient of the first step in the buffer.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'w.step1' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:14:0: note: other value: the operands of 'unscale' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B057 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %x = tv.input <input "x"> : tensor<2x4x3xf32>
  %y = tv.input <input "y"> : tensor<2x4xf32>
  %u0 = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4x3xf32>) -> tensor<1x4x3xf32> loc("slice"("model.py":1:0))
  %u1 = tv.reshape %u0 : (tensor<1x4x3xf32>) -> tensor<4x3xf32> loc("reshape"("model.py":2:0))
  %u2 = tv.slice %y {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("slice"("model.py":1:0))
  %u3 = tv.reshape %u2 : (tensor<1x4xf32>) -> tensor<4xf32> loc("reshape"("model.py":2:0))
  %u4 = tv.einsum %u1, %w {equation = "tk,k->t"} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32> loc("einsum"("model.py":3:0))
  %u5 = tv.subtract %u4, %u3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("subtract"("model.py":4:0))
  %g1 = tv.einsum %u5, %u1 {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("g1"("model.py":5:0))
  %u6 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u7 = tv.multiply %g1, %u6 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":7:0))
  %w1 = tv.subtract %w, %u7 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("w1"("model.py":8:0))
  %u8 = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4x3xf32>) -> tensor<1x4x3xf32> loc("slice"("model.py":1:0))
  %u9 = tv.reshape %u8 : (tensor<1x4x3xf32>) -> tensor<4x3xf32> loc("reshape"("model.py":2:0))
  %u10 = tv.slice %y {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("slice"("model.py":1:0))
  %u11 = tv.reshape %u10 : (tensor<1x4xf32>) -> tensor<4xf32> loc("reshape"("model.py":2:0))
  %u12 = tv.einsum %u9, %w1 {equation = "tk,k->t"} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32> loc("einsum"("model.py":3:0))
  %u13 = tv.subtract %u12, %u11 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("subtract"("model.py":4:0))
  %g2 = tv.einsum %u13, %u9 {equation = "t,tk->k"} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32> loc("g2"("model.py":9:0))
  %u14 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u15 = tv.multiply %g2, %u14 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":7:0))
  %w2 = tv.subtract %w1, %u15 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("w2"("model.py":10:0))
  %w_0 = tv.distribute %w <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %x_0 = tv.distribute %x <[0:2 of 2], [dp, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<2x2x3xf32>
  %y_0 = tv.distribute %y <[0:2 of 2], [dp, 0:2 of 2]> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %u16 = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32> loc("slice"("model.py":1:0))
  %u17 = tv.reshape %u16 on <device = 0> : (tensor<1x2x3xf32>) -> tensor<2x3xf32> loc("reshape"("model.py":2:0))
  %u18 = tv.slice %y_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x2xf32>) -> tensor<1x2xf32> loc("slice"("model.py":1:0))
  %u19 = tv.reshape %u18 on <device = 0> : (tensor<1x2xf32>) -> tensor<2xf32> loc("reshape"("model.py":2:0))
  %u20 = tv.einsum %u17, %w_0 on <device = 0> {equation = "tk,k->t"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32> loc("einsum"("model.py":3:0))
  %u21 = tv.subtract %u20, %u19 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("subtract"("model.py":4:0))
  %u22 = tv.einsum %u21, %u17 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("einsum"("model.py":11:0))
  %a = tv.all_reduce %u22 over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("a"("model.py":12:0))
  %u23 = tv.constant dense<0.0000152587890625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // wrong
  %a1 = tv.multiply %a, %u23 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("unscale"("model.py":14:0)) // wrong
  %u24 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":15:0)) // wrong
  %u25 = tv.multiply %a1, %u24 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":16:0)) // wrong
  %p1 = tv.subtract %w_0, %u25 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("p"("model.py":17:0)) // wrong
  %u26 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":15:0)) // fixed
  %u27 = tv.multiply %a, %u26 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":16:0)) // fixed
  %p1 = tv.subtract %w_0, %u27 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("p"("model.py":17:0)) // fixed
  %u28 = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32> loc("slice"("model.py":1:0))
  %u29 = tv.reshape %u28 on <device = 0> : (tensor<1x2x3xf32>) -> tensor<2x3xf32> loc("reshape"("model.py":2:0))
  %u30 = tv.slice %y_0 on <device = 0> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x2xf32>) -> tensor<1x2xf32> loc("slice"("model.py":1:0))
  %u31 = tv.reshape %u30 on <device = 0> : (tensor<1x2xf32>) -> tensor<2xf32> loc("reshape"("model.py":2:0))
  %u32 = tv.einsum %u29, %p1 on <device = 0> {equation = "tk,k->t"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32> loc("einsum"("model.py":3:0))
  %u33 = tv.subtract %u32, %u31 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("subtract"("model.py":4:0))
  %u34 = tv.einsum %u33, %u29 on <device = 0> {equation = "t,tk->k"} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32> loc("einsum"("model.py":11:0))
  %b = tv.all_reduce %u34 over ["dp"] on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("b"("model.py":18:0))
  %u35 = tv.add %a, %b on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("add"("model.py":19:0)) // wrong
  %u36 = tv.constant dense<0.0000152587890625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":20:0)) // wrong
  %b1 = tv.multiply %u35, %u36 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("unscale"("model.py":14:0)) // wrong
  %u37 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":21:0)) // wrong
  %u38 = tv.multiply %b1, %u37 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":22:0)) // wrong
  %p2 = tv.subtract %p1, %u38 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("p"("model.py":17:0)) // wrong
  %u39 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":21:0)) // fixed
  %u40 = tv.multiply %b, %u39 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":22:0)) // fixed
  %p2 = tv.subtract %p1, %u40 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("p"("model.py":17:0)) // fixed
  tv.expect %p1 is %w1 <[0:3 of 3]> on <device = 0> contract <output "w.step1"> : tensor<3xf32> is tensor<3xf32>
  tv.expect %p2 is %w2 <[0:3 of 3]> on <device = 0> contract <output "w.step2"> : tensor<3xf32> is tensor<3xf32>
}
