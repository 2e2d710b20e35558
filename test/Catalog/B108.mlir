// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A number added to a product whose terms are on two devices. The wrong plan adds it
// to each term.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: missing sum: an operand of 'add' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B108 <device = 2> {
  %x = tv.input <input "x"> : tensor<3x6xf32>
  %w = tv.input <parameter "w"> : tensor<2x6xf32>
  %s = tv.linear %x, %w : (tensor<3x6xf32>, tensor<2x6xf32>) -> tensor<3x2xf32> loc("linear"("model.py":1:0))
  %u0 = tv.constant dense<3.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %y = tv.add %s, %u0 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("add"("model.py":3:0))
  %u1 = tv.distribute %x <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %u2 = tv.distribute %w <[0:2 of 2], [0:3 of 6]> on <device = 0> : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %s_0 = tv.linear %u1, %u2 on <device = 0> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32> loc("linear"("model.py":1:0))
  %u3 = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %y_0 = tv.add %s_0, %u3 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("add"("model.py":3:0)) // wrong
  %u4 = tv.distribute %x <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %u5 = tv.distribute %w <[0:2 of 2], [3:6 of 6]> on <device = 1> : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %s_1 = tv.linear %u4, %u5 on <device = 1> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32> loc("linear"("model.py":1:0))
  %u6 = tv.constant dense<3.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // wrong
  %y_1 = tv.add %s_1, %u6 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("add"("model.py":3:0)) // wrong
  %all = tv.all_reduce %y_0, %y_1 over [] on <device = 0:2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("all"("model.py":5:0)) // wrong
  %u7 = tv.all_reduce %s_0, %s_1 over [] on <device = 0:2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("all_reduce"("model.py":6:0)) // fixed
  %u8 = tv.constant dense<3.0> : tensor<f64> on <device = 0:2> : () -> tensor<f32> loc("constant"("model.py":7:0)) // fixed
  %all = tv.add %u7, %u8 on <device = 0:2> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("add"("model.py":3:0)) // fixed
  tv.expect %all is %y <[0:3 of 3], [0:2 of 2]> on <device = 0:2> contract <output "y"> : tensor<3x2xf32> is tensor<3x2xf32>
}
