// RUN: not verify-opt %s --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: sed '/^    %%c = /s/dense<1.0>/dense<2.0>/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO

// Where no two scores are equal, exactly one of five has four greater ones; where some
// are, there may be none, and where two inputs are negative the least scores are 0
// (assumption A23 of docs/Soundness.md). An input on which something ties is no
// counterexample, so a plan that takes the count for 1 is not refuted. One that takes
// it for 2 is. That the inputs themselves have no ties says nothing of the scores.

// CHECK-NOT: differs from the reference
// CHECK: error: unknown whether the value of 'count' is that of the reference
// CHECK-NOT: differs from the reference
// TWO: error: output 'count' differs from the reference

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:5 of 5]>] : tensor<5xf32>
    %s = tv.relu %x : (tensor<5xf32>) -> tensor<5xf32>
    %rank = tv.descending_rank %s : (tensor<5xf32>) -> tensor<5xi64>
    %hot = tv.one_hot %rank {start = 4 : i64} : (tensor<5xi64>) -> tensor<5x1xf32>
    %y = tv.reduce sum %hot {dimensions = array<i64: 0, 1>} : (tensor<5x1xf32>) -> tensor<f32>
    %rank_x = tv.descending_rank %x : (tensor<5xf32>) -> tensor<5xi64>
    %hot_x = tv.one_hot %rank_x {start = 4 : i64} : (tensor<5xi64>) -> tensor<5x1xf32>
    %one = tv.reduce sum %hot_x {dimensions = array<i64: 0, 1>} : (tensor<5x1xf32>) -> tensor<f32>
    %both = tv.multiply %y, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tv.output %both "count" <3, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:5 of 5]>] : tensor<5xf32>
    %c = tv.constant dense<1.0> : tensor<f32> : () -> tensor<f32>
    tv.output %c "count" <3, []> : tensor<f32>
  }
}
