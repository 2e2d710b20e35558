// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Parameters are divided over two devices and replicated twice. The squares are added
// over all devices instead of those that divide a parameter.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on devices 0-1 of each of 2 replicas
// WRONG: model.py:5:0: note: wrong group: 'norm group' adds up over devices 0-1 of all 2 replicas; the group has to be devices 0-1

tv.graph @B118 <dp = 2, device = 2> {
  %dw = tv.input <input "dw"> : tensor<4x2xf32>
  %u0 = tv.power %dw {numerator = 2 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0))
  %u2 = tv.distribute %dw <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u3 = tv.power %u2 on <device = 0> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %q_0 = tv.reduce sum %u3 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %u4 = tv.distribute %dw <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u5 = tv.power %u4 on <device = 1> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %q_1 = tv.reduce sum %u5 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %sum = tv.all_reduce %q_0, %q_1 over ["dp"] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // wrong
  %sum = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // fixed
  %norms = tv.sqrt %sum on <device = 0:2> : (tensor<f32>) -> tensor<f32> loc("norms"("model.py":6:0))
  tv.expect %norms is %norm <> on <device = 0:2> contract <output "norm"> : tensor<f32> is tensor<f32>
}
