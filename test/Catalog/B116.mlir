// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients of divided and of replicated parameters. The wrong plan adds the squares
// of both over the ranks, so that replicated ones count twice.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'norm' differs from the reference on devices 0-1
// WRONG: model.py:7:0: note: missing sum: an operand of 'q' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B116 <device = 2> {
  %da = tv.input <input "da"> : tensor<4x2xf32>
  %db = tv.input <input "db"> : tensor<3xf32>
  %u0 = tv.power %da {numerator = 2 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce sum %u0 {dimensions = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %u2 = tv.power %db {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":1:0))
  %u3 = tv.reduce sum %u2 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32> loc("reduce"("model.py":2:0))
  %u4 = tv.add %u1, %u3 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":3:0))
  %norm = tv.sqrt %u4 : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0))
  %u5 = tv.distribute %da <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u6 = tv.power %u5 on <device = 0> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %qa_0 = tv.reduce sum %u6 on <device = 0> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("qa"("model.py":5:0))
  %u7 = tv.distribute %db <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %u8 = tv.power %u7 on <device = 0> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":1:0))
  %qb_0 = tv.reduce sum %u8 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32> loc("qb"("model.py":6:0))
  %q_0 = tv.add %qa_0, %qb_0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("q"("model.py":7:0)) // wrong
  %u9 = tv.distribute %da <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u10 = tv.power %u9 on <device = 1> {numerator = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("power"("model.py":1:0))
  %qa_1 = tv.reduce sum %u10 on <device = 1> {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> loc("qa"("model.py":5:0))
  %u11 = tv.distribute %db <[0:3 of 3]> on <device = 1> : (tensor<3xf32>) -> tensor<3xf32>
  %u12 = tv.power %u11 on <device = 1> {numerator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32> loc("power"("model.py":1:0))
  %qb_1 = tv.reduce sum %u12 on <device = 1> {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32> loc("qb"("model.py":6:0))
  %q_1 = tv.add %qa_1, %qb_1 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("q"("model.py":7:0)) // wrong
  %sum = tv.all_reduce %q_0, %q_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":8:0)) // wrong
  %norms = tv.sqrt %sum on <device = 0:2> : (tensor<f32>) -> tensor<f32> loc("norms"("model.py":9:0)) // wrong
  %parts = tv.all_reduce %qa_0, %qa_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("norm group"("model.py":8:0)) // fixed
  %u13 = tv.add %parts, %qb_0 on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":10:0)) // fixed
  %norm_0 = tv.sqrt %u13 on <device = 0> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0)) // fixed
  %u14 = tv.add %parts, %qb_1 on <device = 1> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("add"("model.py":10:0)) // fixed
  %norm_1 = tv.sqrt %u14 on <device = 1> : (tensor<f32>) -> tensor<f32> loc("norm"("model.py":4:0)) // fixed
  tv.expect %norms is %norm <> on <device = 0:2> contract <output "norm"> : tensor<f32> is tensor<f32> // wrong
  tv.expect %norm_0 is %norm <> on <device = 0> contract <output "norm"> : tensor<f32> is tensor<f32> // fixed
  tv.expect %norm_1 is %norm <> on <device = 1> contract <output "norm"> : tensor<f32> is tensor<f32> // fixed
}
