// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A sum over context-parallel ranks that a planner writes twice: the gradient is
// complete after the first.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG: model.py:3:0: note: extra sum: 'planned all_reduce' adds up over devices 0-1, but the value is complete before it

tv.graph @B018 <device = 2> {
  %w = tv.input <parameter "w"> : tensor<3x5xf32>
  %x = tv.input <input "x"> : tensor<8x5xf32>
  %dy = tv.input <input "dy"> : tensor<8x3xf32>
  %dw = tv.einsum %dy, %x {equation = "tn,tk->nk"} : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %x0 = tv.distribute %x <[0:4 of 8], [0:5 of 5]> on <device = 0> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy0 = tv.distribute %dy <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw0 = tv.einsum %dy0, %x0 on <device = 0> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %x1 = tv.distribute %x <[4:8 of 8], [0:5 of 5]> on <device = 1> : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %dy1 = tv.distribute %dy <[4:8 of 8], [0:3 of 3]> on <device = 1> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %dw1 = tv.einsum %dy1, %x1 on <device = 1> {equation = "tn,tk->nk"} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("dw"("model.py":1:0))
  %first = tv.all_reduce %dw0, %dw1 over [] on <device = 0:2> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("first"("model.py":2:0))
  tv.expect %first is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0:2> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // fixed
  %second = tv.all_reduce %first, %first over [] on <device = 0:2> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("planned all_reduce"("model.py":3:0)) // wrong
  tv.expect %second is %dw <[0:3 of 3], [0:5 of 5]> on <device = 0:2> contract <gradient "w"> : tensor<3x5xf32> is tensor<3x5xf32> // wrong
}
