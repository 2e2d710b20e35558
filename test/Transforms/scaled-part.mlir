// RUN: not verify-opt --tv-verify-equiv %s -o /dev/null 2>&1 | FileCheck %s

// Parts of a product are multiples of each other. The value is said to be a multiple of the part that it
// should be.

// CHECK: error: result of this op differs from the reference on device 1
// CHECK-NEXT: %q = tv.linear %y, %v
// CHECK: note: wrong scale factor: the value is 2 times that of the reference

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @v on 0 "v" holds <3, [0:2 of 2, 0:1 of 1]> : !tv.buffer<tensor<2x1xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4x1xf32>):
    %v = tv.read @v : tensor<2x1xf32>
    %q = tv.linear %x, %v {tv.piece = #tv.piece<5, [0:4 of 4, 0:2 of 2]>} : (tensor<4x1xf32>, tensor<2x1xf32>) -> tensor<4x2xf32>
    %e = tv.exp %q {tv.piece = #tv.piece<6, [0:4 of 4, 0:2 of 2]>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %s = tv.reduce sum %e {dimensions = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:1 of 1]>] : tensor<4x1xf32>
    %s = tv.call @forward(%x) instance 2 : (tensor<4x1xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @v0 on 0 "v" holds <3, [0:1 of 2, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @v1 on 1 "v" holds <3, [1:2 of 2, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<4x1xf32>):
    %v = tv.read @v0 : tensor<1x1xf32>
    %q = tv.linear %x, %v {tv.piece = #tv.piece<5, [0:4 of 4, 0:1 of 2]>} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
    %e = tv.exp %q {tv.piece = #tv.piece<6, [0:4 of 4, 0:1 of 2]>} : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %p = tv.reduce sum %e {dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<f32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<4x1xf32>):
    %c = tv.constant dense<2.0> : tensor<f32> : () -> tensor<f32>
    %y = tv.multiply %x, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %v = tv.read @v1 : tensor<1x1xf32>
    %q = tv.linear %y, %v {tv.piece = #tv.piece<5, [0:4 of 4, 1:2 of 2]>} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
    %e = tv.exp %q {tv.piece = #tv.piece<6, [0:4 of 4, 1:2 of 2]>} : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %p = tv.reduce sum %e {dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<f32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:1 of 1]>] : tensor<4x1xf32>
    %s = tv.call @forward0(%x) instance 2 : (tensor<4x1xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:1 of 1]>] : tensor<4x1xf32>
    %s = tv.call @forward1(%x) instance 2 : (tensor<4x1xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
}
