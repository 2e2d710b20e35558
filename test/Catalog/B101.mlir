// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A layout that names the dimension before a transpose where the one after it is
// meant. It harms only who reads it: here the output is gathered along it.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:4:0: note: wrong slice: on devices 0-1 the operands of 'gather' do not belong together: they are part [:, 0:2] and part [:, 2:4] of the reference tensors

tv.graph @B101 <device = 2> {
  %x = tv.input <input "x"> : tensor<4x4xf32>
  %u0 = tv.silu %x : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("silu"("model.py":1:0))
  %y = tv.transpose %u0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("y"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:2 of 4], [0:4 of 4]> on <device = 0> : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %u1 = tv.silu %x_0 on <device = 0> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("silu"("model.py":3:0))
  %y_0 = tv.transpose %u1 on <device = 0> {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32> loc("y"("model.py":2:0))
  %x_1 = tv.distribute %x <[2:4 of 4], [0:4 of 4]> on <device = 1> : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %u2 = tv.silu %x_1 on <device = 1> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("silu"("model.py":3:0))
  %y_1 = tv.transpose %u2 on <device = 1> {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32> loc("y"("model.py":2:0))
  %raw = tv.all_gather %y_0, %y_1 on <device = 0:2> {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32> loc("gather"("model.py":4:0)) // wrong
  %all = tv.reshape %raw on <device = 0:2> : (tensor<8x2xf32>) -> tensor<4x4xf32> loc("output"("model.py":5:0)) // wrong
  %all = tv.all_gather %y_0, %y_1 on <device = 0:2> {dimension = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("gather"("model.py":4:0)) // fixed
  tv.expect %all is %y <[0:4 of 4], [0:4 of 4]> on <device = 0:2> contract <output "y"> : tensor<4x4xf32> is tensor<4x4xf32>
}
