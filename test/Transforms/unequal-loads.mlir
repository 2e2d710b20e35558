// RUN: not verify-opt %s --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: sed '/second load/d' %s | sed 's/mb = 2/mb = 1/' | verify-opt --tv-verify-equiv -o /dev/null

// There are as many micro-batches as the most loads of a device. What is said of a device that
// loads less leads to the one that loads once too often.

// CHECK: error: {{.*}}device 0 gives output 'loss' for 1 of 2 micro-batches
// CHECK: [[#@LINE+42]]:{{[0-9]+}}: note: device 1 loads 2 times, device 0 only 1

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.buffer @w0 on 0 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<2x3xf32>):
      %0 = tv.read @w0 : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>] : tensor<2x3xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<2x3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
  tv.plan @plan <dp = 1, device = 2, mb = 2> {
    tv.buffer @w on 0 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.buffer @v on 1 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @left on 0 cell 2 {
    ^bb0(%x: tensor<2x3xf32>):
      %0 = tv.read @w : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.segment @right on 1 cell 2 {
    ^bb0(%x: tensor<2x3xf32>):
      %0 = tv.read @v : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>] : tensor<2x3xf32>
      %1 = tv.call @left(%0) instance 2 : (tensor<2x3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
    tv.program 1 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>] : tensor<2x3xf32>
      %2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>] : tensor<2x3xf32> // second load
      %1 = tv.call @right(%0) instance 2 : (tensor<2x3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
}
