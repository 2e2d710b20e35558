// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A segment that takes what it gave itself: the product that it computes again is its second operand, and
// has a gradient of its own all the same.

// RIGHT: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = tv.multiply %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %c : tensor<4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %c : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @S1 on 0 cell 100 {
  ^bb0(%x: tensor<4xf32>, %m: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = tv.multiply %a, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = tv.reduce sum %b {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 110 from %x, %m, %w to %a, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> to tensor<4xf32>, tensor<f32>
    tv.return %a, %c : tensor<4xf32>, tensor<f32>
  }
  tv.segment @Bc1 on 0 cell 150 backward {
    %d = tv.seed : tensor<f32>
    %dm, %dw = tv.backward %d of 110 {outputs = array<i64: 1>, wrt = array<i64: 1, 2>} : (tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    tv.add_to %dw, @g : tensor<4xf32> // right
    tv.return %dm : tensor<4xf32>
  }
  tv.segment @Ba1 on 0 cell 160 backward {
  ^bb0(%d: tensor<4xf32>):
    %dw = tv.backward %d of 110 {outputs = array<i64: 0>, wrt = array<i64: 2>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %r:2 = tv.call @S1(%x, %x) instance 0 mirror 1 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
    %s:2 = tv.call @S1(%x, %r#0) instance 2 mirror 3 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
    tv.output %s#1 "loss" <2, []> : tensor<f32>
    %dm = tv.call @Bc1() instance 3 mirror 2 : () -> tensor<4xf32>
    tv.call @Ba1(%dm) instance 1 mirror 0 : (tensor<4xf32>) -> ()
  }
}
