// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Adam on 8 replicas of two devices, with both moments divided like the parameter. The
// wrong plan adds the small number before the root instead of after it.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'w.next' differs from the reference on devices 0-1 of each of 8 replicas
// WRONG: model.py:2:0: note: other value: the operands of 'g' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @sharded_adam <dp = 8, device = 2> {
  %w = tv.input <parameter "w"> : tensor<4096xf32>
  %g = tv.input <input "g"> : tensor<8x4096xf32>
  %m = tv.input <input "m"> : tensor<4096xf32>
  %root_of_second_moment = tv.input <input "root_of_second_moment"> : tensor<4096xf32>
  %mean = tv.reduce average %g {dimensions = array<i64: 0>} : (tensor<8x4096xf32>) -> tensor<4096xf32> loc("mean"("model.py":1:0))
  %u0 = tv.distribute %g <[dp, 0:1 of 1], [0:2048 of 4096]> on <device = 0> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_0 = tv.reshape %u0 on <device = 0> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_0 = tv.distribute %w <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m_0 = tv.distribute %m <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %root_of_second_moment_0 = tv.distribute %root_of_second_moment <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %u1 = tv.distribute %g <[dp, 0:1 of 1], [2048:4096 of 4096]> on <device = 1> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_1 = tv.reshape %u1 on <device = 1> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_1 = tv.distribute %w <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m_1 = tv.distribute %m <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %root_of_second_moment_1 = tv.distribute %root_of_second_moment <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %s = tv.power %root_of_second_moment {numerator = 2 : i64} : (tensor<4096xf32>) -> tensor<4096xf32> loc("s"("model.py":3:0))
  %u2 = tv.constant dense<0.9> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u3 = tv.multiply %m, %u2 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":5:0))
  %u4 = tv.constant dense<0.1> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u5 = tv.multiply %mean, %u4 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":5:0))
  %m1 = tv.add %u3, %u5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("m1"("model.py":6:0))
  %u6 = tv.constant dense<0.99> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u7 = tv.multiply %s, %u6 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":5:0))
  %u8 = tv.power %mean {numerator = 2 : i64} : (tensor<4096xf32>) -> tensor<4096xf32> loc("power"("model.py":7:0))
  %u9 = tv.constant dense<0.01> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u10 = tv.multiply %u8, %u9 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":5:0))
  %s1 = tv.add %u7, %u10 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("s1"("model.py":8:0))
  %u11 = tv.constant dense<0.001> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":9:0))
  %u12 = tv.sqrt %s1 : (tensor<4096xf32>) -> tensor<4096xf32> loc("root"("model.py":10:0))
  %u13 = tv.add %u12, %u11 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("add"("model.py":11:0))
  %u14 = tv.divide %m1, %u13 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("divide"("model.py":12:0))
  %u15 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":13:0))
  %u16 = tv.multiply %u14, %u15 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":14:0))
  %w1 = tv.subtract %w, %u16 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("step"("model.py":15:0))
  %s_0 = tv.power %root_of_second_moment_0 on <device = 0> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("s"("model.py":3:0))
  %mean_0 = tv.all_reduce %g_0 by average over ["dp"] on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":16:0))
  %u17 = tv.constant dense<0.9> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u18 = tv.multiply %m_0, %u17 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %u19 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u20 = tv.multiply %mean_0, %u19 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %b_0 = tv.add %u18, %u20 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("b"("model.py":17:0)) // wrong
  %u21 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u22 = tv.multiply %s_0, %u21 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %u23 = tv.power %mean_0 on <device = 0> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":7:0)) // wrong
  %u24 = tv.constant dense<0.01> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u25 = tv.multiply %u23, %u24 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %c_0 = tv.add %u22, %u25 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("c"("model.py":18:0)) // wrong
  %u26 = tv.constant dense<0.001> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":9:0)) // wrong
  %u27 = tv.add %c_0, %u26 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("add"("model.py":11:0)) // wrong
  %u28 = tv.sqrt %u27 on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("root"("model.py":10:0)) // wrong
  %u29 = tv.divide %b_0, %u28 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("divide"("model.py":12:0)) // wrong
  %u30 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // wrong
  %u31 = tv.multiply %u29, %u30 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":14:0)) // wrong
  %a_0 = tv.subtract %w_0, %u31 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":15:0)) // wrong
  %u32 = tv.constant dense<0.9> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u33 = tv.multiply %m_0, %u32 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %u34 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u35 = tv.multiply %mean_0, %u34 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %b_0 = tv.add %u33, %u35 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("b"("model.py":17:0)) // fixed
  %u36 = tv.constant dense<0.99> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u37 = tv.multiply %s_0, %u36 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %u38 = tv.power %mean_0 on <device = 0> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":7:0)) // fixed
  %u39 = tv.constant dense<0.01> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u40 = tv.multiply %u38, %u39 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %c_0 = tv.add %u37, %u40 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("c"("model.py":18:0)) // fixed
  %u41 = tv.constant dense<0.001> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":9:0)) // fixed
  %u42 = tv.sqrt %c_0 on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("root"("model.py":10:0)) // fixed
  %u43 = tv.add %u42, %u41 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("add"("model.py":11:0)) // fixed
  %u44 = tv.divide %b_0, %u43 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("divide"("model.py":12:0)) // fixed
  %u45 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0)) // fixed
  %u46 = tv.multiply %u44, %u45 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":14:0)) // fixed
  %a_0 = tv.subtract %w_0, %u46 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":15:0)) // fixed
  %s_1 = tv.power %root_of_second_moment_1 on <device = 1> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("s"("model.py":3:0))
  %mean_1 = tv.all_reduce %g_1 by average over ["dp"] on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":16:0))
  %u47 = tv.constant dense<0.9> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u48 = tv.multiply %m_1, %u47 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %u49 = tv.constant dense<0.1> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u50 = tv.multiply %mean_1, %u49 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %b_1 = tv.add %u48, %u50 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("b"("model.py":17:0)) // wrong
  %u51 = tv.constant dense<0.99> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u52 = tv.multiply %s_1, %u51 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %u53 = tv.power %mean_1 on <device = 1> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":7:0)) // wrong
  %u54 = tv.constant dense<0.01> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u55 = tv.multiply %u53, %u54 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // wrong
  %c_1 = tv.add %u52, %u55 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("c"("model.py":18:0)) // wrong
  %u56 = tv.constant dense<0.001> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":9:0)) // wrong
  %u57 = tv.add %c_1, %u56 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("add"("model.py":11:0)) // wrong
  %u58 = tv.sqrt %u57 on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("root"("model.py":10:0)) // wrong
  %u59 = tv.divide %b_1, %u58 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("divide"("model.py":12:0)) // wrong
  %u60 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":13:0)) // wrong
  %u61 = tv.multiply %u59, %u60 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":14:0)) // wrong
  %a_1 = tv.subtract %w_1, %u61 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":15:0)) // wrong
  %u62 = tv.constant dense<0.9> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u63 = tv.multiply %m_1, %u62 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %u64 = tv.constant dense<0.1> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u65 = tv.multiply %mean_1, %u64 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %b_1 = tv.add %u63, %u65 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("b"("model.py":17:0)) // fixed
  %u66 = tv.constant dense<0.99> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u67 = tv.multiply %s_1, %u66 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %u68 = tv.power %mean_1 on <device = 1> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":7:0)) // fixed
  %u69 = tv.constant dense<0.01> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u70 = tv.multiply %u68, %u69 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":5:0)) // fixed
  %c_1 = tv.add %u67, %u70 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("c"("model.py":18:0)) // fixed
  %u71 = tv.constant dense<0.001> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":9:0)) // fixed
  %u72 = tv.sqrt %c_1 on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("root"("model.py":10:0)) // fixed
  %u73 = tv.add %u72, %u71 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("add"("model.py":11:0)) // fixed
  %u74 = tv.divide %b_1, %u73 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("divide"("model.py":12:0)) // fixed
  %u75 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":13:0)) // fixed
  %u76 = tv.multiply %u74, %u75 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":14:0)) // fixed
  %a_1 = tv.subtract %w_1, %u76 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":15:0)) // fixed
  %all = tv.all_gather %a_0, %a_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<4096xf32> loc("all"("model.py":19:0))
  tv.expect %all is %w1 <[0:4096 of 4096]> on <device = 0:2> contract <output "w.next"> : tensor<4096xf32> is tensor<4096xf32>
  tv.expect %b_0 is %m1 <[0:2048 of 4096]> on <device = 0> contract <output "m.next"> : tensor<2048xf32> is tensor<4096xf32>
  tv.expect %c_0 is %s1 <[0:2048 of 4096]> on <device = 0> contract <output "v.next"> : tensor<2048xf32> is tensor<4096xf32>
  tv.expect %b_1 is %m1 <[2048:4096 of 4096]> on <device = 1> contract <output "m.next"> : tensor<2048xf32> is tensor<4096xf32>
  tv.expect %c_1 is %s1 <[2048:4096 of 4096]> on <device = 1> contract <output "v.next"> : tensor<2048xf32> is tensor<4096xf32>
}
