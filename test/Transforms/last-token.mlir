// RUN: grep -v '// scores$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// mask$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: grep -v '// scores$' %s | sed 's/tv.add .ph, .pd/tv.add %%ph, %%pi/' | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED

// One row of a softmax is a result, the plan reads another one, too. It is defined whatever the
// scores are, as each row sees itself: signs tell, and what is stated of all rows holds. Where
// scores may be infinite it is not.

// PROVED: tv.answer = "proved"
// UNKNOWN: the plan may be undefined where the reference is not
// REFUTED: error: output 'h' differs from the reference

tv.graph @g <dp = 1> {
  %x = tv.input <input "x"> : tensor<600x600xf32>
  %c = tv.causal_mask : () -> tensor<600x600x!tv.extended<f32>> // mask
  %c = tv.input <input "c"> : tensor<600x600x!tv.extended<f32>> // scores
  %s = tv.add %x, %c : (tensor<600x600xf32>, tensor<600x600x!tv.extended<f32>>) -> tensor<600x600x!tv.extended<f32>>
  %e = tv.exp %s : (tensor<600x600x!tv.extended<f32>>) -> tensor<600x600xf32>
  %r = tv.reduce sum %e {dimensions = array<i64: 1>} : (tensor<600x600xf32>) -> tensor<600xf32>
  %y = tv.log %r : (tensor<600xf32>) -> tensor<600xf32>
  %h = tv.slice %y {dimension = 0 : i64, start = 599 : i64, end = 600 : i64} : (tensor<600xf32>) -> tensor<1xf32>
  %px = tv.distribute %x <[0:600 of 600], [0:600 of 600]> on <> : (tensor<600x600xf32>) -> tensor<600x600xf32>
  %pc = tv.causal_mask on <> : () -> tensor<600x600x!tv.extended<f32>> // mask
  %pc = tv.distribute %c <[0:600 of 600], [0:600 of 600]> on <> : (tensor<600x600x!tv.extended<f32>>) -> tensor<600x600x!tv.extended<f32>> // scores
  %ps = tv.add %px, %pc on <> : (tensor<600x600xf32>, tensor<600x600x!tv.extended<f32>>) -> tensor<600x600x!tv.extended<f32>>
  %pe = tv.exp %ps on <> : (tensor<600x600x!tv.extended<f32>>) -> tensor<600x600xf32>
  %pr = tv.reduce sum %pe on <> {dimensions = array<i64: 1>} : (tensor<600x600xf32>) -> tensor<600xf32>
  %py = tv.log %pr on <> : (tensor<600xf32>) -> tensor<600xf32>
  tv.expect %py is %y <[0:600 of 600]> on <> number 0 : tensor<600xf32> is tensor<600xf32>
  %ph = tv.slice %py on <> {dimension = 0 : i64, start = 599 : i64, end = 600 : i64} : (tensor<600xf32>) -> tensor<1xf32>
  %pi = tv.slice %py on <> {dimension = 0 : i64, start = 300 : i64, end = 301 : i64} : (tensor<600xf32>) -> tensor<1xf32>
  %pd = tv.subtract %pi, %pi on <> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %pz = tv.add %ph, %pd on <> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  tv.expect %pz is %h <[0:1 of 1]> on <> number 1 contract <output "h"> : tensor<1xf32> is tensor<1xf32>
}
