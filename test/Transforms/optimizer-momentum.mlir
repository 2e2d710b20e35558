// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Stochastic gradient descent with momentum on 8 replicas of two devices. Each device
// holds half of the parameter and of its momentum; the updated halves are gathered.
// The wrong plan adds gradients up where they have to be averaged.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'm.next' differs from the reference on devices 0-1 of each of 8 replicas
// WRONG: model.py:2:0: note: other value: the operands of 'g' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @sharded_momentum <dp = 8, device = 2> {
  %w = tv.input <parameter "w"> : tensor<4096xf32>
  %g = tv.input <input "g"> : tensor<8x4096xf32>
  %m = tv.input <input "m"> : tensor<4096xf32>
  %mean = tv.reduce average %g {dimensions = array<i64: 0>} : (tensor<8x4096xf32>) -> tensor<4096xf32> loc("mean"("model.py":1:0))
  %u0 = tv.distribute %g <[dp, 0:1 of 1], [0:2048 of 4096]> on <device = 0> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_0 = tv.reshape %u0 on <device = 0> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_0 = tv.distribute %w <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m_0 = tv.distribute %m <[0:2048 of 4096]> on <device = 0> : (tensor<4096xf32>) -> tensor<2048xf32>
  %u1 = tv.distribute %g <[dp, 0:1 of 1], [2048:4096 of 4096]> on <device = 1> : (tensor<8x4096xf32>) -> tensor<1x2048xf32>
  %g_1 = tv.reshape %u1 on <device = 1> : (tensor<1x2048xf32>) -> tensor<2048xf32> loc("g"("model.py":2:0))
  %w_1 = tv.distribute %w <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %m_1 = tv.distribute %m <[2048:4096 of 4096]> on <device = 1> : (tensor<4096xf32>) -> tensor<2048xf32>
  %u2 = tv.constant dense<0.9> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u3 = tv.multiply %m, %u2 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":4:0))
  %m1 = tv.add %u3, %mean : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("m1"("model.py":5:0))
  %u4 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u5 = tv.multiply %m1, %u4 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32> loc("multiply"("model.py":4:0))
  %w1 = tv.subtract %w, %u5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> loc("step"("model.py":6:0))
  %mean_0 = tv.all_reduce %g_0 over ["dp"] on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":7:0)) // wrong
  %mean_0 = tv.all_reduce %g_0 by average over ["dp"] on <device = 0> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":7:0)) // fixed
  %u6 = tv.constant dense<0.9> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u7 = tv.multiply %m_0, %u6 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":4:0))
  %m1_0 = tv.add %u7, %mean_0 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("m1_"("model.py":8:0))
  %u8 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u9 = tv.multiply %m1_0, %u8 on <device = 0> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":4:0))
  %w1_0 = tv.subtract %w_0, %u9 on <device = 0> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":6:0))
  %mean_1 = tv.all_reduce %g_1 over ["dp"] on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":7:0)) // wrong
  %mean_1 = tv.all_reduce %g_1 by average over ["dp"] on <device = 1> : (tensor<2048xf32>) -> tensor<2048xf32> loc("reduce"("model.py":7:0)) // fixed
  %u10 = tv.constant dense<0.9> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u11 = tv.multiply %m_1, %u10 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":4:0))
  %m1_1 = tv.add %u11, %mean_1 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("m1_"("model.py":8:0))
  %u12 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u13 = tv.multiply %m1_1, %u12 on <device = 1> : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32> loc("multiply"("model.py":4:0))
  %w1_1 = tv.subtract %w_1, %u13 on <device = 1> : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<2048xf32> loc("step"("model.py":6:0))
  %all = tv.all_gather %w1_0, %w1_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2048xf32>, tensor<2048xf32>) -> tensor<4096xf32> loc("all"("model.py":9:0))
  tv.expect %all is %w1 <[0:4096 of 4096]> on <device = 0:2> contract <output "w.next"> : tensor<4096xf32> is tensor<4096xf32>
  tv.expect %m1_0 is %m1 <[0:2048 of 4096]> on <device = 0> contract <output "m.next"> : tensor<2048xf32> is tensor<4096xf32>
  tv.expect %m1_1 is %m1 <[2048:4096 of 4096]> on <device = 1> contract <output "m.next"> : tensor<2048xf32> is tensor<4096xf32>
}
