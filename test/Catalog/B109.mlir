// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A tensor times a number, twice with different numbers. The second call gets the
// result that was remembered for the first.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'second' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is -2/5 times that of the reference

tv.graph @B109 <device = 2> {
  %x = tv.input <input "x"> : tensor<4x2xf32>
  %u0 = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":1:0))
  %a = tv.multiply %x, %u0 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32> loc("first"("model.py":2:0))
  %u1 = tv.constant dense<-5.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":1:0))
  %b = tv.multiply %x, %u1 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32> loc("second"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u2 = tv.constant dense<2.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %a_0 = tv.multiply %x_0, %u2 on <device = 0> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("first"("model.py":2:0))
  %u3 = tv.constant dense<2.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %b_0 = tv.multiply %x_0, %u3 on <device = 0> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("second"("model.py":3:0)) // wrong
  %u4 = tv.constant dense<-5.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %b_0 = tv.multiply %x_0, %u4 on <device = 0> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("second"("model.py":3:0)) // fixed
  tv.expect %a_0 is %a <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "first"> : tensor<2x2xf32> is tensor<4x2xf32>
  tv.expect %b_0 is %b <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "second"> : tensor<2x2xf32> is tensor<4x2xf32>
  %x_1 = tv.distribute %x <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u5 = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %a_1 = tv.multiply %x_1, %u5 on <device = 1> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("first"("model.py":2:0))
  %u6 = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %b_1 = tv.multiply %x_1, %u6 on <device = 1> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("second"("model.py":3:0)) // wrong
  %u7 = tv.constant dense<-5.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":5:0)) // fixed
  %b_1 = tv.multiply %x_1, %u7 on <device = 1> : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("second"("model.py":3:0)) // fixed
  tv.expect %a_1 is %a <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "first"> : tensor<2x2xf32> is tensor<4x2xf32>
  tv.expect %b_1 is %b <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "second"> : tensor<2x2xf32> is tensor<4x2xf32>
}
