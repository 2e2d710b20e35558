// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two key heads on four tensor-parallel ranks, so two ranks hold the same head. The
// weight of the norm over keys has one part for each head; the wrong plan gives each
// rank a quarter of it.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'k' differs from the reference on devices 0-3
// WRONG: model.py:8:0: note: other value: the operands of 'reshape' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B093 <device = 4> {
  %k_norm = tv.input <parameter "k_norm"> : tensor<2x4xf32>
  %k = tv.input <input "k"> : tensor<3x2x4xf32>
  %u0 = tv.power %k {numerator = 2 : i64} : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce average %u0 keep {dimensions = array<i64: 2>} : (tensor<3x2x4xf32>) -> tensor<3x2x1xf32> loc("reduce"("model.py":2:0))
  %u2 = tv.constant dense<1.0e-05> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u3 = tv.add %u1, %u2 : (tensor<3x2x1xf32>, tensor<f32>) -> tensor<3x2x1xf32> loc("add"("model.py":4:0))
  %u4 = tv.rsqrt %u3 : (tensor<3x2x1xf32>) -> tensor<3x2x1xf32> loc("rsqrt"("model.py":5:0))
  %u5 = tv.multiply %k, %u4 : (tensor<3x2x4xf32>, tensor<3x2x1xf32>) -> tensor<3x2x4xf32> loc("multiply"("model.py":6:0))
  %y = tv.multiply %u5, %k_norm : (tensor<3x2x4xf32>, tensor<2x4xf32>) -> tensor<3x2x4xf32> loc("norm"("model.py":7:0))
  %k_0 = tv.distribute %k <[0:3 of 3], [0:1 of 2], [0:4 of 4]> on <device = 0> : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %all_0 = tv.distribute %k_norm <[0:2 of 2], [0:4 of 4]> on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u6 = tv.reshape %all_0 on <device = 0> : (tensor<2x4xf32>) -> tensor<8xf32> loc("reshape"("model.py":8:0)) // wrong
  %u7 = tv.slice %u6 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<8xf32>) -> tensor<2xf32> loc("slice"("model.py":9:0)) // wrong
  %u8 = tv.concat %u7, %u7 on <device = 0> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_0 = tv.reshape %u8 on <device = 0> : (tensor<4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_0 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // fixed
  %u9 = tv.power %k_0 on <device = 0> {numerator = 2 : i64} : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32> loc("power"("model.py":11:0))
  %u10 = tv.reduce average %u9 keep on <device = 0> {dimensions = array<i64: 2>} : (tensor<3x1x4xf32>) -> tensor<3x1x1xf32> loc("reduce"("model.py":12:0))
  %u11 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":13:0))
  %u12 = tv.add %u10, %u11 on <device = 0> : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32> loc("add"("model.py":14:0))
  %u13 = tv.rsqrt %u12 on <device = 0> : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32> loc("rsqrt"("model.py":15:0))
  %u14 = tv.multiply %k_0, %u13 on <device = 0> : (tensor<3x1x4xf32>, tensor<3x1x1xf32>) -> tensor<3x1x4xf32> loc("multiply"("model.py":16:0))
  %y_0 = tv.multiply %u14, %w_0 on <device = 0> : (tensor<3x1x4xf32>, tensor<1x4xf32>) -> tensor<3x1x4xf32> loc("norm"("model.py":7:0))
  tv.expect %y_0 is %y <[0:3 of 3], [0:1 of 2], [0:4 of 4]> on <device = 0> contract <output "k"> : tensor<3x1x4xf32> is tensor<3x2x4xf32>
  %k_1 = tv.distribute %k <[0:3 of 3], [0:1 of 2], [0:4 of 4]> on <device = 1> : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %all_1 = tv.distribute %k_norm <[0:2 of 2], [0:4 of 4]> on <device = 1> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u15 = tv.reshape %all_1 on <device = 1> : (tensor<2x4xf32>) -> tensor<8xf32> loc("reshape"("model.py":8:0)) // wrong
  %u16 = tv.slice %u15 on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<8xf32>) -> tensor<2xf32> loc("slice"("model.py":9:0)) // wrong
  %u17 = tv.concat %u16, %u16 on <device = 1> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_1 = tv.reshape %u17 on <device = 1> : (tensor<4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_1 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // fixed
  %u18 = tv.power %k_1 on <device = 1> {numerator = 2 : i64} : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32> loc("power"("model.py":11:0))
  %u19 = tv.reduce average %u18 keep on <device = 1> {dimensions = array<i64: 2>} : (tensor<3x1x4xf32>) -> tensor<3x1x1xf32> loc("reduce"("model.py":12:0))
  %u20 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":13:0))
  %u21 = tv.add %u19, %u20 on <device = 1> : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32> loc("add"("model.py":14:0))
  %u22 = tv.rsqrt %u21 on <device = 1> : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32> loc("rsqrt"("model.py":15:0))
  %u23 = tv.multiply %k_1, %u22 on <device = 1> : (tensor<3x1x4xf32>, tensor<3x1x1xf32>) -> tensor<3x1x4xf32> loc("multiply"("model.py":16:0))
  %y_1 = tv.multiply %u23, %w_1 on <device = 1> : (tensor<3x1x4xf32>, tensor<1x4xf32>) -> tensor<3x1x4xf32> loc("norm"("model.py":7:0))
  tv.expect %y_1 is %y <[0:3 of 3], [0:1 of 2], [0:4 of 4]> on <device = 1> contract <output "k"> : tensor<3x1x4xf32> is tensor<3x2x4xf32>
  %k_2 = tv.distribute %k <[0:3 of 3], [1:2 of 2], [0:4 of 4]> on <device = 2> : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %all_2 = tv.distribute %k_norm <[0:2 of 2], [0:4 of 4]> on <device = 2> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u24 = tv.reshape %all_2 on <device = 2> : (tensor<2x4xf32>) -> tensor<8xf32> loc("reshape"("model.py":8:0)) // wrong
  %u25 = tv.slice %u24 on <device = 2> {dimension = 0 : i64, start = 4 : i64, end = 6 : i64} : (tensor<8xf32>) -> tensor<2xf32> loc("slice"("model.py":9:0)) // wrong
  %u26 = tv.concat %u25, %u25 on <device = 2> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_2 = tv.reshape %u26 on <device = 2> : (tensor<4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_2 = tv.slice %all_2 on <device = 2> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // fixed
  %u27 = tv.power %k_2 on <device = 2> {numerator = 2 : i64} : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32> loc("power"("model.py":11:0))
  %u28 = tv.reduce average %u27 keep on <device = 2> {dimensions = array<i64: 2>} : (tensor<3x1x4xf32>) -> tensor<3x1x1xf32> loc("reduce"("model.py":12:0))
  %u29 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 2> : () -> tensor<f32> loc("constant"("model.py":13:0))
  %u30 = tv.add %u28, %u29 on <device = 2> : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32> loc("add"("model.py":14:0))
  %u31 = tv.rsqrt %u30 on <device = 2> : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32> loc("rsqrt"("model.py":15:0))
  %u32 = tv.multiply %k_2, %u31 on <device = 2> : (tensor<3x1x4xf32>, tensor<3x1x1xf32>) -> tensor<3x1x4xf32> loc("multiply"("model.py":16:0))
  %y_2 = tv.multiply %u32, %w_2 on <device = 2> : (tensor<3x1x4xf32>, tensor<1x4xf32>) -> tensor<3x1x4xf32> loc("norm"("model.py":7:0))
  tv.expect %y_2 is %y <[0:3 of 3], [1:2 of 2], [0:4 of 4]> on <device = 2> contract <output "k"> : tensor<3x1x4xf32> is tensor<3x2x4xf32>
  %k_3 = tv.distribute %k <[0:3 of 3], [1:2 of 2], [0:4 of 4]> on <device = 3> : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %all_3 = tv.distribute %k_norm <[0:2 of 2], [0:4 of 4]> on <device = 3> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u33 = tv.reshape %all_3 on <device = 3> : (tensor<2x4xf32>) -> tensor<8xf32> loc("reshape"("model.py":8:0)) // wrong
  %u34 = tv.slice %u33 on <device = 3> {dimension = 0 : i64, start = 6 : i64, end = 8 : i64} : (tensor<8xf32>) -> tensor<2xf32> loc("slice"("model.py":9:0)) // wrong
  %u35 = tv.concat %u34, %u34 on <device = 3> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_3 = tv.reshape %u35 on <device = 3> : (tensor<4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // wrong
  %w_3 = tv.slice %all_3 on <device = 3> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("weight"("model.py":10:0)) // fixed
  %u36 = tv.power %k_3 on <device = 3> {numerator = 2 : i64} : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32> loc("power"("model.py":11:0))
  %u37 = tv.reduce average %u36 keep on <device = 3> {dimensions = array<i64: 2>} : (tensor<3x1x4xf32>) -> tensor<3x1x1xf32> loc("reduce"("model.py":12:0))
  %u38 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 3> : () -> tensor<f32> loc("constant"("model.py":13:0))
  %u39 = tv.add %u37, %u38 on <device = 3> : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32> loc("add"("model.py":14:0))
  %u40 = tv.rsqrt %u39 on <device = 3> : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32> loc("rsqrt"("model.py":15:0))
  %u41 = tv.multiply %k_3, %u40 on <device = 3> : (tensor<3x1x4xf32>, tensor<3x1x1xf32>) -> tensor<3x1x4xf32> loc("multiply"("model.py":16:0))
  %y_3 = tv.multiply %u41, %w_3 on <device = 3> : (tensor<3x1x4xf32>, tensor<1x4xf32>) -> tensor<3x1x4xf32> loc("norm"("model.py":7:0))
  tv.expect %y_3 is %y <[0:3 of 3], [1:2 of 2], [0:4 of 4]> on <device = 3> contract <output "k"> : tensor<3x1x4xf32> is tensor<3x2x4xf32>
}
