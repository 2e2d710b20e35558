// RUN: verify-opt --tv-interpret=seed=2 --tv-interpret=seed=3 --tv-verify-equiv %s > %t
// RUN: FileCheck %s --check-prefix=RIGHT --input-file=%t
// RUN: sed 's/@f(%u, %x1) instance 1/@f(%u, %x0) instance 1/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A draw that micro-batches do not divide is of no micro-batch, also in an execution of one: what is drawn like it
// elsewhere is of the micro-batch of that execution.

// RIGHT-COUNT-2: output 'loss' {{.*}} equal
// RIGHT: tv.answer = "proved"
// WRONG: error: output 'loss' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:2 of 2]> : !tv.buffer<tensor<2xf32>>
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<2x2xf32>):
    %w = tv.read @w : tensor<2xf32>
    %u = tv.random "dropout" <15, [0:2 of 2]> like %w : tensor<2xf32> -> tensor<2xf32>
    %r = tv.random "dropout" <14, [0:2 of 2, 0:2 of 2]> like %x : tensor<2x2xf32> -> tensor<2x2xf32>
    %m0 = tv.multiply %x, %r : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %m = tv.multiply %m0, %u : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %l = tv.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:2 of 2, 0:2 of 2]>] : tensor<2x2xf32>
    %y = tv.call @f(%x) instance 0 : (tensor<2x2xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:2 of 2]> : !tv.buffer<tensor<2xf32>>
  tv.segment @u on 0 cell 5 {
  ^bb0(%x: tensor<1x2xf32>):
    %w = tv.read @w : tensor<2xf32>
    %u = tv.random "dropout" <15, [0:2 of 2]> like %w : tensor<2xf32> -> tensor<2xf32>
    tv.return %u : tensor<2xf32>
  }
  tv.segment @f on 0 cell 0 {
  ^bb0(%u: tensor<2xf32>, %x: tensor<1x2xf32>):
    %b = tv.broadcast %u {dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<1x2xf32>
    %r = tv.random "dropout" <14, [0:1 of 1, 0:2 of 2]> like %b : tensor<1x2xf32> -> tensor<1x2xf32>
    %m0 = tv.multiply %x, %r : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %m = tv.multiply %m0, %b : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %l = tv.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<1x2xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:2 of 2]>] : tensor<1x2xf32>
    %u = tv.call @u(%x0) instance 8 : (tensor<1x2xf32>) -> tensor<2xf32>
    %y0 = tv.call @f(%u, %x0) instance 0 : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:2 of 2]>] : tensor<1x2xf32>
    %y1 = tv.call @f(%u, %x1) instance 1 : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
  }
}
