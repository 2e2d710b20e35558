// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED

// Silent. A loss on the probabilities of a router instead of its logits. Reference and
// plan do the same, and the plan does what the reference does.

// FIXED: tv.answer = "proved"

tv.graph @B149 <device = 2> {
  %logits = tv.input <input "logits"> : tensor<4x3xf32>
  %u0 = tv.exp %logits : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("exp"("model.py":1:0)) // wrong
  %u1 = tv.reduce sum %u0 keep {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":2:0)) // wrong
  %u2 = tv.divide %u0, %u1 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32> loc("divide"("model.py":3:0)) // wrong
  %u3 = tv.exp %u2 : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("exp"("model.py":4:0)) // wrong
  %u4 = tv.reduce sum %u3 {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32> loc("reduce"("model.py":5:0)) // wrong
  %u5 = tv.log %u4 : (tensor<4xf32>) -> tensor<4xf32> loc("log"("model.py":6:0)) // wrong
  %u6 = tv.power %u5 {numerator = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("power"("model.py":7:0)) // wrong
  %z = tv.reduce sum %u6 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // wrong
  %u7 = tv.distribute %logits <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32> // wrong
  %u8 = tv.exp %u7 on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":1:0)) // wrong
  %u9 = tv.reduce sum %u8 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":2:0)) // wrong
  %u10 = tv.divide %u8, %u9 on <device = 0> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("divide"("model.py":3:0)) // wrong
  %u11 = tv.exp %u10 on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0)) // wrong
  %u12 = tv.reduce sum %u11 on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32> loc("reduce"("model.py":5:0)) // wrong
  %u13 = tv.log %u12 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32> loc("log"("model.py":6:0)) // wrong
  %u14 = tv.power %u13 on <device = 0> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":7:0)) // wrong
  %z_0 = tv.reduce sum %u14 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // wrong
  %u15 = tv.distribute %logits <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32> // wrong
  %u16 = tv.exp %u15 on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":1:0)) // wrong
  %u17 = tv.reduce sum %u16 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":2:0)) // wrong
  %u18 = tv.divide %u16, %u17 on <device = 1> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("divide"("model.py":3:0)) // wrong
  %u19 = tv.exp %u18 on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0)) // wrong
  %u20 = tv.reduce sum %u19 on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32> loc("reduce"("model.py":5:0)) // wrong
  %u21 = tv.log %u20 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32> loc("log"("model.py":6:0)) // wrong
  %u22 = tv.power %u21 on <device = 1> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":7:0)) // wrong
  %z_1 = tv.reduce sum %u22 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // wrong
  %u23 = tv.exp %logits : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("exp"("model.py":9:0)) // fixed
  %u24 = tv.reduce sum %u23 {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32> loc("reduce"("model.py":10:0)) // fixed
  %u25 = tv.log %u24 : (tensor<4xf32>) -> tensor<4xf32> loc("log"("model.py":11:0)) // fixed
  %u26 = tv.power %u25 {numerator = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("power"("model.py":12:0)) // fixed
  %z = tv.reduce sum %u26 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // fixed
  %u27 = tv.distribute %logits <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32> // fixed
  %u28 = tv.exp %u27 on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":9:0)) // fixed
  %u29 = tv.reduce sum %u28 on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32> loc("reduce"("model.py":10:0)) // fixed
  %u30 = tv.log %u29 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32> loc("log"("model.py":11:0)) // fixed
  %u31 = tv.power %u30 on <device = 0> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":12:0)) // fixed
  %z_0 = tv.reduce sum %u31 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // fixed
  %u32 = tv.distribute %logits <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32> // fixed
  %u33 = tv.exp %u32 on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":9:0)) // fixed
  %u34 = tv.reduce sum %u33 on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32> loc("reduce"("model.py":10:0)) // fixed
  %u35 = tv.log %u34 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32> loc("log"("model.py":11:0)) // fixed
  %u36 = tv.power %u35 on <device = 1> {numerator = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("power"("model.py":12:0)) // fixed
  %z_1 = tv.reduce sum %u36 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> loc("z"("model.py":8:0)) // fixed
  %all = tv.all_reduce %z_0, %z_1 over [] on <device = 0:2> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("all"("model.py":13:0))
  tv.expect %all is %z <> on <device = 0:2> contract <output "z_loss"> : tensor<f32> is tensor<f32>
}
