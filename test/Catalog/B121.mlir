// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The norm of gradients that are divided over devices. The wrong plan returns, and
// clips by, the norm of the part of each device.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: missing sum: an operand of 'norm' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B121 <device = 2> {
  %dw = tv.input <input "dw"> : tensor<4x2xf32>
  %u0 = tv.power %dw {numerator = 2 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0))
  %u2 = tv.constant dense<0.0625> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u3 = tv.constant dense<1.0e-06> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u4 = tv.add %norm, %u3 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":5:0))
  %u5 = tv.divide %u2, %u4 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %u6 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u7 = tv.minimum %u5, %u6 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %clipped = tv.multiply %dw, %u7 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32> loc("clip"("model.py":6:0))
  %dw_0 = tv.distribute %dw <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u8 = tv.power %dw_0 on <device = 0> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %q_0 = tv.reduce sum %u8 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("q"("model.py":7:0))
  %dw_1 = tv.distribute %dw <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u9 = tv.power %dw_1 on <device = 1> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %q_1 = tv.reduce sum %u9 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("q"("model.py":7:0))
  %sum = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("sum"("model.py":8:0)) // fixed
  %norm_0 = tv.sqrt %q_0 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  %norm_0 = tv.sqrt %sum on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %u10 = tv.constant dense<0.0625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u11 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u12 = tv.add %norm_0, %u11 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":5:0))
  %u13 = tv.divide %u10, %u12 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %u14 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u15 = tv.minimum %u13, %u14 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %clipped_0 = tv.multiply %dw_0, %u15 on <device = 0> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("clip"("model.py":6:0))
  tv.expect %norm_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %clipped_0 is %clipped <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "clipped"> : tensor<2x2xf32> is tensor<4x2xf32>
  %norm_1 = tv.sqrt %q_1 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  %norm_1 = tv.sqrt %sum on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %u16 = tv.constant dense<0.0625> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u17 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u18 = tv.add %norm_1, %u17 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":5:0))
  %u19 = tv.divide %u16, %u18 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %u20 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u21 = tv.minimum %u19, %u20 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":6:0))
  %clipped_1 = tv.multiply %dw_1, %u21 on <device = 1> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("clip"("model.py":6:0))
  tv.expect %norm_1 is %norm <> on <device = 1> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %clipped_1 is %clipped <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "clipped"> : tensor<2x2xf32> is tensor<4x2xf32>
}
