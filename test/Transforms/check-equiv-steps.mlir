// RUN: verify-opt %s --tv-check-equiv -verify-diagnostics -split-input-file

// Counts take fewer values where there are few positions: of these programs none may be
// proved because of the values that a count takes there.

// How many elements have 500 greater ones, and how many 600: none of three elements.
tv.stage @rank <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %a = tv.broadcast %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %b = tv.broadcast %x {dimensions = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %c = tv.compare less %a, %b : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %r = tv.reduce sum %c {dimensions = array<i64: 1>} : (tensor<1000x1000xf32>) -> tensor<1000xf32>
  %k = tv.constant dense<500.0> : tensor<f64> : () -> tensor<1000xf32>
  %q = tv.compare equal %r, %k : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %m = tv.multiply %q, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %o = tv.reduce sum %m {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %pa = tv.broadcast %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %pb = tv.broadcast %px on <device = 0> {dimensions = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %pc = tv.compare less %pa, %pb on <device = 0> : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %pr = tv.reduce sum %pc on <device = 0> {dimensions = array<i64: 1>} : (tensor<1000x1000xf32>) -> tensor<1000xf32>
  %pk = tv.constant dense<600.0> : tensor<f64> on <device = 0> : () -> tensor<1000xf32>
  %pq = tv.compare equal %pr, %pk on <device = 0> : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %pm = tv.multiply %pq, %px on <device = 0> : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %po = tv.reduce sum %pm on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  // expected-error @below {{stage 'rank' is unknown: the normal forms differ}}
  tv.expect %po is %o <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// The same with 500 on both sides is proved.
tv.stage @same_rank <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %a = tv.broadcast %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %b = tv.broadcast %x {dimensions = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %c = tv.compare less %a, %b : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %r = tv.reduce sum %c {dimensions = array<i64: 1>} : (tensor<1000x1000xf32>) -> tensor<1000xf32>
  %k = tv.constant dense<500.0> : tensor<f64> : () -> tensor<1000xf32>
  %q = tv.compare equal %r, %k : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %m = tv.multiply %q, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %o = tv.reduce sum %m {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %pa = tv.broadcast %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %pb = tv.broadcast %px on <device = 0> {dimensions = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %pc = tv.compare less %pa, %pb on <device = 0> : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %pr = tv.reduce sum %pc on <device = 0> {dimensions = array<i64: 1>} : (tensor<1000x1000xf32>) -> tensor<1000xf32>
  %pk = tv.constant dense<500.0> : tensor<f64> on <device = 0> : () -> tensor<1000xf32>
  %pq = tv.compare equal %pk, %pr on <device = 0> : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %po = tv.einsum %pq, %px on <device = 0> {equation = "a,a->"} : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<f32>
  tv.expect %po is %o <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// Counts between 300 and 600 are those that tell these ramps apart.
tv.stage @ramp <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %z = tv.constant dense<0.0> : tensor<f64> : () -> tensor<1000xf32>
  %c = tv.compare less %z, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %r = tv.reduce sum %c {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %k = tv.constant dense<300.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.constant dense<400.0> : tensor<f64> : () -> tensor<f32>
  %m = tv.maximum %r, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %n = tv.maximum %r, %l : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %o = tv.subtract %m, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %pz = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<1000xf32>
  %pc = tv.compare less %pz, %px on <device = 0> : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %pr = tv.reduce sum %pc on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %pk = tv.constant dense<500.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %pl = tv.constant dense<600.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %pm = tv.maximum %pr, %pk on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %pn = tv.maximum %pr, %pl on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %po = tv.subtract %pm, %pn on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'ramp' is unknown: the normal forms differ}}
  tv.expect %po is %o <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// -----

// A plan that is undefined where 500 elements are positive.
tv.stage @undefined_between <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %o = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %px = tv.distribute %x <[0:1000 of 1000]> on <device = 0> : (tensor<1000xf32>) -> tensor<1000xf32>
  %pz = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<1000xf32>
  %pc = tv.compare less %pz, %px on <device = 0> : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %pr = tv.reduce sum %pc on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %pk = tv.constant dense<500.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %pd = tv.subtract %pr, %pk on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %ps = tv.reduce sum %px on <device = 0> {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %pm = tv.multiply %ps, %pd on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %po = tv.divide %pm, %pd on <device = 0> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{stage 'undefined_between' is unknown: the normal forms differ}}
  tv.expect %po is %o <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}
