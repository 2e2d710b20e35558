// RUN: verify-opt %s --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=RIGHT
// RUN: sed 's/%%k2, %%e2 on/%%k2, %%k2 on/' %s | not verify-opt --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s

// Whether the greatest of some exponentials is at most each of them is not known by intervals, which have the same
// ends, but by what it was chosen from: with a maximum, and with a mask of ranks.

// RIGHT-NOT: error
// CHECK: error: output 'greatest' differs from the reference
tv.graph @greatest <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %e = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = tv.reduce maximum %e keep {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %k = tv.compare less_equal %m, %e : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = tv.multiply %k, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %x2 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e2 = tv.exp %x2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m2 = tv.reduce maximum %e2 keep on <> {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %k2 = tv.compare less_equal %m2, %e2 on <> : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y2 = tv.multiply %k2, %e2 on <> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("greatest"("model.py":1:0))
  tv.expect %y2 is %y <[0:4 of 4], [0:8 of 8]> on <> contract <output "greatest"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// CHECK: error: output 'second' differs from the reference
tv.graph @second <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %e = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = tv.descending_rank %e : (tensor<4x8xf32>) -> tensor<4x8xi64>
  %one = tv.constant dense<1> : tensor<i64> : () -> tensor<i64>
  %h = tv.compare equal %r, %one : (tensor<4x8xi64>, tensor<i64>) -> tensor<4x8xf32>
  %m = tv.einsum %h, %e {equation = "ae,ae->a"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  %s = tv.reshape %m : (tensor<4xf32>) -> tensor<4x1xf32>
  %k = tv.compare less_equal %s, %e : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = tv.multiply %k, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %x2 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e2 = tv.exp %x2 on <> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r2 = tv.descending_rank %e2 on <> : (tensor<4x8xf32>) -> tensor<4x8xi64>
  %one2 = tv.constant dense<1> : tensor<i64> on <> : () -> tensor<i64>
  %h2 = tv.compare equal %r2, %one2 on <> : (tensor<4x8xi64>, tensor<i64>) -> tensor<4x8xf32>
  %m2 = tv.einsum %h2, %e2 on <> {equation = "ae,ae->a"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  %s2 = tv.reshape %m2 on <> : (tensor<4xf32>) -> tensor<4x1xf32>
  %k2 = tv.compare less_equal %s2, %e2 on <> : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y2 = tv.multiply %k2, %e2 on <> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("second"("model.py":1:0))
  tv.expect %y2 is %y <[0:4 of 4], [0:8 of 8]> on <> contract <output "second"> : tensor<4x8xf32> is tensor<4x8xf32>
}
