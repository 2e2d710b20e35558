// RUN: not verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed -E 's/tv.log %%(p?x)/tv.exp %%\1/' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=PROVED

// A logarithm is defined where its operand is, an exponential. That is made, twelve ops before, of
// another logarithm, of which no result needs all: how far one looks back must not hide that.

// UNKNOWN: the plan may be undefined where the reference is not
// PROVED: tv.answer = "proved"

tv.graph @g <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %r0 = tv.log %x : (tensor<8xf32>) -> tensor<8xf32>
  %r1 = tv.negate %r0 : (tensor<8xf32>) -> tensor<8xf32>
  %r2 = tv.negate %r1 : (tensor<8xf32>) -> tensor<8xf32>
  %r3 = tv.negate %r2 : (tensor<8xf32>) -> tensor<8xf32>
  %r4 = tv.negate %r3 : (tensor<8xf32>) -> tensor<8xf32>
  %r5 = tv.negate %r4 : (tensor<8xf32>) -> tensor<8xf32>
  %r6 = tv.negate %r5 : (tensor<8xf32>) -> tensor<8xf32>
  %r7 = tv.negate %r6 : (tensor<8xf32>) -> tensor<8xf32>
  %r8 = tv.negate %r7 : (tensor<8xf32>) -> tensor<8xf32>
  %r9 = tv.negate %r8 : (tensor<8xf32>) -> tensor<8xf32>
  %r10 = tv.negate %r9 : (tensor<8xf32>) -> tensor<8xf32>
  %r11 = tv.negate %r10 : (tensor<8xf32>) -> tensor<8xf32>
  %r12 = tv.negate %r11 : (tensor<8xf32>) -> tensor<8xf32>
  %re = tv.exp %r12 : (tensor<8xf32>) -> tensor<8xf32>
  %ry = tv.log %re : (tensor<8xf32>) -> tensor<8xf32>
  %h = tv.slice %ry {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<8xf32>) -> tensor<1xf32>
  %px = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p0 = tv.log %px on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p1 = tv.negate %p0 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p2 = tv.negate %p1 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p3 = tv.negate %p2 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p4 = tv.negate %p3 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p5 = tv.negate %p4 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p6 = tv.negate %p5 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p7 = tv.negate %p6 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p8 = tv.negate %p7 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p9 = tv.negate %p8 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p10 = tv.negate %p9 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p11 = tv.negate %p10 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %p12 = tv.negate %p11 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %pe = tv.exp %p12 on <> : (tensor<8xf32>) -> tensor<8xf32>
  %py = tv.log %pe on <> : (tensor<8xf32>) -> tensor<8xf32>
  tv.expect %py is %ry <[0:8 of 8]> on <> number 0 : tensor<8xf32> is tensor<8xf32>
  %ph = tv.slice %py on <> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<8xf32>) -> tensor<1xf32>
  %pi = tv.slice %py on <> {dimension = 0 : i64, start = 3 : i64, end = 4 : i64} : (tensor<8xf32>) -> tensor<1xf32>
  %pd = tv.subtract %pi, %pi on <> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %pz = tv.add %ph, %pd on <> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  tv.expect %pz is %h <[0:1 of 1]> on <> number 1 contract <output "h"> : tensor<1xf32> is tensor<1xf32>
}
