// RUN: verify-opt %s --tv-check-equiv -split-input-file -o /dev/null
// RUN: sed -e 's/, %g1 on/, %g0 on/' -e 's/%d0t12, %d1t12/%d0t12, %d0t12/' %s \
// RUN:   | not verify-opt --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s

// A part is right, and misstated: what a device says of it is another device's. The stage after it
// begins with what others say of theirs, and with what leads to this one: it has to go back by as
// much on all of them.

// CHECK: note: counterexample: {{.*}} of output 'y' is

tv.graph @graph <device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %w = tv.input <input "w"> : tensor<4xf32>
  %t0 = tv.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t1 = tv.add %t0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t2 = tv.add %t1, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t3 = tv.add %t2, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t4 = tv.add %t3, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t5 = tv.add %t4, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t6 = tv.add %t5, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t7 = tv.add %t6, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t8 = tv.add %t7, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = tv.exp %t8 : (tensor<4xf32>) -> tensor<4xf32>
  %p0 = tv.distribute %x <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %w0 = tv.distribute %w <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %d0t0 = tv.add %p0, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t0 is %t0 <[0:2 of 4]> on <device = 0> number 0 : tensor<2xf32> is tensor<4xf32>
  %d0t1 = tv.add %d0t0, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t1 is %t1 <[0:2 of 4]> on <device = 0> number 1 : tensor<2xf32> is tensor<4xf32>
  %d0t2 = tv.add %d0t1, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t2 is %t2 <[0:2 of 4]> on <device = 0> number 2 : tensor<2xf32> is tensor<4xf32>
  %d0t3 = tv.add %d0t2, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t3 is %t3 <[0:2 of 4]> on <device = 0> number 3 : tensor<2xf32> is tensor<4xf32>
  %d0t4 = tv.add %d0t3, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t4 is %t4 <[0:2 of 4]> on <device = 0> number 4 : tensor<2xf32> is tensor<4xf32>
  %d0t5 = tv.add %d0t4, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t5 is %t5 <[0:2 of 4]> on <device = 0> number 5 : tensor<2xf32> is tensor<4xf32>
  %d0t6 = tv.add %d0t5, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t6 is %t6 <[0:2 of 4]> on <device = 0> number 6 : tensor<2xf32> is tensor<4xf32>
  %d0t7 = tv.add %d0t6, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t7 is %t7 <[0:2 of 4]> on <device = 0> number 7 : tensor<2xf32> is tensor<4xf32>
  %g0 = tv.add %d0t7, %w0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %g0 is %t8 <[2:4 of 4]> on <device = 0> number 8 : tensor<2xf32> is tensor<4xf32>
  %p1 = tv.distribute %x <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %w1 = tv.distribute %w <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %d1t0 = tv.add %p1, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t0 is %t0 <[2:4 of 4]> on <device = 1> number 9 : tensor<2xf32> is tensor<4xf32>
  %d1t1 = tv.add %d1t0, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t1 is %t1 <[2:4 of 4]> on <device = 1> number 10 : tensor<2xf32> is tensor<4xf32>
  %d1t2 = tv.add %d1t1, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t2 is %t2 <[2:4 of 4]> on <device = 1> number 11 : tensor<2xf32> is tensor<4xf32>
  %d1t3 = tv.add %d1t2, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t3 is %t3 <[2:4 of 4]> on <device = 1> number 12 : tensor<2xf32> is tensor<4xf32>
  %d1t4 = tv.add %d1t3, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t4 is %t4 <[2:4 of 4]> on <device = 1> number 13 : tensor<2xf32> is tensor<4xf32>
  %d1t5 = tv.add %d1t4, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t5 is %t5 <[2:4 of 4]> on <device = 1> number 14 : tensor<2xf32> is tensor<4xf32>
  %d1t6 = tv.add %d1t5, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t6 is %t6 <[2:4 of 4]> on <device = 1> number 15 : tensor<2xf32> is tensor<4xf32>
  %d1t7 = tv.add %d1t6, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t7 is %t7 <[2:4 of 4]> on <device = 1> number 16 : tensor<2xf32> is tensor<4xf32>
  %g1 = tv.add %d1t7, %w1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %g1 is %t8 <[2:4 of 4]> on <device = 1> number 17 : tensor<2xf32> is tensor<4xf32>
  %a = tv.all_gather %g0, %g1 on <device = 0> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %z = tv.exp %a on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 18 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
}

