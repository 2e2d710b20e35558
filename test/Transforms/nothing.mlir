// RUN: not verify-opt %s --tv-check-equiv --split-input-file 2>&1 | FileCheck %s

// What checks nothing proves nothing, and what is proved does not hide the rest.

// CHECK: error: has nothing to check: no tv.graph or tv.stage
module {}

// -----

// CHECK: error: 'tv.graph' op has no result to prove: no tv.expect with a contract
tv.graph @nothing <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32>
}

// -----

// CHECK: error: output 'y' differs from the reference
tv.graph @wrong <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.negate %x : (tensor<8xf32>) -> tensor<8xf32>
  %part = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %planned = tv.copy %part on <> : (tensor<8xf32>) -> tensor<8xf32>
  tv.expect %planned is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}
tv.graph @right <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.negate %x : (tensor<8xf32>) -> tensor<8xf32>
  %part = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %planned = tv.negate %part on <> : (tensor<8xf32>) -> tensor<8xf32>
  tv.expect %planned is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}
