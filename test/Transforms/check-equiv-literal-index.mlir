// RUN: not verify-opt --tv-check-equiv -split-input-file %s 2>&1 | FileCheck %s

// An index that a constant or arithmetic makes names a position of its own: it
// must never be taken for data that may be permuted.

// CHECK: error: stage 'other_row' is not proved
tv.stage @other_row <dp = 2> expects array<i64: 3>(%w: tensor<1024xf32>) {
  %a = tv.constant dense<500> : tensor<i64> : () -> tensor<4xi64>
  %ha = tv.one_hot %a {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x1024xf32>
  %pa = tv.multiply %ha, %w : (tensor<4x1024xf32>, tensor<1024xf32>) -> tensor<4x1024xf32>
  %w2 = tv.distribute %w <[0:1024 of 1024]> on <> : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = tv.constant dense<501> : tensor<i64> on <> : () -> tensor<4xi64>
  %hb = tv.one_hot %b on <> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x1024xf32>
  %pb = tv.multiply %hb, %w2 on <> : (tensor<4x1024xf32>, tensor<1024xf32>) -> tensor<4x1024xf32>
  tv.expect %pb is %pa <[0:4 of 4], [0:1024 of 1024]> on <> : tensor<4x1024xf32> is tensor<4x1024xf32>
}
