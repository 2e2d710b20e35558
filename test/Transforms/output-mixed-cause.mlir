// RUN: not verify-opt --tv-verify-equiv %s -o /dev/null 2>&1 | FileCheck %s

// Terms of an output that are made of several micro-batches are said to be of one, and that is not what is wrong:
// one of them has a value twice.

// CHECK: error: output 'y' differs from the reference on device 0
// CHECK: note: extra sum: 'tv.add' adds a value on device 0 that is in the sum already: it counts twice; without it the value is right

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2]>] : tensor<2xf32>
    %z = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.output %z "y" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %s0 = tv.add %x0, %x1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %s = tv.add %s0, %x1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %a = tv.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %d = tv.subtract %x0, %x0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %b = tv.reshape %d : (tensor<1xf32>) -> tensor<f32>
    tv.output %a "y" <8, []> : tensor<f32>
    tv.output %b "y" <8, []> : tensor<f32>
  }
}
