// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Five layers of two kinds, three on the first stage and two on the second. The wrong
// plan takes the number of the first layer of a stage to be its rank times 5 / 2, so
// that the second stage has layers 2 and 3.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: model.py:4:0: note: other value: the operands of 'layer 3' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B079 <device = 2> {
  %x = tv.input <input "x"> : tensor<3x2xf32>
  %u0 = tv.silu %x : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 0"("model.py":1:0))
  %u1 = tv.tanh %u0 : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 1"("model.py":2:0))
  %u2 = tv.silu %u1 : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 2"("model.py":3:0))
  %u3 = tv.tanh %u2 : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 3"("model.py":4:0))
  %y = tv.tanh %u3 : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 4"("model.py":5:0))
  %u4 = tv.distribute %x <[0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %u5 = tv.silu %u4 on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 0"("model.py":1:0))
  %u6 = tv.tanh %u5 on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 1"("model.py":2:0))
  %u7 = tv.silu %u6 on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 2"("model.py":3:0))
  %u8 = tv.move %u7 from <device = 0> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("move"("model.py":6:0))
  %h3 = tv.silu %u8 on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 3"("model.py":4:0)) // wrong
  %h3 = tv.tanh %u8 on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 3"("model.py":4:0)) // fixed
  %h4 = tv.tanh %h3 on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 4"("model.py":5:0)) // wrong
  %h4 = tv.tanh %h3 on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("layer 4"("model.py":5:0)) // fixed
  tv.expect %h4 is %y <[0:3 of 3], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<3x2xf32>
}
