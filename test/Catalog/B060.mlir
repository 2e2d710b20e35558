// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A pipeline stage divides its gradient by the number of micro-batches after each of
// them instead of once, so that earlier ones count less.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// WRONG: model.py:4:0: note: missing sum: an operand of 'bucket' is one term of a sum over the 2 micro-batches, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B060 <device = 1, mb = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %total = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %u0 = tv.constant dense<0.5> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %total, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("dw"("model.py":3:0))
  %x_0 = tv.distribute %x <[mb, 0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy_0 = tv.distribute %dy <[mb, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %g_0 = tv.einsum %dy_0, %x_0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("total"("model.py":1:0))
  %bucket_0 = tv.accumulate %g_0 over <mb = 0> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("bucket"("model.py":4:0)) // wrong
  %bucket_1 = tv.accumulate %g_0 over <mb = 1> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("bucket"("model.py":4:0)) // wrong
  %u1 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %first = tv.multiply %bucket_0, %u1 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("first"("model.py":6:0)) // wrong
  %both = tv.add %first, %bucket_1 on <device = 0> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("both"("model.py":7:0)) // wrong
  %u2 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0)) // wrong
  %all = tv.multiply %both, %u2 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("scale"("model.py":8:0)) // wrong
  %sum = tv.accumulate %g_0 over <mb = 0:2> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("model.py":9:0)) // fixed
  %u3 = tv.constant dense<0.5> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0)) // fixed
  %all = tv.multiply %sum, %u3 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("scale"("model.py":8:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32>
}
