// RUN: verify-opt %s --tv-interpret=print-results -o /dev/null | FileCheck %s
// RUN: verify-opt %s --tv-interpret="symbol=kinked arithmetic=interval print-results" -o /dev/null | FileCheck %s --check-prefix=KINK
// RUN: not verify-opt %s --tv-interpret="symbol=parts arithmetic=double" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DOUBLE
// RUN: not verify-opt %s --tv-interpret="symbol=undecided arithmetic=interval" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNDECIDED
// RUN: not verify-opt %s --tv-interpret="symbol=cancelled arithmetic=interval" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDE

// The greatest of a row is subtracted before its softmax: doubles have room.
// CHECK-LABEL: @masked in doubles
// CHECK: [0] 0.2689414213699951
// CHECK-NEXT: [1] 0.7310585786300049
tv.graph @masked <> {
  %x = tv.constant dense<[-10000.0, -9999.0]> : tensor<2xf64> : () -> tensor<2xf64>
  %y = tv.softmax %x {dimension = 0 : i64} : (tensor<2xf64>) -> tensor<2xf64>
}

// They have none for the exponentials alone, and intervals do.
// CHECK-LABEL: @parts in intervals of 128 bits
// CHECK: [0] 0.2689414213699951
// CHECK-NEXT: [1] 0.7310585786300049
// DOUBLE: error: 'tv.divide' op is evaluated outside of its domain; try another seed or other inputs
tv.graph @parts <> {
  %x = tv.constant dense<[-10000.0, -9999.0]> : tensor<2xf64> : () -> tensor<2xf64>
  %e = tv.exp %x : (tensor<2xf64>) -> tensor<2xf64>
  %s = tv.reduce sum %e keep {dimensions = array<i64: 0>} : (tensor<2xf64>) -> tensor<1xf64>
  %y = tv.divide %e, %s : (tensor<2xf64>, tensor<1xf64>) -> tensor<2xf64>
}

// What two programs give is equal where their intervals meet, and no nearer
// than that: doubles do not tell these two apart.
// CHECK-LABEL: @near in intervals of 128 bits
// CHECK: output 'same' 1 0 0 equal
// CHECK: output 'other' 1 {{.*}} differs on 1
tv.stage @near <> expects array<i64: 0, 1>() {
  %x = tv.constant dense<-10000.0> : tensor<1xf64> : () -> tensor<1xf64>
  %tiny = tv.constant dense<1.0e-25> : tensor<1xf64> : () -> tensor<1xf64>
  %e = tv.exp %x : (tensor<1xf64>) -> tensor<1xf64>
  %one = tv.divide %e, %e : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %same = tv.distribute %one <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  %more = tv.distribute %tiny <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  %other = tv.add %same, %more on <> : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  tv.expect %same is %one <[0:1 of 1]> on <> number 0 contract <output "same"> : tensor<1xf64> is tensor<1xf64>
  tv.expect %other is %one <[0:1 of 1]> on <> number 1 contract <output "other"> : tensor<1xf64> is tensor<1xf64>
}

// Nothing is drawn, as where a counterexample is replayed, and doubles are not sure.
// CHECK-LABEL: @close in intervals of 128 bits
// CHECK: output 'same' 1 {{.*}} equal
// CHECK: output 'other' 1 {{.*}} differs on 1
// RUN: verify-opt %s --tv-interpret="symbol=close arithmetic=double" -o /dev/null | FileCheck %s --check-prefix=CLOSE
// CLOSE: output 'other' 1 {{.*}} equal
tv.stage @close <> expects array<i64: 0, 1>() {
  %x = tv.constant dense<1.0> : tensor<1xf64> : () -> tensor<1xf64>
  %tiny = tv.constant dense<1.0e-14> : tensor<1xf64> : () -> tensor<1xf64>
  %e = tv.exp %x : (tensor<1xf64>) -> tensor<1xf64>
  %same = tv.distribute %e <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  %more = tv.distribute %tiny <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  %other = tv.add %same, %more on <> : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  tv.expect %same is %e <[0:1 of 1]> on <> number 0 contract <output "same"> : tensor<1xf64> is tensor<1xf64>
  tv.expect %other is %e <[0:1 of 1]> on <> number 1 contract <output "other"> : tensor<1xf64> is tensor<1xf64>
}

// What cancels is 0 beside other results.
// RUN: verify-opt %s --tv-interpret="symbol=nothing arithmetic=interval" -o /dev/null | FileCheck %s --check-prefix=NOTHING
// NOTHING: output 'y' 1 {{.*}} equal
tv.stage @nothing <> expects array<i64: 0, 1>() {
  %two = tv.constant dense<2.0> : tensor<1xf64> : () -> tensor<1xf64>
  %root = tv.sqrt %two : (tensor<1xf64>) -> tensor<1xf64>
  %square = tv.multiply %root, %root : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %x = tv.subtract %square, %two : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %y = tv.distribute %x <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  %z = tv.distribute %two <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  tv.expect %y is %x <[0:1 of 1]> on <> number 0 contract <output "y"> : tensor<1xf64> is tensor<1xf64>
  tv.expect %z is %two <[0:1 of 1]> on <> number 1 contract <output "z"> : tensor<1xf64> is tensor<1xf64>
}

// KINK-LABEL: @kinked in intervals of 128 bits
// KINK: [] 1.414213562373095
tv.graph @kinked <> {
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f64>
  %x = tv.sqrt %two : (tensor<f64>) -> tensor<f64>
  %y = tv.relu %x : (tensor<f64>) -> tensor<f64>
}

// UNDECIDED: error: 'tv.compare' op compares numbers that intervals do not tell apart
tv.graph @undecided <> {
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f64>
  %root = tv.sqrt %two : (tensor<f64>) -> tensor<f64>
  %square = tv.multiply %root, %root : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %y = tv.compare less %square, %two : (tensor<f64>, tensor<f64>) -> tensor<f64>
}

// WIDE: error: 'tv.stage' op has output 'y' in an interval that is too wide; try another seed
tv.stage @cancelled <> expects array<i64: 0>() {
  %two = tv.constant dense<2.0> : tensor<1xf64> : () -> tensor<1xf64>
  %large = tv.constant dense<1.0e38> : tensor<1xf64> : () -> tensor<1xf64>
  %root = tv.sqrt %two : (tensor<1xf64>) -> tensor<1xf64>
  %sum = tv.add %root, %large : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %x = tv.subtract %sum, %large : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %y = tv.distribute %x <[0:1 of 1]> on <> : (tensor<1xf64>) -> tensor<1xf64>
  tv.expect %y is %x <[0:1 of 1]> on <> number 0 contract <output "y"> : tensor<1xf64> is tensor<1xf64>
}
