// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s
// RUN: verify-opt --pass-pipeline='builtin.module(tv-canonicalize-ssa{fold-ranks=true},tv-check-equiv)' %s | FileCheck %s
// RUN: sed 's/tv.assumption = "w is positive"/tv.assumption/' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=UNIT

// What a frontend assumed of a plan is said once, and that it did, however it says so.

// CHECK: tv.answer = "proved"
// CHECK-SAME: tv.assumptions = ["data is sorted", "w is positive"]
// UNIT: tv.assumptions = ["data is sorted", "what the frontend does not say in words"]

tv.plan @reference <dp = 1, device = 1, mb = 1> attributes {tv.assumption = "data is sorted"} {
  tv.segment @s on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @s(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> attributes {tv.assumption = "w is positive"} {
  tv.segment @s on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @s(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
