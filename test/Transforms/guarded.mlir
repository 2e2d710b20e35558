// RUN: verify-opt %s --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed 's/dense<0.0> : tensor<f32> on/dense<7.0> : tensor<f32> on/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/^  tv.expect %%chosen/  tv.expect %%quotient/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/not_equal %%pn/equal %%pn/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// A quotient that is chosen only where it is defined: the reference is defined
// where the divisor is 0, too, so that other numbers there, or none, are wrong.

// PROVED: tv.answer = "proved"
// CHECK: error: {{unknown whether the value of|output}} 'y' {{is that of|differs from}} the reference

tv.graph @g <dp = 2> {
  %s = tv.input <input "s"> : tensor<64xf32>
  %n = tv.input <input "n"> : tensor<64xf32>
  %zero = tv.constant dense<0.0> : tensor<f32> : () -> tensor<f32>
  %q = tv.divide %s, %n : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %c = tv.compare not_equal %n, %zero : (tensor<64xf32>, tensor<f32>) -> tensor<64xi1>
  %y = tv.select %c, %q, %zero : (tensor<64xi1>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %ps = tv.distribute %s <[32:64 of 64]> on <> : (tensor<64xf32>) -> tensor<32xf32>
  %pn = tv.distribute %n <[32:64 of 64]> on <> : (tensor<64xf32>) -> tensor<32xf32>
  %none = tv.constant dense<0.0> : tensor<f32> on <> : () -> tensor<f32>
  %pc = tv.compare not_equal %pn, %none on <> : (tensor<32xf32>, tensor<f32>) -> tensor<32xi1>
  %quotient = tv.divide %ps, %pn on <> : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %chosen = tv.select %pc, %quotient, %none on <> : (tensor<32xi1>, tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  tv.expect %chosen is %y <[32:64 of 64]> on <> number 0 contract <output "y"> : tensor<32xf32> is tensor<64xf32>
}
