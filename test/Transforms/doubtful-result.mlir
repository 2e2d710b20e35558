// Only lemmas are taken away for being doubtful: a result of the contract is told of, whatever
// attribute it has. What `count` is cannot be told here (ties.mlir), and `rectified` is right.
// RUN: not verify-opt --tv-check-equiv %s -o /dev/null 2>&1 | FileCheck %s
// RUN: sed '/contract <output "count">/d' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=WITHOUT

// CHECK: unknown whether the value of 'count' is that of the reference
// WITHOUT: tv.answer = "proved"

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.program 0 {
      %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:5 of 5]>] : tensor<5xf32>
      %s = tv.relu %x : (tensor<5xf32>) -> tensor<5xf32>
      %rank = tv.descending_rank %s : (tensor<5xf32>) -> tensor<5xi64>
      %hot = tv.one_hot %rank {start = 4 : i64} : (tensor<5xi64>) -> tensor<5x1xf32>
      %y = tv.reduce sum %hot {dimensions = array<i64: 0, 1>} : (tensor<5x1xf32>) -> tensor<f32>
      tv.output %y "count" <3, []> : tensor<f32>
    }
  }
  tv.plan @plan <dp = 1, device = 1, mb = 1> {
    tv.program 0 {
      %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:5 of 5]>] : tensor<5xf32>
      %c = tv.constant dense<1.0> : tensor<f32> : () -> tensor<f32>
      tv.output %c "count" <3, []> : tensor<f32>
    }
  }
  tv.graph @graph <dp = 1, device = 1, mb = 1> attributes {tv.folded = [array<i64: 0>]} {
    %0 = tv.input <input "x"> : tensor<5xf32>
    %1 = tv.relu %0 : (tensor<5xf32>) -> tensor<5xf32>
    %2 = tv.descending_rank %1 : (tensor<5xf32>) -> tensor<5xi64>
    %3 = tv.one_hot %2 {start = 4 : i64} : (tensor<5xi64>) -> tensor<5x1xf32>
    %4 = tv.reduce sum %3 {dimensions = array<i64: 0, 1>} : (tensor<5x1xf32>) -> tensor<f32>
    %5 = tv.distribute %0 <[0:5 of 5]> on <device = 0> : (tensor<5xf32>) -> tensor<5xf32>
    %6 = tv.relu %5 on <device = 0> : (tensor<5xf32>) -> tensor<5xf32>
    %7 = tv.constant dense<1.0> : tensor<f32> on <device = 0> : () -> tensor<f32>
    tv.expect %6 is %1 <[0:5 of 5]> on <device = 0> number 0 contract <output "rectified"> : tensor<5xf32> is tensor<5xf32>
    tv.expect %7 is %4 <> on <device = 0> number 1 contract <output "count"> {tv.doubtful} : tensor<f32> is tensor<f32>
  }
}
