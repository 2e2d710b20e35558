// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Clipping is asked for gradients where parameters are expected: the norm is right,
// nothing is scaled.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'clipped' differs from the reference on device 0 of each of 2 replicas
// WRONG: note: element [{{.*}}] of output 'clipped' is

tv.graph @B120 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3x2xf32>
  %x = tv.input <input "x"> : tensor<4x2xf32>
  %dy = tv.input <input "dy"> : tensor<4x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32> loc("dw"("model.py":1:0))
  %u0 = tv.power %dw {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":2:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":3:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0))
  %u2 = tv.constant dense<0.0625> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %u3 = tv.constant dense<1.0e-06> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %u4 = tv.add %norm, %u3 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":6:0))
  %u5 = tv.divide %u2, %u4 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":7:0))
  %u6 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %u7 = tv.minimum %u5, %u6 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":7:0))
  %clipped = tv.multiply %dw, %u7 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("clip"("model.py":7:0))
  %u8 = tv.distribute %dy <[dp, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %u9 = tv.distribute %x <[dp, 0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u10 = tv.einsum %u8, %u9 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("einsum"("model.py":8:0))
  %all = tv.all_reduce %u10 over ["dp"] on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("all"("model.py":9:0))
  %u11 = tv.power %all on <device = 0> {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":2:0))
  %u12 = tv.reduce sum %u11 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":3:0))
  %norm_0 = tv.sqrt %u12 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0))
  %clipped_0 = tv.copy %all on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("clip"("model.py":7:0)) // wrong
  %u13 = tv.constant dense<0.0625> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %u14 = tv.constant dense<1.0e-06> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %u15 = tv.add %norm_0, %u14 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":6:0)) // fixed
  %u16 = tv.divide %u13, %u15 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":7:0)) // fixed
  %u17 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %u18 = tv.minimum %u16, %u17 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("clip"("model.py":7:0)) // fixed
  %clipped_0 = tv.multiply %all, %u18 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("clip"("model.py":7:0)) // fixed
  tv.expect %norm_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %clipped_0 is %clipped <[0:3 of 3], [0:2 of 2]> on <device = 0> contract <output "clipped"> : tensor<3x2xf32> is tensor<3x2xf32>
}
