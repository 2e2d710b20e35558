// RUN: not verify-opt %s --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s

// Data that nothing produces ask for no position: of a long table only those are looked at that the
// tokens of the reference need.

tv.graph @tokens <device = 2> {
  %i = tv.input <input "tokens"> : tensor<8xi64>
  %w = tv.input <parameter "table"> : tensor<32064x4xf32>
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x32064xf32>
  %x = tv.einsum %h, %w {equation = "bv,vk->bk"} : (tensor<8x32064xf32>, tensor<32064x4xf32>) -> tensor<8x4xf32>
  %v = tv.distribute %w <[0:32064 of 32064], [0:4 of 4]> on <> : (tensor<32064x4xf32>) -> tensor<32064x4xf32>
  %j = tv.undefined "tokens" on <> : tensor<8xi64>
  %g = tv.one_hot %j on <> {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x32064xf32>
  %y = tv.einsum %g, %v on <> {equation = "bv,vk->bk"} : (tensor<8x32064xf32>, tensor<32064x4xf32>) -> tensor<8x4xf32>
  tv.expect %y is %x <[0:8 of 8], [0:4 of 4]> on <> number 0 contract <output "y"> : tensor<8x4xf32> is tensor<8x4xf32>
}
// CHECK: error: undefined value: nothing produces

// -----

// Where results are the same whatever the data are, nothing is wrong. The positions of one of the
// one-hots are cut at one of them.

// CHECK: error: unknown whether the value of 'y' is that of the reference: it rests on a value that nothing produces
// CHECK-NOT: undefined value
tv.graph @same <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.multiply %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %p = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %u = tv.undefined "tokens" on <> : tensor<8xi64>
  %a = tv.one_hot %u on <> {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x4000xf32>
  %b = tv.one_hot %u on <> {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x4000xf32>
  %first = tv.slice %a on <> {dimension = 1 : i64, start = 0 : i64, end = 1000 : i64} : (tensor<8x4000xf32>) -> tensor<8x1000xf32>
  %rest = tv.slice %a on <> {dimension = 1 : i64, start = 1000 : i64, end = 4000 : i64} : (tensor<8x4000xf32>) -> tensor<8x3000xf32>
  %s0 = tv.reduce sum %first on <> {dimensions = array<i64: 1>} : (tensor<8x1000xf32>) -> tensor<8xf32>
  %s1 = tv.reduce sum %rest on <> {dimensions = array<i64: 1>} : (tensor<8x3000xf32>) -> tensor<8xf32>
  %s = tv.add %s0, %s1 on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %t = tv.reduce sum %b on <> {dimensions = array<i64: 1>} : (tensor<8x4000xf32>) -> tensor<8xf32>
  %d = tv.subtract %s, %t on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %q = tv.multiply %p, %p on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r = tv.add %q, %d on <> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tv.expect %r is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}

// -----

// Nor do all scores tie that are computed of them: a position that is looked at for itself is taken,
// if there is one.

// CHECK: error: undefined value: nothing produces
tv.graph @scores <device = 2> {
  %i = tv.input <input "tokens"> : tensor<8xi64>
  %w = tv.input <parameter "table"> : tensor<32064x4xf32>
  %h = tv.one_hot %i {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x32064xf32>
  %x = tv.einsum %h, %w {equation = "bv,vk->bk"} : (tensor<8x32064xf32>, tensor<32064x4xf32>) -> tensor<8x4xf32>
  %r = tv.descending_rank %x : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %o = tv.one_hot %r {start = 0 : i64} : (tensor<8x4xi64>) -> tensor<8x4x2xf32>
  %c = tv.reduce sum %o {dimensions = array<i64: 2>} : (tensor<8x4x2xf32>) -> tensor<8x4xf32>
  %y = tv.einsum %c, %x {equation = "bk,bk->b"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  %v = tv.distribute %w <[0:32064 of 32064], [0:4 of 4]> on <> : (tensor<32064x4xf32>) -> tensor<32064x4xf32>
  %j = tv.undefined "tokens" on <> : tensor<8xi64>
  %g = tv.one_hot %j on <> {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x32064xf32>
  %z = tv.einsum %g, %v on <> {equation = "bv,vk->bk"} : (tensor<8x32064xf32>, tensor<32064x4xf32>) -> tensor<8x4xf32>
  %q = tv.descending_rank %z on <> : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %n = tv.one_hot %q on <> {start = 0 : i64} : (tensor<8x4xi64>) -> tensor<8x4x2xf32>
  %d = tv.reduce sum %n on <> {dimensions = array<i64: 2>} : (tensor<8x4x2xf32>) -> tensor<8x4xf32>
  %m = tv.einsum %d, %z on <> {equation = "bk,bk->b"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  tv.expect %m is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}
