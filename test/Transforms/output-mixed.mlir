// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two terms of an output that ops made of both micro-batches: both are said to be of the first one.

// RIGHT: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %z = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.output %z "y" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %s = tv.add %x0, %x1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %a = tv.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %d = tv.subtract %x0, %x0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> // right
    %d = tv.subtract %x0, %x1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> // wrong
    %b = tv.reshape %d : (tensor<1xf32>) -> tensor<f32>
    tv.output %a "y" <8, []> : tensor<f32>
    tv.output %b "y" <8, []> : tensor<f32>
  }
}
