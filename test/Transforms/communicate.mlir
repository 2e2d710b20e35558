// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/root = 0/root = 1/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: sed 's/by average/by maximum/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAXIMUM
// RUN: sed 's/group \[0, 1\] by average/group [0, 1]/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUM

// Four rows on two devices: the other device gets what device 0 has computed, both
// average what they have, and the parts of a sum are scattered and gathered.

// CHECK: tv.answer = "proved"
// CHECK: tv.graph @graph {{.*}} attributes {tv.folded = [array<i64: 0, 1>]}
// CHECK: tv.move {{.*}} from <rank = 0>
// CHECK: tv.all_reduce {{.*}} by average over ["rank"]
// ROOT: error: output 'average' differs
// MAXIMUM: error: output 'average' differs
// SUM: error: output 'average' differs

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<4x2xf32>):
      %s = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x2xf32>) -> tensor<2x2xf32>
      %e = tv.exp %s : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %r = tv.concat %e, %e {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
      %y = tv.multiply %x, %r : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
      %a = tv.reduce average %y {dimensions = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
      %t = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
      tv.return %a, %t : tensor<2xf32>, tensor<2xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:2 of 2]>] : tensor<4x2xf32>
      %1:2 = tv.call @forward(%0) instance 2 : (tensor<4x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      tv.output %1#0 "average" <8, [0:2 of 2]> : tensor<2xf32>
      tv.output %1#1 "sum" <9, [0:2 of 2]> : tensor<2xf32>
    }
  }
  tv.plan @plan <dp = 1, device = 2, mb = 1> {
    tv.segment @forward0 on 0 cell 2 {
    ^bb0(%x: tensor<2x2xf32>):
      %own = tv.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %e = tv.communicate broadcast %own group [0, 1] {root = 0 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %y = tv.multiply %x, %e : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %m = tv.reduce average %y {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
      %a = tv.communicate all_reduce %m group [0, 1] by average : (tensor<2xf32>) -> tensor<2xf32>
      %s = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
      %p = tv.communicate reduce_scatter %s group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<1xf32>
      %t = tv.communicate all_gather %p group [0, 1] {dimension = 0 : i64} : (tensor<1xf32>) -> tensor<2xf32>
      tv.return %a, %t : tensor<2xf32>, tensor<2xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4, 0:2 of 2]>] : tensor<2x2xf32>
      %1:2 = tv.call @forward0(%0) instance 2 : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      tv.output %1#0 "average" <8, [0:2 of 2]> : tensor<2xf32>
      tv.output %1#1 "sum" <9, [0:2 of 2]> : tensor<2xf32>
    }
    tv.segment @forward1 on 1 cell 2 {
    ^bb0(%x: tensor<2x2xf32>):
      %own = tv.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %e = tv.communicate broadcast %own group [0, 1] {root = 0 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %y = tv.multiply %x, %e : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %m = tv.reduce average %y {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
      %a = tv.communicate all_reduce %m group [0, 1] by average : (tensor<2xf32>) -> tensor<2xf32>
      %s = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
      %p = tv.communicate reduce_scatter %s group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<1xf32>
      %t = tv.communicate all_gather %p group [0, 1] {dimension = 0 : i64} : (tensor<1xf32>) -> tensor<2xf32>
      tv.return %a, %t : tensor<2xf32>, tensor<2xf32>
    }
    tv.program 1 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4, 0:2 of 2]>] : tensor<2x2xf32>
      %1:2 = tv.call @forward1(%0) instance 2 : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      tv.output %1#0 "average" <8, [0:2 of 2]> : tensor<2xf32>
      tv.output %1#1 "sum" <9, [0:2 of 2]> : tensor<2xf32>
    }
  }
}
