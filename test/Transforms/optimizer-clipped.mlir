// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients are clipped by the norm of all of them: each of two devices has half of
// them. The wrong plan clips by the norm of its half.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'clipped' differs from the reference on devices 0-1 of each of 8 replicas
// WRONG: model.py:2:0: note: other value: the operands of 'g' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @clipped <dp = 8, device = 2> {
  %w = tv.input <parameter "w"> : tensor<4096xf32>
  %g = tv.input <input "g"> : tensor<8x4096xf32>
  %mean = tv.reduce average %g {dimensions = array<i64: 0>} : (tensor<8x4096xf32>) -> tensor<4096xf32> loc("mean"("model.py":1:0))
  %u0 = tv.distribute %g <[dp, 0:1 of 1], [0:2048 of 4096]> on <device = 0> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_0 = tv.reshape %u0 on <device = 0> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_0 = tv.distribute %w <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %u1 = tv.distribute %g <[dp, 0:1 of 1], [2048:4096 of 4096]> on <device = 1> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_1 = tv.reshape %u1 on <device = 1> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_1 = tv.distribute %w <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %u2 = tv.power %mean {numerator = 2 : i64} : (tensor<4096xf32>) -> tensor<4096xf32> loc("power"("model.py":3:0))
  %u3 = tv.reduce sum %u2 {dimensions = array<i64: 0>} : (tensor<4096xf32>) -> tensor<f32> loc("reduce"("model.py":4:0))
  %norm = tv.sqrt %u3 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":5:0))
  %u4 = tv.constant dense<0.0078125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u5 = tv.constant dense<1.0e-06> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u6 = tv.add %norm, %u5 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":7:0))
  %u7 = tv.divide %u4, %u6 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("divide"("model.py":8:0))
  %u8 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u9 = tv.minimum %u7, %u8 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("minimum"("model.py":9:0))
  %clipped = tv.multiply %mean, %u9 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("clip"("model.py":10:0))
  %mean_0 = tv.all_reduce %g_0 by average over ["dp"] on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":11:0))
  %u10 = tv.power %mean_0 on <device = 0> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":12:0))
  %q_0 = tv.reduce sum %u10 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32> loc("q"("model.py":13:0))
  %mean_1 = tv.all_reduce %g_1 by average over ["dp"] on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":11:0))
  %u11 = tv.power %mean_1 on <device = 1> {numerator = 2 : i64} : (tensor<2048xf32>) -> tensor<2048xf32> loc("power"("model.py":12:0))
  %q_1 = tv.reduce sum %u11 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2048xf32>) -> tensor<f32> loc("q"("model.py":13:0))
  %total = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("total"("model.py":14:0)) // fixed
  %norm_0 = tv.sqrt %q_0 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":5:0)) // wrong
  %norm_0 = tv.sqrt %total on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":5:0)) // fixed
  %u12 = tv.constant dense<0.0078125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u13 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u14 = tv.add %norm_0, %u13 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":7:0))
  %u15 = tv.divide %u12, %u14 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("divide"("model.py":8:0))
  %u16 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u17 = tv.minimum %u15, %u16 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("minimum"("model.py":9:0))
  %clipped_0 = tv.multiply %mean_0, %u17 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("clip"("model.py":10:0))
  tv.expect %clipped_0 is %clipped <[0:2048 of 4096]> on <device = 0> contract <output "clipped"> : tensor<2048xf32> is tensor<4096xf32>
  %norm_1 = tv.sqrt %q_1 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":5:0)) // wrong
  %norm_1 = tv.sqrt %total on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":5:0)) // fixed
  %u18 = tv.constant dense<0.0078125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u19 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u20 = tv.add %norm_1, %u19 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":7:0))
  %u21 = tv.divide %u18, %u20 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("divide"("model.py":8:0))
  %u22 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":6:0))
  %u23 = tv.minimum %u21, %u22 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("minimum"("model.py":9:0))
  %clipped_1 = tv.multiply %mean_1, %u23 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("clip"("model.py":10:0))
  tv.expect %clipped_1 is %clipped <[2048:4096 of 4096]> on <device = 1> contract <output "clipped"> : tensor<2048xf32> is tensor<4096xf32>
}
