// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: verify-opt %s --tv-canonicalize-ssa | FileCheck %s --check-prefix=INPUTS
// RUN: sed '/^  tv.plan @plan/,$s/tv.add %%1, %%t/tv.subtract %%1, %%t/' %s | not verify-opt --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=WRONG

// Two replicas that each read as many rows as the reference read different ones
// (assumption A22 of docs/Soundness.md). An input that is no batch, because its first
// dimension has another size, is the same for all.

// CHECK: tv.answer = "proved"
// INPUTS: tv.input <input "x"> : tensor<4x3xf32>
// INPUTS: tv.input <input "t"> : tensor<3xf32>
// WRONG: error: output 'loss' differs

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.buffer @w on 0 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<2x3xf32>, %t: tensor<3xf32>):
      %0 = tv.read @w : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %2 = tv.add %1, %t : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %4 = tv.reduce sum %2 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
      tv.return %4 : tensor<f32>
    }
    tv.program 0 {
      %0, %t = tv.load_data cell 1 ["x", "t"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>, #tv.piece<5, [0:3 of 3]>] : tensor<2x3xf32>, tensor<3xf32>
      %1 = tv.call @forward(%0, %t) instance 2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
  tv.plan @plan <dp = 2, device = 1, mb = 1> {
    tv.buffer @w0 on 0 "w" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<2x3xf32>, %t: tensor<3xf32>):
      %0 = tv.read @w0 : tensor<3xf32>
      %1 = tv.multiply %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %2 = tv.add %1, %t : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %4 = tv.reduce sum %2 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
      tv.return %4 : tensor<f32>
    }
    tv.program 0 {
      %0, %t = tv.load_data cell 1 ["x", "t"] holds [#tv.piece<2, [0:2 of 2, 0:3 of 3]>, #tv.piece<5, [0:3 of 3]>] : tensor<2x3xf32>, tensor<3xf32>
      %1 = tv.call @forward(%0, %t) instance 2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
}
