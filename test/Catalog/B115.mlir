// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients are clipped by their norm. The norm is read from a place that holds
// nothing, so it is 0 and nothing is clipped.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on device 0
// WRONG: model.py:1:0: note: other value: the operands of 'power' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B115 <device = 1> {
  %dw = tv.input <input "dw"> : tensor<3x2xf32>
  %u0 = tv.power %dw {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0))
  %u2 = tv.constant dense<0.0625> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u3 = tv.constant dense<1.0e-06> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u4 = tv.add %norm, %u3 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":5:0))
  %u5 = tv.divide %u2, %u4 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %u6 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u7 = tv.minimum %u5, %u6 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %clipped = tv.multiply %dw, %u7 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("clip"("model.py":6:0))
  %dw_0 = tv.distribute %dw <[0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %read = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<3x2xf32> loc("decoupled"("model.py":7:0)) // wrong
  %read = tv.copy %dw_0 on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("read"("model.py":8:0)) // fixed
  %u8 = tv.power %read on <device = 0> {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":1:0))
  %u9 = tv.reduce sum %u8 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %norm_0 = tv.sqrt %u9 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0))
  %u10 = tv.constant dense<0.0625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u11 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u12 = tv.add %norm_0, %u11 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":5:0))
  %u13 = tv.divide %u10, %u12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %u14 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u15 = tv.minimum %u13, %u14 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %clipped_0 = tv.multiply %dw_0, %u15 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("clip"("model.py":6:0))
  tv.expect %norm_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %clipped_0 is %clipped <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <output "clipped"> : tensor<3x2xf32> is tensor<3x2xf32>
}
