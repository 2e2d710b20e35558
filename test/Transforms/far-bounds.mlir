// RUN: verify-opt %s --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed '/^  %%above/s/5000.0/6000.0/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: sed '/^  %%below/s/1.0e-6/1.0e-5/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: sed '/^  %%seventh/s/7.0/8.0/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEVENTH
// RUN: not verify-opt %s --tv-check-equiv=counterexample=%t.txt -o /dev/null 2>&1 | FileCheck %s --check-prefix=ENDING

// Bounds that are far beyond what inputs are drawn as, far below that, and a term of a higher power, beside which the
// other one is large: inputs that are larger or smaller show that one is wrong.

// PROVED: tv.answer = "proved"
// ABOVE: error: output 'above' differs from the reference
// ABOVE: counterexample: with the {{(positive )?}}inputs of seed {{[0-9]+}} times 2^16{{.*}} is 6000 in the plan and 5000 in the
// BELOW: error: output 'below' differs from the reference
// BELOW: counterexample: with the inputs of seed 0, {{.*}} is 1e-05 in the plan and 1e-06 in the reference
// ENDING: error: option counterexample: '{{.*}}.txt' ends neither in .json nor in .npz
// SEVENTH: error: output 'sum' differs from the reference
// SEVENTH: counterexample: with the {{(positive )?}}inputs of seed {{[0-9]+}} times 2^

tv.graph @g <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %bound = tv.constant dense<5000.0> : tensor<f32> : () -> tensor<f32>
  %small = tv.constant dense<1.0e-6> : tensor<f32> : () -> tensor<f32>
  %part = tv.constant dense<7.0> : tensor<f32> : () -> tensor<f32>
  %c = tv.compare less %x, %bound : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %y = tv.select %c, %x, %bound : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = tv.compare less %x, %small : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %z = tv.select %d, %small, %x : (tensor<8xi1>, tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %s = tv.multiply %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %q = tv.multiply %s, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r = tv.divide %q, %part : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = tv.multiply %r, %r : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %large = tv.constant dense<1.0e12> : tensor<f32> : () -> tensor<f32>
  %u = tv.multiply %x, %large : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %v = tv.add %t, %u : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %above = tv.constant dense<5000.0> : tensor<f32> on <> : () -> tensor<f32>
  %below = tv.constant dense<1.0e-6> : tensor<f32> on <> : () -> tensor<f32>
  %seventh = tv.constant dense<7.0> : tensor<f32> on <> : () -> tensor<f32>
  %pc = tv.compare less %px, %above on <> : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %py = tv.select %pc, %px, %above on <> : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %pd = tv.compare less %px, %below on <> : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %pz = tv.select %pd, %below, %px on <> : (tensor<8xi1>, tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %ps = tv.multiply %px, %px on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %pq = tv.multiply %ps, %ps on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %pr = tv.divide %pq, %seventh on <> : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %pt = tv.multiply %pr, %pr on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %plarge = tv.constant dense<1.0e12> : tensor<f32> on <> : () -> tensor<f32>
  %pu = tv.multiply %px, %plarge on <> : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %pv = tv.add %pt, %pu on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %py is %y <[0:8 of 8]> on <> number 0 contract <output "above"> : tensor<8xf32> is tensor<8xf32>
  tv.expect %pz is %z <[0:8 of 8]> on <> number 1 contract <output "below"> : tensor<8xf32> is tensor<8xf32>
  tv.expect %pv is %v <[0:8 of 8]> on <> number 2 contract <output "sum"> : tensor<8xf32> is tensor<8xf32>
}
