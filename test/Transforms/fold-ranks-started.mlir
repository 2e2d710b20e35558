// Ranks 0 and 1 run one program, but for the groups of their broadcasts: what is the second of its group on one is the
// first on the other. Device 2 starts its broadcasts, so that they may meet in any order.

// RUN: sed -e s/FIRST/0/ -e s/SECOND/1/ %s > %t.right
// RUN: verify-opt --tv-verify-equiv %t.right | FileCheck %s
// RUN: sed -e s/FIRST/1/ -e s/SECOND/0/ %s > %t.wrong
// RUN: not verify-opt --tv-verify-equiv %t.wrong 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: tv.answer = "proved"
// WRONG: error: output 'l' differs from the reference on devices 0-1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @f on 0 cell 0 {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
    %p = tv.power %a {numerator = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %q = tv.multiply %p, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %qq = tv.add %q, %q : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    tv.return %qq : tensor<4x6xf32>
  }
  tv.program 0 {
    %x:2 = tv.load_data cell 1 ["a", "b"] holds [#tv.piece<1, [0:4 of 4, 0:6 of 6]>, #tv.piece<2, [0:4 of 4, 0:6 of 6]>] : tensor<4x6xf32>, tensor<4x6xf32>
    %l = tv.call @f(%x#0, %x#1) instance 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    tv.output %l "l" <9, [0:4 of 4, 0:6 of 6]> : tensor<4x6xf32>
  }
}
tv.plan @plan <dp = 1, device = 4, mb = 1> {
  tv.program 0 {
    %uz = tv.undefined "none" : tensor<4x6xf32>
    %z = tv.communicate broadcast %uz group [0, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %ua = tv.undefined "none" : tensor<4x6xf32>
    %a = tv.communicate broadcast %ua group [0, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %ub = tv.undefined "none" : tensor<4x6xf32>
    %b = tv.communicate broadcast %ub group [0, 3] {root = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %p = tv.power %a {numerator = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %q = tv.multiply %p, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %o = tv.communicate all_reduce %q group [0, 1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
    tv.output %o "l" <9, [0:4 of 4, 0:6 of 6]> : tensor<4x6xf32>
  }
  tv.program 1 {
    %uz = tv.undefined "none" : tensor<4x6xf32>
    %z = tv.communicate broadcast %uz group [1, 3] {root = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %ua = tv.undefined "none" : tensor<4x6xf32>
    %a = tv.communicate broadcast %ua group [1, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %ub = tv.undefined "none" : tensor<4x6xf32>
    %b = tv.communicate broadcast %ub group [1, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %p = tv.power %a {numerator = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %q = tv.multiply %p, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %o = tv.communicate all_reduce %q group [0, 1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
    tv.output %o "l" <9, [0:4 of 4, 0:6 of 6]> : tensor<4x6xf32>
  }
  tv.program 2 {
    %x:2 = tv.load_data cell 1 ["a", "b"] holds [#tv.piece<1, [0:4 of 4, 0:6 of 6]>, #tv.piece<2, [0:4 of 4, 0:6 of 6]>] : tensor<4x6xf32>, tensor<4x6xf32>
    %s0 = tv.start { %r = tv.communicate broadcast %x#0 group [0, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %s1 = tv.start { %r = tv.communicate broadcast %x#0 group [0, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %s2 = tv.start { %r = tv.communicate broadcast %x#FIRST group [1, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %s3 = tv.start { %r = tv.communicate broadcast %x#SECOND group [1, 2] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %w0 = tv.wait %s0 : tensor<4x6xf32>
    %w1 = tv.wait %s1 : tensor<4x6xf32>
    %w2 = tv.wait %s2 : tensor<4x6xf32>
    %w3 = tv.wait %s3 : tensor<4x6xf32>
  }
  tv.program 3 {
    %x:2 = tv.load_data cell 1 ["a", "b"] holds [#tv.piece<1, [0:4 of 4, 0:6 of 6]>, #tv.piece<2, [0:4 of 4, 0:6 of 6]>] : tensor<4x6xf32>, tensor<4x6xf32>
    %s0 = tv.start { %r = tv.communicate broadcast %x#0 group [1, 3] {root = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %s1 = tv.start { %r = tv.communicate broadcast %x#1 group [0, 3] {root = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32> }
    %w0 = tv.wait %s0 : tensor<4x6xf32>
    %w1 = tv.wait %s1 : tensor<4x6xf32>
  }
}
