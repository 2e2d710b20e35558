// RUN: verify-opt %s --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed 's/%%first on <device = 0> {dimension = 1/%%first on <device = 0> {dimension = 0/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: sed 's/start = 8 : i64} : (tensor<4xi64>, tensor<8x8/start = 4 : i64} : (tensor<4xi64>, tensor<8x8/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: verify-opt %s --tv-outline-stages --tv-check-equiv | FileCheck %s --check-prefix=PROVED

// Ops that stand for others are these others: in the reference, in a plan that has the same op, and in one that has
// what it stands for.

// PROVED: tv.answer = "proved"
// SOFTMAX: error: output 'shares' differs from the reference
// ROWS: error: output 'rows' differs from the reference

tv.graph @g <device = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %tokens = tv.input <input "tokens"> : tensor<4xi64>
  %table = tv.input <parameter "table"> : tensor<16x8xf32>
  %shares = tv.softmax %x {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %rows = tv.embedding %tokens, %table {start = 0 : i64} : (tensor<4xi64>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %first = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %second = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 1> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %same = tv.softmax %first on <device = 0> {dimension = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tv.exp %second on <device = 1> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tv.reduce sum %e keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %parts = tv.divide %e, %s on <device = 1> : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  tv.expect %same is %shares <[0:4 of 4], [0:8 of 8]> on <device = 0> number 0 contract <output "shares"> : tensor<4x8xf32> is tensor<4x8xf32>
  tv.expect %parts is %shares <[0:4 of 4], [0:8 of 8]> on <device = 1> number 1 contract <output "shares"> : tensor<4x8xf32> is tensor<4x8xf32>
  %t0 = tv.distribute %tokens <[0:4 of 4]> on <device = 0> : (tensor<4xi64>) -> tensor<4xi64>
  %t1 = tv.distribute %tokens <[0:4 of 4]> on <device = 1> : (tensor<4xi64>) -> tensor<4xi64>
  %w0 = tv.distribute %table <[0:8 of 16], [0:8 of 8]> on <device = 0> : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %w1 = tv.distribute %table <[8:16 of 16], [0:8 of 8]> on <device = 1> : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %r0 = tv.embedding %t0, %w0 on <device = 0> {start = 0 : i64} : (tensor<4xi64>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %r1 = tv.embedding %t1, %w1 on <device = 1> {start = 8 : i64} : (tensor<4xi64>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %m = tv.move %r1 from <device = 1> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %all = tv.add %r0, %m on <device = 0> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tv.expect %all is %rows <[0:4 of 4], [0:8 of 8]> on <device = 0> number 2 contract <output "rows"> : tensor<4x8xf32> is tensor<4x8xf32>
}
