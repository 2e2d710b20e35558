// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Four layers on two stages with a constant that depends on the number of the layer.
// The wrong plan counts the layers of the second stage from one too early.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 1
// WRONG: note: wrong scale factor: the value is 1/2 times that of the reference

tv.graph @B078 <device = 2> {
  %x = tv.input <input "x"> : tensor<3x2xf32>
  %w0 = tv.input <parameter "w0"> : tensor<2x2xf32>
  %u0 = tv.linear %x, %w0 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 0"("model.py":1:0))
  %u1 = tv.constant dense<0.1> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u2 = tv.multiply %u0, %u1 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 0"("model.py":3:0))
  %w1 = tv.input <parameter "w1"> : tensor<2x2xf32>
  %u3 = tv.linear %u2, %w1 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 1"("model.py":4:0))
  %u4 = tv.constant dense<0.2> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u5 = tv.multiply %u3, %u4 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 1"("model.py":5:0))
  %w2 = tv.input <parameter "w2"> : tensor<2x2xf32>
  %u6 = tv.linear %u5, %w2 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 2"("model.py":6:0))
  %u7 = tv.constant dense<0.3> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %u8 = tv.multiply %u6, %u7 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 2"("model.py":7:0))
  %w3 = tv.input <parameter "w3"> : tensor<2x2xf32>
  %u9 = tv.linear %u8, %w3 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 3"("model.py":8:0))
  %u10 = tv.constant dense<0.4> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":2:0))
  %y = tv.multiply %u9, %u10 : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 3"("model.py":9:0))
  %u11 = tv.distribute %x <[0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %u12 = tv.distribute %w0 <[0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u13 = tv.linear %u11, %u12 on <device = 0> : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 0"("model.py":1:0))
  %u14 = tv.constant dense<0.1> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0))
  %u15 = tv.multiply %u13, %u14 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 0"("model.py":3:0))
  %u16 = tv.distribute %w1 <[0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u17 = tv.linear %u15, %u16 on <device = 0> : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 1"("model.py":4:0))
  %u18 = tv.constant dense<0.2> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":10:0))
  %u19 = tv.multiply %u17, %u18 on <device = 0> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 1"("model.py":5:0))
  %u20 = tv.move %u19 from <device = 0> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("move"("model.py":11:0))
  %u21 = tv.distribute %w2 <[0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u22 = tv.linear %u20, %u21 on <device = 1> : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 2"("model.py":6:0))
  %u23 = tv.constant dense<0.2> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":12:0)) // wrong
  %h2 = tv.multiply %u22, %u23 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 2"("model.py":7:0)) // wrong
  %u24 = tv.constant dense<0.3> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":12:0)) // fixed
  %h2 = tv.multiply %u22, %u24 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 2"("model.py":7:0)) // fixed
  %u25 = tv.distribute %w3 <[0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u26 = tv.linear %h2, %u25 on <device = 1> : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("layer 3"("model.py":8:0))
  %u27 = tv.constant dense<0.3> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":12:0)) // wrong
  %h3 = tv.multiply %u26, %u27 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 3"("model.py":9:0)) // wrong
  %u28 = tv.constant dense<0.4> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":12:0)) // fixed
  %h3 = tv.multiply %u26, %u28 on <device = 1> : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32> loc("scale 3"("model.py":9:0)) // fixed
  tv.expect %h3 is %y <[0:3 of 3], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<3x2xf32>
}
