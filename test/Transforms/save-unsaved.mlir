// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The derivative of a product of two micro-batches by one of them, where the other one is not saved, is the
// other one.

// RIGHT: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<2x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %x, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = tv.reduce sum %a {dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %l : tensor<2x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:2 of 2, 0:4 of 4]>] : tensor<2x4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<2x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<1x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %x, %w : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
    %l = tv.reduce sum %a {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %l : tensor<1x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.segment @product on 0 cell 5 {
  ^bb0(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>):
    %y = tv.multiply %a, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %s = tv.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    tv.save 5 from %a to %s : tensor<1x4xf32> to tensor<f32>
    tv.return
  }
  tv.segment @other on 0 cell 6 backward {
    %d = tv.seed : tensor<f32>
    %da = tv.backward %d of 5 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<1x4xf32>
    %dw = tv.reduce sum %da {dimensions = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %l0 = tv.call @forward(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %l0 "loss" <2, []> : tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %l1 = tv.call @forward(%x1) instance 2 mirror 3 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %l1 "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 3 mirror 2 : () -> ()
    tv.call @product(%x1, %x0) instance 4 mirror 5 : (tensor<1x4xf32>, tensor<1x4xf32>) -> () // right
    tv.call @product(%x1, %x1) instance 4 mirror 5 : (tensor<1x4xf32>, tensor<1x4xf32>) -> () // wrong
    tv.call @other() instance 5 mirror 4 : () -> ()
  }
}
