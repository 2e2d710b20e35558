// RUN: grep -v '// half$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// whole$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s

// Two operands that are one value of the graph, one of no micro-batch, one of all: the derivative with respect
// to one of them is not that with respect to both.

// PROVED: tv.answer = "proved"
// CHECK: error: gradient of 'w' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @s on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r0 = tv.random "dropout" <7, [0:4 of 4]> like %w : tensor<4xf32> -> tensor<4xf32>
    %r1 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
    %m = tv.multiply %r0, %r1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 4 from %r0, %r1 to %m : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    %p = tv.multiply %x, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %y, %x : tensor<f32>, tensor<4xf32>
  }
  tv.segment @b on 0 cell 3 backward {
  ^bb0(%g: tensor<4xf32>):
    %dr = tv.backward %g of 4 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dr, @dw : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %y, %g = tv.call @s(%x) instance 2 mirror 3 : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    tv.call @b(%g) instance 3 mirror 2 : (tensor<4xf32>) -> ()
    tv.output %y "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @s on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r0 = tv.random "dropout" <7, [0:4 of 4]> like %w : tensor<4xf32> -> tensor<4xf32>
    %r1 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
    %m = tv.multiply %r0, %r1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 4 from %r0, %r1 to %m : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    %p = tv.multiply %x, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %y, %x : tensor<f32>, tensor<4xf32>
  }
  tv.segment @b on 0 cell 3 backward {
  ^bb0(%g: tensor<4xf32>):
    %dr = tv.backward %g of 4 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %h = tv.constant dense<0.5> : tensor<f64> : () -> tensor<4xf32> // half
    %g2 = tv.multiply %dr, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // half
    tv.add_to %g2, @dw : tensor<4xf32> // half
    tv.add_to %dr, @dw : tensor<4xf32> // whole
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %y, %g = tv.call @s(%x) instance 2 mirror 3 : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    tv.call @b(%g) instance 3 mirror 2 : (tensor<4xf32>) -> ()
    tv.output %y "loss" <8, []> : tensor<f32>
  }
}
