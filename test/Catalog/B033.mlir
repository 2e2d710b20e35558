// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Each of two devices updates half of an expert and copies the result into the weight.
// The wrong plan copies to the place given by the number of the device in the dense
// group, which is not its number among the holders of the expert.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'expert.next' differs from the reference on devices 0-1
// WRONG: model.py:6:0: note: other value: the operands of 'whole' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B033 <device = 2> {
  %expert = tv.input <parameter "expert"> : tensor<4x3xf32>
  %dw = tv.input <input "dw"> : tensor<4x3xf32>
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":1:0))
  %u1 = tv.multiply %dw, %u0 : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32> loc("multiply"("model.py":2:0))
  %next = tv.subtract %expert, %u1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("next"("model.py":3:0))
  %m_0 = tv.distribute %expert <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %g_0 = tv.distribute %dw <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %u2 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u3 = tv.multiply %g_0, %u2 on <device = 0> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32> loc("multiply"("model.py":5:0))
  %next_0 = tv.subtract %m_0, %u3 on <device = 0> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("next"("model.py":3:0))
  %m_1 = tv.distribute %expert <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %g_1 = tv.distribute %dw <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %u4 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %u5 = tv.multiply %g_1, %u4 on <device = 1> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32> loc("multiply"("model.py":5:0))
  %next_1 = tv.subtract %m_1, %u5 on <device = 1> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("next"("model.py":3:0))
  %whole = tv.all_gather %next_1, %next_0 on <device = 0:2> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("whole"("model.py":6:0)) // wrong
  %whole = tv.all_gather %next_0, %next_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("whole"("model.py":6:0)) // fixed
  tv.expect %whole is %next <[0:4 of 4], [0:3 of 3]> on <device = 0:2> contract <output "expert.next"> : tensor<4x3xf32> is tensor<4x3xf32>
}
