// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A sum over devices of a value plus one. Generated code lets the collective read the
// buffer of the value before one was added; what is compared is that code.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:5:0: note: other value: the operands of 'all_reduce' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B134 <device = 2> {
  %x = tv.input <input "x"> : tensor<2x3xf32>
  %u0 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":1:0))
  %u1 = tv.add %x, %u0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32> loc("plus one"("model.py":2:0))
  %y = tv.reduce sum %u1 keep {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32> loc("y"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:1 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %u2 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %p_0 = tv.add %x_0, %u2 on <device = 0> : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32> loc("plus one"("model.py":2:0))
  %x_1 = tv.distribute %x <[1:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %u3 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %p_1 = tv.add %x_1, %u3 on <device = 1> : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32> loc("plus one"("model.py":2:0))
  %all = tv.all_reduce %x_0, %x_1 over [] on <device = 0:2> : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("all_reduce"("model.py":5:0)) // wrong
  %all = tv.all_reduce %p_0, %p_1 over [] on <device = 0:2> : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("all_reduce"("model.py":5:0)) // fixed
  tv.expect %all is %y <[0:1 of 1], [0:3 of 3]> on <device = 0:2> contract <output "y"> : tensor<1x3xf32> is tensor<1x3xf32>
}
