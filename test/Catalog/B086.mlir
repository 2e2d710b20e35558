// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Gradients of keys for a sequence that context-parallel ranks divide into two chunks
// each. The wrong plan cuts heads, of which there are as many, instead of chunks.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'k' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: other value: the operands of 'transpose' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B086 <device = 2> {
  %ds = tv.input <input "ds"> : tensor<2x4x2x3xf32>
  %q = tv.input <input "q"> : tensor<2x3xf32>
  %dk = tv.multiply %ds, %q : (tensor<2x4x2x3xf32>, tensor<2x3xf32>) -> tensor<2x4x2x3xf32> loc("dk"("model.py":1:0))
  %all_0 = tv.distribute %ds <[0:2 of 2], [0:4 of 4], [0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  %q_0 = tv.distribute %q <[0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %dk_0 = tv.multiply %all_0, %q_0 on <device = 0> : (tensor<2x4x2x3xf32>, tensor<2x3xf32>) -> tensor<2x4x2x3xf32> loc("dk"("model.py":1:0))
  %u0 = tv.slice %dk_0 on <device = 0> {dimension = 2 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32> loc("slice"("model.py":2:0)) // wrong
  %u1 = tv.transpose %u0 on <device = 0> {permutation = array<i64: 2, 1, 0, 3>} : (tensor<2x4x1x3xf32>) -> tensor<1x4x2x3xf32> loc("transpose"("model.py":3:0)) // wrong
  %own_0 = tv.reshape %u1 on <device = 0> : (tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32> loc("own"("model.py":4:0)) // wrong
  %own_0 = tv.slice %dk_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x4x2x3xf32>) -> tensor<1x4x2x3xf32> loc("own"("model.py":4:0)) // fixed
  tv.expect %own_0 is %dk <[0:1 of 2], [0:4 of 4], [0:2 of 2], [0:3 of 3]> on <device = 0> contract <gradient "k"> : tensor<1x4x2x3xf32> is tensor<2x4x2x3xf32>
  %all_1 = tv.distribute %ds <[0:2 of 2], [0:4 of 4], [0:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  %q_1 = tv.distribute %q <[0:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %dk_1 = tv.multiply %all_1, %q_1 on <device = 1> : (tensor<2x4x2x3xf32>, tensor<2x3xf32>) -> tensor<2x4x2x3xf32> loc("dk"("model.py":1:0))
  %u2 = tv.slice %dk_1 on <device = 1> {dimension = 2 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32> loc("slice"("model.py":2:0)) // wrong
  %u3 = tv.transpose %u2 on <device = 1> {permutation = array<i64: 2, 1, 0, 3>} : (tensor<2x4x1x3xf32>) -> tensor<1x4x2x3xf32> loc("transpose"("model.py":3:0)) // wrong
  %own_1 = tv.reshape %u3 on <device = 1> : (tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32> loc("own"("model.py":4:0)) // wrong
  %own_1 = tv.slice %dk_1 on <device = 1> {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x4x2x3xf32>) -> tensor<1x4x2x3xf32> loc("own"("model.py":4:0)) // fixed
  tv.expect %own_1 is %dk <[1:2 of 2], [0:4 of 4], [0:2 of 2], [0:3 of 3]> on <device = 1> contract <gradient "k"> : tensor<1x4x2x3xf32> is tensor<2x4x2x3xf32>
}
