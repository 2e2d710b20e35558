// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A product whose contracted dimension is divided over four devices, for one operand
// in the order 0 2 1 3. The rule that accepts both pairs blocks that do not belong
// together.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-3
// WRONG: model.py:1:0: note: wrong slice: on device 1 the operands of 'y' do not belong together: they are part [:, 4:6] and part [2:4, :] of the reference tensors

tv.graph @B102 <device = 4> {
  %a = tv.input <input "a"> : tensor<3x8xf32>
  %b = tv.input <input "b"> : tensor<8x2xf32>
  %y = tv.einsum %a, %b {equation = "mk,kn->mn"} : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32> loc("y"("model.py":1:0))
  %a_0 = tv.distribute %a <[0:3 of 3], [0:2 of 8]> on <device = 0> : (tensor<3x8xf32>) -> tensor<3x2xf32>
  %b_0 = tv.distribute %b <[0:2 of 8], [0:2 of 2]> on <device = 0> : (tensor<8x2xf32>) -> tensor<2x2xf32> // wrong
  %b_0 = tv.distribute %b <[0:2 of 8], [0:2 of 2]> on <device = 0> : (tensor<8x2xf32>) -> tensor<2x2xf32> // fixed
  %y_0 = tv.einsum %a_0, %b_0 on <device = 0> {equation = "mk,kn->mn"} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("y"("model.py":1:0))
  %a_1 = tv.distribute %a <[0:3 of 3], [4:6 of 8]> on <device = 1> : (tensor<3x8xf32>) -> tensor<3x2xf32>
  %b_1 = tv.distribute %b <[2:4 of 8], [0:2 of 2]> on <device = 1> : (tensor<8x2xf32>) -> tensor<2x2xf32> // wrong
  %b_1 = tv.distribute %b <[4:6 of 8], [0:2 of 2]> on <device = 1> : (tensor<8x2xf32>) -> tensor<2x2xf32> // fixed
  %y_1 = tv.einsum %a_1, %b_1 on <device = 1> {equation = "mk,kn->mn"} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("y"("model.py":1:0))
  %a_2 = tv.distribute %a <[0:3 of 3], [2:4 of 8]> on <device = 2> : (tensor<3x8xf32>) -> tensor<3x2xf32>
  %b_2 = tv.distribute %b <[4:6 of 8], [0:2 of 2]> on <device = 2> : (tensor<8x2xf32>) -> tensor<2x2xf32> // wrong
  %b_2 = tv.distribute %b <[2:4 of 8], [0:2 of 2]> on <device = 2> : (tensor<8x2xf32>) -> tensor<2x2xf32> // fixed
  %y_2 = tv.einsum %a_2, %b_2 on <device = 2> {equation = "mk,kn->mn"} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("y"("model.py":1:0))
  %a_3 = tv.distribute %a <[0:3 of 3], [6:8 of 8]> on <device = 3> : (tensor<3x8xf32>) -> tensor<3x2xf32>
  %b_3 = tv.distribute %b <[6:8 of 8], [0:2 of 2]> on <device = 3> : (tensor<8x2xf32>) -> tensor<2x2xf32> // wrong
  %b_3 = tv.distribute %b <[6:8 of 8], [0:2 of 2]> on <device = 3> : (tensor<8x2xf32>) -> tensor<2x2xf32> // fixed
  %y_3 = tv.einsum %a_3, %b_3 on <device = 3> {equation = "mk,kn->mn"} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("y"("model.py":1:0))
  %all = tv.all_reduce %y_0, %y_1, %y_2, %y_3 over [] on <device = 0:4> : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("all"("model.py":2:0))
  tv.expect %all is %y <[0:3 of 3], [0:2 of 2]> on <device = 0:4> contract <output "y"> : tensor<3x2xf32> is tensor<3x2xf32>
}
