// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The greatest and the least element of a product, and its norm, where each device has
// a term of the product. The wrong plan takes them of the terms and combines the
// results.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'maximum' differs from the reference on devices 0-1
// WRONG: model.py:2:0: note: missing sum: an operand of 'most' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B110 <device = 2> {
  %x = tv.input <input "x"> : tensor<3x6xf32>
  %w = tv.input <parameter "w"> : tensor<2x6xf32>
  %s = tv.linear %x, %w : (tensor<3x6xf32>, tensor<2x6xf32>) -> tensor<3x2xf32> loc("s"("model.py":1:0))
  %most = tv.reduce maximum %s {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("most"("model.py":2:0))
  %least = tv.reduce minimum %s {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("least"("model.py":3:0))
  %u0 = tv.power %s {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":4:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":5:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":6:0))
  %u2 = tv.distribute %x <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %u3 = tv.distribute %w <[0:2 of 2], [0:3 of 6]> on <device = 0> : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %s_0 = tv.linear %u2, %u3 on <device = 0> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32> loc("s"("model.py":1:0))
  %u4 = tv.distribute %x <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %u5 = tv.distribute %w <[0:2 of 2], [3:6 of 6]> on <device = 1> : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %s_1 = tv.linear %u4, %u5 on <device = 1> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32> loc("s"("model.py":1:0))
  %most_0 = tv.reduce maximum %s_0 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("most"("model.py":2:0)) // wrong
  %most_1 = tv.reduce maximum %s_1 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("most"("model.py":2:0)) // wrong
  %mosts = tv.all_reduce %most_0, %most_1 by maximum over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("mosts"("model.py":7:0)) // wrong
  %least_0 = tv.reduce minimum %s_0 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("least"("model.py":3:0)) // wrong
  %least_1 = tv.reduce minimum %s_1 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("least"("model.py":3:0)) // wrong
  %leasts = tv.all_reduce %least_0, %least_1 by minimum over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("leasts"("model.py":8:0)) // wrong
  %u6 = tv.power %s_0 on <device = 0> {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":9:0)) // wrong
  %q_0 = tv.reduce sum %u6 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("q"("model.py":10:0)) // wrong
  %u7 = tv.power %s_1 on <device = 1> {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":9:0)) // wrong
  %q_1 = tv.reduce sum %u7 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("q"("model.py":10:0)) // wrong
  %u8 = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("all_reduce"("model.py":11:0)) // wrong
  %norms = tv.sqrt %u8 on <device = 0:2> : (tensor<f32>) -> tensor<f32> loc("norms"("model.py":12:0)) // wrong
  %all = tv.all_reduce %s_0, %s_1 over [] on <device = 0:2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("all"("model.py":13:0)) // fixed
  %mosts = tv.reduce maximum %all on <device = 0:2> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("mosts"("model.py":7:0)) // fixed
  %leasts = tv.reduce minimum %all on <device = 0:2> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("leasts"("model.py":8:0)) // fixed
  %u9 = tv.power %all on <device = 0:2> {numerator = 2 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("power"("model.py":14:0)) // fixed
  %u10 = tv.reduce sum %u9 on <device = 0:2> {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32> loc("reduce"("model.py":15:0)) // fixed
  %norms = tv.sqrt %u10 on <device = 0:2> : (tensor<f32>) -> tensor<f32> loc("norms"("model.py":12:0)) // fixed
  tv.expect %mosts is %most <> on <device = 0:2> contract <output "maximum"> : tensor<f32> is tensor<f32>
  tv.expect %leasts is %least <> on <device = 0:2> contract <output "minimum"> : tensor<f32> is tensor<f32>
  tv.expect %norms is %norm <> on <device = 0:2> contract <output "norm"> : tensor<f32> is tensor<f32>
}
