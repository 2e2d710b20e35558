// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: grep -v '// wrong$' %s | verify-opt --tv-interpret -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=VALUES --implicit-check-not=differs

// Twice the product of what two micro-batches give. The saved input of each product is of another micro-batch than
// its result, and so is each gradient than what it is the gradient of.

// RIGHT: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0
// VALUES: gradient 'w' {{.*}} equal

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<2x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %a = tv.multiply %x, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %s = tv.reduce sum %a {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xf32>
    %first = tv.slice %s {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2xf32>) -> tensor<1xf32>
    %second = tv.slice %s {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2xf32>) -> tensor<1xf32>
    %p = tv.multiply %first, %second : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %t = tv.add %p, %p : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %l = tv.reduce sum %t {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
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
    %s = tv.reduce sum %a {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    tv.save 0 from %w to %s : tensor<4xf32> to tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @product on 0 cell 5 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = tv.multiply %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.save 5 from %b to %p : tensor<f32> to tensor<f32>
    tv.return %p : tensor<f32>
  }
  tv.segment @product_backward on 0 cell 6 backward {
    %d = tv.seed : tensor<f32>
    %db = tv.backward %d of 5 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
    tv.return %db : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
  ^bb0(%d: tensor<f32>):
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0 = tv.call @forward(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @forward(%x1) instance 2 mirror 3 : (tensor<1x4xf32>) -> tensor<f32>
    %p0 = tv.call @product(%y0, %y1) instance 4 mirror 5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.output %p0 "loss" <2, []> : tensor<f32>
    %p1 = tv.call @product(%y1, %y0) instance 6 mirror 7 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.output %p1 "loss" <2, []> : tensor<f32>
    %b1 = tv.call @product_backward() instance 5 mirror 4 : () -> tensor<f32>
    %b0 = tv.call @product_backward() instance 7 mirror 6 : () -> tensor<f32>
    %d0 = tv.add %y1, %b0 : (tensor<f32>, tensor<f32>) -> tensor<f32> // right
    %d0 = tv.add %y1, %b1 : (tensor<f32>, tensor<f32>) -> tensor<f32> // wrong
    %d1 = tv.add %b1, %y0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.call @backward(%d0) instance 1 mirror 0 : (tensor<f32>) -> ()
    tv.call @backward(%d1) instance 3 mirror 2 : (tensor<f32>) -> ()
  }
}
