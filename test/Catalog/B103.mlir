// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A dimension that two axes divide, the inner one first: devices hold blocks 0, 2, 1,
// 3. An op forgets the order, and the result is gathered as 0, 1, 2, 3.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-3
// WRONG: model.py:6:0: note: other value: the operands of 'full_tensor' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B103 <device = 4> {
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %u0 = tv.exp %x : (tensor<8x3xf32>) -> tensor<8x3xf32> loc("exp"("model.py":1:0))
  %u1 = tv.reduce sum %u0 keep {dimensions = array<i64: 1>} : (tensor<8x3xf32>) -> tensor<8x1xf32> loc("reduce"("model.py":2:0))
  %y = tv.divide %u0, %u1 : (tensor<8x3xf32>, tensor<8x1xf32>) -> tensor<8x3xf32> loc("y"("model.py":3:0))
  %u2 = tv.distribute %x <[0:2 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %u3 = tv.exp %u2 on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0))
  %u4 = tv.reduce sum %u3 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":5:0))
  %y_0 = tv.divide %u3, %u4 on <device = 0> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("y"("model.py":3:0))
  %u5 = tv.distribute %x <[4:6 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %u6 = tv.exp %u5 on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0))
  %u7 = tv.reduce sum %u6 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":5:0))
  %y_1 = tv.divide %u6, %u7 on <device = 1> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("y"("model.py":3:0))
  %u8 = tv.distribute %x <[2:4 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %u9 = tv.exp %u8 on <device = 2> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0))
  %u10 = tv.reduce sum %u9 keep on <device = 2> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":5:0))
  %y_2 = tv.divide %u9, %u10 on <device = 2> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("y"("model.py":3:0))
  %u11 = tv.distribute %x <[6:8 of 8], [0:3 of 3]> on <device = 3> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %u12 = tv.exp %u11 on <device = 3> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp"("model.py":4:0))
  %u13 = tv.reduce sum %u12 keep on <device = 3> {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":5:0))
  %y_3 = tv.divide %u12, %u13 on <device = 3> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("y"("model.py":3:0))
  %all = tv.all_gather %y_0, %y_1, %y_2, %y_3 on <device = 0:4> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<8x3xf32> loc("full_tensor"("model.py":6:0)) // wrong
  %all = tv.all_gather %y_0, %y_2, %y_1, %y_3 on <device = 0:4> {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<8x3xf32> loc("full_tensor"("model.py":6:0)) // fixed
  tv.expect %all is %y <[0:8 of 8], [0:3 of 3]> on <device = 0:4> contract <output "y"> : tensor<8x3xf32> is tensor<8x3xf32>
}
