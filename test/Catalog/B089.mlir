// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// An update of three rows at a given row, which is moved so that the update fits. Rows
// are divided over two devices; the wrong plan finds out which device owns a row from
// the row before it was moved.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 0
// WRONG: model.py:4:0: note: wrong operand: operand 1 of 'reshape' is 'start' of the reference, which has the result of 'minimum' there

tv.graph @B089 <device = 2> {
  %x = tv.input <input "x"> : tensor<6xf32>
  %u = tv.input <input "u"> : tensor<3xf32>
  %start = tv.input <input "start"> : tensor<i64>
  %u0 = tv.constant dense<0> : tensor<i64> : () -> tensor<i64> loc("constant"("model.py":1:0))
  %u1 = tv.constant dense<3> : tensor<i64> : () -> tensor<i64> loc("constant"("model.py":1:0))
  %u2 = tv.maximum %start, %u0 : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("maximum"("model.py":2:0))
  %u3 = tv.minimum %u2, %u1 : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("minimum"("model.py":3:0))
  %u4 = tv.reshape %u3 : (tensor<i64>) -> tensor<1x1xi64> loc("reshape"("model.py":4:0))
  %u5 = tv.constant dense<[[0], [1], [2], [3], [4], [5]]> : tensor<6x1xi64> : () -> tensor<6x1xi64> loc("constant"("model.py":5:0))
  %u6 = tv.constant dense<[[0, 1, 2]]> : tensor<1x3xi64> : () -> tensor<1x3xi64> loc("constant"("model.py":6:0))
  %u7 = tv.add %u4, %u6 : (tensor<1x1xi64>, tensor<1x3xi64>) -> tensor<1x3xi64> loc("add"("model.py":7:0))
  %u8 = tv.compare equal %u5, %u7 : (tensor<6x1xi64>, tensor<1x3xi64>) -> tensor<6x3xf32> loc("compare"("model.py":8:0))
  %u9 = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":9:0))
  %u10 = tv.reduce sum %u8 {dimensions = array<i64: 1>} : (tensor<6x3xf32>) -> tensor<6xf32> loc("reduce"("model.py":10:0))
  %u11 = tv.subtract %u9, %u10 : (tensor<f32>, tensor<6xf32>) -> tensor<6xf32> loc("subtract"("model.py":11:0))
  %u12 = tv.multiply %x, %u11 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> loc("multiply"("model.py":12:0))
  %u13 = tv.einsum %u8, %u {equation = "ij,j->i"} : (tensor<6x3xf32>, tensor<3xf32>) -> tensor<6xf32> loc("einsum"("model.py":13:0))
  %y = tv.add %u12, %u13 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> loc("y"("model.py":14:0))
  %x_0 = tv.distribute %x <[0:3 of 6]> on <device = 0> : (tensor<6xf32>) -> tensor<3xf32>
  %u_0 = tv.distribute %u <[0:3 of 3]> on <device = 0> : (tensor<3xf32>) -> tensor<3xf32>
  %start_0 = tv.distribute %start <> on <device = 0> : (tensor<i64>) -> tensor<i64>
  %at_0 = tv.copy %start_0 on <device = 0> : (tensor<i64>) -> tensor<i64> loc("at"("model.py":15:0)) // wrong
  %u14 = tv.constant dense<0> : tensor<i64> on <device = 0> : () -> tensor<i64> loc("constant"("model.py":1:0)) // fixed
  %u15 = tv.constant dense<3> : tensor<i64> on <device = 0> : () -> tensor<i64> loc("constant"("model.py":1:0)) // fixed
  %u16 = tv.maximum %start_0, %u14 on <device = 0> : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("maximum"("model.py":2:0)) // fixed
  %at_0 = tv.minimum %u16, %u15 on <device = 0> : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("at"("model.py":15:0)) // fixed
  %u17 = tv.reshape %at_0 on <device = 0> : (tensor<i64>) -> tensor<1x1xi64> loc("reshape"("model.py":4:0))
  %u18 = tv.constant dense<[[0], [1], [2]]> : tensor<3x1xi64> on <device = 0> : () -> tensor<3x1xi64> loc("constant"("model.py":5:0))
  %u19 = tv.constant dense<[[0, 1, 2]]> : tensor<1x3xi64> on <device = 0> : () -> tensor<1x3xi64> loc("constant"("model.py":6:0))
  %u20 = tv.add %u17, %u19 on <device = 0> : (tensor<1x1xi64>, tensor<1x3xi64>) -> tensor<1x3xi64> loc("add"("model.py":7:0))
  %u21 = tv.compare equal %u18, %u20 on <device = 0> : (tensor<3x1xi64>, tensor<1x3xi64>) -> tensor<3x3xf32> loc("compare"("model.py":8:0))
  %u22 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":9:0))
  %u23 = tv.reduce sum %u21 on <device = 0> {dimensions = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3xf32> loc("reduce"("model.py":10:0))
  %u24 = tv.subtract %u22, %u23 on <device = 0> : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32> loc("subtract"("model.py":11:0))
  %u25 = tv.multiply %x_0, %u24 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("multiply"("model.py":12:0))
  %u26 = tv.einsum %u21, %u_0 on <device = 0> {equation = "ij,j->i"} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("einsum"("model.py":13:0))
  %y_0 = tv.add %u25, %u26 on <device = 0> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("y"("model.py":14:0))
  tv.expect %y_0 is %y <[0:3 of 6]> on <device = 0> contract <output "y"> : tensor<3xf32> is tensor<6xf32>
  %x_1 = tv.distribute %x <[3:6 of 6]> on <device = 1> : (tensor<6xf32>) -> tensor<3xf32>
  %u_1 = tv.distribute %u <[0:3 of 3]> on <device = 1> : (tensor<3xf32>) -> tensor<3xf32>
  %start_1 = tv.distribute %start <> on <device = 1> : (tensor<i64>) -> tensor<i64>
  %at_1 = tv.copy %start_1 on <device = 1> : (tensor<i64>) -> tensor<i64> loc("at"("model.py":15:0)) // wrong
  %u27 = tv.constant dense<0> : tensor<i64> on <device = 1> : () -> tensor<i64> loc("constant"("model.py":1:0)) // fixed
  %u28 = tv.constant dense<3> : tensor<i64> on <device = 1> : () -> tensor<i64> loc("constant"("model.py":1:0)) // fixed
  %u29 = tv.maximum %start_1, %u27 on <device = 1> : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("maximum"("model.py":2:0)) // fixed
  %at_1 = tv.minimum %u29, %u28 on <device = 1> : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("at"("model.py":15:0)) // fixed
  %u30 = tv.reshape %at_1 on <device = 1> : (tensor<i64>) -> tensor<1x1xi64> loc("reshape"("model.py":4:0))
  %u31 = tv.constant dense<[[3], [4], [5]]> : tensor<3x1xi64> on <device = 1> : () -> tensor<3x1xi64> loc("constant"("model.py":5:0))
  %u32 = tv.constant dense<[[0, 1, 2]]> : tensor<1x3xi64> on <device = 1> : () -> tensor<1x3xi64> loc("constant"("model.py":6:0))
  %u33 = tv.add %u30, %u32 on <device = 1> : (tensor<1x1xi64>, tensor<1x3xi64>) -> tensor<1x3xi64> loc("add"("model.py":7:0))
  %u34 = tv.compare equal %u31, %u33 on <device = 1> : (tensor<3x1xi64>, tensor<1x3xi64>) -> tensor<3x3xf32> loc("compare"("model.py":8:0))
  %u35 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":9:0))
  %u36 = tv.reduce sum %u34 on <device = 1> {dimensions = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3xf32> loc("reduce"("model.py":10:0))
  %u37 = tv.subtract %u35, %u36 on <device = 1> : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32> loc("subtract"("model.py":11:0))
  %u38 = tv.multiply %x_1, %u37 on <device = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("multiply"("model.py":12:0))
  %u39 = tv.einsum %u34, %u_1 on <device = 1> {equation = "ij,j->i"} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("einsum"("model.py":13:0))
  %y_1 = tv.add %u38, %u39 on <device = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("y"("model.py":14:0))
  tv.expect %y_1 is %y <[3:6 of 6]> on <device = 1> contract <output "y"> : tensor<3xf32> is tensor<6xf32>
}
