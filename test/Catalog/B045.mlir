// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A loss that is an average over the batch, in two micro-batches: the wrong plan does
// not divide the average of each by their number.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B045 <device = 1, mb = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %total = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %total, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[mb, 0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_0 = tv.distribute %dy <[mb, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u1 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %mean = tv.multiply %g_0, %u1 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("mean"("model.py":5:0)) // wrong
  %u2 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u3 = tv.multiply %g_0, %u2 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("mean"("model.py":5:0)) // fixed
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %mean = tv.multiply %u3, %u4 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("micro-batches"("model.py":6:0)) // fixed
  %all = tv.accumulate %mean over <mb = 0:2> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":7:0))
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
