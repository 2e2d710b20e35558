// RUN: not verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// Exponentials of the plan are larger than doubles, and what is computed of them is no number
// there: that differs from one, and intervals of more bits tell by how much.

// CHECK: error: output 'y' differs from the reference
// CHECK: note: element [{{[0-7]}}] of output 'y' is no finite double in the plan and 0.{{[0-9]+}} in the reference
// CHECK: note: counterexample: {{.*}} of output 'y' is {{[0-9.e-]+}} in the plan and 0.{{[0-9]+}} in the reference; confirmed at full size in 128-bit interval arithmetic

tv.graph @graph <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %e = tv.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %s = tv.reduce sum %e keep {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<1xf32>
  %y = tv.divide %e, %s : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %c = tv.constant dense<5.0e+03> : tensor<f64> on <> : () -> tensor<8xf32>
  %px2 = tv.multiply %px, %px on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %large = tv.multiply %px2, %c on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %pe = tv.exp %large on <> : (tensor<8xf32>) -> tensor<8xf32>
  %ps = tv.reduce sum %pe keep on <> {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<1xf32>
  %py = tv.divide %pe, %ps on <> : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  tv.expect %py is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}
