// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// All-to-all attention for two samples. The wrong plan takes the parts as they come,
// source by source, for samples one after the other.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: model.py:6:0: note: wrong slice: on device 1 the operands of 'all_to_all' do not belong together: they are part [:, 0:2, 2:4, :] and part [:, 2:4, 2:4, :] of the reference tensors

tv.graph @B099 <device = 2> {
  %x = tv.input <input "x"> : tensor<2x4x4x2xf32>
  %w = tv.input <parameter "w"> : tensor<4x2xf32>
  // Samples, sequence, heads, features; by sequence before the all-to-all, by heads after it.
  %y = tv.multiply %x, %w : (tensor<2x4x4x2xf32>, tensor<4x2xf32>) -> tensor<2x4x4x2xf32> loc("y"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:2 of 2], [0:2 of 4], [0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<2x4x4x2xf32>) -> tensor<2x2x4x2xf32>
  %s_00 = tv.slice %x_0 on <device = 0> {dimension = 2 : i64, start = 0 : i64, end = 2 : i64} : (tensor<2x2x4x2xf32>) -> tensor<2x2x2x2xf32> loc("s_00"("model.py":2:0))
  %s_01 = tv.slice %x_0 on <device = 0> {dimension = 2 : i64, start = 2 : i64, end = 4 : i64} : (tensor<2x2x4x2xf32>) -> tensor<2x2x2x2xf32> loc("s_01"("model.py":3:0))
  %w_0 = tv.distribute %w <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %x_1 = tv.distribute %x <[0:2 of 2], [2:4 of 4], [0:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<2x4x4x2xf32>) -> tensor<2x2x4x2xf32>
  %s_10 = tv.slice %x_1 on <device = 1> {dimension = 2 : i64, start = 0 : i64, end = 2 : i64} : (tensor<2x2x4x2xf32>) -> tensor<2x2x2x2xf32> loc("s_10"("model.py":4:0))
  %s_11 = tv.slice %x_1 on <device = 1> {dimension = 2 : i64, start = 2 : i64, end = 4 : i64} : (tensor<2x2x4x2xf32>) -> tensor<2x2x2x2xf32> loc("s_11"("model.py":5:0))
  %w_1 = tv.distribute %w <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %u0 = tv.all_gather %s_00, %s_10 on <device = 0> {dimension = 0 : i64} : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<4x2x2x2xf32> loc("all_to_all"("model.py":6:0)) // wrong
  %a_0 = tv.reshape %u0 on <device = 0> : (tensor<4x2x2x2xf32>) -> tensor<2x4x2x2xf32> loc("layout"("model.py":7:0)) // wrong
  %a_0 = tv.all_gather %s_00, %s_10 on <device = 0> {dimension = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x4x2x2xf32> loc("all_to_all"("model.py":6:0)) // fixed
  %y_0 = tv.multiply %a_0, %w_0 on <device = 0> : (tensor<2x4x2x2xf32>, tensor<2x2xf32>) -> tensor<2x4x2x2xf32> loc("y"("model.py":1:0))
  tv.expect %y_0 is %y <[0:2 of 2], [0:4 of 4], [0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<2x4x2x2xf32> is tensor<2x4x4x2xf32>
  %u1 = tv.all_gather %s_01, %s_11 on <device = 1> {dimension = 0 : i64} : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<4x2x2x2xf32> loc("all_to_all"("model.py":6:0)) // wrong
  %a_1 = tv.reshape %u1 on <device = 1> : (tensor<4x2x2x2xf32>) -> tensor<2x4x2x2xf32> loc("layout"("model.py":7:0)) // wrong
  %a_1 = tv.all_gather %s_01, %s_11 on <device = 1> {dimension = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x4x2x2xf32> loc("all_to_all"("model.py":6:0)) // fixed
  %y_1 = tv.multiply %a_1, %w_1 on <device = 1> : (tensor<2x4x2x2xf32>, tensor<2x2xf32>) -> tensor<2x4x2x2xf32> loc("y"("model.py":1:0))
  tv.expect %y_1 is %y <[0:2 of 2], [0:4 of 4], [2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<2x4x2x2xf32> is tensor<2x4x4x2xf32>
}
