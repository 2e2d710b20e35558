// RUN: not verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// Data that nothing produces name no position: of a long table only those are looked at that the
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
