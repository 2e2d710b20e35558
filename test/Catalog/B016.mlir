// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients exist twice, as they come and as an accumulator that the step uses. The
// wrong plan reduces the first and updates the weight with the second.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'w.next' differs from the reference on device 0 of each of 2 replicas
// WRONG: model.py:4:0: note: missing sum: an operand of 'next' is one term of a sum over the 2 replicas, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B016 <dp = 2, device = 1, mb = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %u0 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u1 = tv.multiply %dw, %u0 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":3:0))
  %next = tv.subtract %w, %u1 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("next"("model.py":4:0))
  %x0 = tv.distribute %x <[dp, mb, 0:2 of 2], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<2x5xf32>
  %dy0 = tv.distribute %dy <[dp, mb, 0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %w0 = tv.distribute %w <[0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %g = tv.einsum %dy0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<3x5xf32> loc("g"("model.py":5:0))
  %u2 = tv.copy %g on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xbf16> loc("copy"("model.py":6:0))
  %low = tv.accumulate %u2 over <mb = 0:2> on <device = 0> : (tensor<3x5xbf16>) -> tensor<3x5xbf16> loc("low"("model.py":7:0))
  %accumulator = tv.accumulate %g over <mb = 0:2> on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("accumulator"("model.py":8:0))
  %reduced = tv.all_reduce %low over ["dp"] on <device = 0> : (tensor<3x5xbf16>) -> tensor<3x5xbf16> loc("reduced"("model.py":9:0))
  %used = tv.copy %reduced on <device = 0> : (tensor<3x5xbf16>) -> tensor<3x5xf32> loc("used"("model.py":10:0)) // fixed
  %used = tv.copy %accumulator on <device = 0> : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("used"("model.py":10:0)) // wrong
  %u3 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":11:0))
  %u4 = tv.multiply %used, %u3 on <device = 0> : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("multiply"("model.py":12:0))
  %next0 = tv.subtract %w0, %u4 on <device = 0> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("next"("model.py":4:0))
  tv.expect %next0 is %next <[0:3 of 3], [0:5 of 5]> on <device = 0> contract <output "w.next"> : tensor<3x5xf32> is tensor<3x5xf32>
}
