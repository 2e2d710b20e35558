// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// What a segment is given is given, whatever it was made of: of the gradient of a cube, of which two factors
// are an argument on device 1, it gives a third, which is added three times.
// On device 0 they are none, and the values are the same.

// RIGHT: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %w, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = tv.multiply %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = tv.multiply %b, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
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
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %w, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = tv.multiply %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = tv.multiply %b, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
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
  tv.buffer @w1 on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g1 on 1 "w" holds <3, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.segment @first1 on 1 cell 2 {
    %w = tv.read @w1 : tensor<4xf32>
    %a = tv.multiply %w, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.return %a : tensor<4xf32>
  }
  tv.segment @forward1 on 1 cell 0 {
  ^bb0(%x: tensor<4xf32>, %a: tensor<4xf32>):
    %w = tv.read @w1 : tensor<4xf32>
    %b = tv.multiply %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = tv.multiply %b, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %c : tensor<4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %c : tensor<f32>
  }
  tv.segment @backward1 on 1 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g1 : tensor<4xf32>
    tv.add_to %dw, @g1 : tensor<4xf32> // right
    tv.add_to %dw, @g1 : tensor<4xf32> // right
    tv.return
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %a = tv.call @first1() instance 5 : () -> tensor<4xf32>
    %y = tv.call @forward1(%x, %a) instance 0 mirror 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward1() instance 1 mirror 0 : () -> ()
  }
}
