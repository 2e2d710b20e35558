// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Position factors for a sequence that context-parallel ranks divide. Their first
// dimension is the sequence; the wrong plan cuts the second, which has the same size.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: other value: the operands of 'rope' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B077 <device = 2> {
  %x = tv.input <input "x"> : tensor<4x4x2xf32>
  %rope = tv.input <input "rope"> : tensor<4x4x2xf32>
  %y = tv.multiply %x, %rope : (tensor<4x4x2xf32>, tensor<4x4x2xf32>) -> tensor<4x4x2xf32> loc("y"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:2 of 4], [0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x4x2xf32>) -> tensor<2x4x2xf32>
  %all_0 = tv.distribute %rope <[0:4 of 4], [0:4 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x4x2xf32>) -> tensor<4x4x2xf32>
  %u0 = tv.slice %all_0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4x2xf32>) -> tensor<4x2x2xf32> loc("slice"("model.py":2:0)) // wrong
  %rope_0 = tv.transpose %u0 on <device = 0> {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x2xf32>) -> tensor<2x4x2xf32> loc("rope"("model.py":3:0)) // wrong
  %rope_0 = tv.slice %all_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x4x2xf32>) -> tensor<2x4x2xf32> loc("rope"("model.py":3:0)) // fixed
  %y_0 = tv.multiply %x_0, %rope_0 on <device = 0> : (tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> tensor<2x4x2xf32> loc("y"("model.py":1:0))
  tv.expect %y_0 is %y <[0:2 of 4], [0:4 of 4], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<2x4x2xf32> is tensor<4x4x2xf32>
  %x_1 = tv.distribute %x <[2:4 of 4], [0:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x4x2xf32>) -> tensor<2x4x2xf32>
  %all_1 = tv.distribute %rope <[0:4 of 4], [0:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x4x2xf32>) -> tensor<4x4x2xf32>
  %u1 = tv.slice %all_1 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4x2xf32>) -> tensor<4x2x2xf32> loc("slice"("model.py":2:0)) // wrong
  %rope_1 = tv.transpose %u1 on <device = 1> {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x2xf32>) -> tensor<2x4x2xf32> loc("rope"("model.py":3:0)) // wrong
  %rope_1 = tv.slice %all_1 on <device = 1> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x4x2xf32>) -> tensor<2x4x2xf32> loc("rope"("model.py":3:0)) // fixed
  %y_1 = tv.multiply %x_1, %rope_1 on <device = 1> : (tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> tensor<2x4x2xf32> loc("y"("model.py":1:0))
  tv.expect %y_1 is %y <[2:4 of 4], [0:4 of 4], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<2x4x2xf32> is tensor<4x4x2xf32>
}
