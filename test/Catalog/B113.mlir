// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A parameter of each head, divided over ranks but not marked so. The norm of all
// gradients takes it for replicated and counts rank 0 alone.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: missing sum: an operand of 'sinks' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B113 <device = 2> {
  %dsink = tv.input <input "dsink"> : tensor<4xf32>
  %dw = tv.input <input "dw"> : tensor<2x3xf32>
  %u0 = tv.power %dsink {numerator = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %u2 = tv.power %dw {numerator = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("power"("model.py":1:0))
  %u3 = tv.reduce sum %u2 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %square = tv.add %u1, %u3 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("square"("model.py":3:0))
  %norm = tv.sqrt %square : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0))
  %s_0 = tv.distribute %dsink <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %w_0 = tv.distribute %dw <[0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u4 = tv.power %s_0 on <device = 0> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":1:0))
  %q_0 = tv.reduce sum %u4 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("q"("model.py":5:0))
  %u5 = tv.power %w_0 on <device = 0> {numerator = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("power"("model.py":1:0))
  %r_0 = tv.reduce sum %u5 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32> loc("r"("model.py":6:0))
  %s_1 = tv.distribute %dsink <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %w_1 = tv.distribute %dw <[0:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u6 = tv.power %s_1 on <device = 1> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":1:0))
  %q_1 = tv.reduce sum %u6 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("q"("model.py":5:0))
  %u7 = tv.power %w_1 on <device = 1> {numerator = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("power"("model.py":1:0))
  %r_1 = tv.reduce sum %u7 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32> loc("r"("model.py":6:0))
  %sinks = tv.move %q_0 from <device = 0> on <device = 0:2> : (tensor<f32>) -> tensor<f32> loc("sinks"("model.py":7:0)) // wrong
  %sinks = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("sinks"("model.py":7:0)) // fixed
  %u8 = tv.add %sinks, %r_0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":8:0))
  %n_0 = tv.sqrt %u8 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("n"("model.py":9:0))
  tv.expect %n_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
  %u9 = tv.add %sinks, %r_1 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":8:0))
  %n_1 = tv.sqrt %u9 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("n"("model.py":9:0))
  tv.expect %n_1 is %norm <> on <device = 1> contract <output "norm"> : tensor<f32> is tensor<f32>
}
