// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/%double to 1/%once to 1/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/instance 9 mirror 10/instance 7 mirror 10/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/instance 7 mirror 8/instance 5 mirror 8/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN-FIRST
// RUN: sed 's/instance 10 mirror 9/instance 10 mirror 7/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=MIRROR

// Three micro-batches run one segment on one loaded value each. In the middle it
// receives a factor, which is another one in the second micro-batch: what it has
// saved until then is its own, and so is all that follows.

// CHECK: tv.answer = "proved"
// OTHER: error: {{.*}} differs
// AGAIN: error: 'tv.save' op runs twice in execution 7
// AGAIN-FIRST: error: 'tv.save' op runs twice in execution 5
// MIRROR: error: {{.*}}differs

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:1 of 1, 0:1 of 1]> gradient_of @w : !tv.buffer<tensor<1x1xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<3x1xf32>):
    %w = tv.read @w : tensor<1x1xf32>
    %s = tv.linear %x, %w : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
    tv.save 4 from %x, %w to %s : tensor<3x1xf32>, tensor<1x1xf32> to tensor<3x1xf32>
    %r = tv.constant dense<[[1.0], [2.0], [1.0]]> : tensor<3x1xf32> : () -> tensor<3x1xf32>
    %t = tv.multiply %s, %r : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %y = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<3x1xf32>) -> tensor<f32>
    tv.save 5 from %s, %r to %y : tensor<3x1xf32>, tensor<3x1xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%g: tensor<f32>):
    %ds = tv.backward %g of 5 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<3x1xf32>
    %d = tv.backward %ds of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x1xf32>) -> tensor<1x1xf32>
    tv.add_to %d, @dw : tensor<1x1xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3, 0:1 of 1]>] : tensor<3x1xf32>
    %y = tv.call @forward(%x) instance 2 mirror 3 : (tensor<3x1xf32>) -> tensor<f32>
    %g = tv.seed : tensor<f32>
    tv.call @backward(%g) instance 3 mirror 2 : (tensor<f32>) -> ()
    tv.output %y "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.buffer @w on 1 "w" holds <3, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dw on 1 "w" holds <3, [0:1 of 1, 0:1 of 1]> gradient_of @w : !tv.buffer<tensor<1x1xf32>>
  tv.segment @factors on 0 cell 1 {
    %once = tv.constant dense<1.0> : tensor<1x1xf32> : () -> tensor<1x1xf32>
    %double = tv.constant dense<2.0> : tensor<1x1xf32> : () -> tensor<1x1xf32>
    tv.send %once to 1 : tensor<1x1xf32>
    tv.send %double to 1 : tensor<1x1xf32>
    tv.send %once to 1 : tensor<1x1xf32>
    tv.return
  }
  tv.segment @forward on 1 cell 2 {
  ^bb0(%x: tensor<1x1xf32>):
    %w = tv.read @w : tensor<1x1xf32>
    %s = tv.linear %x, %w : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    tv.save 4 from %x, %w to %s : tensor<1x1xf32>, tensor<1x1xf32> to tensor<1x1xf32>
    %r = tv.receive from 0 : tensor<1x1xf32>
    %t = tv.multiply %s, %r : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %y = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<f32>
    tv.save 5 from %s, %r to %y : tensor<1x1xf32>, tensor<1x1xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 1 cell 3 backward {
  ^bb0(%g: tensor<f32>):
    %ds = tv.backward %g of 5 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<1x1xf32>
    %d = tv.backward %ds of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<1x1xf32>) -> tensor<1x1xf32>
    tv.add_to %d, @dw : tensor<1x1xf32>
    tv.return
  }
  tv.program 0 {
    tv.call @factors() instance 1 : () -> ()
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %y0 = tv.call @forward(%x0) instance 5 mirror 6 : (tensor<1x1xf32>) -> tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %y1 = tv.call @forward(%x1) instance 7 mirror 8 : (tensor<1x1xf32>) -> tensor<f32>
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %y2 = tv.call @forward(%x2) instance 9 mirror 10 : (tensor<1x1xf32>) -> tensor<f32>
    %g = tv.seed : tensor<f32>
    tv.call @backward(%g) instance 6 mirror 5 : (tensor<f32>) -> ()
    tv.call @backward(%g) instance 8 mirror 7 : (tensor<f32>) -> ()
    tv.call @backward(%g) instance 10 mirror 9 : (tensor<f32>) -> ()
    tv.output %y0 "loss" <8, []> : tensor<f32>
    tv.output %y1 "loss" <8, []> : tensor<f32>
    tv.output %y2 "loss" <8, []> : tensor<f32>
  }
}
