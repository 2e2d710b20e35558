// RUN: sed 's/dense<2.0>/dense<1.0>/' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: not verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE --implicit-check-not='wrong slice'
// RUN: sed 's/dense<2.0>/dense<1.0>/; /%%w5 =/s/10:12 of 16/8:10 of 16/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLICE

// Elements of hidden parts may be equal on the inputs that are looked at: which part a device has they do not tell
// then. Of an input that is known. A term that counts twice is no wrong slice of another device.

// PROVED: tv.answer = "proved"
// TWICE: error: output 'y' differs from the reference
// SLICE: error: output 'y' differs from the reference
// SLICE: wrong slice: on device 5 the operands of 'tv.linear' do not belong together: they are part {{.*}} and part [:, 8:10] of the reference tensors
// SLICE: it reads part [:, 8:10] of parameter 'w'

tv.graph @g <device = 8> {
  %x = tv.input <input "x"> : tensor<4x16xf32>
  %v = tv.input <parameter "v"> : tensor<16x16xf32>
  %w = tv.input <parameter "w"> : tensor<16x16xf32>
  %h = tv.linear %x, %v : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %y = tv.linear %h, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 0> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v0 = tv.distribute %v <[0:2 of 16], [0:16 of 16]> on <device = 0> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w0 = tv.distribute %w <[0:16 of 16], [0:2 of 16]> on <device = 0> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h0 = tv.linear %x0, %v0 on <device = 0> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t0 = tv.linear %h0, %w0 on <device = 0> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x1 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 1> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v1 = tv.distribute %v <[2:4 of 16], [0:16 of 16]> on <device = 1> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w1 = tv.distribute %w <[0:16 of 16], [2:4 of 16]> on <device = 1> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h1 = tv.linear %x1, %v1 on <device = 1> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t1 = tv.linear %h1, %w1 on <device = 1> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x2 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 2> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v2 = tv.distribute %v <[4:6 of 16], [0:16 of 16]> on <device = 2> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w2 = tv.distribute %w <[0:16 of 16], [4:6 of 16]> on <device = 2> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h2 = tv.linear %x2, %v2 on <device = 2> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t2 = tv.linear %h2, %w2 on <device = 2> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x3 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 3> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v3 = tv.distribute %v <[6:8 of 16], [0:16 of 16]> on <device = 3> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w3 = tv.distribute %w <[0:16 of 16], [6:8 of 16]> on <device = 3> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h3 = tv.linear %x3, %v3 on <device = 3> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t3 = tv.linear %h3, %w3 on <device = 3> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x4 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 4> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = tv.distribute %v <[8:10 of 16], [0:16 of 16]> on <device = 4> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w4 = tv.distribute %w <[0:16 of 16], [8:10 of 16]> on <device = 4> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h4 = tv.linear %x4, %v4 on <device = 4> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t4 = tv.linear %h4, %w4 on <device = 4> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x5 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 5> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = tv.distribute %v <[10:12 of 16], [0:16 of 16]> on <device = 5> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w5 = tv.distribute %w <[0:16 of 16], [10:12 of 16]> on <device = 5> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h5 = tv.linear %x5, %v5 on <device = 5> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t5 = tv.linear %h5, %w5 on <device = 5> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x6 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 6> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v6 = tv.distribute %v <[12:14 of 16], [0:16 of 16]> on <device = 6> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w6 = tv.distribute %w <[0:16 of 16], [12:14 of 16]> on <device = 6> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h6 = tv.linear %x6, %v6 on <device = 6> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t6 = tv.linear %h6, %w6 on <device = 6> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %x7 = tv.distribute %x <[0:4 of 4], [0:16 of 16]> on <device = 7> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = tv.distribute %v <[14:16 of 16], [0:16 of 16]> on <device = 7> : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %w7 = tv.distribute %w <[0:16 of 16], [14:16 of 16]> on <device = 7> : (tensor<16x16xf32>) -> tensor<16x2xf32>
  %h7 = tv.linear %x7, %v7 on <device = 7> : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  %t7 = tv.linear %h7, %w7 on <device = 7> : (tensor<4x2xf32>, tensor<16x2xf32>) -> tensor<4x16xf32>
  %two = tv.constant dense<2.0> : tensor<f64> on <device = 1> : () -> tensor<f32>
  %twice = tv.multiply %t1, %two on <device = 1> : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %z = tv.all_reduce %t0, %twice, %t2, %t3, %t4, %t5, %t6, %t7 over [] on <device = 0:8> : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  tv.expect %z is %y <[0:4 of 4], [0:16 of 16]> on <device = 0:8> number 0 contract <output "y"> : tensor<4x16xf32> is tensor<4x16xf32>
}
