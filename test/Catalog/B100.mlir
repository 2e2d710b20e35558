// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Context parallelism gathers keys along the sequence. The wrong plan names another
// dimension, so it gathers heads; both have the same size after the layer has merged
// them.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'scores' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: wrong slice: on devices 0-1 the operands of 'all_gather' do not belong together: they are part [0:2, :, :] and part [2:4, :, :] of the reference tensors

tv.graph @B100 <device = 2> {
  %q = tv.input <input "q"> : tensor<4x2x2xf32>
  %k = tv.input <input "k"> : tensor<4x2x2xf32>
  // Sequence, heads, features.
  %flat = tv.reshape %k : (tensor<4x2x2xf32>) -> tensor<8x2xf32> loc("flat"("model.py":1:0))
  %s = tv.einsum %q, %flat {equation = "ihd,jd->ihj"} : (tensor<4x2x2xf32>, tensor<8x2xf32>) -> tensor<4x2x8xf32> loc("s"("model.py":2:0))
  %q_0 = tv.distribute %q <[0:2 of 4], [0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %k_0 = tv.distribute %k <[0:2 of 4], [0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %q_1 = tv.distribute %q <[2:4 of 4], [0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %k_1 = tv.distribute %k <[2:4 of 4], [0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %u0 = tv.all_gather %k_0, %k_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x4x2xf32> loc("all_gather"("model.py":3:0)) // wrong
  %keys = tv.reshape %u0 on <device = 0:2> : (tensor<2x4x2xf32>) -> tensor<8x2xf32> loc("merge"("model.py":4:0)) // wrong
  %u1 = tv.all_gather %k_0, %k_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<4x2x2xf32> loc("all_gather"("model.py":3:0)) // fixed
  %keys = tv.reshape %u1 on <device = 0:2> : (tensor<4x2x2xf32>) -> tensor<8x2xf32> loc("merge"("model.py":4:0)) // fixed
  %s_0 = tv.einsum %q_0, %keys on <device = 0> {equation = "ihd,jd->ihj"} : (tensor<2x2x2xf32>, tensor<8x2xf32>) -> tensor<2x2x8xf32> loc("s"("model.py":2:0))
  tv.expect %s_0 is %s <[0:2 of 4], [0:2 of 2], [0:8 of 8]> on <device = 0> contract <output "scores"> : tensor<2x2x8xf32> is tensor<4x2x8xf32>
  %s_1 = tv.einsum %q_1, %keys on <device = 1> {equation = "ihd,jd->ihj"} : (tensor<2x2x2xf32>, tensor<8x2xf32>) -> tensor<2x2x8xf32> loc("s"("model.py":2:0))
  tv.expect %s_1 is %s <[2:4 of 4], [0:2 of 2], [0:8 of 8]> on <device = 1> contract <output "scores"> : tensor<2x2x8xf32> is tensor<4x2x8xf32>
}
