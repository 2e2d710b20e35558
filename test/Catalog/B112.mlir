// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A cumulative sum along a dimension that two devices divide. The second needs the sum
// of what the first has.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: model.py:2:0: note: wrong slice: on device 1 the operands of 'cumulative sum' do not belong together: they are part [3:6, :] and part [0:3, 0:3] of the reference tensors

tv.graph @B112 <device = 2> {
  %x = tv.input <input "x"> : tensor<6x2xf32>
  %tri = tv.lower_triangle : () -> tensor<6x6xf32> loc("tri"("model.py":1:0))
  %y = tv.einsum %x, %tri {equation = "nk,mn->mk"} : (tensor<6x2xf32>, tensor<6x6xf32>) -> tensor<6x2xf32> loc("cumulative sum"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:3 of 6], [0:2 of 2]> on <device = 0> : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %tri_0 = tv.lower_triangle on <device = 0> : () -> tensor<3x3xf32> loc("tri"("model.py":1:0))
  %y_0 = tv.einsum %x_0, %tri_0 on <device = 0> {equation = "nk,mn->mk"} : (tensor<3x2xf32>, tensor<3x3xf32>) -> tensor<3x2xf32> loc("cumulative sum"("model.py":2:0))
  %x_1 = tv.distribute %x <[3:6 of 6], [0:2 of 2]> on <device = 1> : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %tri_1 = tv.lower_triangle on <device = 1> : () -> tensor<3x3xf32> loc("tri"("model.py":1:0))
  %y_1 = tv.einsum %x_1, %tri_1 on <device = 1> {equation = "nk,mn->mk"} : (tensor<3x2xf32>, tensor<3x3xf32>) -> tensor<3x2xf32> loc("cumulative sum"("model.py":2:0))
  tv.expect %y_0 is %y <[0:3 of 6], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<3x2xf32> is tensor<6x2xf32>
  %u0 = tv.reduce sum %x_0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<2xf32> loc("reduce"("model.py":3:0)) // fixed
  %carry = tv.move %u0 from <device = 0> on <device = 1> : (tensor<2xf32>) -> tensor<2xf32> loc("carry"("model.py":4:0)) // fixed
  %carried = tv.add %y_1, %carry on <device = 1> : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("carried"("model.py":5:0)) // fixed
  tv.expect %carried is %y <[3:6 of 6], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<6x2xf32> // fixed
  tv.expect %y_1 is %y <[3:6 of 6], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<6x2xf32> // wrong
}
