// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The output of a fused projection is gathered. Each rank has queries, keys and values
// of its heads, so that gathering gives q0 k0 v0 q1 k1 v1 instead of all queries
// first.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'qkv' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: other value: the operands of 'fused output' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B104 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x4x3xf32>
  %x = tv.input <input "x"> : tensor<2x3xf32>
  %z = tv.einsum %x, %w {equation = "tk,pnk->tpn"} : (tensor<2x3xf32>, tensor<3x4x3xf32>) -> tensor<2x3x4xf32> loc("z"("model.py":1:0))
  %y = tv.reshape %z : (tensor<2x3x4xf32>) -> tensor<2x12xf32> loc("y"("model.py":2:0))
  %u0 = tv.distribute %x <[0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u1 = tv.distribute %w <[0:3 of 3], [0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<3x4x3xf32>) -> tensor<3x2x3xf32>
  %z_0 = tv.einsum %u0, %u1 on <device = 0> {equation = "tk,pnk->tpn"} : (tensor<2x3xf32>, tensor<3x2x3xf32>) -> tensor<2x3x2xf32> loc("z"("model.py":1:0))
  %u2 = tv.distribute %x <[0:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u3 = tv.distribute %w <[0:3 of 3], [2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<3x4x3xf32>) -> tensor<3x2x3xf32>
  %z_1 = tv.einsum %u2, %u3 on <device = 1> {equation = "tk,pnk->tpn"} : (tensor<2x3xf32>, tensor<3x2x3xf32>) -> tensor<2x3x2xf32> loc("z"("model.py":1:0))
  %flat_0 = tv.reshape %z_0 on <device = 0> : (tensor<2x3x2xf32>) -> tensor<2x6xf32> loc("fused output"("model.py":3:0)) // wrong
  %flat_1 = tv.reshape %z_1 on <device = 1> : (tensor<2x3x2xf32>) -> tensor<2x6xf32> loc("fused output"("model.py":3:0)) // wrong
  %all = tv.all_gather %flat_0, %flat_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x12xf32> loc("all_gather"("model.py":4:0)) // wrong
  %u4 = tv.all_gather %z_0, %z_1 on <device = 0:2> {dimension = 2 : i64} : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32> loc("all_gather"("model.py":4:0)) // fixed
  %all = tv.reshape %u4 on <device = 0:2> : (tensor<2x3x4xf32>) -> tensor<2x12xf32> loc("y"("model.py":2:0)) // fixed
  tv.expect %all is %y <[0:2 of 2], [0:12 of 12]> on <device = 0:2> contract <output "qkv"> : tensor<2x12xf32> is tensor<2x12xf32>
}
