// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Differences and quotients of divided tensors. The wrong plan exchanges the operands.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'difference' differs from the reference on devices 0-1
// WRONG: note: wrong scale factor: the value is -1 times that of the reference

tv.graph @B107 <device = 2> {
  %a = tv.input <input "a"> : tensor<4x2xf32>
  %b = tv.input <input "b"> : tensor<4x2xf32>
  %c = tv.input <input "c"> : tensor<4x2xf32>
  %e = tv.exp %b : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("e"("model.py":1:0))
  %diff = tv.subtract %a, %c : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("diff"("model.py":2:0))
  %quot = tv.divide %diff, %e : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("quot"("model.py":3:0))
  %a_0 = tv.distribute %a <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %b_0 = tv.distribute %b <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %c_0 = tv.distribute %c <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %e_0 = tv.exp %b_0 on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("e"("model.py":1:0))
  %diff_0 = tv.subtract %c_0, %a_0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("diff"("model.py":2:0)) // wrong
  %diff_0 = tv.subtract %a_0, %c_0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("diff"("model.py":2:0)) // fixed
  %quot_0 = tv.divide %diff_0, %e_0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("quot"("model.py":3:0))
  tv.expect %diff_0 is %diff <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "difference"> : tensor<2x2xf32> is tensor<4x2xf32>
  tv.expect %quot_0 is %quot <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "quotient"> : tensor<2x2xf32> is tensor<4x2xf32>
  %a_1 = tv.distribute %a <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %b_1 = tv.distribute %b <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %c_1 = tv.distribute %c <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %e_1 = tv.exp %b_1 on <device = 1> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("e"("model.py":1:0))
  %diff_1 = tv.subtract %c_1, %a_1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("diff"("model.py":2:0)) // wrong
  %diff_1 = tv.subtract %a_1, %c_1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("diff"("model.py":2:0)) // fixed
  %quot_1 = tv.divide %diff_1, %e_1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("quot"("model.py":3:0))
  tv.expect %diff_1 is %diff <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "difference"> : tensor<2x2xf32> is tensor<4x2xf32>
  tv.expect %quot_1 is %quot <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "quotient"> : tensor<2x2xf32> is tensor<4x2xf32>
}
