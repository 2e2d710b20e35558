// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Ring attention with explicit positions. Queries, keys and segments are divided over
// the sequence; in the wrong plan the positions of the queries are those of the first
// part on every device.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: model.py:4:0: note: wrong slice: on device 1 the operands of 'multiply' do not belong together: they are part [2:4, :] and part [0:2, :] of the reference tensors

tv.graph @B037 <device = 2> {
  %q = tv.input <input "q"> : tensor<4x3xf32>
  %k = tv.input <input "k"> : tensor<4x3xf32>
  %value = tv.input <input "value"> : tensor<4x2xf32>
  %position = tv.input <input "position"> : tensor<4xi64>
  %u0 = tv.einsum %q, %k {equation = "id,jd->ij"} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32> loc("einsum"("model.py":1:0))
  %u1 = tv.reshape %position : (tensor<4xi64>) -> tensor<1x4xi64> loc("reshape"("model.py":2:0))
  %u2 = tv.reshape %position : (tensor<4xi64>) -> tensor<4x1xi64> loc("reshape"("model.py":2:0))
  %u3 = tv.compare less_equal %u1, %u2 : (tensor<1x4xi64>, tensor<4x1xi64>) -> tensor<4x4xf32> loc("compare"("model.py":3:0))
  %u4 = tv.multiply %u0, %u3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("multiply"("model.py":4:0))
  %y = tv.einsum %u4, %value {equation = "ij,jd->id"} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("y"("model.py":5:0))
  %q_0 = tv.distribute %q <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %k_0 = tv.distribute %k <[0:4 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %value_0 = tv.distribute %value <[0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %all_0 = tv.distribute %position <[0:4 of 4]> on <device = 0> : (tensor<4xi64>) -> tensor<4xi64>
  %position_0 = tv.distribute %position <[0:2 of 4]> on <device = 0> : (tensor<4xi64>) -> tensor<2xi64> // wrong
  %position_0 = tv.distribute %position <[0:2 of 4]> on <device = 0> : (tensor<4xi64>) -> tensor<2xi64> // fixed
  %u5 = tv.einsum %q_0, %k_0 on <device = 0> {equation = "id,jd->ij"} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32> loc("einsum"("model.py":1:0))
  %u6 = tv.reshape %all_0 on <device = 0> : (tensor<4xi64>) -> tensor<1x4xi64> loc("reshape"("model.py":2:0))
  %u7 = tv.reshape %position_0 on <device = 0> : (tensor<2xi64>) -> tensor<2x1xi64> loc("reshape"("model.py":2:0))
  %u8 = tv.compare less_equal %u6, %u7 on <device = 0> : (tensor<1x4xi64>, tensor<2x1xi64>) -> tensor<2x4xf32> loc("compare"("model.py":3:0))
  %u9 = tv.multiply %u5, %u8 on <device = 0> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("multiply"("model.py":4:0))
  %y_0 = tv.einsum %u9, %value_0 on <device = 0> {equation = "ij,jd->id"} : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("y"("model.py":5:0))
  tv.expect %y_0 is %y <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<2x2xf32> is tensor<4x2xf32>
  %q_1 = tv.distribute %q <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %k_1 = tv.distribute %k <[0:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %value_1 = tv.distribute %value <[0:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %all_1 = tv.distribute %position <[0:4 of 4]> on <device = 1> : (tensor<4xi64>) -> tensor<4xi64>
  %position_1 = tv.distribute %position <[0:2 of 4]> on <device = 1> : (tensor<4xi64>) -> tensor<2xi64> // wrong
  %position_1 = tv.distribute %position <[2:4 of 4]> on <device = 1> : (tensor<4xi64>) -> tensor<2xi64> // fixed
  %u10 = tv.einsum %q_1, %k_1 on <device = 1> {equation = "id,jd->ij"} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32> loc("einsum"("model.py":1:0))
  %u11 = tv.reshape %all_1 on <device = 1> : (tensor<4xi64>) -> tensor<1x4xi64> loc("reshape"("model.py":2:0))
  %u12 = tv.reshape %position_1 on <device = 1> : (tensor<2xi64>) -> tensor<2x1xi64> loc("reshape"("model.py":2:0))
  %u13 = tv.compare less_equal %u11, %u12 on <device = 1> : (tensor<1x4xi64>, tensor<2x1xi64>) -> tensor<2x4xf32> loc("compare"("model.py":3:0))
  %u14 = tv.multiply %u10, %u13 on <device = 1> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("multiply"("model.py":4:0))
  %y_1 = tv.einsum %u14, %value_1 on <device = 1> {equation = "ij,jd->id"} : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("y"("model.py":5:0))
  tv.expect %y_1 is %y <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<2x2xf32> is tensor<4x2xf32>
}
