// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Tokens in a flat buffer of expert slots and features. Each tensor-parallel rank
// keeps half of the tokens, normalizes them, and gathers; the wrong plan cuts and
// gathers features.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:9:0: note: other value: the operands of 'reduce' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B083 <device = 2> {
  %slots = tv.input <input "slots"> : tensor<4x4xf32>
  %u0 = tv.power %slots {numerator = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce average %u0 keep {dimensions = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":2:0))
  %u2 = tv.constant dense<1.0e-05> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u3 = tv.add %u1, %u2 : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32> loc("add"("model.py":4:0))
  %u4 = tv.rsqrt %u3 : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("rsqrt"("model.py":5:0))
  %y = tv.multiply %slots, %u4 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32> loc("y"("model.py":6:0))
  %s_0 = tv.distribute %slots <[0:4 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s_1 = tv.distribute %slots <[0:4 of 4], [0:4 of 4]> on <device = 1> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u5 = tv.slice %s_0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32> loc("drop_tokens"("model.py":7:0)) // wrong
  %u6 = tv.power %u5 on <device = 0> {numerator = 2 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("power"("model.py":8:0)) // wrong
  %u7 = tv.reduce average %u6 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":9:0)) // wrong
  %u8 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %u9 = tv.add %u7, %u8 on <device = 0> : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32> loc("add"("model.py":11:0)) // wrong
  %u10 = tv.rsqrt %u9 on <device = 0> : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("rsqrt"("model.py":12:0)) // wrong
  %half_0 = tv.multiply %u5, %u10 on <device = 0> : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32> loc("half"("model.py":13:0)) // wrong
  %u11 = tv.slice %s_1 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x2xf32> loc("drop_tokens"("model.py":7:0)) // wrong
  %u12 = tv.power %u11 on <device = 1> {numerator = 2 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("power"("model.py":8:0)) // wrong
  %u13 = tv.reduce average %u12 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":9:0)) // wrong
  %u14 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":10:0)) // wrong
  %u15 = tv.add %u13, %u14 on <device = 1> : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32> loc("add"("model.py":11:0)) // wrong
  %u16 = tv.rsqrt %u15 on <device = 1> : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("rsqrt"("model.py":12:0)) // wrong
  %half_1 = tv.multiply %u11, %u16 on <device = 1> : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32> loc("half"("model.py":13:0)) // wrong
  %features = tv.all_gather %half_0, %half_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("features"("model.py":14:0)) // wrong
  tv.expect %features is %y <[0:4 of 4], [0:4 of 4]> on <device = 0:2> contract <output "y"> : tensor<4x4xf32> is tensor<4x4xf32> // wrong
  %u17 = tv.slice %s_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32> loc("drop_tokens"("model.py":7:0)) // fixed
  %u18 = tv.power %u17 on <device = 0> {numerator = 2 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("power"("model.py":15:0)) // fixed
  %u19 = tv.reduce average %u18 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":16:0)) // fixed
  %u20 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":17:0)) // fixed
  %u21 = tv.add %u19, %u20 on <device = 0> : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32> loc("add"("model.py":18:0)) // fixed
  %u22 = tv.rsqrt %u21 on <device = 0> : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("rsqrt"("model.py":19:0)) // fixed
  %own_0 = tv.multiply %u17, %u22 on <device = 0> : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("own"("model.py":20:0)) // fixed
  %u23 = tv.slice %s_1 on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32> loc("drop_tokens"("model.py":7:0)) // fixed
  %u24 = tv.power %u23 on <device = 1> {numerator = 2 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("power"("model.py":15:0)) // fixed
  %u25 = tv.reduce average %u24 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":16:0)) // fixed
  %u26 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":17:0)) // fixed
  %u27 = tv.add %u25, %u26 on <device = 1> : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32> loc("add"("model.py":18:0)) // fixed
  %u28 = tv.rsqrt %u27 on <device = 1> : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("rsqrt"("model.py":19:0)) // fixed
  %own_1 = tv.multiply %u23, %u28 on <device = 1> : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("own"("model.py":20:0)) // fixed
  %tokens = tv.all_gather %own_0, %own_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32> loc("tokens"("model.py":21:0)) // fixed
  tv.expect %tokens is %y <[0:4 of 4], [0:4 of 4]> on <device = 0:2> contract <output "y"> : tensor<4x4xf32> is tensor<4x4xf32> // fixed
}