// -----

// Each device states other values, and what it goes back to, one at a time, is never the same: then
// what all of them assumed first is gone without at once.

// CHECK: error: output 'y' differs from the reference
tv.graph @graph <device = 2> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %w = tv.input <input "w"> : tensor<4xf32>
  %t0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t1 = tv.multiply %t0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t3 = tv.add %t0, %t1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t4 = tv.tanh %t3 : (tensor<4xf32>) -> tensor<4xf32>
  %t5 = tv.tanh %t4 : (tensor<4xf32>) -> tensor<4xf32>
  %t8 = tv.add %t5, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t11 = tv.tanh %t8 : (tensor<4xf32>) -> tensor<4xf32>
  %t12 = tv.exp %t11 : (tensor<4xf32>) -> tensor<4xf32>
  %y = tv.exp %t12 : (tensor<4xf32>) -> tensor<4xf32>
  %d0x = tv.distribute %x <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %d0w = tv.distribute %w <[0:2 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<2xf32>
  %d0t0 = tv.multiply %d0x, %d0w on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d0t1 = tv.multiply %d0w, %d0t0 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t1 is %t1 <[0:2 of 4]> on <device = 0> number 0 : tensor<2xf32> is tensor<4xf32>
  %d0t3 = tv.add %d0t0, %d0t1 on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t3 is %t3 <[0:2 of 4]> on <device = 0> number 1 : tensor<2xf32> is tensor<4xf32>
  %d0t4 = tv.tanh %d0t3 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t4 is %t4 <[0:2 of 4]> on <device = 0> number 2 : tensor<2xf32> is tensor<4xf32>
  %d0t5 = tv.tanh %d0t4 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t5 is %t5 <[0:2 of 4]> on <device = 0> number 3 : tensor<2xf32> is tensor<4xf32>
  %d0t8 = tv.add %d0t5, %d0w on <device = 0> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d0t11 = tv.tanh %d0t8 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  %d0t12 = tv.exp %d0t11 on <device = 0> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d0t12 is %t12 <[0:2 of 4]> on <device = 0> number 4 : tensor<2xf32> is tensor<4xf32>
  %d1x = tv.distribute %x <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %d1w = tv.distribute %w <[2:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<2xf32>
  %d1t0 = tv.multiply %d1x, %d1w on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t0 is %t0 <[2:4 of 4]> on <device = 1> number 5 : tensor<2xf32> is tensor<4xf32>
  %d1t1 = tv.multiply %d1t0, %d1w on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t1 is %t1 <[2:4 of 4]> on <device = 1> number 6 : tensor<2xf32> is tensor<4xf32>
  %d1t3 = tv.add %d1t0, %d1t1 on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d1t4 = tv.tanh %d1t3 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t4 is %t4 <[2:4 of 4]> on <device = 1> number 7 : tensor<2xf32> is tensor<4xf32>
  %d1t5 = tv.tanh %d1t4 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  %d1t8 = tv.add %d1t5, %d1w on <device = 1> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t8 is %t8 <[2:4 of 4]> on <device = 1> number 8 : tensor<2xf32> is tensor<4xf32>
  %d1t11 = tv.tanh %d1t8 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  tv.expect %d1t11 is %t11 <[2:4 of 4]> on <device = 1> number 9 : tensor<2xf32> is tensor<4xf32>
  %d1t12 = tv.exp %d1t11 on <device = 1> : (tensor<2xf32>) -> tensor<2xf32>
  %a = tv.all_gather %d0t12, %d1t12 on <device = 0> {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %z = tv.exp %a on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 10 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
}
