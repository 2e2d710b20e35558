// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A grouped product of experts whose tokens come from two ranks. The loss of each rank
// is an average over its own tokens, so the backward pass has to divide by their
// number.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'experts' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is 2 times that of the reference

tv.graph @B049 <device = 2> {
  %experts = tv.input <parameter "experts"> : tensor<2x3x4xf32>
  %x = tv.input <input "x"> : tensor<2x8x4xf32>
  %dy = tv.input <input "dy"> : tensor<2x8x3xf32>
  %u0 = tv.einsum %dy, %x {equation = "etn,etk->enk"} : (tensor<2x8x3xf32>, tensor<2x8x4xf32>) -> tensor<2x3x4xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %u0, %u1 : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:2 of 2], [0:4 of 8], [0:4 of 4]> on <device = 0> : (tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  %dy_0 = tv.distribute %dy <[0:2 of 2], [0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %u2 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %dl_0 = tv.multiply %dy_0, %u2 on <device = 0> : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32> loc("dl"("model.py":5:0))
  %x_1 = tv.distribute %x <[0:2 of 2], [4:8 of 8], [0:4 of 4]> on <device = 1> : (tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  %dy_1 = tv.distribute %dy <[0:2 of 2], [4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %u3 = tv.constant dense<0.25> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":4:0))
  %dl_1 = tv.multiply %dy_1, %u3 on <device = 1> : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32> loc("dl"("model.py":5:0))
  %xs = tv.all_gather %x_0, %x_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x8x4xf32> loc("xs"("model.py":6:0))
  %dls = tv.all_gather %dl_0, %dl_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32> loc("dls"("model.py":7:0))
  %xe_0 = tv.slice %xs on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x8x4xf32>) -> tensor<1x8x4xf32> loc("xe"("model.py":8:0))
  %de_0 = tv.slice %dls on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x8x3xf32>) -> tensor<1x8x3xf32> loc("de"("model.py":9:0))
  %raw_0 = tv.einsum %de_0, %xe_0 on <device = 0> {equation = "etn,etk->enk"} : (tensor<1x8x3xf32>, tensor<1x8x4xf32>) -> tensor<1x3x4xf32> loc("grouped product"("model.py":10:0))
  %u4 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":11:0)) // fixed
  %dw_0 = tv.multiply %raw_0, %u4 on <device = 0> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("dw"("model.py":3:0)) // fixed
  %used_0 = tv.copy %raw_0 on <device = 0> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("used"("model.py":12:0)) // wrong
  %used_0 = tv.copy %dw_0 on <device = 0> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("used"("model.py":12:0)) // fixed
  tv.expect %used_0 is %dw <[0:1 of 2], [0:3 of 3], [0:4 of 4]> on <device = 0> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
  %xe_1 = tv.slice %xs on <device = 1> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x8x4xf32>) -> tensor<1x8x4xf32> loc("xe"("model.py":8:0))
  %de_1 = tv.slice %dls on <device = 1> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x8x3xf32>) -> tensor<1x8x3xf32> loc("de"("model.py":9:0))
  %raw_1 = tv.einsum %de_1, %xe_1 on <device = 1> {equation = "etn,etk->enk"} : (tensor<1x8x3xf32>, tensor<1x8x4xf32>) -> tensor<1x3x4xf32> loc("grouped product"("model.py":10:0))
  %u5 = tv.constant dense<0.5> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":11:0)) // fixed
  %dw_1 = tv.multiply %raw_1, %u5 on <device = 1> : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32> loc("dw"("model.py":3:0)) // fixed
  %used_1 = tv.copy %raw_1 on <device = 1> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("used"("model.py":12:0)) // wrong
  %used_1 = tv.copy %dw_1 on <device = 1> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("used"("model.py":12:0)) // fixed
  tv.expect %used_1 is %dw <[1:2 of 2], [0:3 of 3], [0:4 of 4]> on <device = 1> contract <gradient "experts"> : tensor<1x3x4xf32> is tensor<2x3x4xf32>
}
