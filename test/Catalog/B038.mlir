// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Averages over a batch divided over two replicas and two context-parallel ranks. Each
// loss is multiplied by the number of ranks, and the wrong plan divides the sum of
// gradients by the number of replicas alone.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1 of each of 2 replicas
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B038 <dp = 2, device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %total = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %total, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[dp, 0:2 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_0 = tv.distribute %dy <[dp, 0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %x_1 = tv.distribute %x <[dp, 2:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy_1 = tv.distribute %dy <[dp, 2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %g_1 = tv.einsum %dy_1, %x_1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u1 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u2 = tv.multiply %g_0, %u1 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":5:0))
  %u3 = tv.constant dense<2.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %s_0 = tv.multiply %u2, %u3 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("s"("model.py":6:0))
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u5 = tv.multiply %g_1, %u4 on <device = 1> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":5:0))
  %u6 = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %s_1 = tv.multiply %u5, %u6 on <device = 1> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("s"("model.py":6:0))
  %u7 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":7:0))
  %m_0 = tv.multiply %s_0, %u7 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("m"("model.py":8:0))
  %u8 = tv.constant dense<0.5> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":7:0))
  %m_1 = tv.multiply %s_1, %u8 on <device = 1> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("m"("model.py":8:0))
  %all = tv.all_reduce %m_0, %m_1 over ["dp"] on <device = 0:2> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":9:0))
  %u9 = tv.constant dense<0.5> : tensor<f64> on <device = 0:2> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %mean = tv.multiply %all, %u9 on <device = 0:2> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("divide"("model.py":11:0)) // wrong
  %u10 = tv.constant dense<0.25> : tensor<f64> on <device = 0:2> : () -> tensor<f32> loc("constant"("model.py":10:0)) // fixed
  %mean = tv.multiply %all, %u10 on <device = 0:2> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("divide"("model.py":11:0)) // fixed
  tv.expect %mean is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0:2> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
