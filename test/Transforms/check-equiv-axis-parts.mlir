// RUN: not verify-opt %s --split-input-file --tv-check-equiv 2>&1 | FileCheck %s
// RUN: not verify-opt %s --split-input-file --tv-check-equiv=full-size=true 2>&1 \
// RUN:   | FileCheck %s

// CHECK-NOT: error:

// What coordinates of an axis have, put together and cut again.

tv.graph @gathered_and_sliced <dp = 2, rank = 16> {
  %x = tv.input <parameter "x"> : tensor<64x3xf32>
  %p = tv.distribute %x <[rank, 0:4 of 4], [0:3 of 3]> on <> : (tensor<64x3xf32>) -> tensor<4x3xf32>
  %whole = tv.tanh %x : (tensor<64x3xf32>) -> tensor<64x3xf32>
  %part = tv.tanh %p on <> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %together = tv.all_gather %part over "rank" on <> {dimension = 0 : i64} : (tensor<4x3xf32>) -> tensor<64x3xf32>
  %again = tv.all_slice %together over "rank" on <> {dimension = 0 : i64} : (tensor<64x3xf32>) -> tensor<4x3xf32>
  tv.expect %together is %whole <[0:64 of 64], [0:3 of 3]> on <> contract <output "whole"> : tensor<64x3xf32> is tensor<64x3xf32>
  tv.expect %again is %whole <[rank, 0:4 of 4], [0:3 of 3]> on <> contract <output "part"> : tensor<4x3xf32> is tensor<64x3xf32>
}

// -----

// From rows to columns, as an all-to-all does.

tv.graph @rows_to_columns <rank = 4> {
  %x = tv.input <parameter "x"> : tensor<8x8xf32>
  %p = tv.distribute %x <[rank, 0:2 of 2], [0:8 of 8]> on <> : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %all = tv.all_gather %p over "rank" on <> {dimension = 0 : i64} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %columns = tv.all_slice %all over "rank" on <> {dimension = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  tv.expect %columns is %x <[0:8 of 8], [rank, 0:2 of 2]> on <> contract <output "x"> : tensor<8x2xf32> is tensor<8x8xf32>
}

// -----

// The rows of a table are looked up on the rank that has them.

tv.graph @lookup <rank = 16> {
  %i = tv.input <input "i"> : tensor<5xi64>
  %w = tv.input <parameter "w"> : tensor<64x7xf32>
  %one = tv.one_hot %i {start = 0 : i64} : (tensor<5xi64>) -> tensor<5x64xf32>
  %y = tv.einsum %one, %w {equation = "bv,vh->bh"} : (tensor<5x64xf32>, tensor<64x7xf32>) -> tensor<5x7xf32>
  %j = tv.distribute %i <[0:5 of 5]> on <> : (tensor<5xi64>) -> tensor<5xi64>
  %p = tv.distribute %w <[rank, 0:4 of 4], [0:7 of 7]> on <> : (tensor<64x7xf32>) -> tensor<4x7xf32>
  %all = tv.one_hot %j on <> {start = 0 : i64} : (tensor<5xi64>) -> tensor<5x64xf32>
  %own = tv.all_slice %all over "rank" on <> {dimension = 1 : i64} : (tensor<5x64xf32>) -> tensor<5x4xf32>
  %term = tv.einsum %own, %p on <> {equation = "bv,vh->bh"} : (tensor<5x4xf32>, tensor<4x7xf32>) -> tensor<5x7xf32>
  %sum = tv.all_reduce %term over ["rank"] on <> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  tv.expect %sum is %y <[0:5 of 5], [0:7 of 7]> on <> contract <output "y"> : tensor<5x7xf32> is tensor<5x7xf32>
}

// -----

tv.graph @columns_for_rows <rank = 4> {
  %x = tv.input <parameter "x"> : tensor<8x8xf32>
  %p = tv.distribute %x <[rank, 0:2 of 2], [0:8 of 8]> on <> : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %all = tv.all_gather %p over "rank" on <> {dimension = 0 : i64} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %t = tv.transpose %all on <> {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %columns = tv.all_slice %t over "rank" on <> {dimension = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  // CHECK: :[[#@LINE+1]]:3: error: output 'x' differs from the reference on all devices
  tv.expect %columns is %x <[0:8 of 8], [rank, 0:2 of 2]> on <> contract <output "x"> : tensor<8x2xf32> is tensor<8x8xf32>
  // CHECK: :[[#@LINE-4]]:{{.*}}: note: other value: the operands of 'tv.transpose'
}

// -----

// The part of the whole is taken for the whole.

tv.graph @one_rank_for_all <rank = 4> {
  %x = tv.input <parameter "x"> : tensor<8xf32>
  %p = tv.distribute %x <[rank, 0:2 of 2]> on <> : (tensor<8xf32>) -> tensor<2xf32>
  %first = tv.move %p from <rank = 0> on <> : (tensor<2xf32>) -> tensor<2xf32>
  %all = tv.all_gather %first over "rank" on <> {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<8xf32>
  // CHECK: :[[#@LINE+1]]:3: error: output 'x' differs from the reference on all devices
  tv.expect %all is %x <[0:8 of 8]> on <> contract <output "x"> : tensor<8xf32> is tensor<8xf32>
  // CHECK: :[[#@LINE-3]]:{{.*}}: note: other value: the operands of 'tv.all_gather'
}

// -----

// Each rank looks up the rows of all in its own.

tv.graph @lookup_of_other_rows <rank = 16> {
  %i = tv.input <input "i"> : tensor<5xi64>
  %w = tv.input <parameter "w"> : tensor<64x7xf32>
  %one = tv.one_hot %i {start = 0 : i64} : (tensor<5xi64>) -> tensor<5x64xf32>
  %y = tv.einsum %one, %w {equation = "bv,vh->bh"} : (tensor<5x64xf32>, tensor<64x7xf32>) -> tensor<5x7xf32>
  %j = tv.distribute %i <[0:5 of 5]> on <> : (tensor<5xi64>) -> tensor<5xi64>
  %p = tv.distribute %w <[rank, 0:4 of 4], [0:7 of 7]> on <> : (tensor<64x7xf32>) -> tensor<4x7xf32>
  %own = tv.one_hot %j on <> {start = 0 : i64} : (tensor<5xi64>) -> tensor<5x4xf32>
  %term = tv.einsum %own, %p on <> {equation = "bv,vh->bh"} : (tensor<5x4xf32>, tensor<4x7xf32>) -> tensor<5x7xf32>
  %sum = tv.all_reduce %term over ["rank"] on <> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  // CHECK: :[[#@LINE+1]]:3: error: output 'y' differs from the reference on all devices
  tv.expect %sum is %y <[0:5 of 5], [0:7 of 7]> on <> contract <output "y"> : tensor<5x7xf32> is tensor<5x7xf32>
  // CHECK: :[[#@LINE-4]]:{{.*}}: note: other value: the operands of 'tv.einsum'
}

// CHECK-NOT: error:
