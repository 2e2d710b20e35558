// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv -o /dev/null
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s

// Two values of one shape are sent in another order than they are received.

// CHECK: model.py:9:0: error: result of this op differs from the reference on device 1
// CHECK: note: wrong operand: what 'tv.move' receives from device 0 is the result of 'tv.exp' of the reference, which has the result of 'tv.tanh' there

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %a = tv.tanh %x {tv.piece = #tv.piece<2, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
    %b = tv.exp %x {tv.piece = #tv.piece<3, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":8:0)
    %c = tv.subtract %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %c "y" <4, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %a = tv.tanh %x {tv.piece = #tv.piece<2, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
    %b = tv.exp %x {tv.piece = #tv.piece<3, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":8:0)
    tv.send %a to 1 : tensor<4xf32> // right
    tv.send %b to 1 : tensor<4xf32>
    tv.send %a to 1 : tensor<4xf32> // wrong
  }
  tv.program 1 {
    %a = tv.receive from 0 {tv.piece = #tv.piece<2, [0:4 of 4]>} : tensor<4xf32> loc("model.py":9:0)
    %b = tv.receive from 0 {tv.piece = #tv.piece<3, [0:4 of 4]>} : tensor<4xf32> loc("model.py":9:0)
    %c = tv.subtract %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %c "y" <4, [0:4 of 4]> : tensor<4xf32>
  }
}
