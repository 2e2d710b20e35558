// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Devices 0, 2 and 1, 3 hold one expert each. The optimizer divides an expert over its
// two holders; the wrong one divides it over all four devices of the dense group, and
// each device gathers rows of both experts.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'experts.next' differs from the reference on devices 0-3
// WRONG: model.py:6:0: note: other value: the operands of 'all' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B035 <device = 4> {
  %experts = tv.input <parameter "experts"> : tensor<2x4x3xf32>
  %dw = tv.input <input "dw"> : tensor<2x4x3xf32>
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":1:0))
  %u1 = tv.multiply %dw, %u0 : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32> loc("multiply"("model.py":2:0))
  %next = tv.subtract %experts, %u1 : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32> loc("next"("model.py":3:0))
  %u2 = tv.distribute %experts <[0:1 of 2], [0:1 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u3 = tv.distribute %dw <[0:1 of 2], [0:1 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u4 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u5 = tv.multiply %u3, %u4 on <device = 0> : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32> loc("multiply"("model.py":5:0)) // wrong
  %quarter_0 = tv.subtract %u2, %u5 on <device = 0> : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("next"("model.py":3:0)) // wrong
  %u6 = tv.distribute %experts <[0:1 of 2], [0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u7 = tv.distribute %dw <[0:1 of 2], [0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u8 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u9 = tv.multiply %u7, %u8 on <device = 0> : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32> loc("multiply"("model.py":5:0)) // fixed
  %half_0 = tv.subtract %u6, %u9 on <device = 0> : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32> loc("next"("model.py":3:0)) // fixed
  %u10 = tv.distribute %experts <[1:2 of 2], [1:2 of 4], [0:3 of 3]> on <device = 1> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u11 = tv.distribute %dw <[1:2 of 2], [1:2 of 4], [0:3 of 3]> on <device = 1> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u12 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u13 = tv.multiply %u11, %u12 on <device = 1> : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32> loc("multiply"("model.py":5:0)) // wrong
  %quarter_1 = tv.subtract %u10, %u13 on <device = 1> : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("next"("model.py":3:0)) // wrong
  %u14 = tv.distribute %experts <[1:2 of 2], [0:2 of 4], [0:3 of 3]> on <device = 1> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u15 = tv.distribute %dw <[1:2 of 2], [0:2 of 4], [0:3 of 3]> on <device = 1> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u16 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u17 = tv.multiply %u15, %u16 on <device = 1> : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32> loc("multiply"("model.py":5:0)) // fixed
  %half_1 = tv.subtract %u14, %u17 on <device = 1> : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32> loc("next"("model.py":3:0)) // fixed
  %u18 = tv.distribute %experts <[0:1 of 2], [2:3 of 4], [0:3 of 3]> on <device = 2> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u19 = tv.distribute %dw <[0:1 of 2], [2:3 of 4], [0:3 of 3]> on <device = 2> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u20 = tv.constant dense<0.125> : tensor<f64> on <device = 2> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u21 = tv.multiply %u19, %u20 on <device = 2> : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32> loc("multiply"("model.py":5:0)) // wrong
  %quarter_2 = tv.subtract %u18, %u21 on <device = 2> : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("next"("model.py":3:0)) // wrong
  %u22 = tv.distribute %experts <[0:1 of 2], [2:4 of 4], [0:3 of 3]> on <device = 2> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u23 = tv.distribute %dw <[0:1 of 2], [2:4 of 4], [0:3 of 3]> on <device = 2> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u24 = tv.constant dense<0.125> : tensor<f64> on <device = 2> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u25 = tv.multiply %u23, %u24 on <device = 2> : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32> loc("multiply"("model.py":5:0)) // fixed
  %half_2 = tv.subtract %u22, %u25 on <device = 2> : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32> loc("next"("model.py":3:0)) // fixed
  %u26 = tv.distribute %experts <[1:2 of 2], [3:4 of 4], [0:3 of 3]> on <device = 3> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u27 = tv.distribute %dw <[1:2 of 2], [3:4 of 4], [0:3 of 3]> on <device = 3> : (tensor<2x4x3xf32>) -> tensor<1x1x3xf32> // wrong
  %u28 = tv.constant dense<0.125> : tensor<f64> on <device = 3> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %u29 = tv.multiply %u27, %u28 on <device = 3> : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32> loc("multiply"("model.py":5:0)) // wrong
  %quarter_3 = tv.subtract %u26, %u29 on <device = 3> : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("next"("model.py":3:0)) // wrong
  %u30 = tv.distribute %experts <[1:2 of 2], [2:4 of 4], [0:3 of 3]> on <device = 3> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u31 = tv.distribute %dw <[1:2 of 2], [2:4 of 4], [0:3 of 3]> on <device = 3> : (tensor<2x4x3xf32>) -> tensor<1x2x3xf32> // fixed
  %u32 = tv.constant dense<0.125> : tensor<f64> on <device = 3> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %u33 = tv.multiply %u31, %u32 on <device = 3> : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32> loc("multiply"("model.py":5:0)) // fixed
  %half_3 = tv.subtract %u30, %u33 on <device = 3> : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32> loc("next"("model.py":3:0)) // fixed
  %all = tv.all_gather %quarter_0, %quarter_1, %quarter_2, %quarter_3 on <device = 0:4> {dimension = 1 : i64} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x4x3xf32> loc("all"("model.py":6:0)) // wrong
  %all_0 = tv.all_gather %half_0, %half_2 on <device = 0 | 2> {dimension = 1 : i64} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x4x3xf32> loc("all"("model.py":6:0)) // fixed
  tv.expect %all is %next <[0:1 of 2], [0:4 of 4], [0:3 of 3]> on <device = 0> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // wrong
  tv.expect %all_0 is %next <[0:1 of 2], [0:4 of 4], [0:3 of 3]> on <device = 0> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // fixed
  tv.expect %all is %next <[0:1 of 2], [0:4 of 4], [0:3 of 3]> on <device = 2> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // wrong
  tv.expect %all_0 is %next <[0:1 of 2], [0:4 of 4], [0:3 of 3]> on <device = 2> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // fixed
  %all_1 = tv.all_gather %half_1, %half_3 on <device = 1 | 3> {dimension = 1 : i64} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x4x3xf32> loc("all"("model.py":6:0)) // fixed
  tv.expect %all is %next <[1:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 1> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // wrong
  tv.expect %all_1 is %next <[1:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 1> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // fixed
  tv.expect %all is %next <[1:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 3> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // wrong
  tv.expect %all_1 is %next <[1:2 of 2], [0:4 of 4], [0:3 of 3]> on <device = 3> contract <output "experts.next"> : tensor<1x4x3xf32> is tensor<2x4x3xf32> // fixed
}
