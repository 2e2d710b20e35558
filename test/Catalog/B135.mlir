// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Input and output embedding are one parameter in two copies, on the first and the
// last stage. Where the sum of their gradients misses a step, the copies differ after
// it.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'embedding.step2' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: missing sum: an operand of 'step 1' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B135 <device = 2> {
  %embedding = tv.input <parameter "embedding"> : tensor<3x2xf32>
  %din = tv.input <input "din"> : tensor<2x3x2xf32>
  %dout = tv.input <input "dout"> : tensor<2x3x2xf32>
  %u0 = tv.slice %din {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %u1 = tv.reshape %u0 : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("reshape"("model.py":2:0))
  %u2 = tv.slice %dout {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %u3 = tv.reshape %u2 : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("reshape"("model.py":2:0))
  %u4 = tv.add %u1, %u3 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("add"("model.py":3:0))
  %u5 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u6 = tv.multiply %u4, %u5 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":5:0))
  %E1 = tv.subtract %embedding, %u6 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 0"("model.py":6:0))
  %u7 = tv.slice %din {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %u8 = tv.reshape %u7 : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("reshape"("model.py":2:0))
  %u9 = tv.slice %dout {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %u10 = tv.reshape %u9 : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("reshape"("model.py":2:0))
  %u11 = tv.add %u8, %u10 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("add"("model.py":3:0))
  %u12 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u13 = tv.multiply %u11, %u12 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":5:0))
  %E2 = tv.subtract %E1, %u13 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 1"("model.py":7:0))
  %e_0 = tv.distribute %embedding <[0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %g_0 = tv.distribute %din <[0:2 of 2], [0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %e_1 = tv.distribute %embedding <[0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %g_1 = tv.distribute %dout <[0:2 of 2], [0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %u14 = tv.slice %g_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %g0_0 = tv.reshape %u14 on <device = 0> : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("g0_"("model.py":8:0))
  %u15 = tv.slice %g_1 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %g0_1 = tv.reshape %u15 on <device = 1> : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("g0_"("model.py":8:0))
  %u16 = tv.slice %g_0 on <device = 0> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %g1_0 = tv.reshape %u16 on <device = 0> : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("g1_"("model.py":9:0))
  %u17 = tv.slice %g_1 on <device = 1> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32> loc("slice"("model.py":1:0))
  %g1_1 = tv.reshape %u17 on <device = 1> : (tensor<1x3x2xf32>) -> tensor<3x2xf32> loc("g1_"("model.py":9:0))
  %s0 = tv.all_reduce %g0_0, %g0_1 over [] on <device = 0:2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("embedding group"("model.py":10:0))
  %s1 = tv.all_reduce %g1_0, %g1_1 over [] on <device = 0:2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("embedding group"("model.py":10:0)) // fixed
  %u18 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":11:0))
  %u19 = tv.multiply %s0, %u18 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":12:0))
  %e1_0 = tv.subtract %e_0, %u19 on <device = 0> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 0"("model.py":6:0))
  %u20 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // wrong
  %u21 = tv.multiply %g1_0, %u20 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":14:0)) // wrong
  %e2_0 = tv.subtract %e1_0, %u21 on <device = 0> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 1"("model.py":7:0)) // wrong
  %u22 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // fixed
  %u23 = tv.multiply %s1, %u22 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":14:0)) // fixed
  %e2_0 = tv.subtract %e1_0, %u23 on <device = 0> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 1"("model.py":7:0)) // fixed
  tv.expect %e2_0 is %E2 <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <output "embedding.step2"> : tensor<3x2xf32> is tensor<3x2xf32>
  %u24 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":11:0))
  %u25 = tv.multiply %s0, %u24 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":12:0))
  %e1_1 = tv.subtract %e_1, %u25 on <device = 1> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 0"("model.py":6:0))
  %u26 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":13:0)) // wrong
  %u27 = tv.multiply %g1_1, %u26 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":14:0)) // wrong
  %e2_1 = tv.subtract %e1_1, %u27 on <device = 1> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 1"("model.py":7:0)) // wrong
  %u28 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":13:0)) // fixed
  %u29 = tv.multiply %s1, %u28 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("multiply"("model.py":14:0)) // fixed
  %e2_1 = tv.subtract %e1_1, %u29 on <device = 1> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("step 1"("model.py":7:0)) // fixed
  tv.expect %e2_1 is %E2 <[0:3 of 3], [0:2 of 2]> on <device = 1> contract <output "embedding.step2"> : tensor<3x2xf32> is tensor<3x2xf32>
}
