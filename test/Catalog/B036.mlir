// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A broadcast in the group of devices 2 and 3. Its source is number 0 of the group,
// which is device 2; the wrong plan takes device 0.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 2-3
// WRONG: model.py:2:0: note: wrong slice: on devices 2-3 the value is part [0:4, :] of the reference tensor, part [4:8, :] is expected; it was sent by device 0

tv.graph @B036 <device = 4> {
  %x = tv.input <input "x"> : tensor<8x3xf32>
  %y = tv.exp %x : (tensor<8x3xf32>) -> tensor<8x3xf32> loc("y"("model.py":1:0))
  %x_0 = tv.distribute %x <[0:4 of 8], [0:3 of 3]> on <device = 0> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %y_0 = tv.exp %x_0 on <device = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %x_2 = tv.distribute %x <[4:8 of 8], [0:3 of 3]> on <device = 2> : (tensor<8x3xf32>) -> tensor<4x3xf32>
  %y_2 = tv.exp %x_2 on <device = 2> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %same = tv.move %y_0 from <device = 0> on <device = 2:4> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("broadcast"("model.py":2:0)) // wrong
  %same = tv.move %y_2 from <device = 2> on <device = 2:4> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("broadcast"("model.py":2:0)) // fixed
  tv.expect %same is %y <[4:8 of 8], [0:3 of 3]> on <device = 2:4> contract <output "y"> : tensor<4x3xf32> is tensor<8x3xf32>
  tv.expect %y_0 is %y <[0:4 of 8], [0:3 of 3]> on <device = 0> contract <output "y"> : tensor<4x3xf32> is tensor<8x3xf32>
}
