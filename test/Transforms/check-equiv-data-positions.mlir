// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv -split-input-file -o /dev/null
// RUN: grep -v '// right$' %s | not verify-opt --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s

// Positions that data name, in dimensions that nobody looks at in full. Those that the
// same data may name are related by their numbers, wherever a one-hot starts.

// Rows of a table that three ranks divide unequally.
// CHECK: error: stage 'start' is {{not proved|unknown}}
tv.stage @start <device = 1> expects array<i64: 0>(%i: tensor<64xi64>, %w: tensor<1000003x16xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x1000003xf32>
  %x = tv.einsum %h, %w {equation = "bv,vk->bk"} : (tensor<64x1000003xf32>, tensor<1000003x16xf32>) -> tensor<64x16xf32>
  %j = tv.distribute %i <[0:64 of 64]> on <> : (tensor<64xi64>) -> tensor<64xi64>
  %w0 = tv.distribute %w <[0:333335 of 1000003], [0:16 of 16]> on <> : (tensor<1000003x16xf32>) -> tensor<333335x16xf32>
  %w1 = tv.distribute %w <[333335:666669 of 1000003], [0:16 of 16]> on <> : (tensor<1000003x16xf32>) -> tensor<333334x16xf32>
  %w2 = tv.distribute %w <[666669:1000003 of 1000003], [0:16 of 16]> on <> : (tensor<1000003x16xf32>) -> tensor<333334x16xf32>
  %h0 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x333335xf32>
  %h1 = tv.one_hot %j on <> {start = 333335 : i64} : (tensor<64xi64>) -> tensor<64x333334xf32> // right
  %h1 = tv.one_hot %j on <> {start = 333334 : i64} : (tensor<64xi64>) -> tensor<64x333334xf32> // wrong
  %h2 = tv.one_hot %j on <> {start = 666669 : i64} : (tensor<64xi64>) -> tensor<64x333334xf32>
  %x0 = tv.einsum %h0, %w0 on <> {equation = "bv,vk->bk"} : (tensor<64x333335xf32>, tensor<333335x16xf32>) -> tensor<64x16xf32>
  %x1 = tv.einsum %h1, %w1 on <> {equation = "bv,vk->bk"} : (tensor<64x333334xf32>, tensor<333334x16xf32>) -> tensor<64x16xf32>
  %x2 = tv.einsum %h2, %w2 on <> {equation = "bv,vk->bk"} : (tensor<64x333334xf32>, tensor<333334x16xf32>) -> tensor<64x16xf32>
  tv.expect %x0, %x1, %x2 is %x <[0:64 of 64], [0:16 of 16]> on <> : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32> is tensor<64x16xf32>
}

// -----

// Two ranks have each other's starts.
// CHECK: error: stage 'exchanged' is {{not proved|unknown}}
tv.stage @exchanged <device = 1> expects array<i64: 0>(%i: tensor<64xi64>, %w: tensor<20000x16xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x20000xf32>
  %x = tv.einsum %h, %w {equation = "bv,vk->bk"} : (tensor<64x20000xf32>, tensor<20000x16xf32>) -> tensor<64x16xf32>
  %j = tv.distribute %i <[0:64 of 64]> on <> : (tensor<64xi64>) -> tensor<64xi64>
  %w0 = tv.distribute %w <[0:10000 of 20000], [0:16 of 16]> on <> : (tensor<20000x16xf32>) -> tensor<10000x16xf32>
  %w1 = tv.distribute %w <[10000:20000 of 20000], [0:16 of 16]> on <> : (tensor<20000x16xf32>) -> tensor<10000x16xf32>
  %h0 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x10000xf32> // right
  %h1 = tv.one_hot %j on <> {start = 10000 : i64} : (tensor<64xi64>) -> tensor<64x10000xf32> // right
  %h0 = tv.one_hot %j on <> {start = 10000 : i64} : (tensor<64xi64>) -> tensor<64x10000xf32> // wrong
  %h1 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x10000xf32> // wrong
  %x0 = tv.einsum %h0, %w0 on <> {equation = "bv,vk->bk"} : (tensor<64x10000xf32>, tensor<10000x16xf32>) -> tensor<64x16xf32>
  %x1 = tv.einsum %h1, %w1 on <> {equation = "bv,vk->bk"} : (tensor<64x10000xf32>, tensor<10000x16xf32>) -> tensor<64x16xf32>
  tv.expect %x0, %x1 is %x <[0:64 of 64], [0:16 of 16]> on <> : tensor<64x16xf32>, tensor<64x16xf32> is tensor<64x16xf32>
}

// -----

// The gradient of a rank's rows.
// CHECK: error: stage 'gradient' is {{not proved|unknown}}
tv.stage @gradient <device = 1> expects array<i64: 0>(%i: tensor<64xi64>, %g: tensor<64x16xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<64xi64>) -> tensor<64x128256xf32>
  %x = tv.einsum %h, %g {equation = "bv,bk->vk"} : (tensor<64x128256xf32>, tensor<64x16xf32>) -> tensor<128256x16xf32>
  %j = tv.distribute %i <[0:64 of 64]> on <> : (tensor<64xi64>) -> tensor<64xi64>
  %f = tv.distribute %g <[0:64 of 64], [0:16 of 16]> on <> : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %h1 = tv.one_hot %j on <> {start = 32064 : i64} : (tensor<64xi64>) -> tensor<64x16032xf32> // right
  %h1 = tv.one_hot %j on <> {start = 16032 : i64} : (tensor<64xi64>) -> tensor<64x16032xf32> // wrong
  %x1 = tv.einsum %h1, %f on <> {equation = "bv,bk->vk"} : (tensor<64x16032xf32>, tensor<64x16xf32>) -> tensor<16032x16xf32>
  tv.expect %x1 is %x <[32064:48096 of 128256], [0:16 of 16]> on <> : tensor<16032x16xf32> is tensor<128256x16xf32>
}

