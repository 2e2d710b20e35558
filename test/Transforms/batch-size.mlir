// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/\[0:1 of 1, 0:3 of 3\]/[0:2 of 2, 0:3 of 3]/; s/1x3x/2x3x/g' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=EIGHT
// RUN: sed 's/^      %%0 = tv.read @w0 /%%s = tv.slice %%x {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n%%0 = tv.read @w0 /; s/^      %%1 = tv.multiply %%x, %%0 : (tensor<2/%%1 = tv.multiply %%s, %%0 : (tensor<2/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: sed 's/^      %%2 = tv.reduce sum %%1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/%%t = tv.transpose %%1 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>\n%%r = tv.descending_rank %%t : (tensor<3x2xf32>) -> tensor<3x2xi64>\n%%h = tv.one_hot %%r {start = 0 : i64} : (tensor<3x2xi64>) -> tensor<3x2x1xf32>\n%%2 = tv.reduce sum %%h {dimensions = array<i64: 0, 1, 2>} : (tensor<3x2x1xf32>)/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: sed 's/^      %%2 = tv.reduce sum/%%2 = tv.reduce average/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=AVERAGE
// RUN: sed 's/^      %%2 = tv.reduce sum %%1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/%%o = tv.constant dense<1.0> : tensor<f64> : () -> tensor<2xf32>\n%%n = tv.reduce sum %%o {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>\n%%m = tv.multiply %%1, %%n : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n%%2 = tv.reduce sum %%m {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: sed 's/^      %%2 = tv.reduce sum %%1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/%%o = tv.iota {start = 0 : i64, step = 1 : i64} : () -> tensor<2xf32>\n%%n = tv.reduce sum %%o {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>\n%%m = tv.multiply %%1, %%n : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n%%2 = tv.reduce sum %%m {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: sed 's/^      %%2 = tv.reduce sum %%1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/%%k = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32>\n%%o = tv.broadcast %%k {dimensions = array<i64>} : (tensor<f32>) -> tensor<2xf32>\n%%n = tv.reduce sum %%o {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>\n%%m = tv.multiply %%1, %%n : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n%%2 = tv.reduce sum %%m {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>)/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: sed 's/\[0:2 of 2, 0:3 of 3\]/[0:1 of 1, 0:3 of 3]/; s/2x3x/1x3x/g' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=ONE

// A reference traced with two rows, a plan that reads four in all. Nothing in
// the model depends on the number of rows, so it is the same model; a model that
// takes the first two rows, or compares rows with each other, is not. An average over
// the rows of each micro-batch is not the average over all of them. A tensor that is
// created may have one number for each row. One row looks like a row for all others.

// CHECK: tv.answer = "proved"
// CHECK-SAME: tv.assumptions = ["the reference holds for any batch size: input \22x\22 is taken as tensor<4x3xf32> instead of tensor<2x3xf32>"]
// EIGHT: input \22x\22 is taken as tensor<8x3xf32>
// FIXED: error: the reference program does not belong to this plan: input 'x' is 'tensor<2x3xf32>' there
// COUNTED: error: the reference has another number of samples than the plan, and cannot be taken with as many
// ONE: [[#@LINE+9]]:{{[0-9]+}}: error: the reference has as many samples as one of the 4 replicas and micro-batches of the plan
// AVERAGE: error: output 'loss' differs

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
  tv.plan @plan <dp = 2, device = 1, mb = 2> {
    tv.buffer @w on 0 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<1x3xf32>):
      %0 = tv.read @w : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
      %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<1x3xf32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:3 of 3]>] : tensor<1x3xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<1x3xf32>) -> tensor<f32>
      %2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:3 of 3]>] : tensor<1x3xf32>
      %3 = tv.call @forward(%2) instance 3 : (tensor<1x3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
      tv.output %3 "loss" <8, []> : tensor<f32>
    }
  }
}
