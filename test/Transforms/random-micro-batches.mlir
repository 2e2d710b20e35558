// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s --check-prefix=RIGHT
// RUN: verify-opt --tv-interpret %s -o /dev/null | FileCheck %s --check-prefix=VALUES
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Where micro-batches divide what is drawn like a parameter, it is drawn for the one that its segment is executed
// for.

// RIGHT: tv.answer = "proved"
// VALUES: gradient 'p' {{.*}} equal
// WRONG: error: gradient of 'p' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @p on 0 "p" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "p" holds <3, [0:4 of 4]> gradient_of @p : !tv.buffer<tensor<4xf32>>
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<2x4xf32>):
    %p = tv.read @p : tensor<4xf32>
    %e = tv.broadcast %p {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>
    %r = tv.random "dropout" <14, [0:2 of 2, 0:4 of 4]> like %e : tensor<2x4xf32> -> tensor<2x4xf32>
    %d = tv.multiply %e, %r : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t = tv.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
    %m = tv.reduce sum %d {dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
    %l = tv.add %t, %m : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.save 0 from %p to %e : tensor<4xf32> to tensor<2x4xf32>
    tv.save 1 from %e to %d : tensor<2x4xf32> to tensor<2x4xf32>
    tv.save 3 from %d to %m : tensor<2x4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @b on 0 cell 1 backward {
    %g = tv.seed : tensor<f32>
    %gs = tv.backward %g of 3 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<2x4xf32>
    %ge = tv.backward %gs of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %gp = tv.backward %ge of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
    tv.add_to %gp, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:2 of 2, 0:4 of 4]>] : tensor<2x4xf32>
    %y = tv.call @f(%x) instance 0 mirror 1 : (tensor<2x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @b() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.buffer @p on 0 "p" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "p" holds <3, [0:4 of 4]> gradient_of @p : !tv.buffer<tensor<4xf32>>
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<1x4xf32>):
    %p = tv.read @p : tensor<4xf32>
    %e = tv.broadcast %p {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<1x4xf32>
    %r = tv.random "dropout" <14, [0:1 of 1, 0:4 of 4]> like %e : tensor<1x4xf32> -> tensor<1x4xf32>
    %d = tv.multiply %e, %r : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %t = tv.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    %m = tv.reduce sum %d {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    %l = tv.add %t, %m : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.save 0 from %p to %e : tensor<4xf32> to tensor<1x4xf32>
    tv.save 1 from %e to %d : tensor<1x4xf32> to tensor<1x4xf32>
    tv.save 3 from %d to %m : tensor<1x4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @b on 0 cell 1 backward {
    %g = tv.seed : tensor<f32>
    %gs = tv.backward %g of 3 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<1x4xf32>
    %ge = tv.backward %gs of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %gp = tv.backward %ge of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
    tv.add_to %gp, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0 = tv.call @f(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @f(%x1) instance 2 mirror 3 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
    tv.call @b() instance 1 mirror 0 : () -> ()
    tv.call @b() instance 13 mirror 2 : () -> () // right
  }
}
