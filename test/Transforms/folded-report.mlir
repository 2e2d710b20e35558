// A result of a group whose first device stands for all of it is counted, and named, on the ranks that
// it differs on; one of a device that stands for itself counts once.
// RUN: not verify-opt --tv-check-equiv %s 2>&1 | FileCheck %s

// CHECK: error: gradient of 'w' differs from the reference on devices 5-6 of each of 2 replicas
// CHECK: as a consequence 3 of 7 results come out wrong: the gradients of 2 parameters, on devices 5-7 of each of 2 replicas

tv.graph @graph <dp = 2, rank = 3, device = 8> attributes {tv.folded = [array<i64: 4, 5, 6>]} {
  %w = tv.input <input "x"> : tensor<6x2xf32>
  %dw = tv.exp %w : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %part = tv.distribute %w <[rank, 0:2 of 2], [0:2 of 2]> on <device = 4> : (tensor<6x2xf32>) -> tensor<2x2xf32>
  %first = tv.move %part from <rank = 0> on <device = 4> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %wrong = tv.exp %first on <device = 4> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  tv.expect %wrong is %dw <[rank, 0:2 of 2], [0:2 of 2]> on <device = 4> number 0 contract <gradient "w"> : tensor<2x2xf32> is tensor<6x2xf32>
  %right = tv.exp %part on <device = 4> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  tv.expect %right is %dw <[rank, 0:2 of 2], [0:2 of 2]> on <device = 4> number 1 contract <gradient "v"> : tensor<2x2xf32> is tensor<6x2xf32>
  %whole = tv.distribute %w <[0:6 of 6], [0:2 of 2]> on <device = 7> : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %other = tv.negate %whole on <device = 7, rank = 0> : (tensor<6x2xf32>) -> tensor<6x2xf32>
  tv.expect %other is %dw <[0:6 of 6], [0:2 of 2]> on <device = 7, rank = 0> number 2 contract <gradient "u"> : tensor<6x2xf32> is tensor<6x2xf32>
}
