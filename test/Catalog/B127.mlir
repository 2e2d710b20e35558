// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Three parameters in a flat buffer of gradients; the second has no gradient in this
// step. The rank that leaves it out has the third in its place.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'flat' differs from the reference on device 1
// WRONG: model.py:2:0: note: other value: the operands of 'flat' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B127 <device = 2> {
  %da = tv.input <input "da"> : tensor<2xf32>
  %dc = tv.input <input "dc"> : tensor<2xf32>
  %zero = tv.constant dense<0.0> : tensor<f64> : () -> tensor<2xf32> loc("zero"("model.py":1:0))
  %flat = tv.concat %da, %zero, %dc {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32> loc("flat"("model.py":2:0))
  // Device 1 owns elements 3 to 6 of the flat buffer of 6.
  %a_1 = tv.distribute %da <[0:2 of 2]> on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  %c_1 = tv.distribute %dc <[0:2 of 2]> on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  %zero_1 = tv.constant dense<0.0> : tensor<f64> on <device = 1> : () -> tensor<2xf32> loc("zero"("model.py":1:0))
  %flat_1 = tv.concat %a_1, %c_1, %zero_1 on <device = 1> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32> loc("flat"("model.py":2:0)) // wrong
  %flat_1 = tv.concat %a_1, %zero_1, %c_1 on <device = 1> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32> loc("flat"("model.py":2:0)) // fixed
  %part_1 = tv.slice %flat_1 on <device = 1> {dimension = 0 : i64, start = 3 : i64, end = 6 : i64} : (tensor<6xf32>) -> tensor<3xf32> loc("part"("model.py":3:0))
  tv.expect %part_1 is %flat <[3:6 of 6]> on <device = 1> contract <gradient "flat"> : tensor<3xf32> is tensor<6xf32>
}
