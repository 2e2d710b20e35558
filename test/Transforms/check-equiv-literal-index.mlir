// RUN: not verify-opt --tv-check-equiv -split-input-file %s 2>&1 | FileCheck %s

// An index that a constant or arithmetic makes names a position of its own: it
// must never be taken for data that may be permuted.

// CHECK: error: stage 'other_row' is not proved
tv.stage @other_row <dp = 2> expects array<i64: 3>(%w: tensor<1024xf32>) {
  %a = tv.constant dense<500> : tensor<i64> : () -> tensor<4xi64>
  %ha = tv.one_hot %a {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x1024xf32>
  %pa = tv.multiply %ha, %w : (tensor<4x1024xf32>, tensor<1024xf32>) -> tensor<4x1024xf32>
  %w2 = tv.distribute %w <[0:1024 of 1024]> on <> : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = tv.constant dense<501> : tensor<i64> on <> : () -> tensor<4xi64>
  %hb = tv.one_hot %b on <> {start = 0 : i64} : (tensor<4xi64>) -> tensor<4x1024xf32>
  %pb = tv.multiply %hb, %w2 on <> : (tensor<4x1024xf32>, tensor<1024xf32>) -> tensor<4x1024xf32>
  tv.expect %pb is %pa <[0:4 of 4], [0:1024 of 1024]> on <> : tensor<4x1024xf32> is tensor<4x1024xf32>
}

// -----

// Data that select rows are compared, too: order does not survive a permutation.
// CHECK: error: stage 'compared' is {{not proved|unknown}}
tv.stage @compared <dp = 2> expects array<i64: 3>(%i: tensor<i64>, %w: tensor<24xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %c = tv.constant dense<11> : tensor<i64> : () -> tensor<i64>
  %b = tv.compare less %i, %c : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %hb = tv.multiply %h, %b : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %l = tv.multiply %hb, %w : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %i2 = tv.distribute %i <> on <> : (tensor<i64>) -> tensor<i64>
  %w2 = tv.distribute %w <[0:24 of 24]> on <> : (tensor<24xf32>) -> tensor<24xf32>
  %h2 = tv.one_hot %i2 on <> {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %r = tv.multiply %h2, %w2 on <> : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  tv.expect %r is %l <[0:24 of 24]> on <> : tensor<24xf32> is tensor<24xf32>
}

// -----

// The same data select a row of one table, and the next row of another.
// CHECK: error: stage 'next_row' is {{not proved|unknown}}
tv.stage @next_row <dp = 2> expects array<i64: 3>(%i: tensor<i64>, %w: tensor<24xf32>, %u: tensor<26xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %one = tv.constant dense<1> : tensor<i64> : () -> tensor<i64>
  %n = tv.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %k = tv.one_hot %n {start = 0 : i64} : (tensor<i64>) -> tensor<26xf32>
  %s = tv.einsum %k, %u {equation = "v,v->"} : (tensor<26xf32>, tensor<26xf32>) -> tensor<f32>
  %hw = tv.multiply %h, %w : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %l = tv.multiply %hw, %s : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %i2 = tv.distribute %i <> on <> : (tensor<i64>) -> tensor<i64>
  %w2 = tv.distribute %w <[0:24 of 24]> on <> : (tensor<24xf32>) -> tensor<24xf32>
  %u2 = tv.distribute %u <[0:20 of 26]> on <> : (tensor<26xf32>) -> tensor<20xf32>
  %h2 = tv.one_hot %i2 on <> {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %one2 = tv.constant dense<1> : tensor<i64> on <> : () -> tensor<i64>
  %n2 = tv.add %i2, %one2 on <> : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %k2 = tv.one_hot %n2 on <> {start = 0 : i64} : (tensor<i64>) -> tensor<20xf32>
  %s2 = tv.einsum %k2, %u2 on <> {equation = "v,v->"} : (tensor<20xf32>, tensor<20xf32>) -> tensor<f32>
  %hw2 = tv.multiply %h2, %w2 on <> : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %r = tv.multiply %hw2, %s2 on <> : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  tv.expect %r is %l <[0:24 of 24]> on <> : tensor<24xf32> is tensor<24xf32>
}

// -----

// The same data select a row of one table, and a row of another that starts later.
// CHECK: error: stage 'start_of_another' is {{not proved|unknown}}
tv.stage @start_of_another <dp = 2> expects array<i64: 3>(%i: tensor<i64>, %w: tensor<24xf32>, %u: tensor<26xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %k = tv.one_hot %i {start = 1 : i64} : (tensor<i64>) -> tensor<26xf32>
  %s = tv.einsum %k, %u {equation = "v,v->"} : (tensor<26xf32>, tensor<26xf32>) -> tensor<f32>
  %hw = tv.multiply %h, %w : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %l = tv.multiply %hw, %s : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %i2 = tv.distribute %i <> on <> : (tensor<i64>) -> tensor<i64>
  %w2 = tv.distribute %w <[0:24 of 24]> on <> : (tensor<24xf32>) -> tensor<24xf32>
  %u2 = tv.distribute %u <[0:20 of 26]> on <> : (tensor<26xf32>) -> tensor<20xf32>
  %h2 = tv.one_hot %i2 on <> {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %k2 = tv.one_hot %i2 on <> {start = 1 : i64} : (tensor<i64>) -> tensor<20xf32>
  %s2 = tv.einsum %k2, %u2 on <> {equation = "v,v->"} : (tensor<20xf32>, tensor<20xf32>) -> tensor<f32>
  %hw2 = tv.multiply %h2, %w2 on <> : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %r = tv.multiply %hw2, %s2 on <> : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  tv.expect %r is %l <[0:24 of 24]> on <> : tensor<24xf32> is tensor<24xf32>
}
