// RUN: not verify-opt %s --tv-check-schedule 2>&1 | FileCheck %s
// RUN: verify-opt %s --tv-check-schedule=checks=progress | FileCheck %s --check-prefix=PART

// What checks nothing proves nothing.

// CHECK: error: has no schedule to check: no tv.plan but the reference
// PART: tv.plan @reference
tv.plan @reference <device = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    tv.return %x : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, []> : tensor<4xf32>
  }
}
