// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The average over the batch in two replicas. With a sharding group of one device, the
// wrong plan turns off the average over replicas.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:6:0: note: missing sum: an operand of 'g' is one term of a sum over the 2 replicas, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B021 <dp = 2, device = 1> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %u0 = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %dw = tv.multiply %u0, %u1 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("dw"("model.py":3:0))
  %x0 = tv.distribute %x <[dp, 0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy0 = tv.distribute %dy <[dp, 0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %u2 = tv.einsum %dy0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("einsum"("model.py":4:0))
  %u3 = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":5:0))
  %g = tv.multiply %u2, %u3 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("g"("model.py":6:0))
  %all = tv.all_reduce %g by average over ["dp"] on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("all"("model.py":7:0)) // fixed
  tv.expect %all is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // fixed
  tv.expect %g is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // wrong
}
