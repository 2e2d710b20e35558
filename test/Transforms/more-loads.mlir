// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: grep -v '// right$' %s | not verify-opt --tv-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A plan that leaves out the batch that its reference has, and takes the next one.

// RIGHT: tv.answer = "proved"
// WRONG: error: 'tv.load_data' op loads more than 1 micro-batch on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @f on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %y = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %z : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %z = tv.call @f(%x) instance 0 : (tensor<4xf32>) -> tensor<f32>
    tv.output %z "y" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.segment @f on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %y = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %z : tensor<f32>
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32> // wrong
    %z = tv.call @f(%x0) instance 2 : (tensor<4xf32>) -> tensor<f32> // right
    %z = tv.call @f(%x1) instance 2 : (tensor<4xf32>) -> tensor<f32> // wrong
    tv.output %z "y" <8, []> : tensor<f32>
  }
}