// -----

// The same data name rows of two tables. The plan leaves out the last row of the second,
// and the first table has a row of that number.
// CHECK: error: stage 'shorter' is {{not proved|unknown}}
tv.stage @shorter <device = 1> expects array<i64: 0>(%i: tensor<i64>, %u: tensor<30xf32>, %w: tensor<24xf32>) {
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<i64>) -> tensor<30xf32>
  %k = tv.one_hot %i {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32>
  %s = tv.einsum %h, %u {equation = "v,v->"} : (tensor<30xf32>, tensor<30xf32>) -> tensor<f32>
  %t = tv.einsum %k, %w {equation = "v,v->"} : (tensor<24xf32>, tensor<24xf32>) -> tensor<f32>
  %l = tv.multiply %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %j = tv.distribute %i <> on <> : (tensor<i64>) -> tensor<i64>
  %u2 = tv.distribute %u <[0:30 of 30]> on <> : (tensor<30xf32>) -> tensor<30xf32>
  %h2 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<i64>) -> tensor<30xf32>
  %s2 = tv.einsum %h2, %u2 on <> {equation = "v,v->"} : (tensor<30xf32>, tensor<30xf32>) -> tensor<f32>
  %w2 = tv.distribute %w <[0:24 of 24]> on <> : (tensor<24xf32>) -> tensor<24xf32> // right
  %k2 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<i64>) -> tensor<24xf32> // right
  %t2 = tv.einsum %k2, %w2 on <> {equation = "v,v->"} : (tensor<24xf32>, tensor<24xf32>) -> tensor<f32> // right
  %w2 = tv.distribute %w <[0:23 of 24]> on <> : (tensor<24xf32>) -> tensor<23xf32> // wrong
  %k2 = tv.one_hot %j on <> {start = 0 : i64} : (tensor<i64>) -> tensor<23xf32> // wrong
  %t2 = tv.einsum %k2, %w2 on <> {equation = "v,v->"} : (tensor<23xf32>, tensor<23xf32>) -> tensor<f32> // wrong
  %r = tv.multiply %s2, %t2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tv.expect %r is %l <> on <> : tensor<f32> is tensor<f32>
}

// -----

// The same, of data that are moved on their way.
// CHECK: error: stage 'moved' is {{not proved|unknown}}
tv.stage @moved <device = 1> expects array<i64: 0>(%i: tensor<2xi64>, %u: tensor<30xf32>, %w: tensor<24xf32>) {
  %i0 = tv.slice %i {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2xi64>) -> tensor<1xi64>
  %i1 = tv.reshape %i0 : (tensor<1xi64>) -> tensor<i64>
  %h = tv.one_hot %i0 {start = 6 : i64} : (tensor<1xi64>) -> tensor<1x30xf32>
  %k = tv.one_hot %i1 {start = 8 : i64} : (tensor<i64>) -> tensor<24xf32>
  %s = tv.einsum %h, %u {equation = "bv,v->b"} : (tensor<1x30xf32>, tensor<30xf32>) -> tensor<1xf32>
  %t = tv.einsum %k, %w {equation = "v,v->"} : (tensor<24xf32>, tensor<24xf32>) -> tensor<f32>
  %l = tv.multiply %s, %t : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %j0 = tv.distribute %i <[0:1 of 2]> on <> : (tensor<2xi64>) -> tensor<1xi64>
  %j1 = tv.reshape %j0 on <> : (tensor<1xi64>) -> tensor<i64>
  %u2 = tv.distribute %u <[0:30 of 30]> on <> : (tensor<30xf32>) -> tensor<30xf32>
  %h2 = tv.one_hot %j0 on <> {start = 6 : i64} : (tensor<1xi64>) -> tensor<1x30xf32>
  %s2 = tv.einsum %h2, %u2 on <> {equation = "bv,v->b"} : (tensor<1x30xf32>, tensor<30xf32>) -> tensor<1xf32>
  %w2 = tv.distribute %w <[0:24 of 24]> on <> : (tensor<24xf32>) -> tensor<24xf32> // right
  %k2 = tv.one_hot %j1 on <> {start = 8 : i64} : (tensor<i64>) -> tensor<24xf32> // right
  %t2 = tv.einsum %k2, %w2 on <> {equation = "v,v->"} : (tensor<24xf32>, tensor<24xf32>) -> tensor<f32> // right
  %w2 = tv.distribute %w <[0:23 of 24]> on <> : (tensor<24xf32>) -> tensor<23xf32> // wrong
  %k2 = tv.one_hot %j1 on <> {start = 8 : i64} : (tensor<i64>) -> tensor<23xf32> // wrong
  %t2 = tv.einsum %k2, %w2 on <> {equation = "v,v->"} : (tensor<23xf32>, tensor<23xf32>) -> tensor<f32> // wrong
  %r = tv.multiply %s2, %t2 on <> : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  tv.expect %r is %l <[0:1 of 1]> on <> : tensor<1xf32> is tensor<1xf32>
}
