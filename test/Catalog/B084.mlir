// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The average of five rows, three on one device and two on the other. The wrong plan
// averages the averages.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'mean' differs from the reference on devices 0-1
// WRONG: model.py:2:0: note: other value: the operands of 'mean' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B084 <device = 2> {
  %x = tv.input <input "x"> : tensor<5x2xf32>
  %y = tv.reduce average %x {dimensions = array<i64: 0>} : (tensor<5x2xf32>) -> tensor<2xf32> loc("y"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:3 of 5], [0:2 of 2]> on <device = 0> : (tensor<5x2xf32>) -> tensor<3x2xf32>
  %m_0 = tv.reduce average %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<2xf32> loc("mean"("model.py":2:0)) // wrong
  %u0 = tv.reduce sum %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<2xf32> loc("reduce"("model.py":3:0)) // fixed
  %u1 = tv.constant dense<0.2> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %m_0 = tv.multiply %u0, %u1 on <device = 0> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("part"("model.py":5:0)) // fixed
  %x_1 = tv.distribute %x <[3:5 of 5], [0:2 of 2]> on <device = 1> : (tensor<5x2xf32>) -> tensor<2x2xf32>
  %m_1 = tv.reduce average %x_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32> loc("mean"("model.py":2:0)) // wrong
  %u2 = tv.reduce sum %x_1 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32> loc("reduce"("model.py":3:0)) // fixed
  %u3 = tv.constant dense<0.2> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0)) // fixed
  %m_1 = tv.multiply %u2, %u3 on <device = 1> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("part"("model.py":5:0)) // fixed
  %all = tv.all_reduce %m_0, %m_1 by average over [] on <device = 0:2> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("all_reduce"("model.py":6:0)) // wrong
  %all = tv.all_reduce %m_0, %m_1 over [] on <device = 0:2> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("all_reduce"("model.py":6:0)) // fixed
  tv.expect %all is %y <[0:2 of 2]> on <device = 0:2> contract <output "mean"> : tensor<2xf32> is tensor<2xf32>
}
