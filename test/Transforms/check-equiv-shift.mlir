// RUN: not verify-opt --tv-check-equiv -split-input-file %s 2>&1 | FileCheck %s

// A dimension that is related to itself at an offset: each position leads to the next one.
// Where these are too many the answer is unknown.

// CHECK-NOT: stage 'short'
tv.stage @short <dp = 2> expects array<i64: 0>(%x: tensor<1000xf32>) {
  %a = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 999 : i64} : (tensor<1000xf32>) -> tensor<999xf32>
  %b = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 1000 : i64} : (tensor<1000xf32>) -> tensor<999xf32>
  %s = tv.add %a, %b : (tensor<999xf32>, tensor<999xf32>) -> tensor<999xf32>
  %x2 = tv.distribute %x <[0:1000 of 1000]> on <> : (tensor<1000xf32>) -> tensor<1000xf32>
  %a2 = tv.slice %x2 on <> {dimension = 0 : i64, start = 0 : i64, end = 999 : i64} : (tensor<1000xf32>) -> tensor<999xf32>
  %b2 = tv.slice %x2 on <> {dimension = 0 : i64, start = 1 : i64, end = 1000 : i64} : (tensor<1000xf32>) -> tensor<999xf32>
  %s2 = tv.add %a2, %b2 on <> : (tensor<999xf32>, tensor<999xf32>) -> tensor<999xf32>
  tv.expect %s2 is %s <[0:999 of 999]> on <> : tensor<999xf32> is tensor<999xf32>
}

// -----

// CHECK: error: stage 'long' is unknown: a dimension of size {{[0-9]+}} is related to itself in too many ways
tv.stage @long <dp = 2> expects array<i64: 0>(%x: tensor<1000003xf32>) {
  %a = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1000002 : i64} : (tensor<1000003xf32>) -> tensor<1000002xf32>
  %b = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 1000003 : i64} : (tensor<1000003xf32>) -> tensor<1000002xf32>
  %s = tv.add %a, %b : (tensor<1000002xf32>, tensor<1000002xf32>) -> tensor<1000002xf32>
  %x2 = tv.distribute %x <[0:1000003 of 1000003]> on <> : (tensor<1000003xf32>) -> tensor<1000003xf32>
  %a2 = tv.slice %x2 on <> {dimension = 0 : i64, start = 0 : i64, end = 1000002 : i64} : (tensor<1000003xf32>) -> tensor<1000002xf32>
  %b2 = tv.slice %x2 on <> {dimension = 0 : i64, start = 1 : i64, end = 1000003 : i64} : (tensor<1000003xf32>) -> tensor<1000002xf32>
  %s2 = tv.add %a2, %b2 on <> : (tensor<1000002xf32>, tensor<1000002xf32>) -> tensor<1000002xf32>
  tv.expect %s2 is %s <[0:1000002 of 1000002]> on <> : tensor<1000002xf32> is tensor<1000002xf32>
}
