// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// AdamW. The state of the optimizer is made by a step that should change nothing; the
// wrong plan runs it with the learning rate, the decay and the count of a real one.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'w.next' differs from the reference on device 0
// WRONG: model.py:7:0: note: wrong constant: the number in 'bias correction' is 0.19, in the reference 0.1

tv.graph @B124 <device = 1> {
  %w = tv.input <parameter "w"> : tensor<3xf32>
  %dw = tv.input <input "dw"> : tensor<3xf32>
  %m = tv.input <input "m"> : tensor<3xf32>
  %root = tv.input <input "root"> : tensor<3xf32>
  %v = tv.power %root {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("v"("model.py":1:0))
  %u0 = tv.constant dense<0.9> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u1 = tv.multiply %m, %u0 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0))
  %u2 = tv.constant dense<0.1> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u3 = tv.multiply %dw, %u2 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0))
  %m1 = tv.add %u1, %u3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("m1"("model.py":4:0))
  %u4 = tv.constant dense<0.99> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u5 = tv.multiply %v, %u4 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0))
  %u6 = tv.power %dw {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":5:0))
  %u7 = tv.constant dense<0.01> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u8 = tv.multiply %u6, %u7 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0))
  %s1 = tv.add %u5, %u8 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("s1"("model.py":6:0))
  %u9 = tv.constant dense<0.1> : tensor<f64> : () -> tensor<f32> loc("bias correction"("model.py":7:0))
  %u10 = tv.constant dense<0.01> : tensor<f64> : () -> tensor<f32> loc("bias correction"("model.py":7:0))
  %u11 = tv.divide %m1, %u9 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0))
  %u12 = tv.divide %s1, %u10 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0))
  %u13 = tv.sqrt %u12 : (tensor<3xf32>) -> tensor<3xf32> loc("sqrt"("model.py":9:0))
  %u14 = tv.constant dense<0.001> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":10:0))
  %u15 = tv.add %u13, %u14 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("add"("model.py":11:0))
  %u16 = tv.divide %u11, %u15 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("divide"("model.py":8:0))
  %u17 = tv.constant dense<0.99> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":12:0))
  %u18 = tv.multiply %w, %u17 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("decay"("model.py":13:0))
  %u19 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":12:0))
  %u20 = tv.multiply %u16, %u19 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":14:0))
  %w1 = tv.subtract %u18, %u20 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("w1"("model.py":15:0))
  %w_0 = tv.distribute %w <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %dw_0 = tv.distribute %dw <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %m_0 = tv.distribute %m <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %root_0 = tv.distribute %root <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %v_0 = tv.power %root_0 on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("v"("model.py":1:0))
  %u21 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":16:0)) // wrong
  %before = tv.multiply %w_0, %u21 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("synthetic step"("model.py":17:0)) // wrong
  %u22 = tv.constant dense<0.9> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u23 = tv.multiply %m_0, %u22 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // wrong
  %u24 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u25 = tv.multiply %dw_0, %u24 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // wrong
  %nm = tv.add %u23, %u25 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("nm"("model.py":18:0)) // wrong
  %u26 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u27 = tv.multiply %v_0, %u26 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // wrong
  %u28 = tv.power %dw_0 on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":5:0)) // wrong
  %u29 = tv.constant dense<0.01> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // wrong
  %u30 = tv.multiply %u28, %u29 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // wrong
  %ns = tv.add %u27, %u30 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("ns"("model.py":19:0)) // wrong
  %u31 = tv.constant dense<0.19> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("bias correction"("model.py":7:0)) // wrong
  %u32 = tv.constant dense<0.0199> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("bias correction"("model.py":7:0)) // wrong
  %u33 = tv.divide %nm, %u31 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // wrong
  %u34 = tv.divide %ns, %u32 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // wrong
  %u35 = tv.sqrt %u34 on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("sqrt"("model.py":9:0)) // wrong
  %u36 = tv.constant dense<0.001> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %u37 = tv.add %u35, %u36 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("add"("model.py":11:0)) // wrong
  %u38 = tv.divide %u33, %u37 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // wrong
  %u39 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":12:0)) // wrong
  %u40 = tv.multiply %before, %u39 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("decay"("model.py":13:0)) // wrong
  %u41 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":12:0)) // wrong
  %u42 = tv.multiply %u38, %u41 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":14:0)) // wrong
  %nw = tv.subtract %u40, %u42 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("nw"("model.py":20:0)) // wrong
  %u43 = tv.constant dense<0.9> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u44 = tv.multiply %m_0, %u43 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // fixed
  %u45 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u46 = tv.multiply %dw_0, %u45 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // fixed
  %nm = tv.add %u44, %u46 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("nm"("model.py":18:0)) // fixed
  %u47 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u48 = tv.multiply %v_0, %u47 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // fixed
  %u49 = tv.power %dw_0 on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":5:0)) // fixed
  %u50 = tv.constant dense<0.01> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":2:0)) // fixed
  %u51 = tv.multiply %u49, %u50 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":3:0)) // fixed
  %ns = tv.add %u48, %u51 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("ns"("model.py":19:0)) // fixed
  %u52 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("bias correction"("model.py":7:0)) // fixed
  %u53 = tv.constant dense<0.01> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("bias correction"("model.py":7:0)) // fixed
  %u54 = tv.divide %nm, %u52 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // fixed
  %u55 = tv.divide %ns, %u53 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // fixed
  %u56 = tv.sqrt %u55 on <device = 0> : (tensor<3xf32>) -> tensor<3xf32> loc("sqrt"("model.py":9:0)) // fixed
  %u57 = tv.constant dense<0.001> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // fixed
  %u58 = tv.add %u56, %u57 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("add"("model.py":11:0)) // fixed
  %u59 = tv.divide %u54, %u58 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("divide"("model.py":8:0)) // fixed
  %u60 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":12:0)) // fixed
  %u61 = tv.multiply %w_0, %u60 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("decay"("model.py":13:0)) // fixed
  %u62 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":12:0)) // fixed
  %u63 = tv.multiply %u59, %u62 on <device = 0> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("multiply"("model.py":14:0)) // fixed
  %nw = tv.subtract %u61, %u63 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("nw"("model.py":20:0)) // fixed
  tv.expect %nm is %m1 <[0:3 of 3]> on <device = 0> contract <output "m.next"> : tensor<3xf32> is tensor<3xf32>
  tv.expect %ns is %s1 <[0:3 of 3]> on <device = 0> contract <output "v.next"> : tensor<3xf32> is tensor<3xf32>
  tv.expect %nw is %w1 <[0:3 of 3]> on <device = 0> contract <output "w.next"> : tensor<3xf32> is tensor<3xf32>
}
