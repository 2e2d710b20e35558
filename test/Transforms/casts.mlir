// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/tv.copy %n : (tensor<4xbf16>)/tv.exp %n : (tensor<4xbf16>)/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER

// Over the reals a cast between floating-point types keeps the value. Casts are counted;
// a copy is none.

// CHECK: tv.statistics = {
// CHECK-SAME: plan_casts = 2 : i64
// CHECK-SAME: reference_casts = 0 : i64
// OTHER: error: output 'y' differs

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %y "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %c = tv.copy %x : (tensor<4xf32>) -> tensor<4xf32>
    %h = tv.copy %c : (tensor<4xf32>) -> tensor<4xbf16>
    %n = tv.negate %h : (tensor<4xbf16>) -> tensor<4xbf16>
    %y = tv.copy %n : (tensor<4xbf16>) -> tensor<4xf32>
    tv.output %y "y" <3, [0:4 of 4]> : tensor<4xf32>
  }
}
