// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A norm weight under sequence parallelism: each tensor-parallel rank has half of the
// sequence, so the weight has half of its gradient. The wrong plan leaves the sum over
// the ranks out.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'norm.weight' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B001 <device = 2> {
  %norm_weight = tv.input <parameter "norm.weight"> : tensor<4xf32>
  %x = tv.input <input "x"> : tensor<8x4xf32>
  %dy = tv.input <input "dy"> : tensor<8x4xf32>
  %u0 = tv.power %x {numerator = 2 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("power"("model.py":1:0))
  %u1 = tv.reduce average %u0 keep {dimensions = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8x1xf32> loc("reduce"("model.py":2:0))
  %u2 = tv.constant dense<1.0e-05> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u3 = tv.add %u1, %u2 : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32> loc("add"("model.py":4:0))
  %u4 = tv.rsqrt %u3 : (tensor<8x1xf32>) -> tensor<8x1xf32> loc("rsqrt"("model.py":5:0))
  %n = tv.multiply %x, %u4 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> loc("n"("model.py":6:0))
  %dw = tv.einsum %dy, %n {equation = "sh,sh->h"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4xf32> loc("dw"("model.py":7:0))
  %x0 = tv.distribute %x <[0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %dy0 = tv.distribute %dy <[0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %u5 = tv.power %x0 on <device = 0> {numerator = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("power"("model.py":8:0))
  %u6 = tv.reduce average %u5 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":9:0))
  %u7 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0))
  %u8 = tv.add %u6, %u7 on <device = 0> : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32> loc("add"("model.py":11:0))
  %u9 = tv.rsqrt %u8 on <device = 0> : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("rsqrt"("model.py":12:0))
  %n0 = tv.multiply %x0, %u9 on <device = 0> : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32> loc("n"("model.py":6:0))
  %dw0 = tv.einsum %dy0, %n0 on <device = 0> {equation = "sh,sh->h"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32> loc("dw"("model.py":7:0))
  %x1 = tv.distribute %x <[4:8 of 8], [0:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %dy1 = tv.distribute %dy <[4:8 of 8], [0:4 of 4]> on <device = 1> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %u10 = tv.power %x1 on <device = 1> {numerator = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("power"("model.py":8:0))
  %u11 = tv.reduce average %u10 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4x1xf32> loc("reduce"("model.py":9:0))
  %u12 = tv.constant dense<1.0e-05> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":10:0))
  %u13 = tv.add %u11, %u12 on <device = 1> : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32> loc("add"("model.py":11:0))
  %u14 = tv.rsqrt %u13 on <device = 1> : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("rsqrt"("model.py":12:0))
  %n1 = tv.multiply %x1, %u14 on <device = 1> : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32> loc("n"("model.py":6:0))
  %dw1 = tv.einsum %dy1, %n1 on <device = 1> {equation = "sh,sh->h"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32> loc("dw"("model.py":7:0))
  %all = tv.all_reduce %dw0, %dw1 over [] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("all"("model.py":13:0)) // fixed
  tv.expect %all is %dw <[0:4 of 4]> on <device = 0:2> contract <gradient "norm.weight"> : tensor<4xf32> is tensor<4xf32> // fixed
  tv.expect %dw0 is %dw <[0:4 of 4]> on <device = 0> contract <gradient "norm.weight"> : tensor<4xf32> is tensor<4xf32> // wrong
  tv.expect %dw1 is %dw <[0:4 of 4]> on <device = 1> contract <gradient "norm.weight"> : tensor<4xf32> is tensor<4xf32> // wrong
}
