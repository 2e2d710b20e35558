// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Dropout before a layer that two ranks divide. The mask has to be the same on both;
// the wrong plan draws one for each. That masks differ between replicas that should be
// independent is not seen.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: model.py:1:0: note: wrong operand: operand 2 of 'dropout' is 'second_mask' of the reference, which has 'mask' there

tv.graph @B141 <device = 2> {
  %x = tv.input <input "x"> : tensor<4x5xf32>
  %w = tv.input <parameter "w"> : tensor<6x5xf32>
  %mask = tv.input <random "mask"> : tensor<4x5xf32>
  %second_mask = tv.input <random "second_mask"> : tensor<4x5xf32>
  %u0 = tv.multiply %x, %mask : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dropout"("model.py":1:0))
  %y = tv.linear %u0, %w : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x6xf32> loc("y"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %w_0 = tv.distribute %w <[0:3 of 6], [0:5 of 5]> on <device = 0> : (tensor<6x5xf32>) -> tensor<3x5xf32>
  %m_0 = tv.distribute %mask <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32> // wrong
  %m_0 = tv.distribute %mask <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32> // fixed
  %u1 = tv.multiply %x_0, %m_0 on <device = 0> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dropout"("model.py":1:0))
  %y_0 = tv.linear %u1, %w_0 on <device = 0> : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x3xf32> loc("y"("model.py":2:0))
  tv.expect %y_0 is %y <[0:4 of 4], [0:3 of 6]> on <device = 0> contract <output "y"> : tensor<4x3xf32> is tensor<4x6xf32>
  %x_1 = tv.distribute %x <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %w_1 = tv.distribute %w <[3:6 of 6], [0:5 of 5]> on <device = 1> : (tensor<6x5xf32>) -> tensor<3x5xf32>
  %m_1 = tv.distribute %second_mask <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32> // wrong
  %m_1 = tv.distribute %mask <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32> // fixed
  %u2 = tv.multiply %x_1, %m_1 on <device = 1> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("dropout"("model.py":1:0))
  %y_1 = tv.linear %u2, %w_1 on <device = 1> : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x3xf32> loc("y"("model.py":2:0))
  tv.expect %y_1 is %y <[0:4 of 4], [3:6 of 6]> on <device = 1> contract <output "y"> : tensor<4x3xf32> is tensor<4x6xf32>
}
