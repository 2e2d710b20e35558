// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Experts on two ranks and two replicas of each. The squares of their gradients are
// summed over the group of replicas instead of that of experts.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on devices 0-3
// WRONG: model.py:5:0: note: missing sum: an operand of 'norm group' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B114 <device = 4> {
  %dexperts = tv.input <input "dexperts"> : tensor<2x3x2xf32>
  %u0 = tv.power %dexperts {numerator = 2 : i64} : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1, 2>} : (tensor<2x3x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %norm = tv.sqrt %u1 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0))
  %u2 = tv.distribute %dexperts <[0:1 of 2], [0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %u3 = tv.power %u2 on <device = 0> {numerator = 2 : i64} : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("power"("model.py":1:0))
  %q_0 = tv.reduce sum %u3 on <device = 0> {dimensions = array<i64: 0, 1, 2>} : (tensor<1x3x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %u4 = tv.distribute %dexperts <[1:2 of 2], [0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %u5 = tv.power %u4 on <device = 1> {numerator = 2 : i64} : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("power"("model.py":1:0))
  %q_1 = tv.reduce sum %u5 on <device = 1> {dimensions = array<i64: 0, 1, 2>} : (tensor<1x3x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %u6 = tv.distribute %dexperts <[0:1 of 2], [0:3 of 3], [0:2 of 2]> on <device = 2> : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %u7 = tv.power %u6 on <device = 2> {numerator = 2 : i64} : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("power"("model.py":1:0))
  %q_2 = tv.reduce sum %u7 on <device = 2> {dimensions = array<i64: 0, 1, 2>} : (tensor<1x3x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %u8 = tv.distribute %dexperts <[1:2 of 2], [0:3 of 3], [0:2 of 2]> on <device = 3> : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %u9 = tv.power %u8 on <device = 3> {numerator = 2 : i64} : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("power"("model.py":1:0))
  %q_3 = tv.reduce sum %u9 on <device = 3> {dimensions = array<i64: 0, 1, 2>} : (tensor<1x3x2xf32>) -> tensor<f32> loc("q"("model.py":4:0))
  %sum0 = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // fixed
  %sum0 = tv.all_reduce %q_0, %q_2 over [] on <device = 0 | 2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // wrong
  %norm_0 = tv.sqrt %sum0 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %norm_1 = tv.sqrt %sum0 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %norm_0 = tv.sqrt %sum0 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  %norm_2 = tv.sqrt %sum0 on <device = 2> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  %sum1 = tv.all_reduce %q_2, %q_3 over [] on <device = 2:4> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // fixed
  %sum1 = tv.all_reduce %q_1, %q_3 over [] on <device = 1 | 3> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":5:0)) // wrong
  %norm_2 = tv.sqrt %sum1 on <device = 2> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %norm_3 = tv.sqrt %sum1 on <device = 3> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // fixed
  %norm_1 = tv.sqrt %sum1 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  %norm_3 = tv.sqrt %sum1 on <device = 3> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":3:0)) // wrong
  tv.expect %norm_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %norm_1 is %norm <> on <device = 1> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %norm_2 is %norm <> on <device = 2> contract <output "norm"> : tensor<f32> is tensor<f32>
  tv.expect %norm_3 is %norm <> on <device = 3> contract <output "norm"> : tensor<f32> is tensor<f32>
}
