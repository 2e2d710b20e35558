// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// twice$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/like %w/like %z/; s/like %x/like %w/; s/like %z/like %x/' %s > %t.exchanged
// RUN: verify-opt --tv-verify-equiv %t.exchanged | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// twice$' %t.exchanged | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s

// What is drawn like a parameter is of no micro-batch, what is drawn like data is of one; both are one value
// of the graph, and both are added to the gradient, in either order.

// PROVED: tv.answer = "proved"
// CHECK: error: gradient of 'w' differs from the reference on device 0
// CHECK: is added twice on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @s on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r0 = tv.random "dropout" <7, [0:4 of 4]> like %w : tensor<4xf32> -> tensor<4xf32> // twice
    tv.add_to %r0, @dw : tensor<4xf32> // twice
    %r1 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
    tv.add_to %r1, @dw : tensor<4xf32>
    %w2 = tv.read @w : tensor<4xf32>
    %p = tv.multiply %x, %w2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @s(%x) instance 2 : (tensor<4xf32>) -> tensor<f32>
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
    tv.add_to %r0, @dw : tensor<4xf32>
    %r1 = tv.random "dropout" <7, [0:4 of 4]> like %x : tensor<4xf32> -> tensor<4xf32>
    tv.add_to %r1, @dw : tensor<4xf32>
    %w2 = tv.read @w : tensor<4xf32>
    %p = tv.multiply %x, %w2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @s(%x) instance 2 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <8, []> : tensor<f32>
  }
}
