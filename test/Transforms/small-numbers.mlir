// DEFINE: %{other} =
// DEFINE: %{plan} = grep -v '// %{other}$' %s
// REDEFINE: %{other} = wrong
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{other} = right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED

// Results are smaller than what rounding leaves of a sum of usual numbers. They differ, which
// intervals tell, and what the mistake is said to be mends it.

// PROVED: tv.answer = "proved"
// REFUTED: error: output 'loss' differs from the reference
// REFUTED: note: other value
// REFUTED: note: counterexample: {{.*}} is {{.*}}e-22 in the plan and {{.*}}e-30 in the reference; confirmed

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %c = tv.constant dense<1.0e-03> : tensor<f64> : () -> tensor<f64>
    %s = tv.multiply %x, %c : (tensor<4x4xf32>, tensor<f64>) -> tensor<4x4xf32>
    %p = tv.power %s {numerator = 8 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    %y = tv.call @forward(%x) instance 0 : (tensor<4x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %c = tv.constant dense<1.0e-03> : tensor<f64> : () -> tensor<f64>
    %s = tv.multiply %x, %c : (tensor<4x4xf32>, tensor<f64>) -> tensor<4x4xf32>
    %a = tv.power %s {numerator = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = tv.power %a {numerator = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = tv.multiply %b, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // right
    %p = tv.multiply %b, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // wrong
    %y = tv.reduce sum %p {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    %y = tv.call @forward(%x) instance 0 : (tensor<4x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
  }
}
